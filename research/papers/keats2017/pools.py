"""Pools of opponents for the bot of paper 004."""

from __future__ import annotations

from collections.abc import Sequence

from research.reproduce.experiment import MEDIUM, TONIC, V2, V4, VARIABLE
from research.reproduce.tables import Over, Row, by, pivot

POOLS = {
    "one dummy": ("random-discard",),
    "three dummies": ("random", "random-discard", "simple"),
    "and the bots of paper 000": (MEDIUM, V2, V4),
    "and those of papers 001 and 002": (TONIC, VARIABLE, "late-knock-paper"),
}
"""Pool -> its opponents; one with "and" has those of the pools before it too, except the first."""


def pools_table(rows: Sequence[Row]) -> str:
    """Return a table of the mean win rate and points against each pool, in matches of two players."""
    found = by(rows, "opponent")
    pools: dict[str, list[str]] = {}
    for label, added in POOLS.items():
        pools[label] = [*(list(pools.values())[-1] if label.startswith("and") else ()), *added]
    lines = [row | {"pool": pool} for pool, bots in pools.items() for row in map(found.get, bots) if row]

    def points(rows: list[Row]) -> str:
        ours, theirs = (sum(row["points_per_hand"][side] for row in rows) for side in range(2))
        return f"{ours / theirs:.2f}"

    columns = {
        "opponents": "{#}",
        "games won, mean": "{won:mean .1f}",
        "points for each of theirs": Over(points),
        "opponents beaten": Over(lambda rows: sum(row["low"] > 50 for row in rows)),
    }
    return pivot(lines, {"pool": "{pool}"}, columns, "lrrrr")
