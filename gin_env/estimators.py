"""Opponent-hand estimators: for each card, the probability that the opponent holds it.

``uniform`` is the null estimator of the papers (Paper 003): cards whose place is known count 0 or 1, all
unseen cards share what is left of the opponent's hand equally: 10/42 each at the deal, 10/41 once the
upcard is seen.
"""

from __future__ import annotations

import numpy as np

from gin_env.cards import NUM_CARDS, count_cards, deck_cards
from gin_env.compilation import kernel
from gin_env.state import DISCARD


@kernel
def write_uniform(public, private, player: int, row: np.ndarray) -> None:
    """Write the uniform estimate of `player` about her opponent's hand into float32 (52,)."""
    rules = public.rules
    deck = deck_cards(rules.ranks, rules.suits)
    opponent = 1 - player
    known = np.int64(public.shown[opponent])
    unseen = deck & ~(np.int64(private.hand) | np.int64(public.pile) | known)
    held = rules.hand_size - count_cards(known)
    if public.phase == DISCARD and public.to_move == opponent:
        held += 1
    share = np.float32(held / max(count_cards(unseen), 1))
    for card in range(NUM_CARDS):
        row[card] = share * (unseen >> card & 1) + (known >> card & 1)


_NAMES = ("uniform",)


def names() -> list[str]:
    """The estimators that there are."""
    return list(_NAMES)


def check_name(name: object) -> str:
    """`name` if there is such an estimator. Raises ValueError with the choices otherwise."""
    if name not in _NAMES:
        raise ValueError(f"unknown estimator {name!r}; choose from {', '.join(_NAMES)}")
    return str(name)
