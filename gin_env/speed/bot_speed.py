"""How fast bots decide: ``gin-rummy bot-speed``.

A bot plays both seats of many games at once; what counts is the processor time of its `act`, which decides
for all of them in one call. Dealing, playing and gathering the views are not the bot's and are left out.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gin_env.agents import Agent, resolve
from gin_env.agents.turns import check_bot_actions
from gin_env.batch import Games
from gin_env.support.checks import check_integer

TABLES = 2048
"""Games played at once, and so decisions in a call."""


class BotSpeed(NamedTuple):
    """Decisions a second on one core."""

    bot: str
    median: float
    slowest: float
    fastest: float
    """Of the repetitions."""


class _Play:
    """A bot against itself at many tables, whose games follow each other without end."""

    def __init__(self, bot: Agent, tables: int, seed: int) -> None:
        self.bot = bot
        self.games = Games(tables)
        self.seed = seed
        self.begun = 0
        self._begin(self.games.everyone)

    def _begin(self, places: np.ndarray) -> None:
        numbers = np.arange(self.begun, self.begun + len(places), dtype=np.uint64)
        self.games.start(places, np.full(len(places), self.seed, np.uint64), numbers)
        self.begun += len(places)

    def step(self) -> float:
        """One decision at every table; the seconds of processor time that the bot took."""
        views = self.games.views(self.games.everyone)
        start = time.thread_time()
        actions = self.bot.act(views)
        taken = time.thread_time() - start
        actions = check_bot_actions(self.bot, actions, len(views))
        self.games.play(self.games.everyone, actions, who=f"bot {self.bot.name!r}")
        if len(over := np.flatnonzero(self.games.done)):
            self._begin(over)
        return taken


def measure_bots(
    bots: Sequence[str | Agent],
    repeats: int = 5,
    steps: int = 200,
    *,
    tables: int = TABLES,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> list[BotSpeed]:
    """Speed of each bot: `repeats` times `steps` calls for `tables` decisions each, all bots in alternation.

    `progress` is called with 1 after each of the ``len(bots) * (repeats + 1)`` runs; the first run of each
    bot compiles and is not counted. PyTorch computes with one thread from here on, if a bot needs it: the
    processor time of others would not be counted.
    """
    check_integer("repeats", repeats, 1, 10**6)
    check_integer("steps", steps, 1, 10**9)
    check_integer("tables", tables, 1, 10**6)
    playing = [_Play(resolve(bot, programs=True), tables, seed) for bot in bots]
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    rates: list[list[float]] = [[] for _ in playing]
    for repeat in range(repeats + 1):
        for place, play in enumerate(playing):
            taken = sum(play.step() for _ in range(steps))
            if repeat:
                rates[place].append(steps * tables / max(taken, 1e-9))
            if progress is not None:
                progress(1)
    return [
        BotSpeed(play.bot.name, statistics.median(values), min(values), max(values))
        for play, values in zip(playing, rates, strict=True)
    ]
