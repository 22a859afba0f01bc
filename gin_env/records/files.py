"""Files of recorded games: written game by game, read with every game played again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from gin_env.records.games import GameRecord, Player, RecordError
from gin_env.records.lines import FORMAT, from_dict, to_line
from gin_env.records.reference_logs import from_reference_log, is_reference_log
from gin_env.support.atomic import check_targets
from gin_env.support.checks import check_integer
from gin_env.support.files import check_regular_file

MOST_BYTES = 1 << 40
MOST_LINE = 1 << 27
"""Bytes of the longest line that is read; a usual game has eight thousand."""


def read(path: str | Path) -> Iterator[GameRecord]:
    """The games of a file, one after the other, each checked by playing it again.

    Logs of the reference engine (tneller/gin-rummy-eaai, as JSON Lines) are read too; their `source` says so.

    Raises FileNotFoundError or ValueError at once for what is no regular file, and RecordError (a ValueError)
    that names file and line when it comes to a damaged one.
    """
    check_regular_file(path, MOST_BYTES)
    return _read(Path(path))


def read_one(path: str | Path, number: int) -> GameRecord:
    """One game of a file, counted from 1; the lines before it are not looked at.

    Raises as `read` does, and ValueError if there are fewer.
    """
    check_regular_file(path, MOST_BYTES)
    number = check_integer("the number of the game", number, 1, MOST_BYTES)
    line, lines = b"", 0
    with Path(path).open("rb") as file:
        while lines < number and (line := file.readline(MOST_LINE)):
            lines += 1
    if lines < number or not line:
        raise ValueError(f"{path} holds {lines} games: there is no game {number}")
    return _named(path, number, line)


def _read(path: Path) -> Iterator[GameRecord]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MOST_LINE):
            number += 1
            yield _named(path, number, line)


def _named(path: str | Path, number: int, line: bytes) -> GameRecord:
    """The game of a line; errors name file and line."""
    try:
        return _game(line)
    except RecordError as error:
        raise RecordError(f"{path}, line {number}: {error}") from error


def _game(line: bytes) -> GameRecord:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        if not line.endswith(b"\n"):
            raise RecordError(
                "the line is cut short: its writer was stopped; recording into the file again removes it"
            ) from error
        raise RecordError(f"this is no JSON ({error})") from error
    return from_reference_log(found) if is_reference_log(found) else from_dict(found)


class Recorder:
    """Writes games into a file, each whole or not at all, as soon as it is handed over.

    A file that is there is gone on with: a line that a killed program left cut short is removed, and a game
    that it holds already, to the byte, is not written again. So a match that was stopped is recorded
    completely, and once, by playing it again with the same seed. One program at a time may write.

    Raises OSError if the file cannot be written, ValueError if it holds something else than records.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file: BinaryIO | None = None
        self._size = 0
        self._known: set[bytes] = set()
        self._spelled: dict[str, str] = {}
        check_targets(self.path)
        if self.path.is_file():
            self._look_through()

    def add(self, game: GameRecord) -> bool:
        """Write a game; False if the file holds it already. Raises OSError."""
        line = to_line(game).encode() + b"\n"
        digest = _digest(line)
        if digest in self._known:
            return False
        if self._file is None:
            self._file = self.path.open("ab", buffering=0)
        self._write(self._file, line)
        self._known.add(digest)
        return True

    def spell(self, name: str, text: str) -> None:
        """Note by which text the bot of this name is made, for `player`."""
        self._spelled[name] = text

    def player(self, name: str) -> Player:
        """The bot of this name as a player, with its text if `spell` has told it."""
        return Player(name, self._spelled.get(name))

    def close(self) -> None:
        """Bring everything to the disk and close the file."""
        if self._file is not None:
            self._file.flush()
            if self.path.is_file():
                os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _look_through(self) -> None:
        """Note the games of the file that is there, and remove a last line that was cut short."""
        with self.path.open("rb") as file:
            while line := file.readline(MOST_LINE):
                if not self._known and not _begins_like_a_record(line):
                    raise ValueError(
                        f"{self.path} holds no records of games (format {FORMAT!r}): name another file"
                    )
                if line.endswith(b"\n"):
                    self._known.add(_digest(line))
                    self._size += len(line)
                elif file.read(1):
                    raise ValueError(
                        f"{self.path} has a line of more than {MOST_LINE:,} bytes: name another file"
                    )
        if self.path.stat().st_size > self._size:
            os.truncate(self.path, self._size)

    def _write(self, file: BinaryIO, line: bytes) -> None:
        left = memoryview(line)
        try:
            while left:
                left = left[file.write(left) :]
        except BaseException:  # a full disk, Ctrl-C: nothing of the game stays
            if self.path.is_file():
                file.truncate(self._size)
            raise
        self._size += len(line)


def _begins_like_a_record(line: bytes) -> bool:
    head = json.dumps({"format": FORMAT})[:-1].encode()
    return line.startswith(head[: len(line)])


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=16).digest()
