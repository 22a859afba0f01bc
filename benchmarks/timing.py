"""Timing of the workloads in `workloads`, for ``python benchmarks/bench.py``.

The workloads are run in alternation, so that a slow phase of the machine affects all of them. The result is
the median of the runs.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from workloads import WORKLOADS, Work, fused_play, play_randomly, started_games

from gin_env.game.state import STATE


def timed(work: Work, rounds: int) -> tuple[float, dict[str, float]]:
    """Return the duration of one run in seconds and the amounts of work by unit."""
    start = time.perf_counter()
    amounts = work(rounds)
    seconds = time.perf_counter() - start
    return amounts.pop("seconds", seconds), amounts


def rounds_for(work: Work, seconds: float) -> int:
    """Return the number of rounds that take about this long. An unmeasured first round compiles."""
    timed(work, 1)
    rounds = 1
    while (taken := timed(work, rounds)[0]) < seconds / 8:
        rounds *= 4
    return max(1, math.ceil(rounds * seconds / taken))


def measure(
    names: Sequence[str] = tuple(WORKLOADS),
    repeats: int = 5,
    seconds: float = 0.3,
    progress: Callable[[int], object] | None = None,
) -> dict[str, float]:
    """Return the median rate of each workload, in its unit per second.

    `progress` is called with 1 after each of the ``len(names) * (repeats + 1)`` runs.
    """
    prepared = {}
    for name in names:
        work = WORKLOADS[name].make()
        prepared[name] = work, rounds_for(work, seconds)
        if progress is not None:
            progress(1)
    rates: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repeats):
        for name, (work, rounds) in prepared.items():
            taken, amounts = timed(work, rounds)
            rates[name].append(amounts[WORKLOADS[name].unit] / taken)
            if progress is not None:
                progress(1)
    return {name: statistics.median(values) for name, values in rates.items()}


def pin_to_core(core: int) -> None:
    """Pin this process to one core (negative: any), where the system supports it."""
    if core < 0:
        return
    if not hasattr(os, "sched_setaffinity"):
        raise ValueError("this system cannot pin a process to a core; use --core -1")
    try:
        os.sched_setaffinity(0, {core})
    except OSError as error:
        raise ValueError(f"core {core} cannot be used: {error.strerror}") from error


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes (Linux only)."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def memory_per_game(num_games: int = 20_000) -> dict[str, float]:
    """Return the bytes in the record of one game, and the growth of the process per game in play."""
    fused_play(2)(1)  # compile before the first measurement
    before = resident_bytes()
    games = started_games(num_games)
    play_randomly(games.state, games.results, 15, len(games))
    grown = resident_bytes() - before
    if grown < games.state.nbytes:
        raise RuntimeError("memory freed earlier was used again: measure this in a fresh process")
    return {"state bytes": STATE.itemsize, "bytes": grown / num_games}
