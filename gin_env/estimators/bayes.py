"""``bayes``: Francis et al. 2021's Bayesian estimator, from frequencies of turns given that a card is held.

Source: Francis et al. 2021, "Bayesian Estimation from Abstracted Play Data". After each turn of the opponent
the estimate of each card of unknown place is multiplied by P(B | A), the frequency of such a turn B while
such a card A is held; then all are renormalised to sum to the number of unknown cards in the hand, "and then
fit through a logistic curve to ensure they are no more than 1". A turn is: was a card drawn face up, rank of
the face-up card, rank of the discard; a card is its rank ("that of drawing Q♥, discarding K♦, and holding
K♥") and whether it is suited with the face-up card and/or the discard. 10,000 games of two Simple players;
with fewer than 50 observations there is no update; the prior is 10/42.

Readings:

- Games go to 100 points. An observation is a card of unknown place after a turn, held or not
  (`Frequencies`).
- The likelihood of a bucket is the odds that such a card is held after such a turn, divided by the odds that
  a card of its rank was held before it. With the odds before as the prior this is Bayes' rule, and it covers
  cards that the turn itself brought into the hand or took from it.
- ``likelihood="paper"`` follows the paper literally, as HandEstimator.java in the authors' repository does
  (`likelihoods_of_turns`): a turn's frequency among all turns with such a card held, shares scaled to
  the number of unknown cards. It is worse (docs/results/francis2021.md, "How Bayes reads a turn").
- Half an observation is added to each count; no factor lies outside 1/100 to 100.
- The logistic curve and the normalisation are combined: a card's probability is w λ / (1 + w λ), where w is
  the product of its factors (the odds) and λ makes the sum exact. So no probability exceeds 1, and the order
  of the turns does not matter. (The paper does not give its curve; its Figure 3 shows the error of its sums.)
  With ``likelihood="paper"`` a share above 1 counts as 1, and the sum is too small by the excess.
- Passes in the opening offer are not turns and change nothing.

Results: docs/results/estimators.md, "All metrics" and "Time".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from pathlib import Path

import numpy as np

from gin_env.estimators.base import Memoryless
from gin_env.estimators.turn_buckets import (
    BOTH,
    DISCARD_ONLY,
    NEITHER_SUITED,
    NEITHER_UNSUITED,
    UPCARD_ONLY,
    Frequencies,
    find_table,
    write_products,
)
from gin_env.game.cards import NUM_CARDS
from gin_env.observations.knowledge import cards_missing, cards_unseen, write_odds_with_sum
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice, check_integer
from gin_env.support.compilation import kernel

MIN_OBSERVATIONS = 50
_MOST = 100.0
"""Maximum factor by which a turn raises or lowers a card's odds."""


class BayesEstimator(Memoryless):
    """The Bayesian estimator; the probabilities sum to the number of cards in the opponent's hand.

    Parameters
    ----------
    table : frequencies of the observed players' turns: the name of a packaged table, or a file of
        ``python -m research train estimator bayes``.
    least_observations : minimum number of observations of a bucket (of a turn with ``likelihood="paper"``);
        below it, the estimate is not changed.
    likelihood : the factor of a turn: ``"odds"``, our reading, or ``"paper"``, the paper taken literally.

    Raises ValueError for an unknown likelihood.
    """

    name = "bayes"

    def __init__(
        self,
        table: str | Path = "simple",
        least_observations: int = MIN_OBSERVATIONS,
        likelihood: str = "odds",
    ) -> None:
        least = check_integer("least_observations", least_observations, 1, 1 << 31)
        check_choice("likelihood", likelihood, LIKELIHOODS)
        frequencies, self.files = find_table(table)
        self._factors = LIKELIHOODS[likelihood](frequencies, least)
        self._linear = likelihood == "paper"

    def estimate(self, view: PlayerView) -> np.ndarray:
        estimates = np.empty((len(view), NUM_CARDS), np.float32)
        _write_estimates(view.array, self._factors, self._linear, estimates)
        return estimates


def likelihood_ratios(frequencies: Frequencies, least_observations: int) -> np.ndarray:
    """Return the odds after a turn / the odds before it, float64 `BUCKETS`; 1 for too few observations."""
    seen, held = frequencies.seen.copy(), frequencies.held.copy()
    neither = [NEITHER_SUITED, NEITHER_UNSUITED]  # the paper does not distinguish them
    for counts in (seen, held):
        counts[..., neither] = counts[..., neither].sum(axis=-1, keepdims=True)
    before = frequencies.held_before / (frequencies.seen_before - frequencies.held_before)
    ratios = (held + 0.5) / (seen - held + 0.5) / before[:, None]
    return np.where(seen >= least_observations, np.clip(ratios, 1 / _MOST, _MOST), 1.0)


def likelihoods_of_turns(frequencies: Frequencies, least_observations: int) -> np.ndarray:
    """Return P(B | A) as counted, for each card of a bucket, float64 `BUCKETS`; 1 after rare turns.

    The frequency of a turn among all turns in which a card of the rank was held, shared by the suits that the
    bucket stands for: three are of neither suit if upcard and discard share one, two if not. The table does
    not count turns; the number of times a turn was seen is taken from the card that was unknown most often.
    """
    held = frequencies.held + 0.5
    factors = held / held.sum(axis=(0, 1, 2, 4), keepdims=True)
    factors[..., NEITHER_SUITED] /= 3
    factors[..., NEITHER_UNSUITED] /= 2
    most = frequencies.seen.max(axis=3)  # over the ranks of the cards
    for turns, relations in (
        (most[..., BOTH], (BOTH, NEITHER_SUITED)),
        (most[..., [UPCARD_ONLY, DISCARD_ONLY]].max(axis=-1), (UPCARD_ONLY, DISCARD_ONLY, NEITHER_UNSUITED)),
    ):
        for relation in relations:
            factors[..., relation][turns < least_observations] = 1.0
    return factors


LIKELIHOODS = {"odds": likelihood_ratios, "paper": likelihoods_of_turns}


@kernel
def write_shares(products, unseen: int, known: int, total: int, row) -> None:
    """Write products scaled to the sum `total`, at most 1, into float32 (52,); 1 for known cards, else 0."""
    scale = 0.0
    for card in range(NUM_CARDS):
        row[card] = known >> card & 1
        if unseen >> card & 1:
            scale += products[card]
    for card in range(NUM_CARDS):
        if unseen >> card & 1:
            row[card] = min(1.0, products[card] / scale * total)


@kernel
def _write_estimates(views, factors, linear, estimates):
    products, buffer = np.empty(NUM_CARDS), np.empty(NUM_CARDS)
    for index, view in enumerate(views):
        public = view.public
        write_products(public, view.player, factors, products)
        unseen = cards_unseen(public, view.private, view.player)
        known = np.int64(public.shown[1 - view.player])
        missing = cards_missing(public, view.player)
        if linear:
            write_shares(products, unseen, known, missing, estimates[index])
        else:
            write_odds_with_sum(products, unseen, known, missing, buffer, estimates[index])
