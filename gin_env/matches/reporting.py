"""What a match reports while it is played: its progress bar, and its games to a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gin_env.agents import Agent, AnyAgent
from gin_env.matches.provenance import spell_out_bot
from gin_env.matches.shards import Report, Tally
from gin_env.records.files import Recorder
from gin_env.records.games import GameRecord

if TYPE_CHECKING:
    from tqdm import tqdm

SECONDS = 1.0
"""Time between two updates of the number of hands."""
MANY_HANDS = 500
"""Minimum number of hands before games are called long."""
LONG_GAMES = (
    "most hands are void, because these bots seldom knock before the stock runs out: their games are long. "
    'Compare such bots by single hands: episode="hand", or --hands on the command line'
)


@contextmanager
def match_progress(
    progress: bool | Callable[[int], object] | None, num_games: int, unit: str
) -> Iterator[Report | None]:
    """Yield what to call when hands have ended.

    With ``progress=True`` this draws a bar on standard error, with the number of hands, and says why games
    are long if they are. Raises TypeError for anything but a bool, None or a function.
    """
    if progress is True:
        from tqdm import tqdm

        with tqdm(total=num_games, unit=unit, smoothing=0.1, delay=0.5) as bar:
            yield _Bar(bar, unit)
    elif progress is None or progress is False:
        yield None
    elif callable(progress):
        yield lambda num_ended, _: progress(num_ended) if num_ended else None
    else:
        raise TypeError(f"progress must be True, False or a function, not {progress!r}")


class _Bar:
    """Shows the number of games and, from time to time, of hands."""

    def __init__(self, bar: tqdm[None], unit: str) -> None:
        self.bar, self.is_game, self.explained = bar, unit == "game", False
        self.next = time.monotonic() + SECONDS

    def __call__(self, num_ended: int, tally: Tally) -> None:
        self.bar.update(num_ended)
        if time.monotonic() < self.next:
            return
        hands = int(tally.deals["hands"].sum())
        if hands:
            self.bar.set_postfix_str(f"{hands:,} hands, {100 * tally.voids / hands:.0f} % void")
        if self.is_game and not self.explained and hands >= MANY_HANDS and tally.voids > hands / 2:
            self.explained = True
            self.bar.write(LONG_GAMES, file=self.bar.fp)
        self.next = time.monotonic() + SECONDS


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
