"""Array files: round trips, files of earlier releases and clear errors for damaged files."""

from __future__ import annotations

import io
import json
import os
import re
import tracemalloc
import zipfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from gin_env import estimators
from gin_env.agents.cfr import table as strategy_table
from gin_env.agents.cfr.table import StrategyTable
from gin_env.estimators import ensemble, frequencies
from gin_env.estimators.frequencies import Frequencies
from gin_env.support import array_files
from gin_env.support.array_files import ArrayFileError, ArrayFormat
from gin_env.training.generations import experience
from gin_env.training.generations.experience import load_experiences

SMALL = ArrayFormat(
    kind="small file",
    version=2,
    arrays={"counts": (np.int64, ("rows", 3)), "scores": (np.float32, ("rows",))},
    described={"seed": int},
    command="make small",
)
ARRAYS = {"counts": np.arange(6).reshape(2, 3), "scores": np.array([0.5, np.nan], np.float32)}
READERS = {
    "table of frequencies": (frequencies.FORMAT, Frequencies.load),
    "ensemble table": (ensemble.FORMAT, ensemble.load_table),
    "strategy table": (strategy_table.FORMAT, StrategyTable.load),
    "experience": (experience.FORMAT, load_experiences),
}


def written(path: Path) -> dict[str, np.ndarray]:
    """Write a small file and return its parts."""
    SMALL.write(path, ARRAYS, {"seed": 3})
    with np.load(path) as file:
        return dict(file)


def text(metadata: object) -> np.ndarray:
    return np.frombuffer(json.dumps(metadata).encode(), np.uint8)


def test_arrays_and_metadata_round_trip(tmp_path):
    path = tmp_path / "a.npz"
    SMALL.write(path, ARRAYS, {"seed": 3, "bots": ["simple"]})
    arrays, metadata = SMALL.read(path)
    assert metadata == {"seed": 3, "bots": ["simple"]}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array, equal_nan=True)
    SMALL.write(tmp_path / "b.npz", ARRAYS, {"seed": 3, "bots": ["simple"]})
    assert (tmp_path / "b.npz").read_bytes() == path.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.npz"
    SMALL.write(path, ARRAYS, {"seed": 3})
    before = path.read_bytes()
    with pytest.raises(ValueError, match="scores is int64"):
        SMALL.write(path, ARRAYS | {"scores": np.arange(2)}, {"seed": 3})
    with pytest.raises(TypeError, match="JSON"):
        SMALL.write(path, ARRAYS, {"seed": object()})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


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
        ({"metadata": text(None)}, "its metadata is not a JSON object"),
        ({"metadata": np.frombuffer(b"[" * 100_000, np.uint8)}, "or is damaged.*recursion"),
        ({"metadata": np.frombuffer(b"\xff{", np.uint8)}, "or is damaged.*decode"),
        ({"metadata": text({"seed": 3})}, "a file of unknown kind, not a small file"),
        ({"metadata": text({"kind": ["small file"], "file_version": 2})}, "a file of unknown kind"),
        (
            {"metadata": text({"kind": "large file", "file_version": 2})},
            "holds a large file, not a small file",
        ),
        ({"metadata": text({"kind": "small file", "file_version": [2]})}, r"has version \[2\]"),
        (
            {"metadata": text({"kind": "small file", "file_version": 1})},
            "has version 1, this release reads 2; make it again with `make small`",
        ),
        ({"metadata": text({"kind": "small file", "file_version": 2, "seed": "3"})}, "has no 'seed'"),
    ],
)
def test_damaged_file_raises_one_clear_error(tmp_path, change, message):
    path = tmp_path / "a.npz"
    parts = {**written(path), **change}
    np.savez(path, **{name: array for name, array in parts.items() if array is not None})
    with pytest.raises(ArrayFileError, match=rf"(?s)a\.npz.*{message}"):
        SMALL.read(path)


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("content", [b"", b"PK no zip", npy(np.arange(3)), b"\x80\x04N."])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(ArrayFileError, match=r"(?s)a\.npz is not a file of kind 'small file', or is damaged"):
        SMALL.read(path)


@pytest.mark.parametrize("kind", READERS)
def test_every_reader_names_wrong_and_missing_files(tmp_path, kind):
    path = tmp_path / "a.npz"
    written(path)
    with pytest.raises(ArrayFileError, match=rf"a\.npz holds a small file, not a {kind}"):
        READERS[kind][1](path)
    with pytest.raises(FileNotFoundError, match=re.escape(f"there is no {kind} {tmp_path / 'b.npz'}")):
        READERS[kind][1](tmp_path / "b.npz")


