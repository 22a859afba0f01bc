"""The opponents that a person is offered: bots with names, levels and ratings."""

from __future__ import annotations

from typing import NamedTuple

from gin_env import agents
from gin_env.support.registry import has_torch


class Opponent(NamedTuple):
    """A bot as a person at the table."""

    name: str
    level: str
    bot: str
    rating: int
    """Rating of the leaderboard, to the nearest ten."""

    @property
    def available(self) -> bool:
        """Whether the bot can be loaded here."""
        return has_torch() or self.bot in agents.names(needs_torch=False)


OPPONENTS = (
    Opponent("Rosa", "easy", "random-discard", 1010),
    Opponent("Emil", "fairly easy", "defensive", 1290),
    Opponent("Nora", "medium", "simple", 1520),
    Opponent("Theo", "hard", "tonic", 1670),
    Opponent("Vera", "very hard", "policy", 1820),
    Opponent("Ada", "expert", "search", 1860),
)


def find_opponent(text: str) -> Opponent | None:
    """Return the opponent of this name or bot; None if it is none of those offered."""
    known = (one for one in OPPONENTS if text == one.bot or text.lower() == one.name.lower())
    return next(known, None)


def name_of(bot: str) -> str:
    """Return what a bot is called at the table.

    >>> name_of("simple"), name_of("marjj")
    ('Nora', 'marjj')
    """
    known = find_opponent(bot)
    return bot if known is None else known.name
