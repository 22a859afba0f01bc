"""The protocol of a game for the solvers, with six methods.

A game is a two-player zero-sum extensive game with chance moves and perfect recall (Zinkevich et al. 2008,
section 2). Its states are immutable; ``to_move`` determines which methods apply:

===============  ============================================
``to_move``      methods
===============  ============================================
`CHANCE`         ``chance_outcomes``, ``child``
player 0 or 1    ``actions``, ``information_set``, ``child``
`TERMINAL`       ``payoff``
===============  ============================================

`tree.GameTree` visits every state of a game once and checks the assumptions of the solvers:

- the probabilities of each chance node sum to 1;
- all states of an information set have the same player, the same actions and the same depth;
- perfect recall: all states of an information set have the same history of its player's information sets and
  actions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

CHANCE = -1
"""``to_move`` of a state in which chance moves."""
TERMINAL = -2
"""``to_move`` of a state in which the game is over."""

Strategy = dict[Hashable, np.ndarray]
"""Probabilities (number of actions,) of the actions of each information set, in their order.

One dict holds the strategies of both players (a strategy profile): an information set belongs to one of them.
"""


class State(Protocol):
    """One node of the game. States are immutable; `child` returns a new one."""

    @property
    def to_move(self) -> int:
        """Player 0 or 1, `CHANCE` or `TERMINAL`."""
        ...

    def chance_outcomes(self) -> Sequence[tuple[Any, float]]:
        """Return each outcome of the chance move with its probability."""
        ...

    def actions(self) -> Sequence[Any]:
        """Return the legal actions, in the same order for all states of an information set."""
        ...

    def information_set(self) -> Hashable:
        """Return all that the player to move knows; it is equal exactly for indistinguishable states."""
        ...

    def child(self, action: Any) -> State:
        """Return the state after an action or an outcome of chance."""
        ...

    def payoff(self) -> float:
        """Return the payoff of player 0 at the end; player 1 gets the negative."""
        ...


class Game(Protocol):
    """A game: its name for tables and plots, and its initial state."""

    name: str

    def root(self) -> State:
        """Return the initial state, usually the deal, a chance node."""
        ...


def children(state: State) -> list[State]:
    """Return the successor states in the order of the outcomes or actions; none at the end."""
    if state.to_move == TERMINAL:
        return []
    if state.to_move == CHANCE:
        return [state.child(outcome) for outcome, _ in state.chance_outcomes()]
    return [state.child(action) for action in state.actions()]
