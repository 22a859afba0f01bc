"""Positions from a policy's own games, with the values of its most probable discards and knocks.

The policy plays against itself. At a share of its discards, its most probable actions are tried from
the true state, hidden cards included. The policy plays on for both players, and its network estimates
the probability of winning when the player is to draw for the third time. All actions are tried in the same
deal, so that common luck cancels. The value of an action in one position is mostly luck. Its mean over the
positions in which a player sees the same is the action's value in the policy's own games; a network that
learns the values (`research.recipes.gains`) approximates that mean. No belief about the hidden cards is
needed.

This is the rollout of Tesauro and Galperin ("On-line policy improvement using Monte-Carlo search", NIPS
1996), used as a training target (Lagoudakis and Parr, "Reinforcement learning as classification", ICML 2003).
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.policies.candidate_network import file_of_policy, find_policy_of_games
from gin_env.agents.policies.improved_policy import MAX_TRIED, MIN_CHANCE
from gin_env.agents.search.rollouts import RolloutPlayers, likeliest_action, position_value, score_candidates
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.engine import game_is_over, play, start_next_hand
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD, OVER, PUBLIC, STATE, STOCK_ONLY
from gin_env.game.streams import mix, unit
from gin_env.matches.provenance import hash_files
from gin_env.observations.candidates import DISCARD_ROWS, NO_ACTION
from gin_env.observations.views import VIEW
from gin_env.support.array_files import ArrayFileError, ArrayFormat
from gin_env.support.compilation import kernel

TURNS = 3
"""The network estimates the value when the player is to draw for this time."""
SHARE = 0.5
"""Probability that a discard with several actions to try becomes a position."""
SAMPLED = 0.3
"""Probability that an action is sampled from the policy; otherwise its most probable action is played."""
NUM_GAMES = 256
"""Number of games played at the same time."""
BLOCK = 100_000
"""Number of positions made together."""


def _public(*names: str) -> list[tuple[str, np.dtype]]:
    """Return fields of `gin_env.game.state.PUBLIC`."""
    return [(name, PUBLIC[name]) for name in names]


POSITION = np.dtype(
    [
        # What the player sees:
        ("hand", np.uint64),
        *_public("pile", "discarded", "declined", "shown", "discard_turn", "scores", "knock_limit", "phase"),
        ("player", np.int8),
        *_public("dealer", "first_upcard", "upcard", "taken", "stock_left", "turn"),
        # What the player does not see:
        ("opponent_hand", np.uint64),
        # The actions tried, the policy's choice first, the logarithms of the policy's probabilities, and the
        # change in the probability of winning after each action:
        ("num_tried", np.uint8),
        ("actions", np.int16, (MAX_TRIED,)),
        ("log_chances", np.float32, (MAX_TRIED,)),
        ("values", np.float32, (MAX_TRIED,)),
    ],
    align=True,
)
"""A discard of the player to move under the default rules. Unused actions are `NO_ACTION`."""


FORMAT = ArrayFormat(
    "block of action values",
    2,
    {"positions": (np.uint8, ("positions", POSITION.itemsize))},
    "python -m research train gains",
    {"policy": str, "files": dict, "seed": int, "block": int},
)


def collect_block(policy: str, seed: int, block: int, size: int = BLOCK) -> np.ndarray:
    """Return `POSITION` records (size,), the same for equal arguments; each block is from other games.

    `policy` is the file of a policy that scores candidates, or the name of a bundled one. Raises ValueError
    as `find_policy_of_games` does.
    """
    players = RolloutPlayers(find_policy_of_games(policy, match_values=True), None)
    games = Games(NUM_GAMES, episode="game")
    episodes = (block * NUM_GAMES + games.everyone).astype(np.uint64)
    games.start(games.everyone, episodes=episodes, seed=seed)
    positions = np.zeros(size, POSITION)
    chances, key = players.chances_to_win(Rules()), np.uint64(mix(np.uint64(seed), np.uint64(block)))
    _play_and_try(players.network, games.state, np.zeros(1, STATE), chances, key, positions)
    return positions


@dataclass(frozen=True)
class Blocks:
    """The blocks of one policy and seed, in files of a folder."""

    folder: Path
    policy: str
    seed: int

    def path(self, block: int) -> Path:
        """Return the file of a block."""
        return self.folder / f"block-{block}.npz"

    def describe(self, block: int) -> dict[str, Any]:
        """Return the metadata of a block."""
        files = hash_files([file_of_policy(self.policy)])  # without the gains, which play no part
        return {"policy": self.policy, "files": files, "seed": self.seed, "block": block}

    def write(self, block: int, positions: np.ndarray) -> None:
        """Write a block of positions to its file."""
        arrays = {"positions": positions.view(np.uint8).reshape(len(positions), -1)}
        FORMAT.write(self.path(block), arrays, self.describe(block))

    def read(self, block: int) -> np.ndarray:
        """Return the positions of a block. Raises ArrayFileError for another block or another policy's."""
        arrays, metadata = FORMAT.read(self.path(block))
        expected = self.describe(block)
        if {name: metadata[name] for name in expected} != expected:
            what = f"{self.path(block)} is another block: {metadata}, not {expected}"
            raise ArrayFileError(f"{what}; use another folder")
        return arrays["positions"].view(POSITION)[:, 0]


