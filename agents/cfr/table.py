"""Trained strategies as small files: probabilities in bytes, where they come from, and a checksum.

A file is a compressed npz without pickles: ``strategy`` uint8 (number of information sets,), `UNVISITED` or
the probability of acting times 254; ``metadata`` and ``checksum``, the bytes of a JSON text and of SHA-256
over both.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.cfr.abstractions import KINDS, number_of_sets

TABLE_VERSION = 1
"""Changes when information sets are numbered in another way; other versions are refused."""
UNVISITED = 255
_SCALE = 254


class TableError(ValueError):
    """A file that is not a usable strategy table."""


class StrategyTable:
    """A strategy and where it comes from.

    Attributes
    ----------
    strategy : float64 (number of information sets,): the probability of acting, -1 where training never came.
    metadata : abstraction, candidates, iterations, seed, exploration, command, date, version.
    """

    def __init__(self, strategy: np.ndarray, metadata: dict[str, Any]) -> None:
        self.strategy = strategy
        self.metadata = metadata

    def __str__(self) -> str:
        return (
            f"strategy table: abstraction {self.metadata['abstraction']}, {self.metadata['iterations']:,} iterations, "
            f"{self.visited.sum():,} of {len(self.strategy):,} information sets visited"
        )

    @property
    def visited(self) -> np.ndarray:
        """bool (number of information sets,): which ones training has visited."""
        return self.strategy >= 0

    def shuffled(self, seed: int) -> StrategyTable:
        """A copy in which the visited entries of each of the three decisions are permuted: a control."""
        from gin_env.agents.cfr.abstractions import decision_slices

        rng = np.random.default_rng(seed)
        strategy = self.strategy.copy()
        for part in decision_slices(KINDS[self.metadata["abstraction"]]):
            visited = np.flatnonzero(self.visited[part]) + part.start
            strategy[visited] = strategy[rng.permutation(visited)]
        return StrategyTable(strategy, self.metadata | {"shuffled": seed})

    def save(self, path: str | Path) -> None:
        """Write the table to a file."""
        entries = np.where(self.visited, np.rint(self.strategy * _SCALE), UNVISITED).astype(np.uint8)
        text = json.dumps(self.metadata | {"table_version": TABLE_VERSION}, sort_keys=True).encode()
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file,
                strategy=entries,
                metadata=np.frombuffer(text, np.uint8),
                checksum=np.frombuffer(_checksum(entries.tobytes(), text), np.uint8),
            )

    @classmethod
    def load(cls, path: str | Path) -> StrategyTable:
        """Read a table. Raises FileNotFoundError, or TableError for a truncated, altered or foreign file."""
        path = Path(path)
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                entries, text, checksum = (arrays[name] for name in ("strategy", "metadata", "checksum"))
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no strategy table {path}") from None
        except Exception as error:  # numpy and zipfile raise nearly anything for a damaged file
            raise TableError(f"{path} is no strategy table, or is damaged ({error})") from error
        if checksum.tobytes() != _checksum(entries.tobytes(), text.tobytes()):
            raise TableError(f"{path} is damaged: its checksum does not fit")
        metadata = json.loads(text.tobytes())
        if metadata.get("table_version") != TABLE_VERSION:
            raise TableError(
                f"{path} has table version {metadata.get('table_version')}, this release reads {TABLE_VERSION}; "
                "train it again with `gin-rummy train cfr`"
            )
        kind = KINDS.get(metadata.get("abstraction"))
        if kind is None or entries.dtype != np.uint8 or entries.shape != (number_of_sets(kind),):
            raise TableError(f"{path} holds a strategy for an abstraction that this release does not have")
        return cls(np.where(entries == UNVISITED, -1.0, entries / _SCALE), metadata)


def _checksum(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


@cache
def packaged_table(abstraction: str) -> StrategyTable:
    """The table for an abstraction that comes with the package, read once."""
    with as_file(files("gin_env.agents.cfr") / "data" / f"cfr_{abstraction}.npz") as path:
        return StrategyTable.load(path)


def find_table(table: str | Path | StrategyTable | None, abstractions: Sequence[str]) -> StrategyTable:
    """The table that a bot's `table` parameter stands for: itself, a file's, or (None) the packaged one.

    The packaged table is of the first of `abstractions`.

    Raises TableError for a table of another abstraction than the bot's.
    """
    if table is None:
        found = packaged_table(abstractions[0])
    elif isinstance(table, StrategyTable):
        found = table
    elif isinstance(table, str | Path):
        found = StrategyTable.load(table)
    else:
        raise TypeError(f"table is a path, a StrategyTable or None, not {table!r}")
    if found.metadata["abstraction"] not in abstractions:
        needed = " or ".join(map(repr, abstractions))
        raise TableError(
            f"this table's abstraction is {found.metadata['abstraction']!r}; the bot needs {needed}"
        )
    return found
