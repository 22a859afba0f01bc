"""The walk over the public acts of a hand: who acted, and which card everybody saw.

`gin_env.game.state.PUBLIC` keeps the actions of the present hand in order; the rest follows from them::

    upcard, mover = public.first_upcard, first_mover(public)
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        upcard = upcard_after(action, upcard)
        ...  # `mover` acted; `upcard` is the card that she discarded, took, passed over or left for the stock
        mover = next_mover(action, mover)
"""

from __future__ import annotations

from gin_env.game.actions import PASS, is_discard
from gin_env.game.cards import NUM_CARDS
from gin_env.support.compilation import kernel


@kernel
def first_mover(public) -> int:
    """Who acts first in a hand: the non-dealer."""
    return 1 - public.dealer


@kernel
def next_mover(action: int, mover: int) -> int:
    """Who acts after `mover` has done this: a discard or a pass ends her part, after a draw she discards."""
    return 1 - mover if is_discard(action) or action == PASS else mover


@kernel
def upcard_after(action: int, upcard: int) -> int:
    """The card last laid on the discard pile, after this action; a draw of it does not change that."""
    return action % NUM_CARDS if is_discard(action) else upcard