@kernel
def _play_and_try(network, games, trial, chances, key: int, positions) -> None:
    """Play the games on in turn, each by one action, until all positions are written.

    `trial` is a `STATE` record (1,) to try actions in; `chances` are those of `chances_to_win`.
    """
    room = network.room
    actions, scores = np.empty(MAX_TRIED, np.int64), np.empty(MAX_TRIED, np.float64)
    count, counter = 0, np.uint64(0)
    while True:
        for index in range(len(games)):
            game = games[index]
            public = game.public
            if public.phase == OVER:
                if game_is_over(public):
                    counter += np.uint64(1)
                    public.scores[:] = 0
                start_next_hand(game)
                continue
            if public.phase == STOCK_ONLY:
                play(game, DRAW_STOCK)
                continue
            mover = np.int64(public.to_move)
            num_rows = score_candidates(network, public, game.private[mover], mover)
            num_tried = _actions_to_try(room, num_rows, actions, scores)
            counter += np.uint64(3)
            if public.phase == DISCARD and num_tried >= 2 and unit(mix(key, counter)) < SHARE:
                position = positions[count]
                write_position(game, mover, position)
                position.num_tried = num_tried
                position.actions[:] = NO_ACTION
                own, other = np.int64(public.scores[mover]), np.int64(public.scores[1 - mover])
                for number in range(num_tried):
                    trial[0] = game
                    play(trial[0], actions[number])
                    position.actions[number] = actions[number]
                    position.log_chances[number] = scores[number]
                    position.values[number] = _play_on(network, trial[0], mover, (own, other), chances)
                count += 1
                if count == len(positions):
                    return
            chosen = actions[0]
            if unit(mix(key, counter + np.uint64(1))) < SAMPLED:
                mark = unit(mix(key, counter + np.uint64(2)))
                for number in range(num_tried):
                    mark -= np.exp(scores[number])
                    if mark < 0:
                        chosen = actions[number]
                        break
            play(game, chosen)


@kernel
def _actions_to_try(room, num_rows: int, actions: np.ndarray, scores: np.ndarray) -> int:
    """Write the actions to try and the logarithms of their probabilities, in falling order, ties by number.

    Returns their number, at most the length of both arrays and at least 1.
    """
    highest, total = -np.inf, 0.0
    for row in range(num_rows):
        for knock in range(2):
            if room.actions[row, knock] != NO_ACTION:
                highest = max(highest, np.float64(room.scores[row, knock]))
    for row in range(num_rows):
        for knock in range(2):
            if room.actions[row, knock] != NO_ACTION:
                total += np.exp(np.float64(room.scores[row, knock]) - highest)
    used = np.zeros(2 * DISCARD_ROWS, np.bool_)
    for number in range(len(actions)):
        best = -1
        for place in range(2 * num_rows):
            action = room.actions[place // 2, place % 2]
            score = np.float64(room.scores[place // 2, place % 2])
            if action == NO_ACTION or used[place]:
                continue
            lower = best >= 0 and action < room.actions[best // 2, best % 2]
            if best < 0 or score > scores[number] or (score == scores[number] and lower):
                best, scores[number] = place, score
        if best < 0:
            return number
        scores[number] = scores[number] - highest - np.log(total)
        if number > 0 and scores[number] < np.log(MIN_CHANCE):
            return number
        used[best] = True
        actions[number] = room.actions[best // 2, best % 2]
    return len(actions)


@kernel
def _play_on(network, game, player: int, scores: tuple[int, int], chances) -> float:
    """Return the change in the player's probability of winning when the policy plays on for both players.

    `scores` are the player's and the opponent's before the hand.
    """
    own, other = scores
    target = len(chances) - 1
    draws = 0
    while game.public.phase != OVER:
        public = game.public
        mover = np.int64(public.to_move)
        if public.phase == STOCK_ONLY:
            play(game, DRAW_STOCK)
            continue
        num_rows = score_candidates(network, public, game.private[mover], mover)
        if mover == player and public.phase != DISCARD:
            draws += 1
            if draws == TURNS:
                return position_value(network.room, num_rows) / 2
        play(game, likeliest_action(network.room, num_rows))
    points = np.int64(game.public.points)
    if game.public.winner < 0:
        return 0.0
    if game.public.winner == player:
        return chances[min(own + points, target), other] - chances[own, other]
    return chances[own, min(other + points, target)] - chances[own, other]


@kernel
def write_position(game, player: int, position) -> None:
    """Write what the player sees of a `STATE` record, and the opponent's hand, into a `POSITION` record."""
    public = game.public
    position.hand = game.private[player].hand
    position.opponent_hand = game.private[1 - player].hand
    position.pile = public.pile
    position.discarded[:] = public.discarded
    position.declined[:] = public.declined
    position.shown[:] = public.shown
    position.scores[:] = public.scores
    position.discard_turn[:] = public.discard_turn
    position.knock_limit = public.knock_limit
    position.phase = public.phase
    position.player = player
    position.dealer = public.dealer
    position.first_upcard = public.first_upcard
    position.upcard = public.upcard
    position.taken = public.taken
    position.stock_left = public.stock_left
    position.turn = public.turn


def view_records(positions: np.ndarray) -> np.ndarray:
    """Return `VIEW` records (n,) of default rules with what the players see, without the history."""
    views = np.zeros(len(positions), VIEW)
    views["player"], views["private"]["hand"] = positions["player"], positions["hand"]
    public = views["public"]
    public[:] = Games(1).state["public"]
    public["to_move"] = positions["player"]
    for name in set(PUBLIC.names or ()) & set(POSITION.names or ()):
        public[name] = positions[name]
    return views
