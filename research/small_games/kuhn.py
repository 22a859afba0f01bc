"""Kuhn poker (Kuhn 1950): three cards, one bet.

Each player antes 1 and gets one of the cards 0, 1, 2. Player 0 passes or bets 1; a bet is passed (folded) or
called; after a pass player 1 may bet. The higher card wins the pot. The value of the game to player 0 is
-1/18. Player 0's equilibria are a family with one parameter (`equilibrium`); player 1's is unique. There are
12 information sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from research.small_games.game import CHANCE, TERMINAL, Strategy

PASS, BET = "p", "b"
VALUE = -1 / 18
"""Expected payoff of player 0 in equilibrium."""


class KuhnPoker:
    """Kuhn poker."""

    name = "Kuhn poker"

    def root(self) -> KuhnState:
        """Return the state before the deal."""
        return KuhnState((), "")


@dataclass(frozen=True, slots=True)
class KuhnState:
    """The cards of players 0 and 1 (none before the deal), and the actions so far."""

    cards: tuple[int, ...]
    history: str

    @property
    def to_move(self) -> int:
        if not self.cards:
            return CHANCE
        if self.history in ("pp", "pbp", "pbb", "bp", "bb"):
            return TERMINAL
        return len(self.history) % 2

    def chance_outcomes(self) -> list[tuple[tuple[int, ...], float]]:
        return [(cards, 1 / 6) for cards in permutations(range(3), 2)]

    def actions(self) -> str:
        return PASS + BET

    def information_set(self) -> str:
        return f"{self.cards[self.to_move]}{self.history}"

    def child(self, action: str | tuple[int, ...]) -> KuhnState:
        if isinstance(action, tuple):
            return KuhnState(action, "")
        return KuhnState(self.cards, self.history + action)

    def payoff(self) -> float:
        if self.history == "bp":
            return 1.0
        if self.history == "pbp":
            return -1.0
        stake = 2.0 if BET in self.history else 1.0
        return stake if self.cards[0] > self.cards[1] else -stake


def equilibrium(bluff: float = 0.0) -> Strategy:
    """Return the equilibrium in which player 0 bets the lowest card with probability `bluff`, 0 to 1/3."""
    if not 0 <= bluff <= 1 / 3:
        raise ValueError(f"player 0 must bet the lowest card with a probability from 0 to 1/3, not {bluff}")
    bets = {
        **{"0": bluff, "1": 0.0, "2": 3 * bluff},
        **{"0pb": 0.0, "1pb": bluff + 1 / 3, "2pb": 1.0},
        **{"0p": 1 / 3, "1p": 0.0, "2p": 1.0},
        **{"0b": 0.0, "1b": 1 / 3, "2b": 1.0},
    }
    return {key: np.array([1 - bet, bet]) for key, bet in bets.items()}
