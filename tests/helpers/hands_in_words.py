"""Hands, decks, actions and whole games written in words: ``Table("AS ...", ...).play("pass", "draw")``."""

from __future__ import annotations

from typing import Any

import numpy as np

from gin_env import cards
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES, PHASE_NAMES

ONE_GAME = np.array([0])


def ids(text: str) -> list[int]:
    """``"AS TD"`` as card ids, in the order of the text."""
    return [cards.card_id(word) for word in text.split()]


def ids_of(texts: list[str]) -> list[int]:
    return [cards.card_id(text) for text in texts]


def action(text: str) -> int:
    """The action: ``"pass"``, ``"draw"`` (stock), ``"take"`` (upcard), ``"5H"`` (discard), ``"knock 5H"``."""
    words = {"pass": PASS, "draw": DRAW_STOCK, "take": DRAW_UPCARD}
    if text in words:
        return words[text]
    return KNOCK + cards.card_id(text[6:]) if text.startswith("knock ") else cards.card_id(text)


def action_text(number: int) -> str:
    """The inverse of `action`."""
    words = {PASS: "pass", DRAW_STOCK: "draw", DRAW_UPCARD: "take"}
    if number in words:
        return words[number]
    return f"knock {cards.card_text(number - KNOCK)}" if number >= KNOCK else cards.card_text(number)


def deck_of(hand_0: str, hand_1: str, upcard: str, stock: str = "", rules: Rules | None = None) -> list[int]:
    """Return a deck in dealing order; unnamed cards follow the named stock in ascending order."""
    rules = rules or Rules()
    hands = [ids(hand_0), ids(hand_1)]
    assert [len(hand) for hand in hands] == [rules.hand_size] * 2
    named = [card for pair in zip(*hands, strict=True) for card in pair] + ids(upcard) + ids(stock)
    assert len(set(named)) == len(named)
    return named + [card for card in cards.cards_of(rules.deck_mask) if card not in named]


def started(number: int = 3, rules: Rules | None = None, first: int = 0, seed: int = 7, **options) -> Games:
    """Return games that have been dealt; the first of them has this number."""
    games = Games(number, rules, **options)
    games.start(episodes=np.arange(first, first + number, dtype=np.uint64), seed=seed)
    return games


class Table:
    """One game, dealt from texts and played in words. Player 0 starts unless the dealer is given."""

    def __init__(
        self,
        hand_0: str,
        hand_1: str,
        upcard: str,
        stock: str = "",
        dealer: int = 1,
        rules: Rules | None = None,
        **options: Any,
    ) -> None:
        self.games = started(1, rules, seed=0, **options)
        self.deal(hand_0, hand_1, upcard, stock, dealer)

    def deal(self, hand_0: str, hand_1: str, upcard: str, stock: str = "", dealer: int | None = None) -> None:
        self.games.set_deck(0, deck_of(hand_0, hand_1, upcard, stock, self.games.rules), dealer)

    def play(self, *texts: str) -> Table:
        for text in texts:
            self.games.play(ONE_GAME, np.array([action(text)]))
        return self

    @property
    def public(self) -> np.void:
        return self.games.state["public"][0]

    @property
    def legal(self) -> set[str]:
        """Return the legal actions in words."""
        return {action_text(number) for number in np.flatnonzero(self.games.masks(ONE_GAME)[0]).tolist()}

    @property
    def knocks(self) -> set[str]:
        """Return the cards with which the player to move can knock."""
        return {text[6:] for text in self.legal if text.startswith("knock ")}

    @property
    def phase(self) -> str:
        return PHASE_NAMES[self.public["phase"]]

    @property
    def result(self) -> tuple[str, int, int]:
        """(kind of ending, winner, points) of the hand that ended last."""
        result = self.games.results[0]
        return OUTCOME_NAMES[result["outcome"]], int(result["winner"]), int(result["points"])

    def hand(self, player: int) -> str:
        return cards.format(int(self.games.state["private"]["hand"][0, player]))
