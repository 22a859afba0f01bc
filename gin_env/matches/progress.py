"""The progress bar of a match, for ``play_match(..., progress=True)``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gin_env.matches.shards import Tally

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
) -> Iterator[tuple[Callable[[int], object] | None, Callable[[Tally], object] | None]]:
    """Yield what to call with the number of games that have ended, and with the sums so far.

    With ``progress=True`` these draw a bar on standard error, with the number of hands, and say why games are
    long if they are. Raises TypeError for anything but a bool, None or a function.
    """
    if progress is not True:
        if progress is not None and progress is not False and not callable(progress):
            raise TypeError(f"progress must be True, False or a function, not {progress!r}")
        yield progress or None, None
        return
    from tqdm import tqdm

    with tqdm(total=num_games, unit=unit, smoothing=0.1, delay=0.5) as bar:
        yield bar.update, _Watch(bar, unit)


class _Watch:
    """Shows the number of hands next to the bar."""

    def __init__(self, bar: tqdm[None], unit: str) -> None:
        self.bar, self.is_game, self.explained = bar, unit == "game", False
        self.next = time.monotonic() + SECONDS

    def __call__(self, tally: Tally) -> None:
        if time.monotonic() < self.next:
            return
        hands = int(tally.deals["hands"].sum())
        if hands:
            self.bar.set_postfix_str(f"{hands:,} hands, {100 * tally.voids / hands:.0f} % void")
        if self.is_game and not self.explained and hands >= MANY_HANDS and tally.voids > hands / 2:
            self.explained = True
            self.bar.write(LONG_GAMES, file=self.bar.fp)
        self.next = time.monotonic() + SECONDS
