"""Mappings for positions between the early, middle and late stages, an open question of Gallucci et al. 2021.

The paper calls its three stages a weakness and points to Sandholm ("Abstraction for solving large
incomplete-information games", AAAI 2015) for "a function that could be used to deal with cases that fall
between known abstraction points". Sandholm's function maps an opponent's bet between two bets of the
abstraction to each of them with a probability. Here, a number of cards dealt x is between the middles A and B
of two stages, and its strategy is the mean of the strategies of both stages. The weight of the lower stage is

- ``"hard"``: 1 if x belongs to it, otherwise 0 (the paper's bot);
- ``"linear"``: (B - x) / (B - A);
- ``"harmonic"``: the pseudo-harmonic mapping of Ganzfried and Sandholm ("Action translation in extensive-form
  games with large action spaces", IJCAI 2013), (B - x) (1 + A) / ((B - A) (1 + x)).

Before the first middle and after the last one, a single stage has all the weight. If training visited only
some of the weighted stages, only those count. No mapping needs further training.
"""

from __future__ import annotations

import numpy as np

from gin_env.agents.cfr import paper_sets
from gin_env.agents.cfr.bot import StrategyTable
from gin_env.agents.cfr.paper_sets import DEALT_COUNTS, FIRST_DEALT, STAGES

MAPPINGS = ("hard", "linear", "harmonic")
MIDDLES = (25.0, 35.5, 45.5)
"""Number of cards dealt in the middle of each stage: 20 to 30, 31 to 40, 41 to 50."""
LAST_DEALT = (30, 40)
"""Maximum number of cards dealt in the early and in the middle stage."""


def stage_weights(mapping: str) -> np.ndarray:
    """Return the weights of the stages for each number of cards dealt, from 20 on.

    The result is float64 (DEALT_COUNTS, STAGES).
    """
    if mapping not in MAPPINGS:
        raise ValueError(f"unknown stages {mapping!r}; choose from {', '.join(MAPPINGS)}")
    cards: np.ndarray = np.arange(FIRST_DEALT, FIRST_DEALT + DEALT_COUNTS)
    if mapping == "hard":
        return np.eye(STAGES)[np.searchsorted(LAST_DEALT, cards)]
    middles = np.array(MIDDLES)
    if mapping == "harmonic":  # linear in 1 / (1 + x)
        cards, middles = -1 / (1 + cards), -1 / (1 + middles)
    return np.stack([np.interp(cards, middles, stage) for stage in np.eye(STAGES)], axis=1)


def interpolate(table: StrategyTable, mapping: str) -> StrategyTable:
    """Return a table of the abstraction ``"dealt"`` made from one of ``"paper"`` by one of `MAPPINGS`.

    Raises ValueError for a table of another abstraction and for an unknown mapping.
    """
    if table.metadata["abstraction"] != "paper":
        raise ValueError(
            "only a table of the abstraction 'paper' has stages to map, "
            f"not {table.metadata['abstraction']!r}"
        )
    weights = stage_weights(mapping)
    first_draw, first_knock = paper_sets.FIRST_DRAW_SETS[0], paper_sets.FIRST_KNOCK_SETS[0]
    discards = table.strategy[:first_draw].reshape(52, STAGES, -1)
    draws = table.strategy[first_draw:first_knock].reshape(STAGES + 1, -1)
    mapped = np.concatenate(
        [
            _weighted(discards, weights).ravel(),
            _weighted(draws[:STAGES], weights).ravel(),
            draws[STAGES],  # the opening offer
            table.strategy[first_knock:],  # knock sets already contain the number of cards dealt
        ]
    )
    return StrategyTable(mapped, table.metadata | {"abstraction": "dealt", "stages": mapping})


def _weighted(strategy: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return a strategy (..., STAGES, k) averaged over its stages by weight, (..., DEALT_COUNTS, k)."""
    visited = strategy >= 0
    mixed = weights @ np.where(visited, strategy, 0.0)
    total = weights @ visited
    return np.divide(mixed, total, out=np.full(mixed.shape, -1.0), where=total > 0)
