"""Metrics of estimates: Francis et al. 2021's five metrics and the log loss.

Source: Francis et al. 2021, "Metric Design". Estimates p are compared with the opponent's hand (n cards).

- ``squared_difference``: mean over the 52 cards of (p - held)².
- ``integrity_loss``: the absolute difference between the sum of p and n, in per cent of n.
- ``minimum_top_largest``: the smallest number of cards with the largest p that include the whole hand
  (minimum: n).
- ``top_cards``: the number of cards that the opponent holds among the n cards with the largest p ("Top n
  Cards", maximum: n).
- ``drift_area``: the sum over k = 1 to n of (n + 1 - k)(i - k), where the i cards with the largest p are the
  fewest that include k held ones.
- ``log_loss`` (ours): the mean over the unknown cards of -ln(the probability given to the truth), in nats.

Readings: the paper prints the drift area's weight as (11 - i), which becomes negative beyond the eleventh
card and would reward the worst estimates; (11 - k) penalises "errors in predicting one of the best guesses
more than ... the lesser certain", as its text says, and is the weight in the authors' program
(HandEstimationEvaluation.java). Equal p are ordered at random. The log loss clips p to [1e-7, 1 - 1e-7].
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.estimators.public_history import known_cards
from gin_env.game.cards import NUM_CARDS, count_cards
from gin_env.game.streams import mix
from gin_env.support.compilation import kernel
from gin_env.training.estimators.positions import Positions

METRICS = {
    "squared_difference": "mean squared difference",
    "integrity_loss": "probabilistic integrity loss (%)",
    "minimum_top_largest": "minimum top largest",
    "top_cards": "top n cards",
    "drift_area": "drift area",
    "log_loss": "log loss (nats for each unknown card)",
}
"""Name -> axis label."""

_SMALLEST = 1e-7


def measure(estimates: np.ndarray, positions: Positions) -> np.ndarray:
    """Return float64 (n, len(METRICS)): the metrics of estimates (n, 52)."""
    if estimates.shape != (len(positions), NUM_CARDS):
        raise ValueError(f"expected estimates of shape {(len(positions), NUM_CARDS)}, not {estimates.shape}")
    values = np.empty((len(positions), len(METRICS)))
    _, unseen, _ = known_cards(positions.view)
    keys = positions.view.array["random"]
    write_metrics(estimates.astype(np.float64), positions.hands, unseen, keys, values)
    return values


@kernel
def held_ranks(estimate, hand: int, key: int, ranks) -> None:
    """Write the ranks (from 1, ascending) of the held cards by falling probability, with ties at random."""
    found = 0
    for card in range(NUM_CARDS):
        if not hand >> card & 1:
            continue
        rank = 1
        for other in range(NUM_CARDS):
            if estimate[other] > estimate[card]:
                rank += 1
            elif other != card and estimate[other] == estimate[card]:
                rank += mix(key, other) > mix(key, card)
        ranks[found] = rank
        found += 1
    ranks[:found].sort()


@kernel
def write_metrics(estimates, hands, unseen, keys, values) -> None:
    """Write the `METRICS` of estimates, float64 (n, 52), to `values`, float64 (n, 6)."""
    ranks = np.empty(NUM_CARDS, np.int64)
    for index in range(len(estimates)):
        estimate, hand = estimates[index], np.int64(hands[index])
        size = count_cards(hand)
        squared = loss = 0.0
        unknown = 0
        for card in range(NUM_CARDS):
            held = hand >> card & 1
            squared += (estimate[card] - held) ** 2
            if unseen[index, card]:
                right = estimate[card] if held else 1.0 - estimate[card]
                loss -= np.log(min(max(right, _SMALLEST), 1.0 - _SMALLEST))
                unknown += 1
        held_ranks(estimate, hand, keys[index], ranks)
        top = drift = 0
        for k in range(size):
            top += ranks[k] <= size
            drift += (size - k) * (ranks[k] - (k + 1))
        values[index, 0] = squared / NUM_CARDS
        values[index, 1] = 100.0 * abs(estimate.sum() - size) / size
        values[index, 2] = ranks[size - 1]
        values[index, 3] = top
        values[index, 4] = drift
        values[index, 5] = loss / max(unknown, 1)
