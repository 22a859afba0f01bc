"""What a bot thinks of a position: the action that it would take, and its values of all where it has them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env.agents import Agent
from gin_env.play.turns import check_bot_actions
from gin_env.views import PlayerView

POINTS, CHANCE = "points", "chance"


class Opinion(NamedTuple):
    """One bot's opinion of one position."""

    action: int
    """The action that it would take."""
    values: dict[int, float]
    """Its value of each legal action, the best first; empty for a bot that decides without values."""
    unit: str
    """What the values are: ``"points"`` that the player may expect, or the ``"chance"`` (0 to 1) that the
    bot's network gives the action."""


def opinion(bot: Agent, view: PlayerView) -> Opinion:
    """What `bot` would do in the place of the player of this one view, whose turn it is.

    Values come from the bot's method ``action_values(view)`` (points / 100) or ``probabilities(view)``, both
    (n, 107). Raises as `Agent.act` does, and ValueError unless the view is one, of a player to move.
    """
    if len(view) != 1 or not view.masks().any():
        raise ValueError("an opinion is asked for on one view, whose player is to move")
    action = int(check_bot_actions(bot, bot.act(view), 1)[0])
    if hasattr(bot, "action_values"):
        unit, numbers = POINTS, 100 * np.asarray(bot.action_values(view))[0]
    elif hasattr(bot, "probabilities"):
        unit, numbers = CHANCE, np.asarray(bot.probabilities(view))[0]
    else:
        return Opinion(action, {}, "")
    legal = [number for number in view.masks()[0].nonzero()[0].tolist() if np.isfinite(numbers[number])]
    best_first = sorted(legal, key=lambda number: (-numbers[number], number != action, number))
    return Opinion(action, {number: float(numbers[number]) for number in best_first}, unit)
