"""Actions that bots would play, and the positions of a record in which a player decided."""

from __future__ import annotations

import numpy as np

from gin_env.agents import Agent
from gin_env.agents.turns import check_bot_actions
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, Position


def chosen_actions(bot: Agent, view: PlayerView) -> np.ndarray:
    """Return the bot's actions, int64 (n,). Raises ValueError, naming the bot, for an illegal action."""
    actions = check_bot_actions(bot, bot.act(view), len(view))
    legal = view.masks()
    inside = (actions >= 0) & (actions < legal.shape[1])
    if not (inside & (legal[np.arange(len(view)), np.where(inside, actions, 0)] == 1)).all():
        raise ValueError(f"bot {bot.name!r} plays illegally")
    return actions


def decisions(game: GameRecord) -> list[Position]:
    """Return the positions in which a player made a decision, in order: the steps of the game."""
    return [position for position in game.positions() if position.is_decision]
