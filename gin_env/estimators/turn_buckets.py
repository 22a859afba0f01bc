"""Buckets of the opponent's turns, their frequencies, and products over the turns of a hand.

The public part of an opponent's turn is: whether they took the upcard or drew from the stock, the upcard they
could take, and their discard. For a card that they might hold, the turn falls into one of the buckets
``[took, rank of the upcard, rank of the discard, rank of the card, suit relation]``; the suit relations are
`BOTH` to `NEITHER_UNSUITED`.

`Frequencies` counts how often a card is held after a turn. Papers 002 and 003 both count "10,000 games" of
two Simple players; ``bayes-isru`` and ``bayes`` work on the same packaged table. A card counts as seen if,
after a completed turn that did not end the hand, its place is unknown to the player who watched the turn; as
held if the player whose turn it was has it then. The same is counted for the time before the turn, by rank
alone: the information in a turn is the change of this probability.

``bayes`` and ``bayes-isru`` have a factor for each bucket. For each card, `write_products` multiplies the
factors of all turns. The product depends only on public information, not on the player's own hand or the
order of the turns.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.estimators.declared_estimators import ESTIMATORS
from gin_env.game.actions import DRAW_UPCARD, is_discard
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from gin_env.game.history import first_mover, next_mover
from gin_env.support.array_files import ArrayFileError, ArrayFormat
from gin_env.support.compilation import kernel

# Suit relations of a card to the upcard and the discard of a turn.
BOTH = 0  # of the suit of both
UPCARD_ONLY = 1
DISCARD_ONLY = 2
NEITHER_SUITED = 3  # of neither suit; upcard and discard share one
NEITHER_UNSUITED = 4  # of neither suit; upcard and discard differ in theirs
NUM_RELATIONS = 5

BUCKETS = (2, NUM_RANKS, NUM_RANKS, NUM_RANKS, NUM_RELATIONS)
"""Shape of a table with an entry for each bucket."""

FORMAT = ArrayFormat(
    kind="table of frequencies",
    version=1,
    arrays={
        "seen": (np.uint32, BUCKETS),
        "held": (np.uint32, BUCKETS),
        "seen_before": (np.int64, (NUM_RANKS,)),
        "held_before": (np.int64, (NUM_RANKS,)),
    },
    described={"games": int, "turns": int, "opponents": list, "seed": int},
    command="python -m research train estimator bayes",
)


@dataclass(frozen=True)
class Frequencies:
    """Counts by bucket, with their provenance."""

    seen: np.ndarray
    """int64 `BUCKETS`: cards of unknown place after turns of this bucket."""
    held: np.ndarray
    """int64 `BUCKETS`: the number of those cards that the opponent held."""
    seen_before: np.ndarray
    """int64 (13,): cards of each rank whose place was unknown before the turn."""
    held_before: np.ndarray
    """int64 (13,): the number of those cards that the opponent held."""
    metadata: dict[str, Any]

    def save(self, path: str | Path) -> None:
        """Write the table to a file (.npz)."""
        counts = {name: getattr(self, name).astype(kind) for name, (kind, _) in FORMAT.arrays.items()}
        FORMAT.write(path, counts, self.metadata)

    @classmethod
    def load(cls, path: str | Path) -> Frequencies:
        """Return a table read from a file.

        Raises FileNotFoundError, or ArrayFileError for a file that is damaged or of another version.
        """
        arrays, metadata = FORMAT.read(path)
        counts = {name: array.astype(np.int64) for name, array in arrays.items()}
        seen_before, held_before = counts["seen_before"], counts["held_before"]
        if (counts["held"] > counts["seen"]).any() or not (
            (held_before > 0) & (held_before < seen_before)
        ).all():
            raise ArrayFileError(f"{path} is damaged: its counts are inconsistent")
        return cls(**counts, metadata=metadata)

    def __str__(self) -> str:
        return (
            f"{self.metadata['turns']:,} turns of {self.metadata['games']:,} games, "
            f"{'+'.join(self.metadata['opponents'])}, seed {self.metadata['seed']}: "
            f"{(self.seen > 0).sum():,} of {self.seen.size:,} buckets seen"
        )


def find_table(table: str | Path) -> tuple[Frequencies, tuple[Path]]:
    """Return (table, its file) for an estimator's `table` parameter: the name of a packaged table, or a file.

    Raises TypeError, FileNotFoundError or ValueError if it is neither.
    """
    file = ESTIMATORS.file("bayes", "table", table)
    return Frequencies.load(file), (file,)


@kernel
def suit_relation(suit: int, upcard: int, discard: int) -> int:
    """Return the suit relation of a card of this suit to the upcard and the discard."""
    with_upcard = suit == upcard // NUM_RANKS
    with_discard = suit == discard // NUM_RANKS
    if with_upcard:
        return BOTH if with_discard else UPCARD_ONLY
    if with_discard:
        return DISCARD_ONLY
    return NEITHER_SUITED if upcard // NUM_RANKS == discard // NUM_RANKS else NEITHER_UNSUITED


@kernel
def offered_upcard(public, discard: int) -> int:
    """Return the upcard at the start of the turn whose discard is the history's entry `discard`."""
    before = discard - 2  # the entry in between is the draw
    if before >= 0 and is_discard(public.history[before]):
        return np.int64(public.history[before]) % NUM_CARDS
    return np.int64(public.first_upcard)


@kernel
def write_products(public, player: int, factors, products) -> None:
    """Write the product of the factors of the opponent's turns in this hand for each card, float64 (52,).

    `factors` is float64 of shape `BUCKETS`.
    """
    products[:] = 1.0
    mover = first_mover(public)
    for index in range(public.history_length):
        action, by_player = np.int64(public.history[index]), mover == player
        mover = next_mover(action, mover)
        if by_player or not is_discard(action):
            continue
        discard = action % NUM_CARDS
        upcard = offered_upcard(public, index)
        took = 1 if public.history[index - 1] == DRAW_UPCARD else 0
        row = factors[took, upcard % NUM_RANKS, discard % NUM_RANKS]
        for suit in range(NUM_SUITS):
            relation = suit_relation(suit, upcard, discard)
            for rank in range(NUM_RANKS):
                products[suit * NUM_RANKS + rank] *= row[rank, relation]
