"""The search for Tonic's numbers: ``python -m research tune tonic``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from research.recipes import tonic
from research.reproduce.tables import Row, table


def trials_table(rows: Sequence[Row], most: int = 5) -> str:
    """Return a table of the best trials that played all their games, and of the search's starting point."""
    longest = [row for row in rows if row["games"] == max(one["games"] for one in rows)]
    best = sorted(longest, key=lambda row: row["mean"], reverse=True)[:most]
    columns = {"trial": "{trial}", "bot": "`{bot}`", "games won, mean of the three opponents": "{mean:.2f}"}
    return table(best if rows[0] in best else [*best, rows[0]], columns, "rlr")


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
