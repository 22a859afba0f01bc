"""What several test files share: positions made from texts, reference data, scripts, comparing records."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gin_env import cards
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES, PHASE_NAMES

DATA = Path(__file__).parents[1] / "data"
ORACLE = Path(__file__).resolve().parents[3] / "shared" / "oracle"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
"""The full reference data; tests/data holds a sample of it, so that something always runs."""

ONE_GAME = np.array([0])


def reference(name: str, whole: bool) -> list[dict[str, Any]]:
    """The lines of a file of the reference data: the sample in tests/data, or the whole file."""
    path = (ORACLE if whole else DATA) / name
    if whole and not path.exists():
        pytest.skip(f"the whole reference data is not here ({path}); its sample in tests/data was tested")
    with path.open() as lines:
        return [json.loads(line) for line in lines]


sample_and_whole = pytest.mark.parametrize("whole", [False, True], ids=["sample", "whole"])


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
    """A deck in dealing order; the cards that are not named follow the named stock in ascending order."""
    rules = rules or Rules()
    hands = [ids(hand_0), ids(hand_1)]
    assert [len(hand) for hand in hands] == [rules.hand_size] * 2
    named = [card for pair in zip(*hands, strict=True) for card in pair] + ids(upcard) + ids(stock)
    assert len(set(named)) == len(named)
    return named + [card for card in cards.cards_of(rules.deck_mask) if card not in named]


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
        self.games = Games(1, rules, **options)
        self.games.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
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
        """The legal actions in words."""
        return {action_text(number) for number in np.flatnonzero(self.games.masks(ONE_GAME)[0]).tolist()}

    @property
    def knocks(self) -> set[str]:
        """The cards with which the player to move may knock."""
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


def random_hand(rng: random.Random, size: int) -> frozenset[int]:
    """A hand of which half are drawn from few ranks or few suits, so that melds overlap."""
    kind = rng.randrange(4)
    first = rng.randrange(9)
    if kind == 0:
        pool = [card for card in range(52) if first <= card % 13 < first + 5]
    elif kind == 1:
        suits = rng.sample(range(4), 2)
        pool = [card for card in range(52) if card // 13 in suits]
    else:
        pool = list(range(52))
    return frozenset(rng.sample(pool, size))


def same_records(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two structured arrays agree in every field (the padding between fields may differ)."""
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    if first.dtype.names is None:
        return bool(np.array_equal(first, second))
    return all(same_records(first[name], second[name]) for name in first.dtype.names)


def load_example(name: str) -> ModuleType:
    """A script of examples/ as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look there
    spec.loader.exec_module(module)
    return module
