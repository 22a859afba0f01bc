"""Tensor and array files: round trips, and one clear error for each damaged, forged or foreign file."""

from __future__ import annotations

import io
import json
import os
import re
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from damaged_files import any_numbers  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from gin_env import agents, estimators  # noqa: E402
from gin_env.agents.cfr import bot as strategy_table  # noqa: E402
from gin_env.agents.cfr.bot import StrategyTable  # noqa: E402
from gin_env.agents.generations import bot as generations  # noqa: E402
from gin_env.agents.generations.bot import GenerationNetwork  # noqa: E402
from gin_env.agents.hand_strength import bots as weights  # noqa: E402
from gin_env.agents.hand_strength.networks import build  # noqa: E402
from gin_env.estimators import ensemble, turn_buckets  # noqa: E402
from gin_env.estimators.declared_estimators import ESTIMATORS  # noqa: E402
from gin_env.estimators.turn_buckets import Frequencies  # noqa: E402
from gin_env.observations.parts import describe_parts  # noqa: E402
from gin_env.support import array_files, tensor_files  # noqa: E402
from gin_env.support.array_files import ArrayFileError, ArrayFormat  # noqa: E402
from gin_env.support.files import check_regular_file  # noqa: E402
from gin_env.support.tensor_files import (  # noqa: E402
    MAX_HEADER,
    NetworkFormat,
    TensorFileError,
    _checksum,
    fill_network,
    read_kind,
)
from gin_env.training.generations import fit as experience  # noqa: E402
from gin_env.training.generations.fit import load_experiences  # noqa: E402

KIND, METADATA = "small file", {"seed": 3, "losses": [1.5, 1.25]}
ARRAYS = {"counts": np.arange(6).reshape(2, 3), "scores": np.array([0.5, np.nan], np.float32)}
TENSORS = {"weight": torch.arange(12.0).view(3, 4), "bias": torch.ones(3, dtype=torch.float16)}
SMALL = ArrayFormat(
    kind=KIND,
    version=2,
    arrays={"counts": (np.int64, ("rows", 3)), "scores": (np.float32, ("rows",))},
    described={"seed": int},
    command="make small",
)
ARRAY_READERS = {
    "table of frequencies": (turn_buckets.FORMAT, Frequencies.load),
    "ensemble table": (ensemble.FORMAT, ensemble.load_table),
    "strategy table": (strategy_table.FORMAT, StrategyTable.load),
    "experience": (experience.FORMAT, load_experiences),
}


class ArrayFiles:
    """Array files, as the tests below see both formats."""

    module, content = array_files, ARRAYS
    read = SMALL.read

    @staticmethod
    def write(path: Path, kind: str = KIND, version: int = 2, content=ARRAYS) -> Path:
        replace(SMALL, kind=kind, version=version).write(path, content, METADATA)
        return path


class TensorFiles:
    module, content = tensor_files, TENSORS

    @staticmethod
    def write(path: Path, kind: str = KIND, version: int = 2, content=TENSORS) -> Path:
        NetworkFormat(kind, str(version), "").write_tensors(path, content, METADATA)
        return path

    @staticmethod
    def read(path: Path):
        return NetworkFormat(KIND, "2", "make small").read_tensors(path)


both_formats = pytest.mark.parametrize("form", [ArrayFiles, TensorFiles])


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


# --- Both formats -----------------------------------------------------------------------------------------


@both_formats
def test_content_and_metadata_round_trip(tmp_path, form):
    path = form.write(tmp_path / "a")
    content, metadata = form.read(path)
    assert metadata.items() >= METADATA.items()
    assert content.keys() == form.content.keys()
    for name, numbers in form.content.items():
        assert content[name].dtype == numbers.dtype
        np.testing.assert_array_equal(content[name], numbers)
    assert form.write(tmp_path / "b").read_bytes() == path.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b"]


@both_formats
@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:-20],
        lambda whole: whole[:-3] + b"\1\2\3",
        lambda whole: b"",
        lambda whole: b"PK no zip, no tensors at all",
        lambda whole: b"\x80\x04N.",  # a pickle
        lambda whole: npy(np.arange(3)),
    ],
)
def test_damaged_file_raises(tmp_path, form, damage):
    path = form.write(tmp_path / "a.file")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with pytest.raises(ValueError, match=r"(?s)a\.file is (not a .*, or is )?damaged"):
        form.read(path)


