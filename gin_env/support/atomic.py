"""Files written whole or not at all: if the program is stopped, the old file or the new one is there.

The content goes to a temporary file in the same folder, ``.NAME.xxxxxxxx.partial``, which is flushed to the
disk and then renamed. An error removes it; the temporary file of a killed program is removed by a later write
to the same name.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import BinaryIO

STALE = 3600
"""Seconds after which a temporary file must be a killed program's: no file takes that long to write."""


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a binary file for writing, which replaces `path` at the end of the block.

    An error in the block removes it. A link is followed, and the permissions of an existing file are kept.
    Devices and pipes are written directly, ``/dev/stdout`` after all earlier output, even if that is
    redirected to a file. Raises OSError, with `path` as its file name.
    """
    path = Path(path)
    if _is_special(path):
        with _named(path), _open_special(path) as file:
            yield file
        return
    with _temporary(path) as (target, partial):
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, partial)
        os.replace(partial, target)
        _flush_folder(target.parent)
        _remove_stale(target)


def check_targets(*paths: Path | None) -> None:
    """Check, before hours of work, that each of these files can be written (None: no file).

    A temporary file is made and removed; an existing file stays as it is. Raises ValueError for a file that
    is named twice, and the OSError that writing would raise now: no such folder, no permission, a folder.
    """
    seen: set[Path] = set()
    for path in paths:
        if path is None or _is_special(path):
            continue
        with _temporary(path) as (target, partial):
            partial.touch(exist_ok=False)
        if target in seen:
            raise ValueError(f"{path} is named for two outputs: one would overwrite the other")
        seen.add(target)


def check_folder(folder: Path) -> None:
    """Check that files can be written in a folder, which is made later if necessary. Raises OSError."""
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(folder))
    check_targets(folder / "file")


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically. Raises OSError."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, with its line ends unchanged. Raises OSError."""
    write_bytes(path, text.encode())


def remove_partials(folder: Path) -> None:
    """Remove the temporary files of killed programs from a folder that no other program writes to."""
    for partial in folder.glob(".*.partial"):
        partial.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether to write directly: a device, a pipe, or a name of an open file, as ``/dev/stdout`` is."""
    if Path(os.path.abspath(path)).parts[1:2] in (("dev",), ("proc",)):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def _open_special(path: Path) -> BinaryIO:
    stream = {"/dev/stdout": sys.stdout, "/dev/stderr": sys.stderr}.get(str(path))
    if stream is None:
        return path.open("ab")
    stream.flush()
    return os.fdopen(os.dup({"/dev/stdout": 1, "/dev/stderr": 2}[str(path)]), "wb")


@contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the file to write and a temporary name in its folder, which is free again after the block."""
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder, not a file", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", str(path))
    try:
        with _named(path, partial):
            yield target, partial
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def _named(path: Path, partial: Path | None = None) -> Iterator[None]:
    """Name `path` in an OSError of the block that names no file or the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or error.filename == str(partial)):
            error.filename = str(path)
        raise


def _flush_folder(folder: Path) -> None:
    """Write the new name to the disk, where the system can (Windows and some network folders cannot)."""
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
