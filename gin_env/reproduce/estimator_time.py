"""Time of one estimate: processor time of one core for a view in a batch, along whole hands."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence

import numpy as np

from gin_env import agents, estimators
from gin_env.batch import Games
from gin_env.estimators.base import Estimator
from gin_env.reproduce.experiments import Experiment, Row, Run, markdown

MEASURED = (
    "uniform", "bayes-isru", "bayes", "logistic", "logistic:normalised=true", "nn", "shankar-cnn",
    "ensemble", "suit-equivariant",
)  # fmt: skip
TABLES = 1024
REPEATS = 5


def measure_time(run: Run) -> list[Row]:
    """A row for each estimator: microseconds with a memory and from scratch, medians of several rounds."""
    names = run.some(MEASURED)
    run.estimators += names
    run.used("simple")
    members = [estimators.make(name) for name in names]
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # the time of other threads would not be counted
    rounds = run.size(REPEATS, 1)
    times: list[list[tuple[float, float]]] = [[] for _ in members]
    for number in range(rounds + 1):
        for found, member in zip(times, members, strict=True):
            run.say(f"{member.name}, round {number} of {rounds}")
            found.append(times_along(member, run.size(TABLES, 8), run.seed))
    rows = []
    for name, member, found in zip(names, members, times, strict=True):
        memory, scratch = (
            statistics.median(both) for both in zip(*found[1:], strict=True)
        )  # the first compiles
        needed = member.new_memory(1).dtype.itemsize > 0
        rows.append(
            {
                "estimator": name,
                "with_memory": round(1e6 * memory, 4) if needed else None,
                "from_scratch": round(1e6 * scratch, 4),
            }
        )
    return rows


def times_along(estimator: Estimator, tables: int, seed: int) -> tuple[float, float]:
    """Seconds of an estimate with a memory and from scratch, over all turns of hands of Simple."""
    simple = agents.make("simple")
    games = Games(tables)
    games.start(games.everyone, np.full(tables, seed, np.uint64), games.everyone.astype(np.uint64))
    memories = [estimator.new_memory(tables) for _ in range(2)]
    views, advancing, estimating = 0, 0.0, 0.0
    while len(running := np.flatnonzero(~games.done)):
        sitting = games.to_move()[running]
        for seat, memory in enumerate(memories):
            places = running[sitting == seat]
            view = games.views(places)
            own = memory[places]
            begun = time.thread_time()
            estimator.advance(view, own)
            advanced = time.thread_time()
            estimator.estimate(view)
            estimating += time.thread_time() - advanced
            advancing += advanced - begun
            memory[places] = own
            views += len(places)
            games.play(places, simple.act(view))
    return advancing / views, estimating / views


def time_table(rows: Sequence[Row]) -> str:
    """Microseconds of one estimate."""
    lines = [
        (
            f"`{row['estimator']}`",
            "none needed" if row["with_memory"] is None else f"{row['with_memory']:.2g}",
            f"{row['from_scratch']:.2g}",
        )
        for row in rows
    ]
    return markdown(["estimator", "µs with a memory", "from scratch"], lines, "lrr")


EXPERIMENTS = [
    Experiment("003/time", "Time of one estimate", measure_time, time_table, games=0, time="two minutes"),
]
