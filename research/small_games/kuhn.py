"""Kuhn poker (Kuhn 1950): three cards, one bet.

Each player antes 1 and gets one of the cards 0, 1, 2. Player 0 passes or bets 1; a bet is passed (folded) or
called; after a pass player 1 may bet. The higher card wins the pot. The value of the game to player 0 is
-1/18. Player 0's equilibria are a family with one parameter; player 1's is unique. There are
12 information sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from research.small_games.game import CHANCE, TERMINAL

PASS, BET = "p", "b"


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
