"""The discard risk score of Truong and Neller 2021 (equation 5): the opponent's chances to meld a card.

The score of a card is the sum of L(b) L(c) over all pairs of cards b, c that form a meld of three with it:
three pairs of its rank, up to three of its suit. L is the probability (in the paper, the relative
likelihood) that the opponent holds a card. With every L = 1 it is the classical count of the paper's
introduction: 6 for a ten, 4 for a king.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from gin_env.support.compilation import kernel


@kernel
def discard_risk(estimate: np.ndarray, card: int) -> float:
    """Return the score of one card; `estimate` is a row (52,) of an estimator's probabilities."""
    rank = card % NUM_RANKS
    risk = 0.0
    total = 0.0  # sum over the cards of the rank in the suits before
    for suit in range(NUM_SUITS):
        other = suit * NUM_RANKS + rank
        if other != card:
            risk += total * estimate[other]
            total += estimate[other]
    if rank >= 2:
        risk += estimate[card - 2] * estimate[card - 1]
    if 1 <= rank < NUM_RANKS - 1:
        risk += estimate[card - 1] * estimate[card + 1]
    if rank < NUM_RANKS - 2:
        risk += estimate[card + 1] * estimate[card + 2]
    return risk


def discard_risks(estimates: np.ndarray) -> np.ndarray:
    """Return the scores of all cards, float32 (n, 52), from estimates (n, 52)."""
    risks = np.empty((len(estimates), NUM_CARDS), np.float32)
    _write_risks(np.ascontiguousarray(estimates, np.float32), risks)
    return risks


@kernel
def _write_risks(estimates, risks):
    for index in range(len(estimates)):
        for card in range(NUM_CARDS):
            risks[index, card] = discard_risk(estimates[index], card)
