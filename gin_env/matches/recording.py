"""Write the games of a match to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gin_env.agents import Agent, AnyAgent
from gin_env.matches.provenance import spell_out_bot
from gin_env.records.files import Recorder
from gin_env.records.games import GameRecord


class MatchRecording:
    """Writes the games of a match in the order in which they started, whatever order they end in.

    Parameters
    ----------
    record : a recorder, or a file, which `close` closes.
    named : the bots as the caller passed them: names or objects.
    bots : the same bots as objects.

    Attributes
    ----------
    players : bots a and b, as records name them.
    """

    def __init__(
        self,
        record: Recorder | str | Path,
        named: tuple[AnyAgent, AnyAgent],
        bots: tuple[Agent, Agent],
    ) -> None:
        self._recorder = record if isinstance(record, Recorder) else Recorder(record)
        self._closes = self._recorder is not record
        a, b = (
            self._recorder.player(bot.name, spell_out_bot(name) if isinstance(name, str) else None)
            for name, bot in zip(named, bots, strict=True)
        )
        self.players = a, b
        self._waiting: dict[int, GameRecord] = {}
        self._num_written = 0

    def close(self) -> None:
        """Close a file that was opened for this match alone."""
        if self._closes:
            self._recorder.close()

    def add(self, game: GameRecord, position: int) -> None:
        """Record a finished game that was the `position`-th to start, counting from 0."""
        self._waiting[position] = game
        while self._num_written in self._waiting:
            self._recorder.add(self._waiting.pop(self._num_written))
            self._num_written += 1


def spell_out(recorder: Recorder, named: Sequence[AnyAgent], bots: Sequence[Agent]) -> None:
    """Add to the records the full spelling of each bot that was passed by name."""
    for name, bot in zip(named, bots, strict=True):
        if isinstance(name, str):
            recorder.spell(bot.name, spell_out_bot(name))
