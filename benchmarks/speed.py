"""How fast the engine and its environments are, on one core: ``make bench`` or ``python benchmarks/speed.py``.

Every figure is the median of several runs. Timings of two alternatives that are compared (training on the
real and on a free environment) alternate. Results can be written as JSON.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import gymnasium
import numba
import numpy as np
import typer

import gin_env
from gin_env import gin_rummy_v0
from gin_env.actions import NUM_ACTIONS
from gin_env.agents.random_bots import random_action
from gin_env.batch import Games, play_and_score
from gin_env.engine import decision_random, start_episode
from gin_env.melds import min_deadwood
from gin_env.observation import OBSERVATION_SIZE
from gin_env.state import STATE
from gin_env.streams import mix

NUM_GAMES = 1024


@numba.njit
def deadwood_of_all(hands):
    """Sum over a kernel's loop, so that nothing is optimised away."""
    total = 0
    for hand in hands:
        total += min_deadwood(hand)
    return total


@numba.njit
def play_randomly(state, results, decisions):
    """Each game plays so many random legal actions, one game after the other; hands follow each other."""
    for index in range(len(state)):
        game = state[index]
        for _ in range(decisions):
            player = game.public.to_move
            # random_action computes the whole legal set, knocks included, and chooses from it
            action = random_action(game.public, game.private[player], decision_random(game, player))
            _, over = play_and_score(game, action, False, False, results[index])
            if over:
                hidden = game.hidden
                start_episode(game, hidden.seed, hidden.decision_seed, hidden.episode + np.uint64(len(state)))


@numba.njit
def choose_legal(masks, number, actions):
    """A random legal action from each byte mask (uniform: counts the ones, then walks to one of them)."""
    for index in range(len(masks)):
        mask = masks[index]
        count = 0
        for action in range(len(mask)):
            count += mask[action]
        skip = np.int64((mix(np.uint64(number), np.uint64(index)) >> np.uint64(33)) % np.uint64(count))
        for action in range(len(mask)):
            if mask[action]:
                if skip == 0:
                    actions[index] = action
                    break
                skip -= 1


def median_rate(work: Callable[[], int], repeats: int) -> float:
    """Median of `repeats` rates: `work` returns how much it did; the first, uncounted call compiles."""
    work()
    rates = []
    for _ in range(repeats):
        start = time.perf_counter()
        done = work()
        rates.append(done / (time.perf_counter() - start))
    return statistics.median(rates)


def deadwood_nanoseconds(repeats: int) -> float:
    """Minimum deadwood of a random ten-card hand inside a kernel."""
    rng = np.random.default_rng(0)
    hands = np.array(
        [sum(1 << int(card) for card in rng.choice(52, 10, replace=False)) for _ in range(20_000)]
    )

    def work() -> int:
        for _ in range(20):
            deadwood_of_all(hands)
        return 20 * len(hands)

    return 1e9 / median_rate(work, repeats)


def started_games() -> Games:
    """1,024 games with their first hands dealt."""
    games = Games(NUM_GAMES)
    games.start(games.everyone, np.zeros(NUM_GAMES, np.uint64), np.arange(NUM_GAMES, dtype=np.uint64))
    return games


def fused_random_play(repeats: int) -> float:
    """Decisions/s of random legal play in one kernel, the legal set computed at every decision."""
    games = started_games()

    def work() -> int:
        play_randomly(games.state, games.results, 500)
        return NUM_GAMES * 500

    return median_rate(work, repeats)


def stepped_random_play(repeats: int, with_observation: bool) -> float:
    """Decisions/s step by step: the byte mask written, an action chosen from it, played, ended hands restarted."""
    games = started_games()
    masks = np.empty((NUM_GAMES, NUM_ACTIONS), np.int8)
    observations = np.empty((NUM_GAMES, OBSERVATION_SIZE), np.float32)
    actions = np.empty(NUM_GAMES, np.int64)
    seeds = np.zeros(NUM_GAMES, np.uint64)
    counter = NUM_GAMES

    def work() -> int:
        nonlocal counter
        for step in range(300):
            games.masks(games.everyone, masks)
            if with_observation:
                games.observations(games.everyone, 0, observations)
            choose_legal(masks, counter + step, actions)
            games.play(games.everyone, actions)
            ended = np.flatnonzero(games.done)
            if len(ended):
                games.start(ended, seeds[ended], np.arange(counter, counter + len(ended), dtype=np.uint64))
                counter += len(ended)
        return 300 * NUM_GAMES

    return median_rate(work, repeats)


