"""``uniform``: the null estimator of the papers (003, "Future Work": "equiprobable estimates").

Cards whose place is known are 0 or 1. All unseen cards share the rest of the opponent's hand equally:
10/42 each at the deal, 10/41 once the upcard is seen. The sum is the number of cards in the opponent's hand.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.estimators.base import Memoryless
from gin_env.game.cards import NUM_CARDS
from gin_env.observations.knowledge import write_uniform
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel


class UniformEstimator(Memoryless):
    """The null estimator."""

    name = "uniform"
    observed = True
    """See `gin_env.estimators.base.is_observed`."""

    def estimate(self, view: PlayerView) -> np.ndarray:
        """Return the probabilities, float32 (n, 52); see `Estimator.estimate`."""
        estimates = np.empty((len(view), NUM_CARDS), np.float32)
        _write_estimates(view.array, estimates)
        return estimates


@kernel
def _write_estimates(views, estimates):
    for index in range(len(views)):
        view = views[index]
        write_uniform(view.public, view.private, view.player, estimates[index])
