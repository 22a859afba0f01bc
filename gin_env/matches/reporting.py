"""What a match reports while it is played: its progress bar, and its games to a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from gin_env.agents import Agent, AnyAgent
from gin_env.matches.provenance import spell_out_bot
from gin_env.matches.shards import Keep, Report, Tally
from gin_env.records.files import Recorder
from gin_env.records.games import GameRecord, Player

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

        next_update, explained = time.monotonic() + SECONDS, unit != "game"
        with tqdm(total=num_games, unit=unit, smoothing=0.1, delay=0.5) as bar:

            def show(num_ended: int, tally: Tally) -> None:
                nonlocal next_update, explained
                bar.update(num_ended)
                if time.monotonic() < next_update:
                    return
                hands = int(tally.deals["hands"].sum())
                if hands:
                    bar.set_postfix_str(f"{hands:,} hands, {100 * tally.voids / hands:.0f} % void")
                if not explained and hands >= MANY_HANDS and tally.voids > hands / 2:
                    explained = True
                    bar.write(LONG_GAMES, file=bar.fp)
                next_update = time.monotonic() + SECONDS

            yield show
    elif progress is None or progress is False:
        yield None
    elif callable(progress):
        yield lambda num_ended, _: progress(num_ended) if num_ended else None
    else:
        raise TypeError(f"progress must be True, False or a function, not {progress!r}")


@contextmanager
def match_recording(
    record: Recorder | str | Path, named: tuple[AnyAgent, AnyAgent], bots: tuple[Agent, Agent]
) -> Iterator[tuple[tuple[Player, Player], Keep]]:
    """Yield the players as records name them, and what to call with each finished game.

    The games are written in the order in which they started, whatever order they end in.

    Parameters
    ----------
    record : a recorder, or a file, which is closed after the block.
    named : the bots as the caller passed them: names or objects.
    bots : the same bots as objects.
    """
    waiting: dict[int, GameRecord] = {}
    with nullcontext(record) if isinstance(record, Recorder) else Recorder(record) as recorder:
        a, b = (
            recorder.player(bot.name, spell_out_bot(name) if isinstance(name, str) else None)
            for name, bot in zip(named, bots, strict=True)
        )
        num_written = 0

        def keep(game: GameRecord, position: int) -> None:
            nonlocal num_written
            waiting[position] = game
            while num_written in waiting:
                recorder.add(waiting.pop(num_written))
                num_written += 1

        yield (a, b), keep