def raw_env_steps(repeats: int, env: object, steps: int = 5000) -> float:
    """Steps/s of the AEC loop: observe the actor, choose a random legal action, step, reset after the end."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def work() -> int:
        for _ in range(steps):
            if env.terminations[env.agent_selection]:
                env.reset()
            mask = env.observe(env.agent_selection)["action_mask"]
            legal = mask.nonzero()[0]
            env.step(legal[int(rng.random() * len(legal))])
        return steps

    return median_rate(work, repeats)


def single_env_steps(repeats: int) -> float:
    """Steps/s of the Gymnasium environment against `simple`, random legal actions of the learner."""
    env = gymnasium.make("gin_env/GinRummy-v0", opponent="simple").unwrapped
    rng = np.random.default_rng(0)
    observation, _ = env.reset(seed=0)

    def work() -> int:
        nonlocal observation
        for _ in range(5000):
            legal = observation["action_mask"].nonzero()[0]
            observation, _, over, _, _ = env.step(legal[int(rng.random() * len(legal))])
            if over:
                observation, _ = env.reset()
        return 5000

    return median_rate(work, repeats)


def vector_env_steps(repeats: int, opponent: str) -> float:
    """Learner steps/s of the VectorEnv with 1,024 games, observation and mask written, time of choosing excluded."""
    env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=NUM_GAMES, opponent=opponent)
    observation, _ = env.reset(seed=0)
    actions = np.empty(NUM_GAMES, np.int64)
    rates = []
    for repeat in range(repeats + 1):
        seconds = 0.0
        for step in range(200):
            choose_legal(observation["action_mask"], step, actions)
            start = time.perf_counter()
            observation, *_ = env.step(actions)
            seconds += time.perf_counter() - start
        if repeat:
            rates.append(200 * NUM_GAMES / seconds)
    return statistics.median(rates)


def training_speeds(repeats: int) -> tuple[float, float]:
    """(MaskablePPO steps/s on GinRummyVecEnv, on a free environment with the same spaces), alternating."""
    import torch
    from sb3_contrib import MaskablePPO

    from gin_env.wrappers.sb3 import GinRummyVecEnv

    class FreeEnv(GinRummyVecEnv):
        """Costs nothing: the same observation and mask for ever, an episode ends every 13 steps."""

        def step_wait(self):
            self.count = getattr(self, "count", 0) + 1
            over = np.full(self.num_envs, self.count % 13 == 0)
            return self.first, np.zeros(self.num_envs, np.float32), over, [{} for _ in over]

        def reset(self):
            self.first = super().reset()
            return self.first

        def step_async(self, actions):
            pass

    torch.set_num_threads(1)
    models = [
        MaskablePPO(
            "MlpPolicy",
            kind(256, "simple", seed=1),
            n_steps=64,
            batch_size=2048,
            n_epochs=4,
            policy_kwargs={"net_arch": [64, 64]},
            device="cpu",
            seed=1,
        )
        for kind in (GinRummyVecEnv, FreeEnv)
    ]
    rates: list[list[float]] = [[], []]
    for _ in range(repeats + 1):
        for model, mine in zip(models, rates, strict=True):
            start = time.perf_counter()
            model.learn(2 * 256 * 64)
            mine.append(2 * 256 * 64 / (time.perf_counter() - start))
    return statistics.median(rates[0][1:]), statistics.median(rates[1][1:])


FIRST_STEP = """
import time; start = time.perf_counter()
import gin_env; imported = time.perf_counter() - start
import gymnasium
env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=8, opponent="simple")
_, infos = env.reset(seed=0)
env.step(infos["action_mask"].argmax(axis=1))
print(imported, time.perf_counter() - start - imported)
"""


def first_use_seconds(repeats: int) -> dict[str, float]:
    """Seconds to import and to the first step of make_vec, with an empty and with a filled cache of kernels."""
    figures: dict[str, list[float]] = {name: [] for name in ("import", "cold", "warm")}
    for _ in range(max(repeats // 2, 1)):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("cold", "warm"):
                done = subprocess.run(
                    [sys.executable, "-c", FIRST_STEP],
                    env={**os.environ, "GIN_ENV_CACHE": folder},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                imported, first = map(float, done.stdout.split())
                figures[kind].append(first)
                if kind == "warm":
                    figures["import"].append(imported)
    return {name: statistics.median(values) for name, values in figures.items()}


def main(
    repeats: Annotated[int, typer.Option(help="Runs of each measurement; the median counts.")] = 7,
    core: Annotated[int, typer.Option(help="Processor to run on; -1 for any.")] = 0,
    training: Annotated[bool, typer.Option(help="Also measure SB3 training (a minute).")] = True,
    output: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file.")] = None,
) -> None:
    """Measure and print every speed figure of the README."""
    if core >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    figures: dict[str, float] = {}

    def report(name: str, value: float, unit: str) -> None:
        figures[name] = value
        typer.echo(f"{name:62} {value:14,.1f} {unit}")

    report("minimum deadwood of ten cards", deadwood_nanoseconds(repeats), "ns")
    report("random play, one kernel, legal set computed", fused_random_play(repeats), "decisions/s")
    report("random play by steps, byte mask", stepped_random_play(repeats, False), "decisions/s")
    report(
        "random play by steps, byte mask and observation", stepped_random_play(repeats, True), "decisions/s"
    )
    report("raw_env, observing the actor", raw_env_steps(repeats, gin_rummy_v0.raw_env()), "steps/s")
    report("env(), observing the actor", raw_env_steps(repeats, gin_rummy_v0.env()), "steps/s")
    report("Gymnasium environment against simple", single_env_steps(repeats), "steps/s")
    report("VectorEnv of 1,024 against simple", vector_env_steps(repeats, "simple"), "steps/s")
    match = median_rate(lambda: gin_env.play_match("simple", "simple", 4000).hands, repeats)
    report("play_match, simple against simple", match, "hands/s")
    report("state of one game", STATE.itemsize, "bytes")
    for name, value in first_use_seconds(repeats).items():
        label = "import gin_env" if name == "import" else f"make_vec and first step, {name} cache"
        report(label, value, "s")
    if training:
        ours, free = training_speeds(repeats)
        report("MaskablePPO training", ours, "steps/s")
        report("MaskablePPO training, free environment", free, "steps/s")
        report("share of the free environment's speed", 100 * ours / free, "%")
    if output is not None:
        output.write_text(json.dumps(figures, indent=2) + "\n")
        typer.echo(f"written to {output}")


if __name__ == "__main__":
    typer.run(main)
