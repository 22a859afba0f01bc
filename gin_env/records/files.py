"""Files of recorded games."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gin_env.records.games import GameRecord, Player, RecordError, check_text
from gin_env.records.lines import FORMAT, from_dict, from_reference_log, is_reference_log, to_line
from gin_env.support.atomic import check_targets, naming
from gin_env.support.checks import check_integer
from gin_env.support.files import check_regular_file

MAX_FILE_BYTES = 1 << 40
MAX_LINE_BYTES = 1 << 25
"""A typical game has 8,000 bytes, one of 1,000 long hands 6 million."""
BEGINNING = json.dumps({"format": FORMAT})[:-1].encode()
"""How the first line of a file of records begins."""


def read(path: str | Path) -> Iterator[GameRecord]:
    """Iterate over the games of a file; each is checked by replaying it.

    Logs of the reference engine (tneller/gin-rummy-eaai, as JSON Lines) are read too; `GameRecord.source`
    marks them.

    Raises FileNotFoundError or ValueError immediately unless `path` is a regular file, and RecordError (a
    ValueError) with file and line when the iteration reaches a damaged line.
    """
    check_regular_file(path, MAX_FILE_BYTES)
    return (_game_of(path, number, line) for number, line in _lines(path))


def read_one(path: str | Path, number: int) -> GameRecord:
    """Return game `number` of a file, counting from 1, without checking the lines before it.

    Raises as `read` does, and ValueError if the file has fewer games.
    """
    check_regular_file(path, MAX_FILE_BYTES)
    number = check_integer("number", number, 1, MAX_FILE_BYTES)
    num_lines = 0
    for num_lines, line in _lines(path):
        if num_lines == number:
            return _game_of(path, number, line)
    raise ValueError(f"{path} has only {num_lines} games, so game {number} does not exist")


def _lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line. Raises RecordError for a line that is too long."""
    with open(path, "rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                raise RecordError(f"{path}, line {number}: the line is longer than {MAX_LINE_BYTES:,} bytes")
            yield number, line


def _game_of(path: str | Path, number: int, line: bytes) -> GameRecord:
    """Return the game of a line; errors name the file and the line."""
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = f"not valid JSON ({error})"
        if not line.endswith(b"\n"):
            reason = (
                "the line is truncated because its writer was stopped; recording to the file again removes it"
            )
        raise RecordError(f"{path}, line {number}: {reason}") from error
    try:
        return from_reference_log(data) if is_reference_log(data) else from_dict(data)
    except RecordError as error:
        raise RecordError(f"{path}, line {number}: {error}") from error


class Recorder:
    """Appends games to a file, each completely or not at all.

    An existing file is continued: a truncated last line is removed, and a game that the file already holds is
    not written again. To complete the record of an interrupted match, play the match again with the same
    seed. Only one program at a time may write to a file.

    Raises OSError if the file cannot be written, ValueError if it holds anything but records.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file: BinaryIO | None = None
        self._size = 0
        self._known: set[bytes] = set()
        self._spelled: dict[str, str] = {}
        check_targets(self.path)
        if self.path.is_file():
            self._read_existing()

    def add(self, game: GameRecord) -> bool:
        """Write a game; return False if the file already holds it.

        Raises OSError, and RecordError for a game with a line that `read` would refuse as too long.
        """
        line = to_line(game).encode() + b"\n"
        if len(line) > MAX_LINE_BYTES:
            raise RecordError(f"the game has {len(line):,} bytes, more than the {MAX_LINE_BYTES:,} of a line")
        digest = _digest(line)
        if digest in self._known:
            return False
        if self._file is None:
            self._file = self.path.open("ab", buffering=0)
        remaining = memoryview(line)
        try:
            with naming(self.path):
                while remaining:
                    remaining = remaining[self._file.write(remaining) :]
        except BaseException:  # a full disk or Ctrl-C: remove the part that was written
            if self.path.is_file():
                self._file.truncate(self._size)
            raise
        self._size += len(line)
        self._known.add(digest)
        return True

    def spell(self, name: str, text: str) -> None:
        """Set the text that makes the bot of this name, for `player`."""
        self._spelled[name] = text

    def player(self, name: str, text: str | None = None) -> Player:
        """Return the bot of this name as a player, made by `text`; by default that set by `spell`, if any.

        Raises RecordError for a name that cannot be shown in a terminal.
        """
        return Player(check_text("a bot's name", name), text or self._spelled.get(name))

    def close(self) -> None:
        """Flush everything to disk and close the file."""
        if self._file is not None:
            self._file.flush()
            if self.path.is_file():
                os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_existing(self) -> None:
        """Read the digests of the games in the file, and remove a truncated last line."""
        with self.path.open("rb") as file:
            while line := file.readline(MAX_LINE_BYTES):
                if not self._known and not line.startswith(BEGINNING[: len(line)]):
                    raise ValueError(
                        f"{self.path} does not hold records of games (format {FORMAT!r}); choose another file"
                    )
                if line.endswith(b"\n"):
                    self._known.add(_digest(line))
                    self._size += len(line)
                elif file.read(1):
                    raise ValueError(
                        f"{self.path} has a line longer than {MAX_LINE_BYTES:,} bytes; choose another file"
                    )
                elif _is_json(line):
                    self._known.add(_digest(line + b"\n"))
                    self._size += len(line + b"\n")
        size = self.path.stat().st_size
        if size > self._size:
            os.truncate(self.path, self._size)
        elif size < self._size:  # only the newline is missing
            with self.path.open("ab") as file:
                file.write(b"\n")


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=16).digest()
