"""The estimator protocol and optional protocols."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from gin_env.observations.views import PlayerView
from gin_env.support.specs import NamedObject


@runtime_checkable
class Estimator(Protocol):
    """Estimates, for each of the 52 cards, the probability that the player's opponent holds it.

    Cards whose place the player knows are exactly 0 or 1: cards in their own hand and in the discard pile are
    0, cards that the opponent took from the pile and still holds are 1. Cards that the deck lacks are 0. Each
    estimator documents the sum of the other probabilities.

    An estimator sees only views, never a state. An estimator that cheats is a `NeedsHands`.

    *Memory* saves work when a hand is estimated repeatedly: keep a record for each view and advance it,
    instead of processing the whole hand each time. A memory of another hand, another game or a later position
    is detected and reset, so that ``advance(view, memory)`` equals ``estimate(view)`` for every memory. (The
    one exception, ``ensemble:switching=adaptive``, learns from hand to hand.) A copy of the array is a copy
    of the memory.

    >>> from gin_env import Games, estimators
    >>> games = Games(2)
    >>> games.start(seed=1)
    >>> view = games.views(games.everyone)
    >>> estimator = estimators.make("bayes")
    >>> memory = estimator.new_memory(len(view))
    >>> bool((estimator.advance(view, memory) == estimator.estimate(view)).all())
    True
    """

    name: str
    """The text from which `gin_env.estimators.make` makes the estimator."""

    def estimate(self, view: PlayerView) -> np.ndarray:
        """Return the probabilities, float32 (n, 52), from the views alone."""
        ...

    def new_memory(self, count: int) -> np.ndarray:
        """Return new memory for `count` views: an array whose first axis has length `count`."""
        ...

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        """Return the probabilities, float32 (n, 52), and update `memory` (n, ...) to the views in place."""
        ...


class Memoryless(NamedObject):
    """Base class of estimators that need no memory, since the view contains everything."""

    def estimate(self, view: PlayerView) -> np.ndarray:
        """See `Estimator.estimate`."""
        raise NotImplementedError

    def new_memory(self, count: int) -> np.ndarray:
        return no_memory(count)

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        return self.estimate(view)


@runtime_checkable
class NeedsHands(Protocol):
    """An estimator that needs the opponents' hands, which views lack: ``omniscient``. Bots refuse it."""

    name: str

    def estimate_hands(self, hands: np.ndarray) -> np.ndarray:
        """Return the estimates, float32 (n, 52), for opponents with these hands, masks uint64 (n,)."""
        ...


def is_observed(estimator: Estimator) -> bool:
    """Return whether the estimates are already part of the observations, as those of ``uniform``.

    Environments and policies do not call such an estimator; its attribute ``observed`` is true.

    >>> from gin_env import estimators
    >>> is_observed(estimators.make("uniform")), is_observed(estimators.make("bayes"))
    (True, False)
    """
    return bool(getattr(estimator, "observed", False))


def advance_slots(
    estimator: Estimator, view: PlayerView, hands: np.ndarray, memory: np.ndarray, slots: np.ndarray
) -> np.ndarray:
    """Return the estimates, float32 (n, 52), and update these slots (n,) of a larger memory to the views.

    `hands` are the opponents' hands, masks uint64 (n,); they are passed only to a `NeedsHands` estimator.

    >>> from gin_env import Games, estimators
    >>> games = Games(2)
    >>> games.start(seed=1)
    >>> view = games.views(games.everyone)
    >>> bayes = estimators.make("bayes")
    >>> memory = bayes.new_memory(10)
    >>> advance_slots(bayes, view, view.hands, memory, np.array([3, 7])).shape
    (2, 52)
    """
    estimate_hands = getattr(estimator, "estimate_hands", None)  # faster than isinstance(..., NeedsHands)
    if estimate_hands is not None:
        return estimate_hands(hands)
    own = memory[slots]
    estimates = estimator.advance(view, own)
    memory[slots] = own
    return estimates


def no_memory(count: int) -> np.ndarray:
    """Return the memory of an estimator that needs none: records (count,) without fields.

    >>> no_memory(3).shape
    (3,)
    """
    return np.zeros(count, np.dtype([]))
