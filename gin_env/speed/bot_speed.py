"""Speed of the bots' decisions, for ``gin-rummy bot-speed``.

A bot plays both seats of many games in parallel. The processor time of its `act`, which decides for all games
in one call, is measured. Dealing, playing and gathering the views are not included.
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
from gin_env.game.rules import Rules
from gin_env.support.checks import check_integer

TABLES = 2048
"""Number of games played in parallel, which is the number of decisions per call."""


class BotSpeed(NamedTuple):
    """Decisions per second on one core."""

    bot: str
    median: float
    slowest: float
    fastest: float
    """The fastest repetition."""


class _Play:
    """A bot playing against itself at many tables, where a new game starts whenever one ends."""

    def __init__(self, bot: Agent, tables: int, seed: int, rules: Rules | None) -> None:
        self.bot = bot
        self.games = Games(tables, rules)
        self.seed = seed
        self.begun = 0
        self._begin(self.games.everyone)

    def _begin(self, places: np.ndarray) -> None:
        numbers = np.arange(self.begun, self.begun + len(places), dtype=np.uint64)
        self.games.start(places, seed=self.seed, episodes=numbers)
        self.begun += len(places)

    def step(self) -> float:
        """Play one decision at every table and return the bot's processor time in seconds."""
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
    rules: Rules | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[BotSpeed]:
    """Return the speed of each bot, with the bots run in alternation.

    Each of the `repeats` runs of a bot makes `steps` calls of `tables` decisions. `progress` is called with 1
    after each of the ``len(bots) * (repeats + 1)`` runs; the first run of each bot compiles and is not
    counted. If a bot needs PyTorch, PyTorch is limited to one thread for the rest of the process, since the
    processor time of other threads would not be counted.
    """
    check_integer("repeats", repeats, 1, 10**6)
    check_integer("steps", steps, 1, 10**9)
    check_integer("tables", tables, 1, 10**6)
    playing = [_Play(resolve(bot, programs=True), tables, seed, rules) for bot in bots]
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
