"""``uniform`` and ``omniscient``: the two extremes that Francis et al. 2021 names in "Future Work".

``uniform`` is the null estimator ("equiprobable estimates"). Cards whose place is known are 0 or 1. All
unseen cards share the rest of the opponent's hand equally: 10/42 each at the deal, 10/41 once the upcard is
seen. The sum is the number of cards in the opponent's hand.

``omniscient`` cheats: it returns the opponent's true hand, which views do not contain. The caller must pass
the hand to `OmniscientEstimator.estimate_hands`. Only environments with ``estimator="omniscient"`` and the
evaluation of estimators do so.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.estimators.base import Memoryless
from gin_env.game.cards import NUM_CARDS, card_columns
from gin_env.observations.knowledge import write_uniform
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel


class UniformEstimator(Memoryless):
    """The null estimator."""

    name = "uniform"
    observed = True
    """See `gin_env.estimators.base.is_observed`."""

    def estimate(self, view: PlayerView) -> np.ndarray:
        estimates = np.empty((len(view), NUM_CARDS), np.float32)
        _write_estimates(view.array, estimates)
        return estimates


@kernel
def _write_estimates(views, estimates):
    for index, view in enumerate(views):
        write_uniform(view.public, view.private, view.player, estimates[index])


class OmniscientEstimator(Memoryless):
    """The estimator that is given the opponent's hand."""

    name = "omniscient"

    def estimate_hands(self, hands: np.ndarray) -> np.ndarray:
        """Return float32 (n, 52): 1 for the cards in the opponents' hands (masks, uint64 (n,)), else 0."""
        return card_columns(hands).astype(np.float32)

    def estimate(self, view: PlayerView) -> np.ndarray:
        """Raise ValueError, since a view does not contain the opponent's hand."""
        raise ValueError(
            "the omniscient estimator needs the opponents' hands, which views never contain: "
            "it works in environments (estimator='omniscient') and in `gin-rummy estimators`"
        )
