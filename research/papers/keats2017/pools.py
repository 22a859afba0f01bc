"""Pools of opponents for the bot of Keats 2017."""

from __future__ import annotations

from collections.abc import Sequence

from research.reproduce.experiment import MEDIUM, TONIC, V2, V4, VARIABLE
from research.reproduce.tables import Over, Row, by

DUMMIES = ("random", "random-discard", "simple")
PAPER_000 = (MEDIUM, V2, V4)
POOLS = {
    "one dummy": ("random-discard",),
    "three dummies": DUMMIES,
    "and the bots of Gallucci et al.": (*DUMMIES, *PAPER_000),
    "and those of Larkin et al. and Truong and Neller": (
        *DUMMIES,
        *PAPER_000,
        TONIC,
        VARIABLE,
        "late-knock-paper",
    ),
}
"""Pool -> its opponents."""


def of_pools(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the matches with each pool."""
    found = by(rows, "opponent")
    return [found[bot] | {"pool": pool} for pool, bots in POOLS.items() for bot in bots if bot in found]


@Over
def points(rows: Sequence[Row]) -> str:
    """Return the points for each of the opponents'."""
    ours, theirs = (sum(row["points_per_hand"][side] for row in rows) for side in range(2))
    return f"{ours / theirs:.2f}"


beaten = Over(lambda rows: sum(row["low"] > 50 for row in rows))
"""A cell with the number of opponents beaten."""
