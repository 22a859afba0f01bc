"""What a bot would do in a player's place, and how it rates the player's actions if it does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env.agents import Agent
from gin_env.agents.base import HasActionChances, HasActionValues
from gin_env.observations.views import PlayerView
from gin_env.ui.opinions import chosen_actions

POINTS, CHANCE = "points", "chance"


class Hint(NamedTuple):
    """One bot's opinion of one position."""

    action: int
    """The action that it would take."""
    values: dict[int, float]
    """Its value of each legal action that it considers, the best first; empty for a bot without values."""
    unit: str
    """What the values are: ``"points"`` that the player may expect, or the ``"chance"`` (0 to 1) that the
    bot's network gives the action."""


def hint(bot: Agent, view: PlayerView) -> Hint:
    """Return what `bot` would do in the place of the player of this view, who must be to move.

    Raises as `gin_env.ui.opinions.chosen_actions` does, and ValueError unless the view is one, of a player
    to move.
    """
    if len(view) != 1 or not view.masks().any():
        raise ValueError("a hint is given for one view, whose player is to move")
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
