"""Files of weights: what is written comes back, everything else is refused with its reason."""

import re

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import save_file  # noqa: E402

from gin_env.support.tensor_files import TensorFileError, read_tensors, write_tensors  # noqa: E402

TENSORS = {"weight": torch.arange(12.0).view(3, 4), "bias": torch.ones(3, dtype=torch.float16)}


def write(path, kind="network", version="1"):
    write_tensors(path, kind, version, TENSORS, {"seed": 3, "losses": [1.5, 1.25]})
    return path


def read(path):
    return read_tensors(path, "network", "1", "gin-rummy train it")


def test_tensors_and_metadata_come_back(tmp_path):
    tensors, metadata = read(write(tmp_path / "a.safetensors"))
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert torch.equal(tensors[name], tensor)
        assert tensors[name].dtype == tensor.dtype
    assert (metadata["seed"], metadata["losses"], metadata["kind"]) == (3, [1.5, 1.25], "network")
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]
    assert write(tmp_path / "b.safetensors").read_bytes() == (tmp_path / "a.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda whole: whole[:-20], "is no safetensors file, or is damaged"),
        (lambda whole: whole[:-3] + b"\1\2\3", "its checksum does not fit"),
        (lambda whole: whole.replace(b'\\"seed\\": 3', b'\\"seed\\": 4'), "its checksum does not fit"),
        (lambda whole: b"no tensors at all", "is no safetensors file"),
        (lambda whole: b"", "is no safetensors file"),
    ],
)
def test_damage_is_found(tmp_path, content, message):
    path = write(tmp_path / "a.safetensors")
    whole = path.read_bytes()
    assert content(whole) != whole
    path.write_bytes(content(whole))
    with pytest.raises(TensorFileError, match=rf"a\.safetensors.*{message}"):
        read(path)


def test_other_files_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no network"):
        read(tmp_path / "missing.safetensors")
    foreign = tmp_path / "foreign.safetensors"
    save_file(TENSORS, foreign)
    with pytest.raises(TensorFileError, match="was not written by gin-env"):
        read(foreign)
    with pytest.raises(TensorFileError, match="holds a checkpoint, not a network"):
        read(write(tmp_path / "other.safetensors", kind="checkpoint"))
    with pytest.raises(
        TensorFileError,
        match=re.escape("has version 0, this release reads 1; make it anew with `gin-rummy train it`"),
    ):
        read(write(tmp_path / "old.safetensors", version="0"))
