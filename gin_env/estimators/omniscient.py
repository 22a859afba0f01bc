"""``omniscient``: the estimator that cheats (paper 003, "Future Work"), the extreme opposite to ``uniform``.

It returns the opponent's true hand, which views do not contain. The caller must pass the hand to
`OmniscientEstimator.estimate_hands`. Only environments with ``estimator="omniscient"`` and the evaluation of
estimators do so. `estimate` and `advance` raise an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gin_env.estimators.base import Memoryless
from gin_env.game.cards import card_columns

if TYPE_CHECKING:
    from gin_env.observations.views import PlayerView


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
