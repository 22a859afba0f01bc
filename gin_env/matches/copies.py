"""Separate copies of a bot for the two games of a deal.

In the second game of a deal a bot holds the hand that its opponent held in the first. A bot that remembers
the first game would therefore know its opponent's cards. Bots of this package keep no memory. Any other bot
plays each half of a match, with one game of every deal, as a new copy. It carries nothing from one half to
the other or from one match to the next.
"""

from __future__ import annotations

import warnings
from copy import deepcopy

import numpy as np

from gin_env.agents import Agent
from gin_env.agents.adapted import AdaptedBot
from gin_env.agents.process import ProcessBot


def may_remember(bot: Agent) -> bool:
    """Return whether a bot could keep a memory: a program, or a class or network of somebody else."""
    network = getattr(bot, "network", None)
    is_own_network = hasattr(network, "state_dict") and _package(network) not in ("gin_env", "torch")
    return isinstance(bot, ProcessBot | AdaptedBot) or _package(bot) != "gin_env" or is_own_network


def _package(instance: object) -> str:
    return type(instance).__module__.partition(".")[0]


def split_deals(order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the second game of each deal: int64 (n / 2,) each, in the order of int64 (n,)."""
    is_first = np.zeros(len(order), bool)
    is_first[np.unique(order // 2, return_index=True)[1]] = True
    return order[is_first], order[~is_first]


def new_copies(bots: tuple[Agent, Agent]) -> tuple[Agent, Agent]:
    """Return the bots for one half of a match; one object in both places stays one object."""
    first = _new_copy(bots[0])
    return first, first if bots[1] is bots[0] else _new_copy(bots[1])


def _new_copy(bot: Agent) -> Agent:
    if not may_remember(bot):
        return bot
    try:
        return deepcopy(bot)
    except Exception as error:
        warnings.warn(
            f"bot {bot.name!r} cannot be copied ({error!r}), so it plays both games of each deal and could "
            "recognise its opponent's cards; give it a __deepcopy__",
            stacklevel=4,
        )
        return bot
