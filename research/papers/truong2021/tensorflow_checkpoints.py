"""Tensors of TensorFlow checkpoints, read without TensorFlow.

A checkpoint ``PREFIX`` is an index, ``PREFIX.index``, and raw data, ``PREFIX.data-00000-of-00001`` and so on.
The index is a LevelDB table (tensorflow/core/lib/io/format.h): blocks of keys, each given by what it shares
with the key before, with values; at its end a footer says where the block is that lists the others. The
values are protocol buffers (BundleEntryProto in tensorflow/core/protobuf/tensor_bundle.proto): type, shape,
file, place and length of a tensor. Compressed indexes are refused; TensorFlow writes none.
"""

from __future__ import annotations

import struct
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER = 48
_TYPES = {1: np.float32, 2: np.float64, 3: np.int32, 9: np.int64}
"""Numbers of tensorflow/core/framework/types.proto."""


def read_checkpoint(prefix: str | Path) -> dict[str, np.ndarray]:
    """Return the numeric tensors of a checkpoint by name; texts and resources are left out.

    Raises FileNotFoundError, or ValueError for other files.
    """
    index = Path(f"{prefix}.index").read_bytes()
    try:
        entries = _entries(index)
        shards = _fields(entries.pop(b"")).get(1, [1])[0]
        return _tensors(prefix, entries, shards)
    except (IndexError, KeyError, struct.error, UnicodeDecodeError) as error:
        what = f"{prefix}.index must be the index of a TensorFlow checkpoint"
        raise ValueError(f"{what} ({error!r})") from error


def _tensors(prefix: str | Path, entries: dict[bytes, bytes], shards: int) -> dict[str, np.ndarray]:
    tensors = {}
    files: dict[int, bytes] = {}
    for name, value in entries.items():
        fields = _fields(value)
        dtype = _TYPES.get(fields[1][0])
        if dtype is None:
            continue
        shape = [_fields(size).get(1, [0])[0] for size in _fields(fields.get(2, [b""])[0]).get(2, [])]
        shard, offset = (fields.get(key, [0])[0] for key in (3, 4))
        if shard not in files:
            files[shard] = Path(f"{prefix}.data-{shard:05}-of-{shards:05}").read_bytes()
        size = fields.get(5, [0])[0]
        data = files[shard][offset : offset + size]
        if len(data) != size or size != np.dtype(dtype).itemsize * int(np.prod(shape)):
            raise ValueError(f"{prefix}: {size} bytes expected for {name.decode()} of shape {shape}")
        tensors[name.decode()] = np.frombuffer(data, dtype).reshape(shape)
    return tensors


def _entries(index: bytes) -> dict[bytes, bytes]:
    """Keys and values of a LevelDB table."""
    footer = index[-_FOOTER:]
    if footer[-8:] != _MAGIC:
        raise ValueError("the index of a TensorFlow checkpoint must end with the mark of a LevelDB table")
    handle = BytesIO(footer)
    _skipped, _size, offset, size = (_varint(handle) for _ in range(4))  # of two blocks
    entries: dict[bytes, bytes] = {}
    for value in map(BytesIO, _block(index, offset, size).values()):  # the second lists the blocks of data
        entries |= _block(index, _varint(value), _varint(value))
    return entries


def _block(index: bytes, offset: int, size: int) -> dict[bytes, bytes]:
    """Keys and values of a block."""
    if index[offset + size] != 0:
        raise ValueError("the index of a TensorFlow checkpoint must not be compressed")
    block = index[offset : offset + size]
    (num_restarts,) = struct.unpack("<I", block[-4:])
    stream, key, entries = BytesIO(block), b"", {}
    while stream.tell() < size - 4 - 4 * num_restarts:
        shared, fresh, length = (_varint(stream) for _ in range(3))
        key = key[:shared] + stream.read(fresh)
        entries[key] = stream.read(length)
    return entries


def _fields(message: bytes) -> dict[int, list[Any]]:
    """Fields of a protocol buffer by number: integers, or bytes of whatever has a length."""
    fields: dict[int, list[Any]] = {}
    stream = BytesIO(message)
    while stream.tell() < len(message):
        tag = _varint(stream)
        kind = tag & 7
        value: int | bytes
        if kind == 0:
            value = _varint(stream)
        else:
            value = stream.read({1: 8, 5: 4}.get(kind) or _varint(stream))
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def _varint(stream: BytesIO) -> int:
    """Read a number: seven bits per byte, the lowest first."""
    number = shift = 0
    while True:
        byte = stream.read(1)[0]
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number
