"""Array files: npz archives without pickles, with metadata and a checksum.

Every kind of file that holds NumPy arrays is an `ArrayFormat`. In addition to its arrays, a file contains two
entries: ``metadata``, the bytes of a JSON object (the writer's metadata plus ``kind`` and ``file_version``),
and ``checksum``, the SHA-256 of the bytes of the arrays, in the format's order, followed by the metadata.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
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
MAX_TEXT = 1 << 24
"""Limit on the size of the metadata, in bytes."""
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
        lengths: dict[str, int] = {}
        for name, array in stored.items():
            _check_header(name, (array.dtype, array.shape), *self.arrays[name], lengths)
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

    def _read(self, path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            if unpacked > MAX_UNPACKED:
                raise ValueError(f"it unpacks to {unpacked:,} bytes, more than {MAX_UNPACKED:,}")
            text = _array(archive, _METADATA, np.uint8, ("length",), {})
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
            lengths: dict[str, int] = {}
            arrays = {
                name: _array(archive, name, *expected, lengths) for name, expected in self.arrays.items()
            }
            checksum = _array(archive, _CHECKSUM, np.uint8, (32,), {}).tobytes()
        for key, type_of_entry in self.described.items():
            if not isinstance(metadata.get(key), type_of_entry):
                raise ValueError(f"its metadata has no {key!r}")
        if checksum != _checksum(arrays, text):
            raise ArrayFileError(f"{path} is damaged: its checksum does not match")
        return arrays, metadata


def _check_header(
    name: str,
    found: tuple[np.dtype[Any], tuple[int, ...]],
    scalar: type[np.generic],
    expected: tuple[int | str, ...],
    lengths: dict[str, int],
) -> None:
    """Raise ValueError for an array of the wrong type or shape; `lengths` are those known so far."""
    dtype, shape = found
    wanted = tuple(
        lengths.setdefault(length, size) if isinstance(length, str) else length
        for length, size in zip(expected, shape, strict=False)
    )
    if dtype != np.dtype(scalar) or len(shape) < len(expected) or shape != wanted:
        raise ValueError(
            f"{name} is {dtype} {shape} instead of {np.dtype(scalar)} ({', '.join(map(str, expected))})"
        )


def _checksum(arrays: Mapping[str, np.ndarray], text: np.ndarray) -> bytes:
    digest = hashlib.sha256()
    for array in arrays.values():
        digest.update(array.tobytes())
    digest.update(text.tobytes())
    return digest.digest()


def _array(
    archive: zipfile.ZipFile,
    name: str,
    scalar: type[np.generic],
    expected: tuple[int | str, ...],
    lengths: dict[str, int],
) -> np.ndarray:
    """Return an array after comparing its header with the expected type and shape.

    Raises ValueError or KeyError before anything but the header is unpacked.
    """
    entry = archive.getinfo(f"{name}.npy")
    if name == _METADATA and entry.file_size > MAX_TEXT:
        raise ValueError(f"its metadata has {entry.file_size:,} bytes, more than {MAX_TEXT:,}")
    with archive.open(entry) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} has an unknown version of the npy format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    _check_header(name, (dtype, shape), scalar, expected, lengths)
    if math.prod(shape) * dtype.itemsize > entry.file_size:
        raise ValueError(f"{name} has a shape of more bytes than it holds")
    with archive.open(entry) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
