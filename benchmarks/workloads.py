"""Workloads timed by ``bench.py`` and by ``run.py``.

A workload is a function that takes a number of rounds, does the work, and returns the amount of work done. It
is set up once and run repeatedly. For other libraries, ``peers/`` contains loops that do the same work.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gin_env.agents.random_bots import random_action
from gin_env.batch import Games
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.batch_kernels import play_and_score
from gin_env.game.engine import decision_random, start_episode
from gin_env.game.melds import min_deadwood
from gin_env.game.streams import mix
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.support.compilation import kernel

NUM_GAMES = 1024

Work: TypeAlias = Callable[[int], dict[str, float]]
"""Function from a number of rounds to the amounts of work done, by unit. An entry ``"seconds"`` is the time
to divide by if part of the time must not count (choosing actions for a vector environment)."""


# --- Kernels ------------------------------------------------------------------------------------------


@kernel
def deadwood_of_all(hands):
    """Return the sum of the deadwood of many hands (masks), so that nothing is optimised away."""
    total = 0
    for hand in hands:
        total += min_deadwood(hand)
    return total


@kernel
def play_randomly(state, results, decisions, episode):
    """Play `decisions` random legal actions in each game, one game after another.

    An ended hand is followed by a new one; new hands are the episodes of seed 0, numbered from `episode`.
    Returns the number of hands that ended.
    """
    hands = 0
    for index in range(len(state)):
        game = state[index]
        for _ in range(decisions):
            player = game.public.to_move
            # random_action computes the complete legal set, including knocks, and chooses from it
            action = random_action(game.public, game.private[player], decision_random(game, player))
            _, over = play_and_score(game, action, False, False, results[index])
            if over:
                start_episode(game, 0, episode + hands, False)
                hands += 1
    return hands


@kernel
def choose_legal(masks, number, actions):
    """Write a random legal action from each byte mask, scanned in blocks of eight bytes."""
    for index in range(len(masks)):
        mask = masks[index]
        count = 0
        for action in range(NUM_ACTIONS):
            count += mask[action]
        skip = np.int64((mix(np.uint64(number), np.uint64(index)) >> np.uint64(33)) % np.uint64(count))
        action = 0
        while action + 8 <= NUM_ACTIONS:
            in_block = 0
            for offset in range(8):
                in_block += mask[action + offset]
            if skip < in_block:
                break
            skip -= in_block
            action += 8
        while skip > 0 or not mask[action]:
            skip -= mask[action]
            action += 1
        actions[index] = action


# --- Workloads ----------------------------------------------------------------------------------------


def deadwood() -> Work:
    """Return the workload of minimum deadwood of random ten-card hands in a kernel, 20,000 hands a round."""
    rng = np.random.default_rng(0)
    hands = np.array(
        [sum(1 << int(card) for card in rng.choice(52, 10, replace=False)) for _ in range(20_000)]
    )

    def work(rounds: int) -> dict[str, float]:
        for _ in range(rounds):
            deadwood_of_all(hands)
        return {"hands": rounds * len(hands)}

    return work


def started_games(num_games: int = NUM_GAMES, first: int = 0) -> Games:
    """Return games with their first hands dealt; the episodes are numbered from `first`."""
    games = Games(num_games)
    numbers = np.arange(first, first + num_games, dtype=np.uint64)
    games.start(games.everyone, np.zeros(num_games, np.uint64), numbers)
    return games


def fused_play(num_games: int = NUM_GAMES, first: int = 0) -> Work:
    """Random legal play in one kernel, the legal set computed at every decision.

    A round is 20 decisions in each game.
    """
    games = started_games(num_games, first)
    begun = first + num_games

    def work(rounds: int) -> dict[str, float]:
        nonlocal begun
        hands = play_randomly(games.state, games.results, 20 * rounds, begun)
        begun += hands
        return {"decisions": num_games * 20 * rounds, "hands": hands}

    return work


def stepped_play(observe: Callable[[Games], object] | None = None) -> Work:
    """Random legal play step by step; a round is one decision in each of 1,024 games.

    Each step writes the byte mask, calls `observe`, chooses an action from the mask and plays it. Ended hands
    are followed by new ones.
    """
    games = started_games()
    masks = np.empty((NUM_GAMES, NUM_ACTIONS), np.int8)
    actions = np.empty(NUM_GAMES, np.int64)
    seeds = np.zeros(NUM_GAMES, np.uint64)
    episodes = NUM_GAMES

    def work(rounds: int) -> dict[str, float]:
        nonlocal episodes
        before = episodes
        for step in range(rounds):
            games.masks(games.everyone, masks)
            if observe is not None:
                observe(games)
            choose_legal(masks, episodes + step, actions)
            games.play_legal(games.everyone, actions)  # chosen from the mask, so not checked again
            ended = np.flatnonzero(games.done)
            if len(ended):
                numbers = np.arange(episodes, episodes + len(ended), dtype=np.uint64)
                games.start(ended, seeds[ended], numbers)
                episodes += len(ended)
        return {"decisions": rounds * NUM_GAMES, "hands": episodes - before}

    return work


def observed_play() -> Work:
    """`stepped_play` with the float32 observations of the players to move."""
    observations = np.empty((NUM_GAMES, OBSERVATION_SIZE), np.float32)

    def observe(games: Games) -> None:
        first = np.flatnonzero(games.to_move() == 0)
        second = np.flatnonzero(games.to_move() == 1)
        games.observations(first, 0, observations[: len(first)])
        games.observations(second, 1, observations[len(first) :])

    return stepped_play(observe)


def simple_match(games: int = 4000) -> Work:
    """`simple` against itself through `play_match`; a round is this many games to 100 points.

    Each round is a separate match, large enough to fill the batches in which a match is played.
    """
    from gin_env.matches.matches import play_match

    def work(rounds: int) -> dict[str, float]:
        return {"hands": sum(play_match("simple", "simple", games, seed).hands for seed in range(rounds))}

    return work


def aec_last(wrapped: bool) -> Work:
    """The loop of PettingZoo's documentation (`agent_iter`, `last`, `step`); a round is one hand."""
    from gin_env.envs import gin_rummy_v0

    env = gin_rummy_v0.env() if wrapped else gin_rummy_v0.raw_env()
    rng = np.random.default_rng(0)

    def work(rounds: int) -> dict[str, float]:
        steps = 0
        for _ in range(rounds):
            env.reset(seed=int(rng.integers(1 << 30)))
            for _ in env.agent_iter():
                observation, _, termination, truncation, _ = env.last()
                if termination or truncation:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(rng.random() * len(legal))])
                steps += 1
        return {"steps": steps}

    return work


