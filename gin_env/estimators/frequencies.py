"""How often a card was held after a turn, by bucket of `gin_env.estimators.buckets`: counted once, shipped, learned again at will.

Papers 002 and 003 both count "10,000 games" of two Simple players; their estimators ``bayes-isru`` and
``bayes`` here work on the same table. ``gin-rummy train estimator bayes table.npz`` makes it.

A card counts as seen if, after a completed turn that did not end the hand, its place is unknown to the player
who watched the turn; as held if the player whose turn it was has it then. So a card of a bucket is held after
the turn with the chance held / seen. The same is counted for the time before the turn, by rank alone: what
the turn says of a card is how the chance has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.actions import DRAW_UPCARD
from gin_env.agents import Agent, resolve
from gin_env.batch import Games
from gin_env.cards import NUM_CARDS, NUM_RANKS, card_bit, lowest_card
from gin_env.compilation import kernel
from gin_env.estimators.buckets import BUCKETS, is_discard, offered_upcard, suit_relation
from gin_env.estimators.uniform import cards_unseen
from gin_env.state import DRAW
from gin_env.streams import check_seed
from gin_env.turns import play_bot

TABLE_VERSION = 1
_COUNTS = ("seen", "held", "seen_before", "held_before")
TABLE_ENDING = ".npz"
GAMES_AT_ONCE = 1000
DEFAULT_GAMES = 10_000


@dataclass(frozen=True)
class Frequencies:
    """Counts by bucket, and where they come from."""

    seen: np.ndarray
    """int64 `BUCKETS`: cards of unknown place after turns of this bucket."""
    held: np.ndarray
    """int64 `BUCKETS`: those that the opponent held."""
    seen_before: np.ndarray
    """int64 (13,): cards of each rank whose place was unknown before the turn."""
    held_before: np.ndarray
    """int64 (13,): those that the opponent held then."""
    metadata: dict[str, Any]

    def save(self, path: str | Path) -> None:
        """Write the table as npz, without pickles."""
        text = json.dumps(self.metadata | {"table_version": TABLE_VERSION}, sort_keys=True)
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file,
                metadata=np.frombuffer(text.encode(), np.uint8),
                seen=self.seen.astype(np.uint32),
                held=self.held.astype(np.uint32),
                seen_before=self.seen_before,
                held_before=self.held_before,
            )

    @classmethod
    def load(cls, path: str | Path) -> Frequencies:
        """Read a table. Raises FileNotFoundError, or ValueError that names a file that is damaged or of another version."""
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"there is no table of frequencies {path}")
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                metadata = json.loads(arrays["metadata"].tobytes())
                seen, held, seen_before, held_before = (arrays[name].astype(np.int64) for name in _COUNTS)
        except Exception as error:  # numpy and zipfile raise nearly anything for a damaged file
            raise ValueError(f"{path} is no table of frequencies, or is damaged ({error})") from error
        if metadata.get("table_version") != TABLE_VERSION:
            raise ValueError(
                f"{path} is a table of version {metadata.get('table_version')}, this release reads version "
                f"{TABLE_VERSION}: make it again with `gin-rummy train estimator bayes`"
            )
        shapes = seen.shape, held.shape, seen_before.shape, held_before.shape
        if (
            shapes != (BUCKETS, BUCKETS, (NUM_RANKS,), (NUM_RANKS,))
            or (held > seen).any()
            or not ((held_before > 0) & (held_before < seen_before)).all()
        ):
            raise ValueError(f"{path} is damaged: its counts do not fit together")
        return cls(seen, held, seen_before, held_before, metadata)

    def odds_before(self) -> np.ndarray:
        """float64 (13, 1), to go with `BUCKETS`: the odds that a card of the rank was held before a turn."""
        return (self.held_before / (self.seen_before - self.held_before))[:, None]

    def __str__(self) -> str:
        return (
            f"{self.metadata['turns']:,} turns of {self.metadata['games']:,} games, "
            f"{'+'.join(self.metadata['opponents'])}, seed {self.metadata['seed']}: "
            f"{(self.seen > 0).sum():,} of {self.seen.size:,} buckets seen"
        )


def find_table(table: str | Path) -> Frequencies:
    """The `table` parameter of an estimator: the name of a packaged table (whom it watched), or a file.

    Raises TypeError, FileNotFoundError or ValueError for what is none.
    """
    if not isinstance(table, str | Path):
        raise TypeError(f"table is a name or a path, not {table!r}")
    if str(table).endswith(TABLE_ENDING):
        return Frequencies.load(table)
    if table not in packaged_tables():
        raise ValueError(
            f"no table of frequencies {str(table)!r}; choose from {', '.join(packaged_tables())}, "
            f"or give a file ({TABLE_ENDING}) of `gin-rummy train estimator bayes`"
        )
    return _packaged(str(table))


def packaged_tables() -> list[str]:
    """The tables that come with the package, by whom they have watched."""
    found = (file.name for file in (files("gin_env.estimators") / "data").iterdir())
    return sorted(
        name.removeprefix("frequencies_").removesuffix(TABLE_ENDING)
        for name in found
        if name.startswith("frequencies_") and name.endswith(TABLE_ENDING)
    )


@cache
def _packaged(name: str) -> Frequencies:
    with as_file(files("gin_env.estimators") / "data" / f"frequencies_{name}{TABLE_ENDING}") as path:
        return Frequencies.load(path)


# --- What `gin_env.estimators.trainers` calls -----------------------------------------------------------


def default_games(name: str) -> int:
    """As in both papers."""
    return DEFAULT_GAMES


def train(
    name: str,
    games: int,
    seed: int,
    opponents: Sequence[str],
    progress: Callable[[int], object] | None = None,
) -> Frequencies:
    """`count_frequencies`; the table is the same for ``bayes`` and ``bayes-isru``."""
    return count_frequencies(games, seed, opponents, progress)


# --- Counting -------------------------------------------------------------------------------------------


def count_frequencies(
    games: int = DEFAULT_GAMES,
    seed: int = 1,
    opponents: Sequence[str | Agent] = ("simple",),
    progress: Callable[[int], object] | None = None,
) -> Frequencies:
    """Watch games to 100 points between `opponents` and count.

    With several opponents every seat of every game is taken by one of them at random. The result depends on the arguments
    alone. `progress` is called with the number of games that have ended since the last call.

    Raises ValueError for unknown bots or a number of games below 1.
    """
    if isinstance(games, bool) or not isinstance(games, int | np.integer) or games < 1:
        raise ValueError(f"a positive number of games is needed, not {games!r}")
    seed = check_seed(seed)
    bots = [resolve(bot) for bot in opponents]
    rng = np.random.default_rng([seed, 1])
    seen, held = np.zeros(BUCKETS, np.int64), np.zeros(BUCKETS, np.int64)
    seen_before, held_before = np.zeros(NUM_RANKS, np.int64), np.zeros(NUM_RANKS, np.int64)
    turns = 0
    for first in range(0, int(games), GAMES_AT_ONCE):
        numbers = np.arange(first, min(first + GAMES_AT_ONCE, int(games)), dtype=np.uint64)
        table = Games(len(numbers), episode="game")
        table.start(table.everyone, np.full(len(numbers), seed, np.uint64), numbers)
        seats = rng.integers(0, len(bots), (len(numbers), 2))
        playing = table.everyone
        while len(playing):
            sitting = seats[playing, table.to_move()[playing]]
            for number, bot in enumerate(bots):
                if (sitting == number).any():
                    play_bot(table, bot, playing[sitting == number])
            turns += _count_turns(table.state, playing, seen, held, seen_before, held_before)
            if progress is not None and table.done[playing].any():
                progress(int(table.done[playing].sum()))
            playing = playing[~table.done[playing]]
    import gin_env

    names = [bot.name for bot in bots]
    metadata = {
        "games": int(games),
        "turns": turns,
        "opponents": names,
        "seed": seed,
        "command": f"gin-rummy train estimator bayes OUTPUT --games {games} --seed {seed} --opponents {'+'.join(names)}",
        "date": date.today().isoformat(),
        "versions": {"gin_env": gin_env.__version__, "numpy": np.__version__},
    }
    return Frequencies(seen, held, seen_before, held_before, metadata)


@kernel
def _was_known(public, card: int, discard: int) -> bool:
    """Whether everybody had seen the card before the history's entry number `discard`."""
    known = card == public.first_upcard
    for index in range(discard):
        action = public.history[index]
        known |= is_discard(action) and action % NUM_CARDS == card
    return known


