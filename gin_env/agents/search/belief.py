"""Sampled worlds: full deals consistent with everything that a player has seen.

>>> from gin_env import belief
>>> hands = belief.sample(view, 256, np.random.default_rng(1))  # masks of the opponent's possible hands
>>> games = belief.worlds(view, 256, np.random.default_rng(1))  # `gin_env.game.state.STATE` records
>>> belief.Belief(model="my_policy.safetensors", trust=0.5).sample(view, 256, np.random.default_rng(1))

An estimator (`gin_env.estimators`) gives the probability of each card. A belief samples whole hands, with
the cards of a meld together, in proportion to the probability that an opponent with them would have acted as
this one did. `Belief` has the method and its parameters.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gin_env.agents.search.chains import Belief, Chains
from gin_env.observations.views import PlayerView

__all__ = ["Belief", "Chains", "sample", "worlds"]


def sample(view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
    """Return possible hands of the opponent: uint64 (count,). See `Belief.sample`."""
    return _default().sample(view, count, random)


def worlds(view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
    """Return worlds consistent with the view: `STATE` records (count,). See `Belief.worlds`."""
    return _default().worlds(view, count, random)


@cache
def _default() -> Belief:
    return Belief()
