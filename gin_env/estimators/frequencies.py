"""Frequencies with which a card is held after a turn, by bucket of `gin_env.estimators.turn_buckets`.

Papers 002 and 003 both count "10,000 games" of two Simple players; their estimators ``bayes-isru`` and
``bayes`` here work on the same packaged table. ``python -m research train estimator bayes table.npz`` makes
such a table.

A card counts as seen if, after a completed turn that did not end the hand, its place is unknown to the
player who watched the turn; as held if the player whose turn it was has it then. So held / seen
is the probability that a card of a bucket is held after the turn. The same is counted for the time before the
turn, by rank alone: the information in a turn is the change of this probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.estimators.registry import ESTIMATORS
from gin_env.estimators.turn_buckets import BUCKETS
from gin_env.game.cards import NUM_RANKS
from gin_env.support.array_files import ArrayFileError, ArrayFormat

FORMAT = ArrayFormat(
    kind="table of frequencies",
    version=1,
    arrays={
        "seen": (np.uint32, BUCKETS),
        "held": (np.uint32, BUCKETS),
        "seen_before": (np.int64, (NUM_RANKS,)),
        "held_before": (np.int64, (NUM_RANKS,)),
    },
    described={"games": int, "turns": int, "opponents": list, "seed": int},
    command="python -m research train estimator bayes",
)


@dataclass(frozen=True)
class Frequencies:
    """Counts by bucket, with their provenance."""

    seen: np.ndarray
    """int64 `BUCKETS`: cards of unknown place after turns of this bucket."""
    held: np.ndarray
    """int64 `BUCKETS`: the number of those cards that the opponent held."""
    seen_before: np.ndarray
    """int64 (13,): cards of each rank whose place was unknown before the turn."""
    held_before: np.ndarray
    """int64 (13,): the number of those cards that the opponent held."""
    metadata: dict[str, Any]

    def save(self, path: str | Path) -> None:
        """Write the table to a file (.npz)."""
        counts = {name: getattr(self, name).astype(kind) for name, (kind, _) in FORMAT.arrays.items()}
        FORMAT.write(path, counts, self.metadata)

    @classmethod
    def load(cls, path: str | Path) -> Frequencies:
        """Return a table read from a file.

        Raises FileNotFoundError, or ArrayFileError for a file that is damaged or of another version.
        """
        arrays, metadata = FORMAT.read(path)
        counts = {name: array.astype(np.int64) for name, array in arrays.items()}
        seen_before, held_before = counts["seen_before"], counts["held_before"]
        if (counts["held"] > counts["seen"]).any() or not (
            (held_before > 0) & (held_before < seen_before)
        ).all():
            raise ArrayFileError(f"{path} is damaged: its counts are inconsistent")
        return cls(**counts, metadata=metadata)

    def odds_before(self) -> np.ndarray:
        """Return the odds that a card of a rank was held before a turn, float64 (13, 1), to fit `BUCKETS`."""
        return (self.held_before / (self.seen_before - self.held_before))[:, None]

    def __str__(self) -> str:
        return (
            f"{self.metadata['turns']:,} turns of {self.metadata['games']:,} games, "
            f"{'+'.join(self.metadata['opponents'])}, seed {self.metadata['seed']}: "
            f"{(self.seen > 0).sum():,} of {self.seen.size:,} buckets seen"
        )


def find_table(table: str | Path) -> Frequencies:
    """Return the table for an estimator's `table` parameter: the name of a packaged table, or a file.

    Raises TypeError, FileNotFoundError or ValueError if it is neither.
    """
    return Frequencies.load(ESTIMATORS.file("bayes", "table", table))
