"""Agreement with OpenSpiel's gin_rummy, decision by decision, under every rule both support."""

from __future__ import annotations

from collections import Counter

import pytest
from hands_in_words import ONE_GAME, Table, action, ids
from openspiel import VARIANTS, compare, compare_legal, dealt, follow

from gin_env import cards
from gin_env.game.actions import DRAW_STOCK, KNOCK
from gin_env.game.rules import Rules

pyspiel = pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install open_spiel")
pytestmark = pytest.mark.compiled
KNOCKS = range(KNOCK, DRAW_STOCK)


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name not in ("default", "oklahoma")))
        for name in VARIANTS
    ],
)
def test_openspiel_agrees_on_every_hand(variant):
    counts = compare(3000, 1, ("simple", "random"), variant)
    assert counts["differences"] == 0
    assert counts["knocks settled"] > 0


def after_drawing(hand: str, limit: int):
    """Return our legal actions and OpenSpiel's state before a discard from these eleven cards."""
    words = hand.split()
    others = [cards.card_text(card) for card in range(52) if card not in ids(hand)]
    table = Table(
        " ".join(words[:10]), " ".join(others[:10]), others[10], words[10], rules=Rules(knock_limit=limit)
    )
    state = dealt(table.games, 0, pyspiel.load_game("gin_rummy", {"knock_card": limit}).new_initial_state())
    for word in ("pass", "pass", "draw"):
        follow(table.games, 0, state, action(word))
        table.play(word)
    return table.games.masks(ONE_GAME)[0], state


# Found by playing: the melds of least deadwood leave a card too low to discard. In the first hand they are
# those without 7C, as we have it, or without 3S and 4S: OpenSpiel discards 4S, and 3 is above the limit.
MISSED = [
    ("5C 6C 7C 5H 6H 3S 4S 5S 6S 5D 6D", 2, {"7C"}),
    ("AC 2C 5C AH 2H 3H 5H 2S 5S AD 2D", 0, {"3H"}),
    ("AC 2C 3C QC AH 2H QH 2S AD 2D QD", 0, {"3C"}),
    ("AC 2C 3C 3S 6S 7S 8S 3D 4D 5D 6D", 0, {"3S"}),
    ("3C 8C 3H 6H 7H 8H 3S 6S 7D 8D 6D", 6, {"8C"}),
]


@pytest.mark.parametrize(("hand", "limit", "knocks"), MISSED)
def test_knocks_that_openspiel_misses_are_legal_by_brute_force(hand, limit, knocks):
    mask, state = after_drawing(hand, limit)
    counts = Counter()
    assert {cards.card_text(number - KNOCK) for number in KNOCKS if mask[number]} == knocks
    assert not set(KNOCKS) & compare_legal(state, mask, -1, counts)
    assert (counts["knocks that OpenSpiel misses"], counts["differences"]) == (1, 0)