@kernel
def _count_turns(state, games, seen, held, seen_before, held_before):
    """Count the turns that have just been completed; returns how many."""
    turns = 0
    for index in range(len(games)):
        game = state[games[index]]
        public = game.public
        if public.phase != DRAW or public.turn == 0:  # a turn has ended only where the next player is to draw
            continue
        turns += 1
        player = public.to_move  # she has watched the turn of the other
        private = game.private[1 - player]
        last = public.history_length - 1
        upcard = offered_upcard(public, last)
        discard = np.int64(public.history[last]) % NUM_CARDS
        took = 1 if public.history[last - 1] == DRAW_UPCARD else 0
        drawn = upcard if took else np.int64(private.stock_draws[private.num_stock_draws - 1])
        hand = np.int64(private.hand)
        hand_before = (hand | card_bit(discard)) & ~card_bit(drawn)
        unseen = cards_unseen(public, game.private[player], player)
        remaining = unseen
        while remaining:
            card = lowest_card(remaining)
            remaining &= remaining - 1
            relation = suit_relation(card // NUM_RANKS, upcard, discard)
            bucket = took, upcard % NUM_RANKS, discard % NUM_RANKS, card % NUM_RANKS, relation
            seen[bucket] += 1
            held[bucket] += hand >> card & 1
        remaining = unseen if _was_known(public, discard, last) else unseen | card_bit(discard)
        while remaining:
            card = lowest_card(remaining)
            remaining &= remaining - 1
            seen_before[card % NUM_RANKS] += 1
            held_before[card % NUM_RANKS] += hand_before >> card & 1
    return turns
