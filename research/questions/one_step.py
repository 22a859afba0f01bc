"""The gain from looking ahead in one decision, evaluated with the true hands.

Positions come from games of the policy. At each position the policy's most likely actions are evaluated
twice: in sampled worlds, as `search` does, and with the true hands. With the true hands, the policy and the
real opponent play the hand to its end for many shuffles of the stock. The gain of a search variant is the
value of the action that its worlds recommend minus the value of the policy's choice, both with the true
hands. It measures the worlds, the rollouts and the selection rule together.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from gin_env import agents
from gin_env.agents.base import Agent
from gin_env.agents.search.belief import after, mean_and_error
from gin_env.agents.search.bot import FIRST_ROUND, SearchBot
from gin_env.agents.search.small_networks import OTHER_ESTIMATOR
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.rules import Rules
from gin_env.game.state import STOCK_ONLY
from gin_env.observations.views import PlayerView
from research.reproduce.experiment import Run, ratio_row
from research.reproduce.tables import Row

POSITIONS = 2000
"""Number of positions against each opponent."""
BLOCK = 250
"""Number of positions measured and saved together."""
OPPONENTS = ("policy-1", "simple")
STOPPED = 0.025
"""Probability that a decision of the policy is sampled as a position: about two per game."""
FUTURES = 32
"""Number of shuffles of the stock with the true hands."""
HALF = FUTURES // 2
COUNTS = (16, 64, 256)
WORLDS = max(COUNTS)
CAUTIONS = (0.0, 1.0)


SETTINGS: dict[str, dict[str, Any]] = {
    "all unknown cards equally likely": {"opponent": "policy", "estimator": "uniform"},
    "single cards, trained on `simple`": {"opponent": "policy", "estimator": "suit-equivariant"},
    "single cards, trained on `simple`, which plays the rollouts": {
        "opponent": "simple",
        "estimator": "suit-equivariant",
    },
    "single cards, trained on `policy-1`": {"opponent": "policy", "estimator": OTHER_ESTIMATOR},
    "single cards, trained on `policy-1`, weighted by shape": {"opponent": "policy"},
    "opponent recognised, weighted by shape": {},
}
"""Parameters of `search` to try, by the name of the belief."""
TRUE = "true hands"
MEASURED = ("won", "points", "changed")
"""Means over all positions: probability of winning, points of the hand, share of decisions changed."""
VARIANTS: list[Row] = [
    {"belief": TRUE, "samples": HALF, "caution": 0.0},
    *(
        {"belief": belief, "samples": samples, "caution": caution}
        for belief, samples, caution in product(SETTINGS, COUNTS, CAUTIONS)
    ),
]
"""The settings of a decision: belief, number of worlds and caution."""


def positions(opponent: Agent, policy: Agent, count: int, seed: int) -> np.ndarray:
    """Return `STATE` records, shape (count,), in which player 0, the policy, is to move and has a choice.

    Each decision becomes a position with probability `STOPPED`. Fewer are returned if `count` games do not
    contain enough of them.
    """
    random = np.random.default_rng(seed)
    batch = Games(count, episode="game")
    batch.start(seed=seed)
    found = []
    for running in batch.until_over():
        sitting = batch.to_move()[running]
        stopped = running[(sitting == 0) & (random.random(len(running)) < STOPPED)]
        found.append(batch.state[stopped][batch.state["public"]["phase"][stopped] != STOCK_ONLY])
        play_seated(batch, [policy, opponent], sitting, running, play_bot)
    states = np.concatenate(found)
    return states[random.permutation(len(states))[:count]]


def view_of(state: np.void) -> PlayerView:
    """Return player 0's view of a game."""
    batch = Games(1)
    batch.state[0] = state
    return batch.views(batch.everyone, 0)


def shuffle_stock(state: np.void, count: int, random: np.random.Generator) -> np.ndarray:
    """Return copies of a `STATE` record with the stock in random orders."""
    shuffled = np.repeat(state.reshape(1), count)
    rules = Rules.from_record(state["public"]["rules"])
    stock = slice(rules.deck_size - int(state["public"]["stock_left"]), rules.deck_size)
    shuffled["hidden"]["deck"][:, stock] = random.permuted(shuffled["hidden"]["deck"][:, stock], axis=1)
    return shuffled


