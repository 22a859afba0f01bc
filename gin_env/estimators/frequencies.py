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
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.estimators.turn_buckets import BUCKETS
from gin_env.game.cards import NUM_RANKS
from gin_env.support.array_files import ArrayFileError, ArrayFormat

TABLE_ENDING = ".npz"
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
    if not isinstance(table, str | Path):
        raise TypeError(f"table must be a name or a path, not {table!r}")
    if str(table).endswith(TABLE_ENDING):
        return Frequencies.load(table)
    if table not in packaged_tables():
        raise ValueError(
            f"unknown table of frequencies {str(table)!r}; choose from {', '.join(packaged_tables())}, "
            f"or give a file ({TABLE_ENDING}) of `python -m research train estimator bayes`"
        )
    return _packaged(str(table))


def packaged_tables() -> list[str]:
    """Return the names of the tables in the package, which are those of the observed players."""
    files_there = (file.name for file in (files("gin_env.estimators") / "data").iterdir())
    return sorted(
        name.removeprefix("frequencies_").removesuffix(TABLE_ENDING)
        for name in files_there
        if name.startswith("frequencies_") and name.endswith(TABLE_ENDING)
    )


@cache
def _packaged(name: str) -> Frequencies:
    with as_file(files("gin_env.estimators") / "data" / f"frequencies_{name}{TABLE_ENDING}") as path:
        return Frequencies.load(path)
