"""What a player may believe of the whole table: worlds that explain everything that she has seen.

>>> from gin_env import belief
>>> hands = belief.sample(view, 256, np.random.default_rng(1))  # masks of what the opponent may hold
>>> games = belief.worlds(view, 256, np.random.default_rng(1))  # `gin_env.game.state.STATE` records to play
on
>>> belief.Belief(model="my_policy.safetensors", trust=0.5).sample(view, 256, np.random.default_rng(1))

An estimator (`gin_env.estimators`) says of each card how likely the opponent holds it; a belief draws whole
hands, in which melds belong together, as often as an opponent with them would have acted as she did.
`Belief` says how, and what can be chosen.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gin_env.agents.search.chains import Belief, Chains
from gin_env.observations.views import PlayerView

__all__ = ["Belief", "Chains", "sample", "worlds"]


def sample(view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
    """uint64 (count,): hands that the opponent may hold, by `Belief()`; see `Belief.sample`."""
    return _usual().sample(view, count, random)


def worlds(view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
    """`STATE` records (count,): games that explain the view, by `Belief()`; see `Belief.worlds`."""
    return _usual().worlds(view, count, random)


@cache
def _usual() -> Belief:
    return Belief()
