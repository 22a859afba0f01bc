"""The public actions of the current hand: the player who acted, the card both saw, and the initial hand.

`gin_env.game.state.PUBLIC` stores the actions of the current hand in order; everything else follows::

    upcard, mover = public.first_upcard, first_mover(public)
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        upcard = upcard_after(action, upcard)
        ...  # `mover` acted; `upcard` is the card that they discarded, took, passed or left for the stock
        mover = next_mover(action, mover)
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS, is_discard
from gin_env.game.cards import NUM_CARDS, card_bit
from gin_env.support.compilation import kernel


@kernel
def first_mover(public) -> int:
    """Return the player who acts first in a hand: the non-dealer."""
    return 1 - public.dealer


@kernel
def next_mover(action: int, mover: int) -> int:
    """Return the player who acts after this action of `mover`; after a draw the same player discards."""
    return 1 - mover if is_discard(action) or action == PASS else mover


@kernel
def upcard_after(action: int, upcard: int) -> int:
    """Return the last card placed on the discard pile after this action, even if it has been drawn since."""
    return action % NUM_CARDS if is_discard(action) else upcard


@kernel
def first_hand(public, private, player: int) -> int:
    """Return the mask of the cards that the player was dealt, from a view at any point of the hand.

    `private` is the player's own part. Their draws and discards are undone in reverse order.
    """
    upcards = np.empty(len(public.history), np.int8)
    movers = np.empty(len(public.history), np.int8)
    upcard, mover = np.int64(public.first_upcard), first_mover(public)
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        upcard = upcard_after(action, upcard)
        upcards[index], movers[index] = upcard, mover
        mover = next_mover(action, mover)
    hand = np.int64(private.hand)
    draws = np.int64(private.num_stock_draws)
    for index in range(np.int64(public.history_length) - 1, -1, -1):
        action = np.int64(public.history[index])
        if movers[index] != player:
            continue
        if action == DRAW_STOCK:
            draws -= 1
            hand &= ~card_bit(private.stock_draws[draws])
        elif action == DRAW_UPCARD:
            hand &= ~card_bit(upcards[index])
        elif is_discard(action):
            hand |= card_bit(upcards[index])
    return hand
