"""Certain knowledge of a player about hidden cards, and the uniform estimate based on it."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.cards import NUM_CARDS, count_cards, deck_cards
from gin_env.game.state import DISCARD
from gin_env.support.compilation import kernel


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
