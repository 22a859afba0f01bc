"""Write small checkpoints in TensorFlow's format."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

TYPES = {np.dtype(np.float32): 1, np.dtype(np.int64): 9}


def write_checkpoint(
    prefix: Path, tensors: dict[str, np.ndarray], shards: int = 1, compressed: int = 0
) -> None:
    """Write the tensors into `shards` files in turn, and an index whose keys share prefixes."""
    data = [b""] * shards
    entries = [(b"", field(1, shards))]
    for number, (name, tensor) in enumerate(sorted(tensors.items())):
        shard = number % shards
        shape = b"".join(field(2, field(1, size)) for size in tensor.shape)
        raw = tensor.tobytes()
        value = field(1, TYPES[tensor.dtype]) + field(2, shape)
        value += field(3, shard) + field(4, len(data[shard])) + field(5, len(raw))
        entries.append((name.encode(), value + bytes([6 << 3 | 5]) + b"\0\0\0\0"))
        data[shard] += raw
    prefix.parent.mkdir(parents=True, exist_ok=True)
    for shard, content in enumerate(data):
        Path(f"{prefix}.data-{shard:05}-of-{shards:05}").write_bytes(content)
    middle = len(entries) // 2
    index, handles = b"", []
    for part in (entries[:middle], entries[middle:]):
        if part:
            block = packed(part)
            handles.append((part[-1][0], varint(len(index)) + varint(len(block))))
            index += block + bytes([compressed]) + b"\0\0\0\0"
    listing = packed(handles)
    footer = (varint(0) + varint(0) + varint(len(index)) + varint(len(listing))).ljust(40, b"\0")
    index += listing + b"\0\0\0\0\0" + footer + struct.pack("<Q", 0xDB4775248B80FB57)
    Path(f"{prefix}.index").write_bytes(index)


def packed(entries: list[tuple[bytes, bytes]]) -> bytes:
    """A LevelDB block with one restart."""
    block, before = b"", b""
    for key, value in entries:
        shared = 0
        while shared < min(len(key), len(before)) and key[shared] == before[shared]:
            shared += 1
        block += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    return block + struct.pack("<II", 0, 1)


def field(number: int, value: int | bytes) -> bytes:
    """A field of a protocol buffer."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    result = b""
    while number > 127:
        result += bytes([number & 127 | 128])
        number >>= 7
    return result + bytes([number])
