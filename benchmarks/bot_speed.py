"""Speed of the bots' decisions.

    python benchmarks/bot_speed.py
    python benchmarks/bot_speed.py tonic simple --repeats 9 --json speed.json

A bot plays both seats of many games in parallel. The processor time of its `act`, which decides for all games
in one call, is measured. Dealing, playing and gathering the views are not included.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

import numpy as np
import typer

from gin_env import agents
from gin_env.agents import Agent, resolve
from gin_env.agents.turns import check_bot_actions
from gin_env.batch import Games
from gin_env.commands.options import BOT_HELP, Json, RulesOption, Seed, progress_bar, say, write_outputs
from gin_env.game.rules import Rules
from gin_env.support.atomic import check_targets
from gin_env.support.checks import check_integer
from gin_env.support.exits import command_line
from gin_env.support.files import write_json

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


def main(
    bots: Annotated[
        list[str] | None, typer.Argument(help=f"{BOT_HELP} Default: every bot without a network")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of runs per bot; the median is reported")] = 5,
    steps: Annotated[int, typer.Option(min=1, help="Number of calls in a run")] = 200,
    tables: Annotated[int, typer.Option(min=1, help="Number of decisions in a call")] = 2048,
    core: Annotated[int, typer.Option(help="Processor core to run on; -1: any")] = -1,
    seed: Seed = 0,
    rules: RulesOption = None,
    json: Json = None,
) -> None:
    """Measure decisions per second of bots, each against itself in a batch on one core."""

    from timing import pin_to_core  # research/ imports this file from elsewhere

    check_targets(json)
    pin_to_core(core)
    names = bots or agents.names(needs_torch=False)
    with progress_bar(len(names) * (repeats + 1), "run") as progress:
        speeds = measure_bots(
            names, repeats, steps, tables=tables, seed=seed, rules=rules, progress=progress.update
        )
    say("| bot | decisions/s | slowest and fastest run |\n|---|---:|---|", json)
    for speed in speeds:
        say(f"| `{speed.bot}` | {speed.median:,.0f} | {speed.slowest:,.0f} to {speed.fastest:,.0f} |", json)
    write_outputs((json, lambda file: write_json(file, [speed._asdict() for speed in speeds])))


if __name__ == "__main__":
    command_line("bot_speed.py", lambda: typer.run(main))
