"""Positions with the true hands, from bots that play each other.

For training and evaluating estimators only: this module reads the opponents' hands from the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gin_env import agents
from gin_env.agents import AnyAgent
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.cards import card_columns
from gin_env.game.rules import Rules
from gin_env.game.state import DRAW
from gin_env.game.streams import check_seed
from gin_env.observations.views import PlayerView
from gin_env.support.checks import is_integer

HANDS_PER_BATCH = 2048


@dataclass(frozen=True)
class Positions:
    """Views of n players and their opponents' true hands."""

    view: PlayerView
    hands: np.ndarray
    """uint64 (n,): the opponents' hands."""

    def __len__(self) -> int:
        return len(self.view)

    def truth(self) -> np.ndarray:
        """Return float32 (n, 52): 1 for the cards that the opponents hold."""
        return card_columns(self.hands).astype(np.float32)


def after_turns(games: Games, which: np.ndarray) -> np.ndarray:
    """Return in which of these unfinished games a turn has just been completed, bool (n,)."""
    public = games.state["public"][which]
    return (public["phase"] == DRAW) & (public["turn"] > 0)


def play_hands(
    bots: Sequence[AnyAgent], hands: int, seed: int, rules: Rules | None = None
) -> Iterator[tuple[Games, np.ndarray]]:
    """Play hands, and yield the games and the indices of unfinished ones after the deal and each action.

    Each batch of `HANDS_PER_BATCH` hands is a new `Games`. The bot in each seat is drawn from `bots`.
    """
    players = [agents.resolve(bot, programs=True) for bot in bots]
    if not players:
        raise ValueError("at least one bot is needed")
    if not is_integer(hands) or hands < 1:
        raise ValueError(f"hands must be positive, not {hands!r}")
    rng = np.random.default_rng([check_seed(seed), 1])
    for first in range(0, hands, HANDS_PER_BATCH):
        numbers = np.arange(first, min(first + HANDS_PER_BATCH, hands), dtype=np.uint64)
        games = Games(len(numbers), rules)
        games.start(seed=seed, episodes=numbers)
        seats = rng.integers(0, len(players), (len(numbers), 2))
        for waiting in games.until_over():
            yield games, waiting
            sitting = seats[waiting, games.to_move()[waiting]]
            play_seated(games, players, sitting, waiting, play_bot)
