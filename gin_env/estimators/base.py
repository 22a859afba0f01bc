"""What an estimator is, and optional protocols."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from gin_env.observations.views import PlayerView


@runtime_checkable
class Estimator(Protocol):
    """Estimates the probability of each of the 52 cards that the opponent of a view's player holds it.

    Cards whose place the player knows are exactly 0 or 1: cards in their own hand and in the discard pile are
    0, cards that the opponent took from the pile and still holds are 1. Cards that the deck lacks are 0. Each
    estimator documents the sum of the other probabilities.

    An estimator sees only views, never a state. An estimator that cheats is a `NeedsHands`.

    *Memory* saves work when a hand is estimated repeatedly: keep a record for each view and advance it,
    instead of processing the whole hand each time. A memory of another hand, another game or a later position
    is detected and reset, so that ``advance(view, memory)`` equals ``estimate(view)`` for every memory. (The
    one exception, ``ensemble:switching=adaptive``, learns from hand to hand.) A copy of the array is a copy
    of the memory.
    """

    name: str
    """The text from which `gin_env.estimators.make` makes it."""

    def estimate(self, view: PlayerView) -> np.ndarray:
        """float32 (n, 52): the probabilities, from the views alone."""
        ...

    def new_memory(self, count: int) -> np.ndarray:
        """Memory for `count` views: an array whose first axis has length `count`."""
        ...

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        """float32 (n, 52): the probabilities; `memory` (n, ...) is brought up to the views, in place."""
        ...


@runtime_checkable
class NeedsHands(Protocol):
    """An estimator that needs the opponents' hands, which no view has: ``omniscient``. Bots refuse it."""

    name: str

    def estimate_hands(self, hands: np.ndarray) -> np.ndarray:
        """float32 (n, 52): the estimates for opponents with these hands, masks uint64 (n,)."""
        ...


@runtime_checkable
class Observed(Protocol):
    """An estimator whose estimates observations hold anyway: ``uniform``.

    Environments and policies do not ask it again if `observed` is true.
    """

    observed: bool


def is_observed(estimator: Estimator) -> bool:
    """Whether observations hold the estimates anyway."""
    return isinstance(estimator, Observed) and estimator.observed


def advance_slots(
    estimator: Estimator, view: PlayerView, hands: np.ndarray, memory: np.ndarray, slots: np.ndarray
) -> np.ndarray:
    """float32 (n, 52): the estimates, with these slots (n,) of a larger memory brought up to the views.

    `hands` are the opponents' hands, masks uint64 (n,); only an estimator that `NeedsHands` sees them.
    """
    if isinstance(estimator, NeedsHands):
        return estimator.estimate_hands(hands)
    own = memory[slots]
    estimates = estimator.advance(view, own)
    memory[slots] = own
    return estimates


def no_memory(count: int) -> np.ndarray:
    """The memory of an estimator that needs none: records (count,) without fields."""
    return np.zeros(count, np.dtype([]))
