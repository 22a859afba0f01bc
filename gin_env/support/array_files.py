"""Array files: npz archives without pickles, with metadata and a checksum.

Every kind of file that holds NumPy arrays is an `ArrayFormat`. In addition to its arrays, a file contains two
entries: ``metadata``, the bytes of a JSON object (the writer's metadata plus ``kind`` and ``file_version``),
and ``checksum``, the SHA-256 of the bytes of the arrays, in the format's order, followed by the metadata.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np

from gin_env.support.atomic import replacing
from gin_env.support.files import check_regular_file

MAX_BYTES, MAX_UNPACKED = 1 << 30, 1 << 32
"""Limits on the size of a file and on its unpacked size, in bytes; both are checked before reading."""
_METADATA, _CHECKSUM = "metadata", "checksum"


class ArrayFileError(ValueError):
    """The file does not contain the expected arrays, complete and in this release's version."""


@dataclass(frozen=True)
class ArrayFormat:
    """One kind of array file, with methods to `write` and `read` it."""

    kind: str
    """What the file contains, such as "strategy table"."""
    version: int
    """Incremented when the meaning of the arrays changes; files of other versions are refused."""
    arrays: Mapping[str, tuple[type[np.generic], tuple[int | str, ...]]]
    """Type and shape of each array, by name. A word in a shape is a length set by the file; it is the same
    wherever the word occurs."""
    command: str
    """The command that makes such a file again, shown in error messages."""
    described: Mapping[str, type | UnionType] = field(default_factory=dict)
    """Required metadata entries and their types."""

    def write(self, path: str | Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
        """Write arrays to a file atomically. `metadata` must be serialisable as JSON.

        Raises ValueError for arrays that do not match this format, OSError if the file cannot be written.
        """
        stored = {name: np.ascontiguousarray(arrays[name]) for name in self.arrays}
        self._check(stored)
        described = {**metadata, "kind": self.kind, "file_version": self.version}
        text = np.frombuffer(json.dumps(described, sort_keys=True).encode(), np.uint8)
        checksum = np.frombuffer(_checksum(stored, text), np.uint8)
        entries: dict[str, Any] = {**stored, _METADATA: text, _CHECKSUM: checksum}
        with replacing(path) as file:
            np.savez_compressed(file, **entries)

    def read(self, path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the arrays and the metadata of a file that `write` wrote.

        Raises FileNotFoundError, or ArrayFileError if the file is damaged or of another kind or version. Both
        errors name the file.
        """
        check_regular_file(path, MAX_BYTES, self.kind, ArrayFileError)
        try:
            return self._read(path)
        except ArrayFileError:
            raise
        except Exception as error:  # numpy, zipfile and json raise nearly anything for a damaged file
            raise ArrayFileError(
                f"{path} is not a file of kind {self.kind!r}, or is damaged ({error})"
            ) from error

    def _check(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Raise ValueError for an array of the wrong type or shape."""
        lengths: dict[str, int] = {}
        for name, (scalar, expected) in self.arrays.items():
            dtype, shape = arrays[name].dtype, arrays[name].shape
            wanted = tuple(
                lengths.setdefault(length, size) if isinstance(length, str) else length
                for length, size in zip(expected, shape, strict=False)
            )
            if dtype != np.dtype(scalar) or len(shape) < len(expected) or shape != wanted:
                described = f"{np.dtype(scalar)} ({', '.join(map(str, expected))})"
                raise ValueError(f"{name} is {dtype} {shape} instead of {described}")

    def _read(self, path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            unpacked = sum(entry.file_size for entry in archive.zip.infolist())
            if unpacked > MAX_UNPACKED:
                raise ValueError(f"it unpacks to {unpacked:,} bytes, more than {MAX_UNPACKED:,}")
            text = archive[_METADATA]
            metadata = json.loads(text.tobytes())
            if not isinstance(metadata, dict):
                raise TypeError("its metadata is not a JSON object")
            kind, version = metadata.pop("kind", None), metadata.pop("file_version", None)
            if kind != self.kind:
                what = f"a {kind}" if isinstance(kind, str) else "a file of unknown kind"
                raise ArrayFileError(f"{path} holds {what}, not a {self.kind}")
            if version != self.version:
                raise ArrayFileError(
                    f"{path} has version {version}, this release reads {self.version}; "
                    f"make it again with `{self.command}`"
                )
            arrays = {name: archive[name] for name in self.arrays}
            checksum = archive[_CHECKSUM].tobytes()
        self._check(arrays)
        for key, type_of_entry in self.described.items():
            if not isinstance(metadata.get(key), type_of_entry):
                raise ValueError(f"its metadata has no {key!r}")
        if checksum != _checksum(arrays, text):
            raise ArrayFileError(f"{path} is damaged: its checksum does not match")
        return arrays, metadata


def _checksum(arrays: Mapping[str, np.ndarray], text: np.ndarray) -> bytes:
    digest = hashlib.sha256()
    for array in arrays.values():
        digest.update(array.tobytes())
    digest.update(text.tobytes())
    return digest.digest()
