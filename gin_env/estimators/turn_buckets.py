"""Buckets of the opponent's turns (papers 002 and 003), and products of factors over the turns of a hand.

The public part of an opponent's turn is: whether they took the upcard or drew from the stock, the upcard they
could take, and their discard. For a card that they might hold, the turn falls into one of the buckets
``[took, rank of the upcard, rank of the discard, rank of the card, suit relation]``; the suit relations are
`BOTH` to `NEITHER_UNSUITED`.

``bayes`` and ``bayes-isru`` have a factor for each bucket. For each card, `advance_products` multiplies the
factors of all turns. The product depends only on public information, not on the player's own hand or the
order of the turns.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gin_env.game.actions import DRAW_UPCARD, is_discard
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from gin_env.game.history import first_mover, next_mover
from gin_env.game.streams import mix
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject

if TYPE_CHECKING:
    from gin_env.observations.views import PlayerView

# Suit relations of a card to the upcard and the discard of a turn.
BOTH = 0  # of the suit of both
UPCARD_ONLY = 1
DISCARD_ONLY = 2
NEITHER_SUITED = 3  # of neither suit; upcard and discard share one
NEITHER_UNSUITED = 4  # of neither suit; upcard and discard differ in theirs
NUM_RELATIONS = 5

BUCKETS = (2, NUM_RANKS, NUM_RANKS, NUM_RANKS, NUM_RELATIONS)
"""Shape of a table with an entry for each bucket."""

PRODUCT_MEMORY = np.dtype(
    [
        ("events", np.int64),  # number of history entries in the products
        ("history", np.uint64),  # hash of these entries
        ("mover", np.int64),  # player to act after them
        ("products", np.float64, (NUM_CARDS,)),
    ],
    align=True,
)
"""The memory of an estimator that multiplies factors. A new record has events = 0 and no products."""


class ProductEstimator(NamedObject):
    """Base class of ``bayes`` and ``bayes-isru``: their memory, and estimates by way of a new memory."""

    def estimate(self, view: PlayerView) -> np.ndarray:
        """Return the probabilities, float32 (n, 52); see `Estimator.estimate`."""
        return self.advance(view, self.new_memory(len(view)))

    def new_memory(self, count: int) -> np.ndarray:
        """Return `PRODUCT_MEMORY` records (count,)."""
        return np.zeros(count, PRODUCT_MEMORY)

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        """Return the probabilities, float32 (n, 52); see `Estimator.advance`."""
        estimates = np.empty((len(view), NUM_CARDS), np.float32)
        self._write(view.array, memory, estimates)
        return estimates

    def _write(self, views: np.ndarray, memory: np.ndarray, estimates: np.ndarray) -> None:
        """Update the memory to the views and write this estimator's estimates from the products."""
        raise NotImplementedError


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
def _hash_history(public, player: int, events: int) -> int:
    """Return a hash, uint64, of the first `events` entries of the history, as seen by `player`."""
    key = mix(np.uint64(public.first_upcard), np.uint64(2 * public.dealer + player))
    for index in range(events):
        key = mix(key, np.uint64(public.history[index]))
    return key


@kernel
def _multiply_turn(public, discard: int, factors, products) -> None:
    """Multiply `products` (52,) by the factors of the turn whose discard is the history's entry `discard`."""
    upcard = offered_upcard(public, discard)
    card = np.int64(public.history[discard]) % NUM_CARDS
    took = 1 if public.history[discard - 1] == DRAW_UPCARD else 0
    row = factors[took, upcard % NUM_RANKS, card % NUM_RANKS]
    for suit in range(NUM_SUITS):
        relation = suit_relation(suit, upcard, card)
        for rank in range(NUM_RANKS):
            products[suit * NUM_RANKS + rank] *= row[rank, relation]


@kernel
def advance_products(public, player: int, factors, memory) -> None:
    """Update the products of the opponent's turns, a `PRODUCT_MEMORY` record, to the current position.

    `factors` is float64 of shape `BUCKETS`. A memory that does not match the beginning of this
    hand is reset.
    """
    known = memory.events
    if known == 0 or known > public.history_length or memory.history != _hash_history(public, player, known):
        known = 0
        memory.mover = first_mover(public)
        memory.products[:] = 1.0
    for index in range(known, public.history_length):
        action = public.history[index]
        if is_discard(action) and memory.mover != player:
            _multiply_turn(public, index, factors, memory.products)
        memory.mover = next_mover(action, memory.mover)
    if memory.events != public.history_length or known == 0:
        memory.events = public.history_length
        memory.history = _hash_history(public, player, memory.events)
