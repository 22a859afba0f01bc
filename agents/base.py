"""What a bot is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from gin_env.observations.views import PlayerView


@runtime_checkable
class Agent(Protocol):
    """A bot: a name, and one method that decides for a batch of tables at once.

    A bot has no memory of its own: everything that has happened in the hand is in the view, and ties
    are broken with ``view.records["random"]``, a fresh number per decision, so that a bot plays the
    same in a batch as alone.

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
