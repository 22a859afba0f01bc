"""Writers for JSON and CSV, and a check of files before they are read."""

from __future__ import annotations

import csv
import io
import json
import stat
from collections.abc import Iterable
from pathlib import Path

from gin_env.support.atomic import write_text


def write_json(path: str | Path, content: object) -> None:
    """Write indented JSON with a trailing newline. Raises OSError."""
    write_text(path, json.dumps(content, indent=2) + "\n")


def write_csv(path: str | Path, header: Iterable[object], rows: Iterable[Iterable[object]]) -> None:
    """Write CSV with "\\n" as the line terminator. Raises OSError."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def check_regular_file(
    path: str | Path, max_bytes: int = 1 << 30, what: str = "file", error_type: type[ValueError] = ValueError
) -> None:
    """Check that a file named by the user is a regular file of limited size, before opening it.

    `what` names it in an error. Raises FileNotFoundError if it does not exist, and `error_type` if it is not
    a regular file (a folder, a pipe, a device) or has more than `max_bytes` bytes.
    """
    try:
        about = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(f"there is no {what} {path}") from error
    if stat.S_ISDIR(about.st_mode):
        raise error_type(f"{path} is a folder, not a file")
    if not stat.S_ISREG(about.st_mode):
        raise error_type(f"{path} is a pipe, a device or a socket, not a regular file")
    if about.st_size > max_bytes:
        raise error_type(f"{path} has {about.st_size:,} bytes; files of at most {max_bytes:,} are read")