@pytest.mark.parametrize("kind", READERS)
def test_every_reader_refuses_wrong_metadata(tmp_path, kind):
    """Metadata entries are missing or of wrong types; the arrays have the right types and shapes."""
    wanted, read = READERS[kind]
    path = tmp_path / "a.npz"
    arrays = {
        name: np.zeros([length if isinstance(length, int) else 2 for length in shape], scalar)
        for name, (scalar, shape) in wanted.arrays.items()
    }
    for wrong in ({}, {key: [] for key in wanted.described}):
        replace(wanted, described={}).write(path, arrays, wrong)
        with pytest.raises(ArrayFileError, match=r"a\.npz"):
            read(path)


def test_ensemble_table_refuses_unknown_members(tmp_path):
    """An index out of range once raised IndexError during play."""
    table = ensemble.load_table(str(files("gin_env.estimators") / "data" / ensemble.PACKAGED_TABLE))
    parts = {name: table[name] for name in ensemble.FORMAT.arrays}
    path = tmp_path / "table.npz"
    nan = np.full_like(table["weights"], np.nan)
    for wrong in ({"choice": parts["choice"] + 3}, {"choice": parts["choice"] - 9}, {"weights": nan}):
        ensemble.save_table(parts | wrong, path, {})
        with pytest.raises(ArrayFileError, match=r"table\.npz is damaged"):
            estimators.make(f"ensemble:table={path}")
    ensemble.FORMAT.write(path, parts, {"members": ["bayes", "nn"]})
    with pytest.raises(ArrayFileError, match="was made for other members"):
        ensemble.load_table(path)


def test_irregular_and_oversized_files_are_refused_unread(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe.npz"
    os.mkfifo(pipe)
    for path, message in (
        (pipe, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "a folder"),
    ):
        with pytest.raises(ArrayFileError, match=message):
            SMALL.read(path)
    path = tmp_path / "a.npz"
    SMALL.write(path, ARRAYS, {"seed": 3})
    monkeypatch.setattr(array_files, "MAX_UNPACKED", 10)
    with pytest.raises(ArrayFileError, match=r"unpacks to .* more than 10"):
        SMALL.read(path)
    monkeypatch.setattr(array_files, "MAX_BYTES", 10)
    with pytest.raises(ArrayFileError, match="files of at most 10 are read"):
        SMALL.read(path)


ZEROS = 1 << 28


def bomb_of(path: Path, name: str, content: bytes, declared: int | None = None) -> None:
    """Write a file with an entry that unpacks to many zeros, whatever size its header declares."""
    good = written(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, array in good.items():
            if other != name:
                archive.writestr(f"{other}.npy", npy(array))
        with archive.open(f"{name}.npy", "w") as file:
            file.write(content)
            for _ in range(ZEROS >> 20):
                file.write(bytes(1 << 20))
    size = (len(content) + ZEROS).to_bytes(4, "little")
    if declared is not None:
        path.write_bytes(path.read_bytes().replace(size, declared.to_bytes(4, "little")))
    assert path.stat().st_size < ZEROS / 500


def test_shape_of_more_bytes_than_an_array_holds_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    good = written(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in good.items():
            content = header(np.int64, (10**9, 3)) + bytes(48) if name == "counts" else npy(array)
            archive.writestr(f"{name}.npy", content)
    with pytest.raises(ArrayFileError, match="counts has a shape of more bytes than it holds"):
        SMALL.read(path)


def header(scalar, shape: tuple[int, ...]) -> bytes:
    return npy(np.zeros(0, scalar)).replace(b"(0,), }", f"{shape}, }}".encode())


@pytest.mark.parametrize(
    ("name", "content", "declared", "message"),
    [
        ("counts", b"", None, "magic string"),
        ("counts", b"", 10, "Bad CRC"),
        ("metadata", b"", 10, "Bad CRC"),
        ("metadata", header(np.uint8, (ZEROS,)), 200, "Bad CRC"),
        ("metadata", header(np.uint8, (ZEROS,)), None, "its metadata has .* bytes, more than 16,777,216"),
        ("counts", header(np.uint8, (ZEROS,)), None, r"counts is uint8 \(268435456,\) instead of int64"),
        (
            "scores",
            header(np.float32, (ZEROS // 4, 1)),
            None,
            r"scores is float32 \(67108864, 1\) instead of",
        ),
    ],
)
def test_zip_bomb_is_refused_without_unpacking(tmp_path, name, content, declared, message):
    path = tmp_path / "bomb.npz"
    bomb_of(path, name, content, declared)
    tracemalloc.start()
    with pytest.raises(ArrayFileError, match=rf"(?s)bomb\.npz is not a file of kind.*{message}"):
        SMALL.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24