def measure_one_step(run: Run) -> list[Row]:
    """Measure the gains against both opponents; a resumed run skips the blocks already measured."""
    rows: list[Row] = []
    for opponent in run.some(OPPONENTS, 1):
        run.used("search", opponent)
        trial, size, blocks = Trial(opponent), run.size(BLOCK, 4), []
        for number in range(run.size(POSITIONS // BLOCK, 2)):
            run.say(f"against {opponent}, positions {number * size:,} to {(number + 1) * size:,}")
            blocks.append(run.kept(f"{opponent}-{number}", trial.measure, size, run.seed + number))
            if blocks[-1]["variants"] != VARIANTS:
                raise ValueError(f"{run.folder} has other variants than this program: delete it")
        num_positions = sum(block["positions"] for block in blocks)
        # The blocks are independent of each other, unlike the positions of one game.
        means = np.array([block["means"] for block in blocks])
        for index, variant in enumerate(VARIANTS):
            row = {"opponent": opponent, "positions": num_positions} | variant
            for place, name in enumerate(MEASURED):
                row |= ratio_row(means[:, index, place], digits=4, name=name)
            rows.append(row)
    return rows


class Trial:
    """Trials of search variants at decisions of the policy against one opponent.

    `opponent` is the bot's name.
    """

    def __init__(self, opponent: str) -> None:
        self.opponent = agents.make(opponent)
        self.bots = {belief: SearchBot(**settings) for belief, settings in SETTINGS.items()}
        self.searcher = next(iter(self.bots.values()))
        """The bot whose policy and value of points are used for all variants."""
        self.policy = self.searcher.policy

    def measure(self, count: int, seed: int) -> dict[str, Any]:
        """Return the mean gain of each variant over the policy."""
        states = positions(self.opponent, self.policy, count, seed)
        gains = [
            self.gains(state, np.random.default_rng([seed, number])) for number, state in enumerate(states)
        ]
        return {"positions": len(states), "variants": VARIANTS, "means": np.mean(gains, axis=0).tolist()}

    def gains(self, state: np.void, random: np.random.Generator) -> np.ndarray:
        """Return `MEASURED` of each variant at one position, float64 (len(VARIANTS), 3).

        They are 0 if only one action is likely.
        """
        view = view_of(state)
        tried = self.searcher.likeliest(view)[0]
        if len(tried) == 1:
            return np.zeros((len(VARIANTS), len(MEASURED)))
        won, points = self.true_gains(state, tried, random)
        # For `TRUE`, one half of the futures selects the action, the other evaluates it.
        best = int(won[:, :HALF].mean(axis=1).argmax())
        gains = [_gain(best, won[:, HALF:], points[:, HALF:])]
        for bot in self.bots.values():
            models = bot.begin(view, copy.deepcopy(random))
            # Every part of the worlds has all models.
            parts = [
                bot.gains_in_models(view, models, FIRST_ROUND, tried) for _ in range(WORLDS // FIRST_ROUND)
            ]
            in_worlds = np.concatenate(parts, axis=1)
            for samples, caution in product(COUNTS, CAUTIONS):
                mean, error = mean_and_error(in_worlds[:, :samples])
                gains.append(_gain(int((mean - caution * error).argmax()), won, points))
        return np.array(gains)

    def true_gains(
        self, state: np.void, tried: np.ndarray, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the probability of winning, in per cent, and the points, relative to the first action.

        Both are float64 (k, FUTURES).
        """
        shuffled = shuffle_stock(state, FUTURES, random)
        futures = after(np.tile(shuffled, len(tried)), np.repeat(tried, FUTURES))
        for running in futures.until_over():
            sitting = futures.to_move()[running]
            play_seated(futures, [self.policy, self.opponent], sitting, running, play_bot)
        points = 100.0 * futures.rewards
        own, other = state["public"]["scores"].tolist()
        won = 100 * self.searcher.worth(futures.rules, np.rint(points).astype(np.int64), own, other)
        won, points = won.reshape(len(tried), FUTURES), points.reshape(len(tried), FUTURES)
        return won - won[0], points - points[0]


def _gain(chosen: int, won: np.ndarray, points: np.ndarray) -> tuple[float, float, float]:
    """Return the chosen action's mean gain in win probability and points, and 1 if it is not the policy's."""
    return float(won[chosen].mean()), float(points[chosen].mean()), float(chosen != 0)


def is_main_variant(row: Row) -> bool:
    """Return whether the page shows a variant: the most worlds, or the true hands."""
    return row["belief"] == TRUE or (row["samples"], row["caution"]) == (WORLDS, max(CAUTIONS))


def main_variants(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the main variants."""
    return list(filter(is_main_variant, rows))


def by_worlds(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of bots such as ``search:samples=16`` with their number of worlds."""
    return [row | {"worlds": int(row["bot"].split("=")[1])} for row in rows]
