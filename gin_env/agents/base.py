"""The protocol of a bot, and protocols of optional abilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from gin_env.batch import Games
from gin_env.observations.views import PlayerView


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


@runtime_checkable
class PlaysTurns(Protocol):
    """A bot that also plays a whole turn in one call, which is faster than `Agent.act` for each action.

    It plays the same actions as `Agent.act`. A subclass that decides differently sets ``play_turns = None``.
    """

    def play_turns(self, games: Games, which: np.ndarray, both_seats: bool) -> None:
        """Play the rest of the turn in these games, integers (n,); with `both_seats` the rest of the hand."""
        ...


@runtime_checkable
class HasActionValues(Protocol):
    """A bot that says how many points each action is worth, such as ``generation``.

    Hints, explanations and the judgement of moves show these values.
    """

    name: str

    def action_values(self, view: PlayerView) -> np.ndarray:
        """Return the mean points of the hand after each action: float64 (n, 107), NaN if not considered."""
        ...


@runtime_checkable
class HasActionChances(Protocol):
    """A bot that says with which probability it chooses each action, such as ``policy``.

    Hints and explanations show these probabilities.
    """

    name: str

    def action_chances(self, view: PlayerView) -> np.ndarray:
        """Return the probability of each action: float64 (n, 107), 0 if not considered."""
        ...
