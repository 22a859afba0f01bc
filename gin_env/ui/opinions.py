"""What bots think of positions: what they would play, and what each action is worth to them.

A bot may have one of two methods beside `act`, both for n views of players to move:

- ``action_values(view)``, float64 (n, 107): the points of the hand that each action brings on average, NaN
  for actions that are no choice (`generation`);
- ``action_chances(view)``, float64 (n, 107): with which probability each action is chosen, 0 for those that
  are no choice (`policy`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gin_env.agents import Agent
from gin_env.agents.turns import check_bot_actions
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, Position, views_of

STRONGEST_WITH_VALUES = "generation"
"""The bot by whose values moves are judged, unless another is named."""


def chosen_actions(bot: Agent, view: PlayerView) -> np.ndarray:
    """int64 (n,): what the bot plays. Raises ValueError that names it for what it may not play."""
    actions = check_bot_actions(bot, bot.act(view), len(view))
    legal = view.masks()
    inside = (actions >= 0) & (actions < legal.shape[1])
    if not (inside & (legal[np.arange(len(view)), np.where(inside, actions, 0)] == 1)).all():
        raise ValueError(f"bot {bot.name!r} plays illegally")
    return actions


def has_values(bot: Agent) -> bool:
    """Whether the bot says how many points each action is worth."""
    return hasattr(bot, "action_values")


def has_chances(bot: Agent) -> bool:
    """Whether the bot says with which probability it chooses each action."""
    return hasattr(bot, "action_chances")


def action_values(bot: Agent, view: PlayerView) -> np.ndarray:
    """float64 (n, 107), see above. Raises ValueError for a bot without values."""
    if not has_values(bot):
        raise ValueError(f"bot {bot.name!r} has no values of actions; {STRONGEST_WITH_VALUES!r} has")
    return bot.action_values(view)  # type: ignore[attr-defined]


def action_chances(bot: Agent, view: PlayerView) -> np.ndarray:
    """float64 (n, 107), see above. Raises ValueError for a bot without probabilities."""
    if not has_chances(bot):
        raise ValueError(f"bot {bot.name!r} has no probabilities of actions; 'policy' has")
    return bot.action_chances(view)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Judgement:
    """A move that was played, by the values of a bot."""

    step: int
    """Its number among the decisions of the game, from 1."""
    hand: int
    """From 0."""
    player: int
    played: int
    best: int
    """The action with the highest value."""
    loss: float
    """Points by which the played action is worth less than the best; 0 for the best itself."""


def decisions(game: GameRecord) -> list[Position]:
    """The positions in which somebody decided, in order: the steps of the game."""
    return [position for position in game.positions() if position.is_decision]


def judge(steps: Sequence[Position], bot: Agent) -> list[Judgement]:
    """Every move that left a choice, by the values of `bot`.

    Moves that the bot never considers (it may knock at the first chance always) are left out. Raises
    ValueError for a bot without values.
    """
    if not steps:
        return []
    view = views_of(steps)
    values = action_values(bot, view)
    chosen = chosen_actions(bot, view)
    judgements = []
    for number, (position, worth, best) in enumerate(zip(steps, values, chosen.tolist(), strict=True), 1):
        played = position.action
        if played is None or np.isfinite(worth).sum() < 2 or not np.isfinite(worth[played]):
            continue
        loss = max(float(worth[best] - worth[played]), 0.0)
        judgements.append(Judgement(number, position.hand, position.player, played, best, loss))
    return judgements
