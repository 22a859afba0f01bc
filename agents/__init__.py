"""The bots: every one by name, or as an object with the `Agent` interface.

>>> from gin_env import agents
>>> agents.names()
>>> bot = agents.make("simple", knock_at=4)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gin_env.agents.base import Agent
from gin_env.agents.random_bots import RandomBot
from gin_env.agents.simple import SimpleBot

__all__ = ["Agent", "make", "names", "resolve"]

_BOTS: dict[str, Callable[..., Agent]] = {
    "random": RandomBot,
    "simple": SimpleBot,
}


def names() -> list[str]:
    """The names of all bots."""
    return list(_BOTS)


def make(name: str, **params: Any) -> Agent:
    """A bot by name, or the trained policy in a file (``.zip``, see `gin_env.agents.policy`).

    Raises ValueError for an unknown name, TypeError for a parameter that the bot does not have.
    """
    if name in _BOTS:
        try:
            return _BOTS[name](**params)
        except TypeError as error:
            raise TypeError(f"bot {name!r}: {error}") from error
    if isinstance(name, str) and name.endswith(".zip"):
        from gin_env.agents.policy import PolicyBot

        return PolicyBot.load(name, **params)
    raise ValueError(
        f"unknown bot {name!r}; choose from {', '.join(_BOTS)}, or give the path of a trained policy (.zip)"
    )


def resolve(bot: str | Agent) -> Agent:
    """A bot from a name, a path or an object. Raises TypeError for an object that is no bot."""
    if isinstance(bot, str):
        return make(bot)
    if isinstance(bot, type) or not isinstance(bot, Agent):
        raise TypeError(f"a bot is a name or an object with `name` and `act(view)`, not {bot!r}")
    return bot
