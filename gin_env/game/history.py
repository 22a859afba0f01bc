"""The public actions of the current hand: the player who acted, the card both saw, and the initial hand.

`gin_env.game.state.PUBLIC` stores the actions of the current hand in order; everything else follows.
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
def events(public):
    """Yield (mover, action, upcard) for each public action of the hand, in order.

    `mover` acted; `upcard` is the card that they discarded, took, passed or left for the stock. Where every
    nanosecond counts, as in `simple`, the loop is written out: a generator takes a third longer.
    """
    upcard, mover = np.int64(public.first_upcard), first_mover(public)
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        upcard = upcard_after(action, upcard)
        yield mover, action, upcard
        mover = next_mover(action, mover)


@kernel
def first_hand(public, private, player: int) -> int:
    """Return the mask of the cards that the player was dealt, from a view at any point of the hand.

    `private` is the player's own part. They are the cards that the player has discarded, or still holds,
    without having drawn them before.
    """
    dealt, drawn, draws = np.int64(0), np.int64(0), 0
    for mover, action, upcard in events(public):
        if mover == player:
            if is_discard(action):
                dealt |= card_bit(upcard) & ~drawn
            elif action == DRAW_STOCK:
                drawn |= card_bit(private.stock_draws[draws])
                draws += 1
            elif action == DRAW_UPCARD:
                drawn |= card_bit(upcard)
    return dealt | (np.int64(private.hand) & ~drawn)
