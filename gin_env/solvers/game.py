"""What a game has to tell the solvers: a protocol of six methods.

A game is a two-player zero-sum extensive game with chance moves and perfect recall (Zinkevich et al. 2008,
section 2). Its states are immutable; ``to_move`` says which of the methods make sense:

===============  ============================================
``to_move``      methods
===============  ============================================
`CHANCE`         ``chance_outcomes``, ``child``
player 0 or 1    ``actions``, ``information_set``, ``child``
`TERMINAL`       ``payoff``
===============  ============================================

`tree.GameTree` visits every state of a game once and checks what the solvers rely on:

- the probabilities of each chance node sum to 1;
- all states of an information set have the same player, the same actions and the same depth;
- perfect recall: at an information set its player has one history of own information sets and actions.
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
"""For each information set the probabilities (number of actions,) of its actions, in their order.

One dict holds the strategies of both players (a strategy profile): an information set belongs to one of them.
"""


class State(Protocol):
    """One node of the game. Nothing changes a state; `child` makes a new one."""

    @property
    def to_move(self) -> int:
        """Player 0 or 1, `CHANCE` or `TERMINAL`."""
        ...

    def chance_outcomes(self) -> Sequence[tuple[Any, float]]:
        """(outcome, its probability) for each outcome of the chance move."""
        ...

    def actions(self) -> Sequence[Any]:
        """The legal actions, always in the same order within an information set."""
        ...

    def information_set(self) -> Hashable:
        """Return all that the player to move knows; equal exactly for states that look the same."""
        ...

    def child(self, action: Any) -> State:
        """The state after an action, or after an outcome of chance."""
        ...

    def payoff(self) -> float:
        """What player 0 wins at the end; player 1 wins the opposite."""
        ...


class Game(Protocol):
    """A name for tables and plots, and the state at the start."""

    name: str

    def root(self) -> State:
        """The state at the start, usually a chance node: the deal."""
        ...


def children(state: State) -> list[State]:
    """The states that can follow next, in the order of the outcomes or actions; none at the end."""
    if state.to_move == TERMINAL:
        return []
    if state.to_move == CHANCE:
        return [state.child(outcome) for outcome, _ in state.chance_outcomes()]
    return [state.child(action) for action in state.actions()]
