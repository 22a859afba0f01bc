"""Tensor files: round trips, and clear errors for damaged, forged and oversized files."""

import os
import re

import pytest

torch = pytest.importorskip("torch")

from damaged_files import any_numbers  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from gin_env import agents  # noqa: E402
from gin_env.agents.generations import network as generations  # noqa: E402
from gin_env.agents.generations.network import GenerationNetwork  # noqa: E402
from gin_env.agents.hand_strength import weights  # noqa: E402
from gin_env.agents.hand_strength.networks import build  # noqa: E402
from gin_env.observations.parts import describe_parts  # noqa: E402
from gin_env.support import tensor_files  # noqa: E402
from gin_env.support.files import check_regular_file  # noqa: E402
from gin_env.support.tensor_files import (  # noqa: E402
    MAX_BYTES,
    MAX_HEADER,
    TensorFileError,
    _checksum,
    fill_network,
    read_kind,
    read_tensors,
    write_tensors,
)

TENSORS = {"weight": torch.arange(12.0).view(3, 4), "bias": torch.ones(3, dtype=torch.float16)}


def write(path, kind="network", version="1"):
    write_tensors(path, kind, version, TENSORS, {"seed": 3, "losses": [1.5, 1.25]})
    return path


def read(path):
    return read_tensors(path, "network", "1", "gin-rummy train it")


def header_of(text):
    """Return a safetensors file with this header and without tensors."""
    return len(text).to_bytes(8, "little") + text


def test_tensors_and_metadata_round_trip(tmp_path):
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
        (lambda whole: whole[:-20], "is not a safetensors file, or is damaged"),
        (lambda whole: whole[:-3] + b"\1\2\3", "its checksum does not match"),
        (lambda whole: whole.replace(b'\\"seed\\": 3', b'\\"seed\\": 4'), "its checksum does not match"),
        (lambda whole: b"no tensors at all", "is not a safetensors file"),
        (lambda whole: b"", "is not a safetensors file"),
        (lambda whole: whole[:8] + b"[" * 1000 + whole[1008:], "is not a safetensors file"),
        (lambda whole: header_of(b"[]"), "is not a safetensors file.*its header is not a JSON object"),
        (lambda whole: header_of(b'{"__metadata__": 3}'), "was not written by gin-env"),
        (lambda whole: whole.replace(b'"F16"', b'"F64"'), "is not a safetensors file, or is damaged"),
        (lambda whole: whole.replace(b"[3,4]", b"[9,9]"), "is not a safetensors file, or is damaged"),
    ],
)
def test_damaged_file_raises(tmp_path, content, message):
    path = write(tmp_path / "a.safetensors")
    whole = path.read_bytes()
    assert content(whole) != whole
    path.write_bytes(content(whole))
    with pytest.raises(TensorFileError, match=rf"a\.safetensors.*{message}"):
        read(path)


def test_files_of_other_kinds_raise(tmp_path):
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
        match=re.escape("has version 0, this release reads 1; make it again with `gin-rummy train it`"),
    ):
        read(write(tmp_path / "old.safetensors", version="0"))


# --- Malicious files and non-files ----------------------------------------------------------------------


def write_text(path, text):
    """Write a file with any text as its description and a correct checksum."""
    save_file(TENSORS, path, metadata={"gin_env": f"{_checksum(TENSORS, text)} {text}"})
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "not a JSON object with a kind"),
        ("null", "not a JSON object with a kind"),
        ('{"file_version": "1"}', "not a JSON object with a kind"),
        ('{"kind": 7, "file_version": "1"}', "not a JSON object with a kind"),
        (
            '{"kind": "network"}',
            "has version None, this release reads 1; make it again with `gin-rummy train it`",
        ),
        ('{"kind": "network", "file_version": ["1"]}', "has version list"),
        ('{"kind": "network", "file_version": "1"', "not valid JSON"),
        ("[" * 100_000 + "]" * 100_000, "not valid JSON"),
        ('{"kind": "a\\u001b[2J", "file_version": "1"}', r"is damaged: its kind is 'a\x1b[2J'"),
        (f'{{"kind": "{"a" * 1_000_000}"}}', "is damaged: its kind is 'aaa"),
        (" " * (MAX_HEADER + 1), "is not a safetensors file, or is damaged (a header of 16,77"),
    ],
)
def test_forged_headers_are_refused(tmp_path, text, message):
    path = write_text(tmp_path / "a.safetensors", text)
    for reader in (read, lambda path: read_kind(path, "network")):
        if reader is read or "version" not in message:
            with pytest.raises(TensorFileError, match=rf"a\.safetensors.*{re.escape(message)}") as refusal:
                reader(path)
            assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("number", [float("nan"), -float("inf")])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_non_finite_numbers_are_refused(tmp_path, number, dtype):
    weights = torch.ones(3, dtype=dtype)
    weights[1] = number
    path = tmp_path / "a.safetensors"
    with pytest.raises(ValueError, match=r"some numbers of weight are not finite; .* is left as it was"):
        write_tensors(path, "network", "1", {"weight": weights}, {})
    assert not path.exists()
    with any_numbers():
        write_tensors(path, "network", "1", {"weight": weights}, {})
    with pytest.raises(
        TensorFileError, match=r"a\.safetensors is damaged: some numbers of weight are not finite"
    ):
        read(tmp_path / "a.safetensors")


