"""Files that a user names: refused unopened if reading them could wait for ever or fill the memory."""

from __future__ import annotations

import stat
from pathlib import Path


def check_regular_file(path: str | Path, most_bytes: int) -> None:
    """Whether a file may be read: call it before opening a file that somebody names.

    Raises FileNotFoundError if there is none, ValueError for anything but a regular file (a folder, a pipe
    that never answers, a device without an end) and for more than `most_bytes` bytes.
    """
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(f"there is no file {path}") from error
    if stat.S_ISDIR(found.st_mode):
        raise ValueError(f"{path} is a folder, not a file: name the file in it")
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path} is no regular file (but a pipe, a device or a socket): name a file")
    if found.st_size > most_bytes:
        raise ValueError(
            f"{path} has {found.st_size:,} bytes, more than the {most_bytes:,} that are read: name another"
        )
