"""Files written whole or not at all: whatever stops the program, the old file or the new one is there.

The content goes to a temporary file in the same folder, ``.NAME.xxxxxxxx.partial``, which is flushed to the
disk and then takes the name of the old file. An error removes it; what a killed program leaves is removed by
a later write to the same name.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

STALE = 3600
"""Seconds after which a temporary file belongs to a killed program: no file takes that long to write."""
_STUB = 4096


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file to write, which replaces `path` at the end of the block; after an error it is removed.

    A link is followed, the permissions of an existing file are kept. What is no ordinary file
    (``/dev/stdout``) is written directly. Raises OSError, with `path` as its file name.
    """
    path = Path(path)
    if _is_special(path):
        with _named(path), path.open("wb") as file:
            yield file
        return
    with _temporary(path) as (target, partial):
        with partial.open("xb") as file:
            yield file
            _flush(file)
        if target.exists():
            shutil.copymode(target, partial)
        os.replace(partial, target)
        _flush_folder(target.parent)
        _remove_stale(target)


def check_targets(*paths: Path | None) -> None:
    """Before hours of work: try whether each of these files can be written (None: not asked for).

    A temporary file is written and removed; a file that is there stays as it is. Raises ValueError for a file
    that is named twice, and the OSError that writing it would raise now: no such folder, no permission, a
    folder, a full disk.
    """
    seen: set[str] = set()
    for path in paths:
        if path is None or _is_special(path):
            continue
        with _temporary(path) as (target, partial):
            with partial.open("xb") as file:
                file.write(bytes(_STUB))
                _flush(file)
            partial.unlink()
        if str(target) in seen:
            raise ValueError(f"{path} is named for two outputs: one would overwrite the other")
        seen.add(str(target))


def check_folder(folder: Path) -> None:
    """The same for a folder that will be made, if it is not there, and written into. Raises OSError."""
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "this is no folder to write into", str(folder))
    check_targets(folder / "file")


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all. Raises OSError."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, line ends as they are. Raises OSError."""
    write_bytes(path, text.encode())


def write_json(path: str | Path, content: object) -> None:
    """Write JSON, indented, with a newline at the end. Raises OSError."""
    write_text(path, json.dumps(content, indent=2) + "\n")


def write_csv(path: str | Path, header: Iterable[object], rows: Iterable[Iterable[object]]) -> None:
    """Write CSV with "\\n" at the ends of lines. Raises OSError."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def save_figure(figure: Any, path: str | Path, dpi: int) -> None:
    """Write a figure of matplotlib, in the format that the path ends in (none: PNG).

    Raises OSError, or ValueError for a format that matplotlib does not know.
    """
    picture = io.BytesIO()
    figure.savefig(picture, dpi=dpi, format=Path(path).suffix[1:] or "png")
    write_bytes(path, picture.getvalue())


def remove_partials(folder: Path) -> None:
    """Remove the temporary files of killed programs in a folder that nobody else writes to."""
    for partial in folder.glob(".*.partial"):
        partial.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, Path]]:
    """(the file to write, a new name in its folder); after the block nothing is left under that name."""
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder, not a file to write", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "this file may not be written", str(path))
    try:
        with _named(path, partial):
            yield target, partial
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


@contextmanager
def _named(path: Path, partial: Path | None = None) -> Iterator[None]:
    """An OSError of the block that names no file, or the temporary one, names `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or error.filename == str(partial)):
            error.filename = str(path)
        raise


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the new name last, where the system can (Windows and some network folders cannot)."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove_stale(target: Path) -> None:
    for partial in target.parent.glob(f".{escape(target.name)}.*.partial"):
        with suppress(OSError):
            if time.time() - partial.stat().st_mtime > STALE:
                partial.unlink()
