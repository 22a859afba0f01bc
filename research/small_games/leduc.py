"""Leduc hold'em (Southey et al. 2005): six cards, two betting rounds, the usual benchmark of CFR.

The deck has two cards of each of three ranks. Each player antes 1 and gets a card; after the first betting
round one card is turned up. A raise is 2 in the first round and 4 in the second, at most two in a round.
Player 0 begins both rounds. Folding is possible only when there is a raise to call. A pair with the board
wins, then the higher card; equal cards split. These are OpenSpiel's rules (``leduc_poker``). Suits never
matter, so cards are ranks here: 288 information sets instead of OpenSpiel's 936, with the same
exploitability.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from research.small_games.game import CHANCE, TERMINAL

FOLD, CALL, RAISE = "f", "c", "r"
NUM_RANKS = 3
CARDS_PER_RANK = 2
RAISES = (2, 4)
"""Size of a raise in the first and in the second round."""
MAX_RAISES = 2


class LeducHoldem:
    """Leduc hold'em."""

    name = "Leduc hold'em"

    def root(self) -> LeducState:
        """Return the state before the deal."""
        return LeducState()


@dataclass(frozen=True, slots=True)
class LeducState:
    """Cards of player 0, player 1 and the board; actions of both rounds; both players' chips in the pot."""

    cards: tuple[int, ...] = ()
    rounds: tuple[str, ...] = ("",)
    pot: tuple[int, int] = (1, 1)

    @property
    def to_move(self) -> int:
        actions = self.rounds[-1]
        if actions.endswith(FOLD):
            return TERMINAL
        if len(actions) >= 2 and actions.endswith(CALL):
            return TERMINAL if len(self.rounds) == 2 else CHANCE
        return CHANCE if len(self.cards) < 2 else len(actions) % 2

    def chance_outcomes(self) -> list[tuple[int, float]]:
        left = {rank: CARDS_PER_RANK - self.cards.count(rank) for rank in range(NUM_RANKS)}
        total = sum(left.values())
        return [(rank, count / total) for rank, count in left.items() if count]

    def actions(self) -> list[str]:
        actions = [FOLD] if self.pot[0] != self.pot[1] else []
        actions.append(CALL)
        if self.rounds[-1].count(RAISE) < MAX_RAISES:
            actions.append(RAISE)
        return actions

    def information_set(self) -> tuple[int, tuple[int, ...], tuple[str, ...]]:
        return self.cards[self.to_move], self.cards[2:], self.rounds

    def child(self, action: str | int) -> LeducState:
        if isinstance(action, int):
            is_board = len(self.cards) == 2
            return replace(
                self, cards=(*self.cards, action), rounds=(*self.rounds, "") if is_board else self.rounds
            )
        player = self.to_move
        chips = self.pot[player]
        if action != FOLD:
            chips = max(self.pot) + (RAISES[len(self.rounds) - 1] if action == RAISE else 0)
        return LeducState(
            self.cards,
            (*self.rounds[:-1], self.rounds[-1] + action),
            (chips, self.pot[1]) if player == 0 else (self.pot[0], chips),
        )

    def payoff(self) -> float:
        last = self.rounds[-1]
        if last.endswith(FOLD):
            folder = (len(last) - 1) % 2
            return float(-self.pot[0] if folder == 0 else self.pot[1])
        strengths = [NUM_RANKS * (card == self.cards[2]) + card for card in self.cards[:2]]
        if strengths[0] == strengths[1]:
            return 0.0
        return float(self.pot[1] if strengths[0] > strengths[1] else -self.pot[0])
