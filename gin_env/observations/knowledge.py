"""Certain knowledge of a player about hidden cards, and estimates based on it: uniform or from odds."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.cards import NUM_CARDS, count_cards, deck_cards, each_card
from gin_env.game.state import DISCARD
from gin_env.support.compilation import kernel

_PRECISION = 1e-5
"""Maximum relative error of the sum, which is never too large."""


@kernel
def cards_unseen(public, private, player: int) -> int:
    """Return the mask of the cards in the stock or unknown in the opponent's hand."""
    deck = deck_cards(public.rules.ranks, public.rules.suits)
    return deck & ~(np.int64(private.hand) | np.int64(public.pile) | np.int64(public.shown[1 - player]))


@kernel
def cards_missing(public, player: int) -> int:
    """Return the number of unseen cards that the opponent of `player` holds."""
    opponent = 1 - player
    drawn = public.phase == DISCARD and public.to_move == opponent
    return np.int64(public.rules.hand_size) + drawn - count_cards(np.int64(public.shown[opponent]))


@kernel
def write_uniform(public, private, player: int, row: np.ndarray) -> None:
    """Write the uniform estimate of `player` about the opponent's hand into float32 (52,)."""
    known = np.int64(public.shown[1 - player])
    unseen = cards_unseen(public, private, player)
    share = np.float32(cards_missing(public, player) / max(count_cards(unseen), 1))
    for card in range(NUM_CARDS):
        row[card] = share * (unseen >> card & 1) + (known >> card & 1)


@kernel
def write_odds_with_sum(odds, unseen: int, known: int, total: int, buffer, row) -> None:
    """Write odds λ / (1 + odds λ) into float32 (52,) for unseen cards, 1 for known ones, 0 for the others.

    λ makes the unseen cards' probabilities sum to `total`. It is found by Newton's method from below: the sum
    is concave in λ and at most `total` at the first guess, so each step stays below the solution. `buffer` is
    a float64 work array (52,).
    """
    count = 0
    scale = 0.0
    for card in range(NUM_CARDS):
        row[card] = known >> card & 1
    for card in each_card(unseen):
        buffer[count] = odds[card]
        scale += buffer[count]
        count += 1
    scale = total / scale if total < count else 1e300  # the opponent holds all of them: λ is infinite
    if 0 < total < count:
        for _ in range(100):
            reached = 0.0
            slope = 0.0
            for index in range(count):
                share = 1.0 / (1.0 + buffer[index] * scale)
                reached += 1.0 - share
                slope += buffer[index] * share * share
            scale += (total - reached) / slope
            if total - reached < _PRECISION * total:
                break
    for card in each_card(unseen):
        row[card] = 1.0 - 1.0 / (1.0 + odds[card] * scale)