def test_unsupported_dtypes_are_refused(tmp_path):
    text = '{"kind": "network", "file_version": "1"}'
    save_file(
        {"a": torch.ones(2, dtype=torch.bfloat16)},
        tmp_path / "a.safetensors",
        metadata={"gin_env": f"0 {text}"},
    )
    with pytest.raises(TensorFileError, match="a holds numbers of type BF16"):
        read(tmp_path / "a.safetensors")


def test_non_files_are_refused_immediately(tmp_path):
    """Reading from an idle pipe or from /dev/zero would never end."""
    pipe, folder, device = (tmp_path / f"{name}.safetensors" for name in ("pipe", "folder", "device"))
    os.mkfifo(pipe)
    folder.mkdir()
    device.symlink_to("/dev/zero")
    for path, message in (
        (pipe, "not a regular file"),
        (folder, "is a folder"),
        (device, "not a regular file"),
    ):
        for reader in (read, lambda path: agents.make(str(path))):
            with pytest.raises(TensorFileError, match=message):
                reader(path)


def test_oversized_file_is_not_opened(tmp_path):
    path = tmp_path / "a.safetensors"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # a sparse file
    with pytest.raises(
        TensorFileError, match=r"has 536,870,913 bytes; files of at most 536,870,912 are read"
    ):
        read(path)
    with pytest.raises(ValueError, match="has 536,870,913 bytes; files of at most 9 are read"):
        check_regular_file(path, 9)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        check_regular_file(path / "below", 9)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"sizes": [28000, 8], "provenance": {}}, "a layer's size must be from .* not 28000"),
        ({"sizes": [8, 10**30], "provenance": {}}, "must be from"),
        ({"sizes": [8, -4], "provenance": {}}, "a layer's size must be from .* not -4"),
        ({"sizes": [8, 4, 4], "provenance": {}}, "lacks a valid description"),
        ({"sizes": ["8", 4], "provenance": {}}, "a layer's size must be an integer"),
        ({"sizes": None, "provenance": {}}, "lacks a valid description"),
        ({"sizes": [8, 4]}, "lacks a valid description of its network"),
        (
            {"sizes": [8, 4], "provenance": 3},
            "lacks a valid description of its network",
        ),
        ({}, "lacks a valid description"),
        ({"sizes": [4096, 4096], "provenance": {}}, "does not match its own architecture"),
    ],
)
def test_network_sizes_must_match_the_weights(tmp_path, monkeypatch, description, message):
    """An 836-byte file that claims large layers must not allocate their memory."""
    path = tmp_path / "a.safetensors"
    tensors = GenerationNetwork(8, 4).state_dict()
    description = description | {"reads": describe_parts("observation", "row")}
    write_tensors(path, generations.FORMAT.kind, generations.FORMAT.version, tensors, description)
    built = []

    def fill(network, *rest):
        built.extend(parameter.is_meta for parameter in network.parameters())
        fill_network(network, *rest)

    monkeypatch.setattr(tensor_files, "fill_network", fill)
    with pytest.raises(TensorFileError, match=message):
        agents.make(str(path))
    assert all(built)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({}, "lacks a valid description of its network: 'architecture'"),
        ({"architecture": ["mlp"]}, "lacks a valid description of its network"),
        ({"architecture": "mlp"}, "does not say which estimator it was trained with; pass one as estimator="),
        ({"architecture": "mlp", "data": 3}, "does not say which estimator"),
        ({"architecture": "mlp", "data": {"estimator": ["uniform"]}}, "does not say which estimator"),
    ],
)
def test_hand_strength_networks_need_complete_metadata(tmp_path, description, message):
    path = tmp_path / "a.safetensors"
    weights.FORMAT.write(path, build("mlp"), description)
    with pytest.raises(TensorFileError, match=message):
        agents.make("offensive", network=str(path))


@pytest.mark.parametrize("limit", ["MAX_HEADER", "MAX_BYTES"])
def test_unreadable_file_is_not_written(tmp_path, monkeypatch, limit):
    path = tmp_path / "a.safetensors"
    path.write_text("as before")
    monkeypatch.setattr(tensor_files, limit, 1)
    with pytest.raises(ValueError, match=r"2 tensors and their metadata in \d+ bytes are too many: .* 1[ ;]"):
        write_tensors(path, "network", "1", {"a": torch.zeros(3), "b": torch.zeros(3)}, {})
    assert path.read_text() == "as before"


def test_overflowing_weights_are_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    with any_numbers():
        write_tensors(path, "network", "1", {"weight": torch.tensor([1.0, -1e38])}, {})
    with pytest.raises(TensorFileError, match=r"some numbers of weight are larger than 1,000,000,000"):
        read(path)
