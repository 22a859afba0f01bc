"""Atomic writing of files: if the program is stopped, either the old or the new file is complete.

The content is written to a temporary file in the same folder, ``.NAME.xxxxxxxx.partial``, which is flushed to
the disk and then renamed. An error removes the temporary file. If the program is killed, a later write to the
same name removes it.
"""

from __future__ import annotations

import errno
import os
import re
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
"""Age in seconds at which a temporary file is considered abandoned; no file takes that long to write."""


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a binary file for writing that replaces `path` at the end of the block.

    If the block raises, the new file is discarded. Links are followed, and the permissions of an existing
    file are kept. Devices and pipes are written directly. Output to ``/dev/stdout`` comes after all earlier
    output, even if it is redirected to a file. Raises OSError, with `path` as its file name.
    """
    path = Path(path)
    if _is_special(path):
        with naming(path), _open_special(path) as file:
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
    """Check that each of these files can be written, for use before a long computation; None is skipped.

    A temporary file is made and removed; existing files are unchanged. Raises ValueError for a file that is
    named twice, or the OSError that writing would raise, such as a missing folder or a missing permission.
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
    """Check that files can be written in a folder, which does not have to exist yet. Raises OSError."""
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
    """Write text as UTF-8, atomically and with unchanged line ends. Raises OSError."""
    write_bytes(path, text.encode())


def remove_partials(folder: Path) -> None:
    """Remove all temporary files from a folder. No other program may be writing to it."""
    for partial in folder.glob(".*.partial"):
        partial.unlink(missing_ok=True)


_OPEN_FILE = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/(self|\d+)/fd/\d+")


def _is_special(path: Path) -> bool:
    """Return whether to write directly: to a device, a pipe, or an open file such as ``/dev/stdout``."""
    if _OPEN_FILE.fullmatch(os.path.abspath(path)):
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
    """Yield the file to write and a temporary path in its folder, which is removed after the block."""
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder, not a file", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", str(path))
    try:
        with naming(path, partial):
            yield target, partial
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def naming(path: Path, partial: Path | None = None) -> Iterator[None]:
    """Set `path` as the file name of an OSError from the block without one, or with the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or error.filename == str(partial)):
            error.filename = str(path)
        raise


def _flush_folder(folder: Path) -> None:
    """Flush the folder's entries to the disk, where possible (not on Windows and some network folders)."""
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
