"""``bayes-isru``: Truong and Neller 2021's relative likelihoods, bounded by an inverse-square-root unit.

Source: Truong and Neller 2021, "Defensive Score" (both sections). The relative likelihood of each card starts
at 10/42 and is updated by P(B | A), estimated from 10,000 games of two Simple players in buckets of six
properties: the ranks of the card, the discard and the face-up card; whether the discard is suited with the
face-up card; whether the card is suited with neither, with the face-up card, or with the discard; whether the
opponent drew face up. "Recorded instances are averaged and transformed" by g(o) = o / sqrt(α + o²), α = 1,
"to bound relative likelihoods between 0 and 1"; it "leaves the initial uniformly distributed relative
likelihood (10/42) little-changed" (0.238 becomes 0.232).

Readings:

- The same table as for ``bayes``, with all six properties; a card of the suit of both is suited with both.
- The average of a bucket is the share of its cards that are held after the turn; as a *relative* likelihood
  it is divided by the share of the cards of the rank that were held before it. Buckets never seen change
  nothing.
- o is 10/42 (later in the hand: the opponent's unknown cards / cards of unknown place) times the product
  over the opponent's turns, and g is applied to it once, at the end: applied again at each turn it would pull
  all cards towards 0.
- The likelihoods are not normalised, as in the paper: their sum is not the number of cards in the hand.
- ``normalised=true`` is what the authors' player does (DualInception.java with HandEstimator.java in
  sangttruong/ginrummy): the products are those of ``bayes:likelihood=paper``, scaled to sum to the number of
  unknown cards after every turn, and g is applied to the result.
- Known cards are 0 and 1.

The discard risk score that Truong and Neller 2021 builds on them (equation 5) is
`gin_env.estimators.risk.discard_risks`. Results: docs/results/estimators.md, "All metrics" and "Time".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from pathlib import Path

import numpy as np

from gin_env.estimators.base import Memoryless
from gin_env.estimators.bayes import MIN_OBSERVATIONS, likelihoods_of_turns
from gin_env.estimators.turn_buckets import Frequencies, find_table, write_products
from gin_env.game.cards import NUM_CARDS, count_cards
from gin_env.observations.knowledge import cards_missing, cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number, check_switch
from gin_env.support.compilation import kernel


class BayesIsruEstimator(Memoryless):
    """Truong and Neller 2021's estimator; the sum is not normalised.

    Parameters
    ----------
    table : frequencies of the observed players' turns: the name of a packaged table, or a file of
        ``python -m research train estimator bayes-isru``.
    alpha : α of the inverse-square-root unit.
    normalised : scale the likelihoods to the number of unknown cards before g, as the authors' player does.
    """

    name = "bayes-isru"

    def __init__(self, table: str | Path = "simple", alpha: float = 1.0, normalised: bool = False) -> None:
        self._alpha = check_number("alpha", alpha, 1e-6, 1e6)
        self._normalised = check_switch("normalised", normalised)
        frequencies, self.files = find_table(table)
        self._factors = (
            likelihoods_of_turns(frequencies, MIN_OBSERVATIONS)
            if self._normalised
            else relative_likelihoods(frequencies)
        )

    def estimate(self, view: PlayerView) -> np.ndarray:
        estimates = np.empty((len(view), NUM_CARDS), np.float32)
        _write_estimates(view.array, self._factors, self._alpha, self._normalised, estimates)
        return estimates


def relative_likelihoods(frequencies: Frequencies) -> np.ndarray:
    """Return how often a card is held after a turn, relative to its rank before it, float64 `BUCKETS`."""
    seen, held = frequencies.seen, frequencies.held
    before = (frequencies.held_before / frequencies.seen_before)[:, None]
    return np.divide(held, seen, out=np.ones(seen.shape) * before, where=seen > 0) / before


@kernel
def _write_estimates(views, factors, alpha, normalised, estimates):
    """Write g(share * product) for unseen cards, 1 for known ones, 0 for the others."""
    products = np.empty(NUM_CARDS)
    for index, view in enumerate(views):
        public = view.public
        write_products(public, view.player, factors, products)
        unseen = cards_unseen(public, view.private, view.player)
        known = np.int64(public.shown[1 - view.player])
        total = float(count_cards(unseen))
        if normalised:
            total = 0.0
            for card in range(NUM_CARDS):
                total += (unseen >> card & 1) * products[card]
        share = cards_missing(public, view.player) / total if total > 0 else 0.0
        for card in range(NUM_CARDS):
            likelihood = share * products[card]
            bounded = likelihood / np.sqrt(alpha + likelihood**2)
            estimates[index, card] = (known >> card & 1) + (unseen >> card & 1) * bounded
