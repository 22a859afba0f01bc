"""How the games of a match come into a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from gin_env.agents import Agent
from gin_env.matches.provenance import spell_out_bot
from gin_env.records.files import Recorder
from gin_env.records.games import GameRecord


class MatchRecording:
    """Writes the games of a match in the order in which they were begun, whatever order they end in.

    Parameters
    ----------
    record : a recorder, or the file for one, which is closed at the end of the block.
    given : the bots as they were named, or handed over.
    bots : the same as objects.

    Attributes
    ----------
    players : bots a and b, as records name them.
    """

    def __init__(
        self,
        record: Recorder | str | Path,
        given: tuple[str | Agent, str | Agent],
        bots: tuple[Agent, Agent],
    ) -> None:
        self._recorder = record if isinstance(record, Recorder) else Recorder(record)
        self._closes = self._recorder is not record
        spell_out(self._recorder, given, bots)
        self.players = self._recorder.player(bots[0].name), self._recorder.player(bots[1].name)
        self._waiting: dict[int, GameRecord] = {}
        self._written = 0

    def __enter__(self) -> MatchRecording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._closes:
            self._recorder.close()

    def add(self, game: GameRecord, turn: int) -> None:
        """Record a game that has ended; `turn` says as which it was begun, from 0."""
        self._waiting[turn] = game
        while self._written in self._waiting:
            self._recorder.add(self._waiting.pop(self._written))
            self._written += 1


def spell_out(recorder: Recorder, given: Sequence[str | Agent], bots: Sequence[Agent]) -> None:
    """Tell a recorder by which texts the bots are made that were named (not handed over as objects)."""
    for one, bot in zip(given, bots, strict=True):
        if isinstance(one, str):
            recorder.spell(bot.name, spell_out_bot(one))
