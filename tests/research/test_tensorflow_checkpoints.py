"""TensorFlow checkpoints are read without TensorFlow."""

import numpy as np
import pytest
from checkpoints import write_checkpoint

from research.papers.truong2021.tensorflow_checkpoints import _fields, read_checkpoint

RNG = np.random.default_rng(1)
TENSORS = {
    "layer-0/kernel": RNG.normal(size=(300, 5)).astype(np.float32),
    "layer-0/bias": RNG.normal(size=5).astype(np.float32),
    "layer-1/kernel": RNG.normal(size=(2, 2, 1, 4)).astype(np.float32),
    "optimizer/iter": np.array(12345678901, np.int64),
}


@pytest.mark.parametrize("shards", [1, 2])
def test_checkpoint_gives_its_tensors(tmp_path, shards):
    write_checkpoint(tmp_path / "cp.ckpt", TENSORS, shards)
    tensors = read_checkpoint(tmp_path / "cp.ckpt")
    assert set(tensors) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert np.array_equal(tensors[name], tensor), name


def test_fields_of_every_kind_have_their_length():
    """A number, 64 and 32 bits, bytes of a length, and a repeated field."""
    message = b"\x08\x96\x01" + b"\x11ABCDEFGH" + b"\x1dwxyz" + b"\x22\x03abc" + b"\x08\x05"
    assert _fields(message) == {1: [150, 5], 2: [b"ABCDEFGH"], 3: [b"wxyz"], 4: [b"abc"]}


def test_missing_checkpoint_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_checkpoint(tmp_path / "cp.ckpt")


def test_damaged_checkpoint_is_refused(tmp_path):
    prefix = tmp_path / "cp.ckpt"
    write_checkpoint(prefix, TENSORS)
    data = tmp_path / "cp.ckpt.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-4])
    with pytest.raises(ValueError, match="bytes expected"):
        read_checkpoint(prefix)
    index = tmp_path / "cp.ckpt.index"
    index.write_bytes(index.read_bytes()[:-1])
    with pytest.raises(ValueError, match="LevelDB"):
        read_checkpoint(prefix)


def test_compressed_index_is_refused(tmp_path):
    write_checkpoint(tmp_path / "cp.ckpt", TENSORS, compressed=1)
    with pytest.raises(ValueError, match="compressed"):
        read_checkpoint(tmp_path / "cp.ckpt")
