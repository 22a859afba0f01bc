"""Pools of opponents for the bot of Keats 2017."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from research.reproduce.tables import Over, Row


def of_pools(sizes: Mapping[str, int], rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the matches with each pool, the first opponents up to its size."""
    return [row | {"pool": pool} for pool, size in sizes.items() for row in rows[:size]]


@Over
def points(rows: Sequence[Row]) -> str:
    """Return the points for each of the opponents'."""
    ours, theirs = (sum(row["points_per_hand"][side] for row in rows) for side in range(2))
    return f"{ours / theirs:.2f}"


beaten = Over(lambda rows: sum(row["low"] > 50 for row in rows))
"""A cell with the number of opponents beaten."""
