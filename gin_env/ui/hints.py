"""Hints: a bot's action and, if it has any, its ratings of the legal actions; estimators for beliefs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env import estimators
from gin_env.agents import Agent
from gin_env.agents.base import HasActionChances, HasActionValues
from gin_env.estimators.base import Estimator, NeedsHands
from gin_env.observations.views import PlayerView
from gin_env.ui.opinions import chosen_actions

POINTS, CHANCE = "points", "chance"


class Hint(NamedTuple):
    """One bot's opinion of one position."""

    action: int
    """The action that the bot would take."""
    values: dict[int, float]
    """The bot's value of each legal action that it considers, the best first; empty without values."""
    unit: str
    """Unit of the values: ``"points"``, the player's expected points, or ``"chance"``, the probability (0 to
    1) that the bot's network gives the action."""


def hint(bot: Agent, view: PlayerView) -> Hint:
    """Return what `bot` would do in the position of this view's player, who must be to move.

    Raises as `gin_env.ui.opinions.chosen_actions` does, and ValueError unless `view` is a single view of a
    player to move.
    """
    if len(view) != 1 or not view.masks().any():
        raise ValueError("a hint needs one view, whose player is to move")
    action = int(chosen_actions(bot, view)[0])
    if isinstance(bot, HasActionValues):
        unit, numbers = POINTS, bot.action_values(view)[0]
    elif isinstance(bot, HasActionChances):
        unit, numbers = CHANCE, bot.action_chances(view)[0]
    else:
        return Hint(action, {}, "")
    considered = np.flatnonzero(np.isfinite(numbers) & (view.masks()[0] == 1)).tolist()
    best_first = sorted(considered, key=lambda number: (-numbers[number], number != action, number))
    return Hint(action, {number: float(numbers[number]) for number in best_first}, unit)


def make_estimator(name: str) -> Estimator:
    """Return the estimator of this name. Raises ValueError for an estimator that needs both hands."""
    estimator = estimators.make(name)
    if isinstance(estimator, NeedsHands):
        raise ValueError(f"estimator {name!r} sees the opponent's hand: choose one that estimates it")
    return estimator
