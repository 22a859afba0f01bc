"""Hands with known endings (knock, gin, undercut, void; both seats), and a bot that plays them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hands_in_words import deck_of

from gin_env.game.actions import DRAW_STOCK, KNOCK, PASS
from gin_env.game.rules import Rules
from gin_env.observations.views import PlayerView
from gin_env.ui.human_game import HumanGame

THREE_RUNS = "AC 2C 3C 4H 5H 6H 7S 8S 9S KD"  # deadwood 10
LOOSE = "5C 6C 2H 3S 5D 7D 9D JD QH KS"  # deadwood 67, nothing to lay off on the runs
NO_DEADWOOD = "TH JH QH 5D 6D 7D 8D AH AS AD"
ALSO_LOOSE = "AC 3C 5H 7H 9S JS KD 2D 4S 6S"

RULES = Rules(max_turns=2)
"""At most two turns: a hand without an immediate knock is void."""


class Plain:
    """A bot that passes, draws from the stock, knocks as soon as possible and discards the highest rank."""

    name = "plain"

    def act(self, view: PlayerView) -> np.ndarray:
        return np.array([plain_action(mask) for mask in view.masks()])


def plain_action(mask: np.ndarray) -> int:
    for action in (PASS, DRAW_STOCK):
        if mask[action]:
            return action
    first = KNOCK if mask[KNOCK : KNOCK + 52].any() else 0
    return first + max(np.flatnonzero(mask[first : first + 52]).tolist(), key=lambda card: card % 13)


@dataclass(frozen=True)
class Situation:
    """A deal and its ending between two `Plain` players."""

    deck: list[int]
    dealer: int
    outcome: str
    winner: int
    """-1: nobody."""
    knocker: int
    points: int
    turns: int

    def reward(self, player: int) -> float:
        """Return the reward in points / 100."""
        return 0.0 if self.winner < 0 else self.points / 100 * (1 if self.winner == player else -1)


def _situation(
    knocker: int, hands: tuple[str, str], stock: str, outcome: str, won: bool, points: int, turns: int = 1
) -> Situation:
    """The knocker, who has the first of the hands, begins: after two passes they draw from the stock."""
    hand_0, hand_1 = hands if knocker == 0 else hands[::-1]
    winner = knocker if won else 1 - knocker
    void = outcome == "void"
    deck = deck_of(hand_0, hand_1, "KC", stock)
    return Situation(
        deck, 1 - knocker, outcome, -1 if void else winner, -1 if void else knocker, points, turns
    )


SITUATIONS = {
    f"{name} by {player}" if name != "void" else f"void, {1 - player} deals": _situation(player, *rest)
    for player in (0, 1)
    for name, *rest in (
        ("knock", (THREE_RUNS, LOOSE), "2D", "knock", True, 67 - 2),
        ("gin", (THREE_RUNS, LOOSE), "TS", "gin", True, 25 + 67),
        ("undercut of a knock", (THREE_RUNS, NO_DEADWOOD), "QD", "undercut", False, 25 + 10),
        ("void", (ALSO_LOOSE, LOOSE), "QC TD", "void", False, 0, 2),
    )
}


def person_to_discard(name: str, opponent: str, rules: Rules | None = None) -> HumanGame:
    """Return a person's game in this situation, once they have drawn the first card of the stock."""
    game = HumanGame(opponent, 1, rules)
    game._game.set_deck(0, SITUATIONS[name].deck, SITUATIONS[name].dealer)
    game._begin_hand()
    for action in (PASS, PASS, DRAW_STOCK):
        game._play(action)
    return game


class NeverKnocks(Plain):
    name = "never-knocks"

    def act(self, view):
        masks = view.masks()
        masks[:, KNOCK : KNOCK + 52] = 0
        return np.array([plain_action(mask) for mask in masks])


SHORT = Rules(max_turns=4, max_hands=2)
"""Hands and games that end soon."""
