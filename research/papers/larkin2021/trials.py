"""The search for Tonic's numbers: ``python -m research tune tonic``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from research.recipes import tonic
from research.reproduce.tables import Row


def best_trials(rows: Sequence[Row]) -> list[Row]:
    """Return the best five trials that played all their games, and the search's starting point."""
    longest = [row for row in rows if row["games"] == max(one["games"] for one in rows)]
    found = sorted(longest, key=lambda row: row["mean"], reverse=True)[:5]
    return found if rows[0] in found else [*found, rows[0]]


def draw_trials(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Plot each trial's mean win rate against each of the six parameters.

    A line marks the bot that the search started from.
    """
    trials = []
    for row in rows:
        numbers = {key: row[key] for key in tonic.RANGES if row[key] is not None}
        trial = tonic.Candidate(row["bot"], numbers)
        for opponent in tonic.OPPONENTS:
            decided = row["games"] // len(tonic.OPPONENTS)
            trial.decided[opponent] = decided
            trial.won[opponent] = round(row[f"won against {opponent}"] * decided / 100)
        trials.append(trial)
    tonic.draw_trials(tonic.TuningResult({"games": 2000}, trials, [], [], None), path, origin)
