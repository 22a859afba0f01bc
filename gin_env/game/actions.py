"""The 107 actions, as numbers and in words.

==========  ==========================================================
``0-51``    discard the card with this id
``52-103``  knock, discarding the card with this id minus 52
``104``     draw from the stock
``105``     draw the upcard
``106``     pass (opening offer only)
==========  ==========================================================
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import Any

import numpy as np

from gin_env.game.cards import NUM_CARDS, card_text
from gin_env.support.checks import is_integer
from gin_env.support.compilation import kernel

KNOCK = 52
"""Added to a card id: knock, discarding that card."""
DRAW_STOCK = 104
DRAW_UPCARD = 105
PASS = 106
NUM_ACTIONS = 107


class IllegalActionError(ValueError):
    """An action that the rules do not allow now. The game is left as it was."""


@kernel
def is_discard(action: int) -> bool:
    """Return whether an action discards a card, knocking or not; the card is ``action % NUM_CARDS``.

    >>> is_discard(30), is_discard(KNOCK + 30), is_discard(PASS)
    (True, True, False)
    """
    return action < DRAW_STOCK


def describe(action: int) -> str:
    """Return an action in words. Raises IllegalActionError for a number that is not an action.

    >>> describe(104), describe(52 + 22)
    ('draw from the stock', 'knock with TH')
    """
    if action == DRAW_STOCK:
        return "draw from the stock"
    if action == DRAW_UPCARD:
        return "draw the upcard"
    if action == PASS:
        return "pass"
    if KNOCK <= action < KNOCK + NUM_CARDS:
        return f"knock with {card_text(action - KNOCK)}"
    if 0 <= action < NUM_CARDS:
        return f"discard {card_text(action)}"
    raise IllegalActionError(f"{action} is not an action: actions run from 0 to {NUM_ACTIONS - 1}")


def parse(text: str) -> int:
    """Return the action of its words: the inverse of `describe`. Raises ValueError for any other words.

    >>> parse("knock with TH")
    74
    """
    if not isinstance(text, str):
        raise TypeError(f"an action in words must be a string, not {text!r}")
    action = _BY_WORDS.get(text)
    if action is None:
        raise ValueError(
            f"{text[:60]!r} is not an action; use 'draw from the stock', 'draw the upcard', 'pass', "
            "'discard 5H' or 'knock with 5H'"
        )
    return action


_BY_WORDS = {describe(action): action for action in range(NUM_ACTIONS)}


def unwrap(action: Any) -> Any:
    """Return an integer of any type as an int, and anything else as it is.

    The integer may be in an array or a tensor without dimensions.

    >>> unwrap(np.array(30, np.uint64)), unwrap([30])
    (30, [30])
    """
    if is_integer(action):
        return int(action)
    number = np.asarray(action)[()] if getattr(action, "ndim", None) == 0 else None
    return int(number) if is_integer(number) else action


def check_action(action: Any) -> int:
    """Return `action` as an int in 0..106.

    Raises IllegalActionError (a ValueError) for an integer out of range and TypeError for anything that
    is not an integer: floats, NaN, bools, arrays of several elements.

    >>> check_action(np.int8(30))
    30
    """
    action = unwrap(action)
    if type(action) is not int:
        raise TypeError(
            f"an action must be an integer from 0 to {NUM_ACTIONS - 1}, "
            f"not {action!r} ({type(action).__name__})"
        )
    if not 0 <= action < NUM_ACTIONS:
        raise IllegalActionError(f"{action} is not an action: actions run from 0 to {NUM_ACTIONS - 1}")
    return action
