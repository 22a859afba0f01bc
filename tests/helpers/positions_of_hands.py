"""Positions of whole hands with a view, and what a belief reads of its past."""

from __future__ import annotations

import numpy as np
from hands_in_words import started

from gin_env import agents
from gin_env.agents.search.dealing import PAST, read_past
from gin_env.agents.turns import play_bot
from gin_env.game.rules import Rules
from gin_env.observations.views import PlayerView


def positions(
    rules: Rules, hands: int, seed: int = 3, bot: str = "simple"
) -> tuple[np.ndarray, list[PlayerView]]:
    """Return states of some hands and views, alternately of the player to move and of the other player."""
    table, player = started(hands, rules, seed=seed), agents.make(bot)
    states, views = [], []
    for step, running in enumerate(table.until_over()):
        for game in running[running % 7 == step % 7]:
            states.append(table.state[game].copy())
            views.append(table.views(np.array([game]), int(table.to_move()[game]) ^ (step // 7 % 2)))
        play_bot(table, player, running)
    return np.array(states), views


def past_of(view: PlayerView) -> np.void:
    past, record = np.zeros(1, PAST)[0], view.array[0]
    read_past(record["public"], record["private"], record["player"], past)
    return past
