"""Reachable states break no invariant; `state_invariants.status` would name the broken ones."""

from __future__ import annotations

import numpy as np
import pytest
from played_positions import POLICIES, played
from state_invariants import status

from gin_env.game.cards import lowest_card
from gin_env.game.state import DRAW, NO_CARD, OVER


@pytest.mark.parametrize("name", list(POLICIES))
def test_reachable_positions_are_valid(name):
    for record in played(name).states:
        assert status(record) == []


@pytest.mark.parametrize(
    ("field", "value_of", "phase", "message"),
    [
        ("turn", lambda hand: 101, DRAW, "turn = 101, not from 0 to 100"),
        ("shown", lambda hand: hand, DRAW, "player 0 has shown"),
        ("declined", lambda hand: hand, DRAW, "player 0 declined"),
        ("discarded", lambda hand: hand, DRAW, "discarded, but not in the pile"),
        ("pile", lambda hand: hand, DRAW, "player 1's hand and the pile share"),
        ("upcard", lambda hand: NO_CARD, DRAW, "never both or neither"),
        ("upcard", lowest_card, DRAW, "the upcard is not in the pile"),
        ("outcome", lambda hand: 0, OVER, "exactly when it is over"),
        ("winner", lambda hand: 0, DRAW, "a winner exactly when"),
    ],
)
def test_broken_invariant_is_named(field, value_of, phase, message):
    states = played("random").states
    record = next(each for each in states if each["public"]["phase"] == phase).copy()
    record["public"][field] = value_of(np.uint64(record["private"]["hand"][1]))
    assert message in "; ".join(status(record))