@both_formats
def test_files_of_other_kinds_and_versions_raise(tmp_path, form):
    with pytest.raises(FileNotFoundError, match=r"there is no small file .*missing"):
        form.read(tmp_path / "missing")
    with pytest.raises(ValueError, match="holds a large file, not a small file"):
        form.read(form.write(tmp_path / "other", kind="large file"))
    old = re.escape("has version 1, this release reads 2; make it again with `make small`")
    with pytest.raises(ValueError, match=old):
        form.read(form.write(tmp_path / "old", version=1))


@both_formats
def test_irregular_and_oversized_files_are_refused_unread(tmp_path, form, monkeypatch):
    """Reading from an idle pipe or from /dev/zero would never end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, message in (
        (pipe, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises((ArrayFileError, TensorFileError), match=message):
            form.read(path)
    path = form.write(tmp_path / "a")
    monkeypatch.setattr(form.module, "MAX_BYTES", 10)
    with pytest.raises((ArrayFileError, TensorFileError), match="files of at most 10 are read"):
        form.read(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        check_regular_file(path / "below", 9)


@pytest.mark.parametrize(
    ("form", "content", "message"),
    [
        (ArrayFiles, ARRAYS | {"scores": np.arange(2)}, "scores is int64"),
        (TensorFiles, {"a": torch.tensor([1, torch.nan])}, r"of a are not finite; .* left as it was"),
        (TensorFiles, {"a": torch.tensor([-torch.inf]).half()}, "numbers of a are not finite"),
    ],
)
def test_refused_content_leaves_the_old_file(tmp_path, form, content, message):
    path = form.write(tmp_path / "a")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        form.write(path, content=content)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@both_formats
def test_interrupted_write_leaves_the_old_file(tmp_path, form, monkeypatch):
    path = form.write(tmp_path / "a")
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        form.write(path, version=3)
    assert form.read(path)


# --- Tensor files -----------------------------------------------------------------------------------------


def header_of(text):
    """Return a safetensors file with this header and without tensors."""
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda whole: whole.replace(b'\\"seed\\": 3', b'\\"seed\\": 4'), "its checksum does not match"),
        (lambda whole: whole[:8] + b"[" * 1000 + whole[1008:], "is not a safetensors file"),
        (lambda whole: header_of(b"[]"), "is not a safetensors file.*its header is not a JSON object"),
        (lambda whole: header_of(b'{"__metadata__": 3}'), "was not written by gin-env"),
        (lambda whole: whole.replace(b'"F16"', b'"F64"'), "is not a safetensors file, or is damaged"),
        (lambda whole: whole.replace(b"[3,4]", b"[9,9]"), "is not a safetensors file, or is damaged"),
    ],
)
def test_forged_tensor_file_raises(tmp_path, content, message):
    path = TensorFiles.write(tmp_path / "a.safetensors")
    whole = path.read_bytes()
    assert content(whole) != whole
    path.write_bytes(content(whole))
    with pytest.raises(TensorFileError, match=rf"a\.safetensors.*{message}"):
        TensorFiles.read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "not a JSON object with a kind"),
        ('{"file_version": "2"}', "not a JSON object with a kind"),
        ('{"kind": 7, "file_version": "2"}', "not a JSON object with a kind"),
        ('{"kind": "small file"}', "has version None"),
        ('{"kind": "small file", "file_version": ["2"]}', "has version list"),
        ('{"kind": "small file", "file_version": "2"', "not valid JSON"),
        ("[" * 100_000 + "]" * 100_000, "not valid JSON"),
        ('{"kind": "a\\u001b[2J", "file_version": "2"}', r"is damaged: its kind is 'a\x1b[2J'"),
        (f'{{"kind": "{"a" * 1_000_000}"}}', "is damaged: its kind is 'aaa"),
        (" " * (MAX_HEADER + 1), "is not a safetensors file, or is damaged (a header of 16,77"),
    ],
)
def test_forged_tensor_metadata_is_refused(tmp_path, text, message):
    """The description is any text, with a correct checksum."""
    path = tmp_path / "a.safetensors"
    save_file(TENSORS, path, metadata={"gin_env": f"{_checksum(TENSORS, text)} {text}"})
    for reader in (TensorFiles.read, lambda path: read_kind(path, KIND)):
        if reader is TensorFiles.read or "version" not in message:
            with pytest.raises(TensorFileError, match=rf"a\.safetensors.*{re.escape(message)}") as refusal:
                reader(path)
            assert len(str(refusal.value)) < 400


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.tensor([1.0, torch.nan]), "is damaged: some numbers of a are not finite"),
        (torch.tensor([1.0, -1e38]), "some numbers of a are larger than 1,000,000,000"),
        (torch.ones(2, dtype=torch.bfloat16), "a holds numbers of type BF16"),
    ],
)
def test_unusable_numbers_in_a_file_are_refused(tmp_path, tensor, message):
    path = tmp_path / "a.safetensors"
    if tensor.dtype == torch.bfloat16:
        save_file({"a": tensor}, path, metadata={"gin_env": f'0 {{"kind": "{KIND}", "file_version": "2"}}'})
    else:
        with any_numbers():
            TensorFiles.write(path, content={"a": tensor})
    with pytest.raises(TensorFileError, match=rf"a\.safetensors.*{message}"):
        TensorFiles.read(path)


def test_tensors_of_another_program_are_refused(tmp_path):
    save_file(TENSORS, tmp_path / "foreign.safetensors")
    with pytest.raises(TensorFileError, match="was not written by gin-env"):
        TensorFiles.read(tmp_path / "foreign.safetensors")


@pytest.mark.parametrize("limit", ["MAX_HEADER", "MAX_BYTES"])
def test_unreadable_file_is_not_written(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(tensor_files, limit, 1)
    with pytest.raises(ValueError, match=r"2 tensors and their metadata in \d+ bytes are too many: .* 1[ ;]"):
        TensorFiles.write(tmp_path / "a.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"sizes": [8, 10**30], "provenance": {}}, "must be from"),
        ({"sizes": [8, -4], "provenance": {}}, "a layer's size must be from .* not -4"),
        ({"sizes": [8, 4, 4], "provenance": {}}, "lacks a valid description"),
        ({"sizes": ["8", 4], "provenance": {}}, "a layer's size must be an integer"),
        ({"sizes": None, "provenance": {}}, "lacks a valid description"),
        ({"sizes": [8, 4], "provenance": 3}, "lacks a valid description of its network"),
        ({}, "lacks a valid description"),
        ({"sizes": [4096, 4096], "provenance": {}}, "does not match its own architecture"),
    ],
)
def test_network_sizes_must_match_the_weights(tmp_path, monkeypatch, description, message):
    """An 836-byte file that claims large layers must not allocate their memory."""
    path = tmp_path / "a.safetensors"
    tensors = GenerationNetwork(8, 4).state_dict()
    description = description | {"reads": describe_parts("observation", "row")}
    generations.FORMAT.write_tensors(path, tensors, description)
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


# --- Array files ------------------------------------------------------------------------------------------


def parts_of(path: Path) -> dict[str, np.ndarray]:
    """Write a small file and return its parts."""
    with np.load(ArrayFiles.write(path)) as file:
        return dict(file)


def text(metadata: object) -> np.ndarray:
    return np.frombuffer(json.dumps(metadata).encode(), np.uint8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": None}, "or is damaged.*counts"),
        ({"metadata": None}, "or is damaged.*metadata"),
        ({"checksum": None}, "or is damaged.*checksum"),
        ({"counts": np.arange(6)}, r"counts is int64 \(6,\) instead of int64 \(rows, 3\)"),
        ({"counts": np.zeros((2, 3))}, r"counts is float64 \(2, 3\) instead of int64"),
        ({"counts": np.array([{}], object)}, r"counts is object \(1,\) instead of int64"),
        ({"scores": np.ones(3, np.float32)}, r"scores is float32 \(3,\) instead of float32 \(rows\)"),
        ({"scores": np.ones(2, np.float32)}, "its checksum does not match"),
        ({"metadata": text([])}, "its metadata is not a JSON object"),
        ({"metadata": np.frombuffer(b"[" * 100_000, np.uint8)}, "or is damaged.*recursion"),
        ({"metadata": text({"seed": 3})}, "a file of unknown kind, not a small file"),
        ({"metadata": text({"kind": [KIND], "file_version": 2})}, "a file of unknown kind"),
        ({"metadata": text({"kind": KIND, "file_version": [2]})}, r"has version \[2\]"),
        ({"metadata": text({"kind": KIND, "file_version": 2, "seed": "3"})}, "has no 'seed'"),
    ],
)
def test_forged_array_file_raises(tmp_path, change, message):
    path = tmp_path / "a.npz"
    parts = {**parts_of(path), **change}
    np.savez(path, **{name: array for name, array in parts.items() if array is not None})
    with pytest.raises(ArrayFileError, match=rf"(?s)a\.npz.*{message}"):
        SMALL.read(path)


@pytest.mark.parametrize("kind", ARRAY_READERS)
def test_every_array_reader_refuses_other_files_and_metadata(tmp_path, kind):
    wanted, read = ARRAY_READERS[kind]
    with pytest.raises(ArrayFileError, match=rf"a\.npz holds a small file, not a {kind}"):
        read(ArrayFiles.write(tmp_path / "a.npz"))
    arrays = {
        name: np.zeros([length if isinstance(length, int) else 2 for length in shape], scalar)
        for name, (scalar, shape) in wanted.arrays.items()
    }
    for wrong in ({}, {key: [] for key in wanted.described}):
        replace(wanted, described={}).write(tmp_path / "b.npz", arrays, wrong)
        with pytest.raises(ArrayFileError, match=r"b\.npz"):
            read(tmp_path / "b.npz")


def test_ensemble_table_refuses_unknown_members(tmp_path):
    """An index out of range once raised IndexError during play."""
    table = ensemble.load_table(ESTIMATORS.file("ensemble", "table", None))
    parts = {name: table[name] for name in ensemble.FORMAT.arrays}
    path = tmp_path / "table.npz"
    nan = np.full_like(table["weights"], np.nan)
    for wrong in ({"choice": parts["choice"] + 3}, {"choice": parts["choice"] - 9}, {"weights": nan}):
        ensemble.FORMAT.write(path, parts | wrong, {"members": ensemble.MEMBERS})
        with pytest.raises(ArrayFileError, match=r"table\.npz is damaged"):
            estimators.make(f"ensemble:table={path}")
    ensemble.FORMAT.write(path, parts, {"members": ["bayes", "nn"]})
    with pytest.raises(ArrayFileError, match="was made for other members"):
        ensemble.load_table(path)


ZEROS = 1 << 25


def header(scalar, shape: tuple[int, ...]) -> bytes:
    return npy(np.zeros(0, scalar)).replace(b"(0,), }", f"{shape}, }}".encode())


@pytest.mark.parametrize(
    ("name", "content", "declared", "message"),
    [
        ("counts", b"", None, "magic string"),
        ("counts", b"", 10, "Bad CRC"),
        ("metadata", header(np.uint8, (ZEROS,)), 200, "Bad CRC"),
        ("metadata", header(np.uint8, (ZEROS,)), None, "its metadata has .* bytes, more than 16,777,216"),
        ("counts", header(np.uint8, (ZEROS,)), None, rf"counts is uint8 \({ZEROS},\) instead of int64"),
    ],
)
def test_zip_bomb_is_refused_without_unpacking(tmp_path, name, content, declared, message):
    """An entry unpacks to many zeros, whatever size its header declares."""
    path = tmp_path / "bomb.npz"
    parts = parts_of(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, array in parts.items():
            archive.writestr(f"{other}.npy", npy(array) if other != name else content + bytes(ZEROS))
    if declared is not None:
        size = (len(content) + ZEROS).to_bytes(4, "little")
        path.write_bytes(path.read_bytes().replace(size, declared.to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(ArrayFileError, match=rf"(?s)bomb\.npz is not a file of kind.*{message}"):
        SMALL.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24


def test_shape_of_more_bytes_than_an_array_holds_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    parts = parts_of(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in parts.items():
            content = header(np.int64, (10**9, 3)) + bytes(48) if name == "counts" else npy(array)
            archive.writestr(f"{name}.npy", content)
    with pytest.raises(ArrayFileError, match="counts has a shape of more bytes than it holds"):
        SMALL.read(path)
    monkeypatch.setattr(array_files, "MAX_UNPACKED", 10)
    with pytest.raises(ArrayFileError, match=r"unpacks to .* more than 10"):
        SMALL.read(path)
