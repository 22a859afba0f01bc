"""Actions that bots would play in recorded positions, and their ratings of each action.

Only bots with `action_values` or `action_chances` rate actions: see `gin_env.agents.base`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gin_env.agents import Agent
from gin_env.agents.base import HasActionChances, HasActionValues
from gin_env.agents.turns import check_bot_actions
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, Position, views_of

STRONGEST_WITH_VALUES = "generation"
"""Default bot for judging moves by its values."""


def chosen_actions(bot: Agent, view: PlayerView) -> np.ndarray:
    """Return the bot's actions, int64 (n,). Raises ValueError, naming the bot, for an illegal action."""
    actions = check_bot_actions(bot, bot.act(view), len(view))
    legal = view.masks()
    inside = (actions >= 0) & (actions < legal.shape[1])
    if not (inside & (legal[np.arange(len(view)), np.where(inside, actions, 0)] == 1)).all():
        raise ValueError(f"bot {bot.name!r} plays illegally")
    return actions


def action_values(bot: Agent, view: PlayerView) -> np.ndarray:
    """Return `HasActionValues.action_values`. Raises ValueError for a bot without values."""
    if not isinstance(bot, HasActionValues):
        raise ValueError(f"bot {bot.name!r} has no values of actions; {STRONGEST_WITH_VALUES!r} has")
    return bot.action_values(view)


def action_chances(bot: Agent, view: PlayerView) -> np.ndarray:
    """Return `HasActionChances.action_chances`. Raises ValueError for a bot without probabilities."""
    if not isinstance(bot, HasActionChances):
        raise ValueError(f"bot {bot.name!r} has no probabilities of actions; 'policy' has")
    return bot.action_chances(view)


@dataclass(frozen=True)
class Judgement:
    """A bot's judgement of a move that was played, by its values."""

    step: int
    """Number of the decision in the game, from 1."""
    hand: int
    """Index of the hand in the game, from 0."""
    player: int
    played: int
    best: int
    """The action that the bot would play."""
    loss: float
    """Points by which the bot values `best` above the played action; 0 if it does not."""


def decisions(game: GameRecord) -> list[Position]:
    """Return the positions in which a player made a decision, in order: the steps of the game."""
    return [position for position in game.positions() if position.is_decision]


def judge(steps: Sequence[Position], bot: Agent) -> list[Judgement]:
    """Return a judgement by the values of `bot` for every move with more than one legal action.

    Moves that the bot never considers are left out (for example, not knocking, if it always knocks as soon as
    possible), and so are those where it has no value for its own choice. Raises ValueError for a bot without
    values.
    """
    if not steps:
        return []
    view = views_of(steps)
    values = action_values(bot, view)
    chosen = chosen_actions(bot, view)
    judgements = []
    for number, (position, worth, best) in enumerate(zip(steps, values, chosen.tolist(), strict=True), 1):
        played = position.action
        if played is None or np.isfinite(worth).sum() < 2 or not np.isfinite(worth[[played, best]]).all():
            continue
        loss = max(float(worth[best] - worth[played]), 0.0)
        judgements.append(Judgement(number, position.hand, position.player, played, best, loss))
    return judgements