def aec_observe(wrapped: bool) -> Work:
    """The minimal loop: `observe` the actor, `step`, `reset` after the end; a round is 100 steps."""
    from gin_env.envs import gin_rummy_v0

    env = gin_rummy_v0.env() if wrapped else gin_rummy_v0.raw_env()
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def work(rounds: int) -> dict[str, float]:
        for _ in range(100 * rounds):
            if env.terminations[env.agent_selection]:
                env.reset()
            legal = env.observe(env.agent_selection)["action_mask"].nonzero()[0]
            env.step(legal[int(rng.random() * len(legal))])
        return {"steps": 100 * rounds}

    return work


def single_env(opponent: str) -> Work:
    """The Gymnasium environment with random legal actions of the learner; a round is 100 of its steps."""
    import gymnasium

    env = gymnasium.make("gin_env/GinRummy-v0", opponent=opponent).unwrapped
    rng = np.random.default_rng(0)
    observation, _ = env.reset(seed=0)

    def work(rounds: int) -> dict[str, float]:
        nonlocal observation
        for _ in range(100 * rounds):
            legal = observation["action_mask"].nonzero()[0]
            observation, _, over, _, _ = env.step(legal[int(rng.random() * len(legal))])
            if over:
                observation, _ = env.reset()
        return {"steps": 100 * rounds}

    return work


def vector_env(num_games: int, opponent: str) -> Work:
    """The batched VectorEnv with masks and observations; the time of choosing actions is not counted.

    A round is as many `step` calls as give at least 1,024 steps of the learner.
    """
    import gymnasium

    env: Any = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=num_games, opponent=opponent)
    observation, _ = env.reset(seed=0)
    actions = np.empty(num_games, np.int64)
    calls = max(NUM_GAMES // num_games, 1)

    def work(rounds: int) -> dict[str, float]:
        nonlocal observation
        seconds = 0.0
        for call in range(rounds * calls):
            choose_legal(observation["action_mask"], call, actions)
            start = time.perf_counter()
            observation, *_ = env.step(actions)
            seconds += time.perf_counter() - start
        return {"steps": rounds * calls * num_games, "seconds": seconds}

    return work


class Workload(NamedTuple):
    """One line of the table of speeds."""

    label: str
    unit: str  # the unit of the table; a workload may report others
    make: Callable[[], Work]
    counted_rounds: int  # rounds for counting instructions; 0: not counted
    counted_make: Callable[[], Work] | None = None  # if `make` is too large for that


WORKLOADS: dict[str, Workload] = {
    "play": Workload("random play, one kernel, legal set computed", "decisions", fused_play, 2),
    "play_mask": Workload("random play by steps, byte mask", "decisions", stepped_play, 20),
    "play_observation": Workload(
        "random play by steps, byte mask and observation", "decisions", observed_play, 20
    ),
    "deadwood": Workload("minimum deadwood of ten cards", "hands", deadwood, 2),
    "simple": Workload(
        "play_match, simple against simple", "hands", simple_match, 1, lambda: simple_match(100)
    ),
    "aec": Workload("PettingZoo env(), agent_iter and last", "steps", lambda: aec_last(True), 20),
    "aec_observe": Workload("PettingZoo env(), observing the actor", "steps", lambda: aec_observe(True), 10),
    "aec_raw": Workload("PettingZoo raw_env(), agent_iter and last", "steps", lambda: aec_last(False), 20),
    "aec_raw_observe": Workload(
        "PettingZoo raw_env(), observing the actor", "steps", lambda: aec_observe(False), 10
    ),
    "single": Workload("Gymnasium environment against random", "steps", lambda: single_env("random"), 10),
    "single_simple": Workload(
        "Gymnasium environment against simple", "steps", lambda: single_env("simple"), 10
    ),
    "vector_1": Workload("VectorEnv, 1 game against simple", "steps", lambda: vector_env(1, "simple"), 1),
    "vector_64": Workload("VectorEnv, 64 games against simple", "steps", lambda: vector_env(64, "simple"), 2),
    "vector_1024": Workload(
        "VectorEnv, 1,024 games against simple", "steps", lambda: vector_env(1024, "simple"), 10
    ),
    "vector_16384": Workload(
        "VectorEnv, 16,384 games against simple", "steps", lambda: vector_env(16384, "simple"), 0
    ),
    "vector_tonic": Workload(
        "VectorEnv, 1,024 games against tonic", "steps", lambda: vector_env(1024, "tonic"), 10
    ),
}
