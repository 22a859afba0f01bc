"""``omniscient``: the estimator that cheats (paper 003, "Future Work"), the extreme opposite to ``uniform``.

It reports the opponent's true hand, which no view holds: the owner of the games must pass it with
`OmniscientEstimator.estimate_hands`. Environments do so when asked for ``estimator="omniscient"``, and so
does the evaluation of estimators; nothing else. `estimate` and `advance` refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gin_env.estimators.base import no_memory
from gin_env.game.cards import card_columns

if TYPE_CHECKING:
    from gin_env.observations.views import PlayerView


class OmniscientEstimator:
    """Knows the opponent's hand, if it is given it."""

    name = "omniscient"

    def estimate_hands(self, hands: np.ndarray) -> np.ndarray:
        """float32 (n, 52): 1 for each card in the opponents' hands, given as masks: uint64 (n,)."""
        return card_columns(hands).astype(np.float32)

    def estimate(self, view: PlayerView) -> np.ndarray:
        """Raises ValueError: a view does not hold the opponent's hand."""
        raise ValueError(
            "the omniscient estimator needs the opponents' hands, which views never contain: "
            "it works in environments (estimator='omniscient') and in `gin-rummy evaluate-estimators`"
        )

    def new_memory(self, count: int) -> np.ndarray:
        """None is needed."""
        return no_memory(count)

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        """Raises ValueError, as `estimate`."""
        return self.estimate(view)
