"""`state.status` reports every broken invariant, and none in reachable states."""

from __future__ import annotations

import numpy as np
import pytest
from played_positions import POLICIES, played

from gin_env.batch import Games
from gin_env.game.state import DISCARD, DRAW, NO_CARD, OVER, STATE, status


@pytest.mark.parametrize("name", list(POLICIES))
def test_reachable_positions_are_valid(name):
    for record in played(name).states:
        assert status(record) == []


def position(phase: int, *, taken: bool = False) -> np.void:
    """Return a copy of a position of random play in this phase."""
    for record in played("random").states:
        if record["public"]["phase"] == phase and (record["public"]["taken"] != NO_CARD) == taken:
            return record.copy()
    raise LookupError("no such position")


def broken(change, phase: int = DRAW, *, taken: bool = False) -> str:
    record = position(phase, taken=taken)
    change(record)
    return "; ".join(status(record))


def set_field(name: str, value):
    def change(record):
        record["public"][name] = value

    return change


RANGES = {
    "phase": (0, 4),
    "to_move": (0, 1),
    "dealer": (0, 1),
    "first_upcard": (0, 51),
    "upcard": (-1, 51),
    "taken": (-1, 51),
    "stock_left": (0, 31),
    "turn": (0, 100),
    "history_length": (0, 256),
    "outcome": (0, 5),
    "winner": (-1, 1),
    "knocker": (-1, 1),
}


@pytest.mark.parametrize("name", RANGES)
def test_fields_out_of_range_are_named(name):
    least, most = RANGES[name]
    unsigned = np.issubdtype(position(DRAW)["public"][name].dtype, np.unsignedinteger)
    for value in (most + 1, *(() if unsigned else (least - 1,))):
        assert f"{name} = {value}, not from {least} to {most}" in broken(set_field(name, value))
    for value in (least, most):
        assert f"{name} =" not in broken(set_field(name, value))


def give(player: int, card_of):
    def change(record):
        record["private"]["hand"][player] |= np.uint64(1 << int(card_of(record)))

    return change


def lowest(mask) -> int:
    return (int(mask) & -int(mask)).bit_length() - 1


def test_card_in_two_places_is_named():
    found = broken(give(0, lambda record: lowest(record["private"]["hand"][1])))
    assert "player 0's hand and player 1's hand share" in found
    assert "player 0 holds 11 cards, not 10" in found
    assert "player 1's hand and the pile share" in broken(give(1, lambda record: record["public"]["upcard"]))


def test_missing_card_is_named():
    def lose(record):
        record["private"]["hand"][0] &= ~np.uint64(1 << lowest(record["private"]["hand"][0]))

    assert "missing or foreign: " in broken(lose)


def test_duplicate_stock_card_is_named():
    def repeat(record):
        deck = record["hidden"]["deck"]
        deck[51] = deck[50]

    assert "the stock holds a card twice" in broken(repeat)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("shown", "player 0 has shown"),
        ("declined", "player 0 declined"),
        ("discarded", "discarded, but not in the pile"),
    ],
)
def test_public_card_sets_must_match_the_cards(field, message):
    def add(record):
        record["public"][field][0] |= np.uint64(1 << lowest(record["private"]["hand"][1]))

    assert message in broken(add)


def test_discarded_card_has_exactly_one_player():
    def both(record):
        public = record["public"]
        public["discarded"] = np.uint64(1 << int(public["upcard"]))

    def nobody(record):
        public = record["public"]
        public["discarded"] = 0
        public["first_upcard"] = lowest(record["private"]["hand"][0])

    assert "both players discarded" in broken(both)
    assert "nobody discarded" in broken(nobody)


def test_upcard_and_taken_card_must_fit_the_phase():
    assert "never both or neither" in broken(set_field("upcard", NO_CARD))
    assert "the upcard is not in the pile" in broken(
        lambda record: record["public"].__setitem__("upcard", lowest(record["private"]["hand"][0]))
    )
    taking = broken(set_field("phase", DRAW), DISCARD, taken=True)
    assert "a card is taken in the phase 'draw'" in taking
    assert "not shown by its player" in broken(set_field("shown", 0), DISCARD, taken=True)


def test_outcome_winner_and_knocker_must_fit_the_phase():
    assert "exactly when it is over" in broken(set_field("outcome", 4))
    assert "exactly when it is over" in broken(set_field("outcome", 0), OVER)
    assert "a winner exactly when" in broken(set_field("winner", 0))
    assert "a knocker exactly when" in broken(set_field("knocker", 1))


@pytest.mark.parametrize("thing", [None, np.zeros(1, STATE), np.zeros(1, STATE)["public"][0]])
def test_status_requires_one_state_record(thing):
    with pytest.raises(TypeError, match=r"one record of gin_env\.game\.state\.STATE"):
        status(thing)


def test_status_reports_impossible_rules():
    games = Games(1)
    games.start(games.everyone, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    games.state["public"]["rules"]["ranks"] = 0
    (found,) = status(games.state[0])
    assert found.startswith("rules: ")
    assert "ranks" in found
