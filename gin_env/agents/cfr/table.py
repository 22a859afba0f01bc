"""Trained strategies and their files.

A file (`FORMAT`) holds ``strategy``, uint8 (number of information sets,): the probability of acting times
254, or `UNVISITED`. Its metadata say how the strategy was trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.cfr.abstractions import KINDS, number_of_sets
from gin_env.support.array_files import ArrayFileError, ArrayFormat

UNVISITED = 255
_SCALE = 254
FORMAT = ArrayFormat(
    kind="strategy table",
    version=1,  # increase when the numbering of information sets changes
    arrays={"strategy": (np.uint8, ("information sets",))},
    described={"abstraction": str, "iterations": int},
    command="python -m research train cfr",
)


class StrategyTable:
    """A trained strategy and its provenance.

    Attributes
    ----------
    strategy : float64 (number of information sets,): the probability of acting; -1 for unvisited sets.
    metadata : abstraction, candidates, iterations, seed, exploration, command, date, version.
    """

    def __init__(self, strategy: np.ndarray, metadata: dict[str, Any]) -> None:
        self.strategy = strategy
        self.metadata = metadata

    def __str__(self) -> str:
        return (
            f"strategy table: abstraction {self.metadata['abstraction']}, "
            f"{self.metadata['iterations']:,} iterations, "
            f"{self.visited.sum():,} of {len(self.strategy):,} information sets visited"
        )

    @property
    def visited(self) -> np.ndarray:
        """The information sets visited in training, bool (number of information sets,)."""
        return self.strategy >= 0

    def save(self, path: str | Path) -> None:
        """Write the table to a file (.npz)."""
        entries = np.where(self.visited, np.rint(self.strategy * _SCALE), UNVISITED).astype(np.uint8)
        FORMAT.write(path, {"strategy": entries}, self.metadata)

    @classmethod
    def load(cls, path: str | Path) -> StrategyTable:
        """Return the table in a file.

        Raises FileNotFoundError, or ArrayFileError for a truncated, altered or foreign file.
        """
        arrays, metadata = FORMAT.read(path)
        entries = arrays["strategy"]
        kind = KINDS.get(metadata["abstraction"])
        if kind is None or len(entries) != number_of_sets(kind):
            raise ArrayFileError(
                f"{path} holds a strategy for an abstraction that this release does not have"
            )
        return cls(np.where(entries == UNVISITED, -1.0, entries / _SCALE), metadata)


@cache
def packaged_table(abstraction: str) -> StrategyTable:
    """Return the packaged table of an abstraction, which is read only once."""
    return StrategyTable.load(Path(__file__).parent / "data" / f"cfr_{abstraction}.npz")


def find_table(table: str | Path | StrategyTable | None, abstractions: Sequence[str]) -> StrategyTable:
    """Return the table that a bot's `table` parameter names.

    A `StrategyTable` is returned as it is, a path is read, and None is the packaged table of the first of
    `abstractions`. Raises ValueError for a table whose abstraction is not one of `abstractions`.
    """
    if table is None:
        chosen = packaged_table(abstractions[0])
    elif isinstance(table, StrategyTable):
        chosen = table
    elif isinstance(table, str | Path):
        chosen = StrategyTable.load(table)
    else:
        raise TypeError(f"table must be a path, a StrategyTable or None, not {table!r}")
    if chosen.metadata["abstraction"] not in abstractions:
        needed = " or ".join(map(repr, abstractions))
        raise ValueError(
            f"this table's abstraction is {chosen.metadata['abstraction']!r}; the bot needs {needed}"
        )
    return chosen
