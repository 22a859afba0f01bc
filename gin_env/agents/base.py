"""The protocol of a bot, protocols of optional abilities, and functions that several bots share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from gin_env.observations.views import PlayerView

CLOSE = 1e-3
"""Values in `are_best` that differ by less than this are recomputed in float64."""
DIGITS = 9
"""Decimal places to which float64 values are rounded, so that equal candidates are equal in every batch.

The rounding error of float64 is about 1e-14.
"""


@runtime_checkable
class Agent(Protocol):
    """A bot: a name, and one method that decides for a batch of games in one call.

    A bot has no memory: the view holds everything that has happened in the hand. It breaks ties with
    ``view.array["random"]``, a fresh number for each decision, so that it plays the same in a batch as
    alone.

    A bot of your own takes a few lines::

        class FirstLegal:
            name = "first-legal"

            def act(self, view):
                return view.masks().argmax(axis=1)
    """

    name: str

    def act(self, view: PlayerView) -> np.ndarray:
        """One legal action id (integers, shape (n,)) for each of the n views, whose players are to move."""
        ...


class Model(Protocol):
    """A model of Stable-Baselines3 in memory."""

    policy: Any

    def get_vec_normalize_env(self) -> Any: ...


AnyAgent: TypeAlias = str | Agent | Model | Callable[..., Any]
"""What `gin_env.agents.resolve` makes a bot of."""


def act_by(kernel: Callable[..., None], view: PlayerView, *parameters: Any) -> np.ndarray:
    """Return the actions, int64 (n,), that ``kernel(view.array, *parameters, actions)`` writes."""
    actions = np.empty(len(view), np.int64)
    kernel(view.array, *parameters, actions)
    return actions


def are_best(values: np.ndarray, exact: Callable[[np.ndarray], np.ndarray] | None) -> np.ndarray:
    """Return which candidates have the highest value in their row, bool (n, k), whatever the batch size.

    A network's float32 values have errors of 1e-6 to 1e-5 that depend on the batch and the number of threads.
    Candidates that are too close to distinguish in float32 are compared in float64.

    `values` are floats (n, k). ``exact(rows)`` recomputes the values of the rows with these indices, as
    float64 (len(rows), k). If `exact` is None, `values` are compared as they are.
    """
    most = values.max(axis=1, keepdims=True)
    best = values == most
    close = np.flatnonzero((values > most - CLOSE).sum(axis=1) > 1)
    if len(close) and exact is not None:
        again = exact(close).round(DIGITS)
        best[close] = again == again.max(axis=1, keepdims=True)
    return best


@runtime_checkable
class HasActionValues(Agent, Protocol):
    """A bot that says how many points each action is worth, such as ``generation``.

    Hints, explanations and the judgement of moves show these values.
    """

    def action_values(self, view: PlayerView) -> np.ndarray:
        """Return the mean points of the hand after each action: float64 (n, 107), NaN if not considered."""
        ...


@runtime_checkable
class HasActionChances(Agent, Protocol):
    """A bot that says with which probability it chooses each action, such as ``policy``.

    Hints and explanations show these probabilities.
    """

    def action_chances(self, view: PlayerView) -> np.ndarray:
        """Return the probability of each action: float64 (n, 107), 0 if not considered."""
        ...
