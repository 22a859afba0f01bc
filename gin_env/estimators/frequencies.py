"""How often a card was held after a turn, by bucket of `gin_env.estimators.turn_buckets`.

Papers 002 and 003 both count "10,000 games" of two Simple players; their estimators ``bayes-isru`` and
``bayes`` here work on the same packaged table. ``gin-rummy train estimator bayes table.npz`` makes such a
table.

A card counts as seen if, after a completed turn that did not end the hand, its place is unknown to the
player who watched the turn; as held if the player whose turn it was has it then. So a card of a bucket is
held after the turn with the chance held / seen. The same is counted for the time before the turn, by rank
alone: what the turn says of a card is how the chance has changed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.cards import NUM_RANKS
from gin_env.estimators.turn_buckets import BUCKETS

TABLE_VERSION = 1
_COUNTS = ("seen", "held", "seen_before", "held_before")
TABLE_ENDING = ".npz"


@dataclass(frozen=True)
class Frequencies:
    """Counts by bucket, and where they come from."""

    seen: np.ndarray
    """int64 `BUCKETS`: cards of unknown place after turns of this bucket."""
    held: np.ndarray
    """int64 `BUCKETS`: those that the opponent held."""
    seen_before: np.ndarray
    """int64 (13,): cards of each rank whose place was unknown before the turn."""
    held_before: np.ndarray
    """int64 (13,): those that the opponent held then."""
    metadata: dict[str, Any]

    def save(self, path: str | Path) -> None:
        """Write the table as npz, without pickles."""
        text = json.dumps(self.metadata | {"table_version": TABLE_VERSION}, sort_keys=True)
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file,
                metadata=np.frombuffer(text.encode(), np.uint8),
                seen=self.seen.astype(np.uint32),
                held=self.held.astype(np.uint32),
                seen_before=self.seen_before,
                held_before=self.held_before,
            )

    @classmethod
    def load(cls, path: str | Path) -> Frequencies:
        """Read a table.

        Raises FileNotFoundError, or ValueError with the path if the file is damaged or of another version.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"there is no table of frequencies {path}")
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                metadata = json.loads(arrays["metadata"].tobytes())
                seen, held, seen_before, held_before = (arrays[name].astype(np.int64) for name in _COUNTS)
        except Exception as error:  # numpy and zipfile raise nearly anything for a damaged file
            raise ValueError(f"{path} is no table of frequencies, or is damaged ({error})") from error
        if metadata.get("table_version") != TABLE_VERSION:
            raise ValueError(
                f"{path} is a table of version {metadata.get('table_version')}, this release reads version "
                f"{TABLE_VERSION}: make it again with `gin-rummy train estimator bayes`"
            )
        shapes = seen.shape, held.shape, seen_before.shape, held_before.shape
        if (
            shapes != (BUCKETS, BUCKETS, (NUM_RANKS,), (NUM_RANKS,))
            or (held > seen).any()
            or not ((held_before > 0) & (held_before < seen_before)).all()
        ):
            raise ValueError(f"{path} is damaged: its counts do not fit together")
        return cls(seen, held, seen_before, held_before, metadata)

    def odds_before(self) -> np.ndarray:
        """float64 (13, 1), to go with `BUCKETS`: the odds that a card of the rank was held before a turn."""
        return (self.held_before / (self.seen_before - self.held_before))[:, None]

    def __str__(self) -> str:
        return (
            f"{self.metadata['turns']:,} turns of {self.metadata['games']:,} games, "
            f"{'+'.join(self.metadata['opponents'])}, seed {self.metadata['seed']}: "
            f"{(self.seen > 0).sum():,} of {self.seen.size:,} buckets seen"
        )


def find_table(table: str | Path) -> Frequencies:
    """The `table` parameter of an estimator: the name of a packaged table (whom it watched), or a file.

    Raises TypeError, FileNotFoundError or ValueError if it is neither.
    """
    if not isinstance(table, str | Path):
        raise TypeError(f"table is a name or a path, not {table!r}")
    if str(table).endswith(TABLE_ENDING):
        return Frequencies.load(table)
    if table not in packaged_tables():
        raise ValueError(
            f"no table of frequencies {str(table)!r}; choose from {', '.join(packaged_tables())}, "
            f"or give a file ({TABLE_ENDING}) of `gin-rummy train estimator bayes`"
        )
    return _packaged(str(table))


def packaged_tables() -> list[str]:
    """The tables that come with the package, by whom they have watched."""
    found = (file.name for file in (files("gin_env.estimators") / "data").iterdir())
    return sorted(
        name.removeprefix("frequencies_").removesuffix(TABLE_ENDING)
        for name in found
        if name.startswith("frequencies_") and name.endswith(TABLE_ENDING)
    )


@cache
def _packaged(name: str) -> Frequencies:
    with as_file(files("gin_env.estimators") / "data" / f"frequencies_{name}{TABLE_ENDING}") as path:
        return Frequencies.load(path)
