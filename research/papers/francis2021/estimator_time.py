"""Time of one estimate: CPU time per view in batches, over every decision of complete hands."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from gin_env import estimators
from gin_env.estimators.base import Estimator
from gin_env.training.estimators.positions import play_hands
from research.reproduce.experiment import Run
from research.reproduce.tables import Row

HANDS = 1000
REPEATS = 5


def measure_time(run: Run, measured: Sequence[str]) -> list[Row]:
    """Measure the microseconds of each estimator with a memory and from scratch, as medians of rounds."""
    names = run.some(measured)
    run.estimators += names
    run.used("simple")
    members = [estimators.make(name) for name in names]
    rounds = []
    for number in range(run.size(REPEATS, 1) + 1):  # the first compiles and is not counted
        run.say(f"round {number}")
        rounds.append(times_along(members, run.size(HANDS), run.seed))
    with_memory, from_scratch = 1e6 * np.median(rounds[1:], axis=0)
    return [
        {
            "estimator": name,
            "with_memory": round(float(memory), 4) if member.new_memory(1).dtype.itemsize else None,
            "from_scratch": round(float(scratch), 4),
        }
        for name, member, memory, scratch in zip(names, members, with_memory, from_scratch, strict=True)
    ]


def times_along(members: Sequence[Estimator], hands: int, seed: int) -> np.ndarray:
    """Return the seconds of one estimate in hands of Simple, float64 (2, num_estimators).

    The first row is with a memory, the second from scratch.
    """
    memories = [member.new_memory(2 * hands) for member in members]
    views, seconds = 0, np.zeros((2, len(members)))
    for games, waiting in play_hands(["simple"], hands, seed):
        view = games.views(waiting)
        slots = 2 * waiting + games.to_move()[waiting]
        views += len(view)
        for number, (member, memory) in enumerate(zip(members, memories, strict=True)):
            own = memory[slots]
            begun = time.process_time()
            member.advance(view, own)
            advanced = time.process_time()
            member.estimate(view)
            seconds[:, number] += advanced - begun, time.process_time() - advanced
            memory[slots] = own
    return seconds / views


def with_memory(row: Row) -> str:
    """Return the time with a memory."""
    return "none needed" if row["with_memory"] is None else f"{row['with_memory']:.2g}"
