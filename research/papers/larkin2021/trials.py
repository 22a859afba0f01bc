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
        decided = row["games"] // len(tonic.OPPONENTS)
        won = {one: round(row[f"won against {one}"] * decided / 100) for one in tonic.OPPONENTS}
        trials.append(tonic.Candidate(row["bot"], row, won, dict.fromkeys(won, decided)))
    tonic.draw_trials(trials, 2000, path, origin)
