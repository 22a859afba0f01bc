"""The rule-based bots of the papers, on hand-made positions: one test for each rule that a paper states."""

from __future__ import annotations

import numpy as np
import pytest
from bot_positions import choices, facing, holding, later, mask, view_of
from hands_in_words import Table, started

from gin_env import agents, cards
from gin_env.agents import medium, simple, utility
from gin_env.game import hands
from gin_env.game.rules import Rules

# --- What several bots ask ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "gone", "category"),
    [
        # Table 1 of Larkin et al. 2021; cards in the opponent's hand count as available.
        ("TH", "JH", "9H", "broad"),
        ("QH", "KH", "", "broad"),
        ("TH", "TD", "TS", "broad"),  # the paper's row names one of two as gone
        ("JC", "KC", "", "broad"),
        ("TH", "JH", "", "narrow"),
        ("KH", "KD", "", "narrow"),
        ("TH", "JH", "9H QH", "none"),
        ("TH", "TD", "TS TC", "none"),
        ("JC", "KC", "QC", "none"),
        # and some more
        ("AS", "2S", "", "broad"),
        ("KC", "AH", "", "none"),  # adjacent as numbers, but not in a suit
        ("5C", "8C", "", "none"),
        ("5C", "6H", "", "none"),
    ],
)
def test_pairs_are_broad_or_narrow_as_in_table_1(first, second, gone, category):
    held = mask(f"{first} {second}")
    available = cards.FULL_DECK & ~held & ~mask(gone)
    for card, other in ((first, second), (second, first)):
        needed = [
            hands.pair_partners(cards.card_id(card), held & ~mask(card), available, count)
            for count in (hands.BROAD, hands.NARROW)
        ]
        expected = {"none": (0, 0), "broad": (mask(other), 0), "narrow": (mask(other), mask(other))}
        assert tuple(needed) == expected[category]


def test_unmelded_and_available_cards_are_identified():
    assert hands.unmelded_cards(mask("5C 5H 5S 7D 8D 9D TH KC 2S 3S")) == mask("TH KC 2S 3S")
    hand = "KC QH JS 9D 8H 7S 6C 5H 4D 3H"
    view = view_of(facing(hand, "7D"))
    available = int(hands.available_cards(view["public"], view["private"]))
    assert available == cards.FULL_DECK & ~mask(f"{hand} 7D")
    small = started(1, Rules(ranks=5, suits=2, hand_size=2))
    view = small.views(small.everyone).array[0]
    seen = int(view["private"]["hand"]) | int(view["public"]["pile"])
    assert int(hands.available_cards(view["public"], view["private"])) == small.rules.deck_mask & ~seen


def test_opponents_last_discard_is_known_in_any_place():
    table = facing("KD QS JC TH 9C 8S 2H 4C AH 6D", "7D", "2C 3C").play("pass", "pass", "draw")
    assert hands.opponents_last_discard(view_of(table)["public"]) == -1
    for draw in ("take", "draw"):
        table = facing("KD QS JC TH 9C 8S 2H 4C AH 6D", "7D", "2C 3C").play("pass", "pass", "draw", "QS")
        assert hands.opponents_last_discard(view_of(table)["public"]) == cards.card_id("QS")
        assert hands.opponents_last_discard(view_of(table.play(draw))["public"]) == cards.card_id("QS")


# --- simple's variable threshold (Larkin et al. 2021) --------


def test_variable_knock_thresholds_fall_with_the_turn():
    limits = simple.knock_limits("variable")
    assert limits[1:9].tolist() == [10, 10, 10, 10, 8, 6, 4, 3]
    assert set(limits[9:].tolist()) == {3}
    for name in ("simple", "tonic"):
        for turns, knocks in ((0, True), (4, True), (5, False), (20, False)):
            table = holding("5C 5H 5S 7D 8D 9D TC JC QC 7H", drawn="KS", upcard="6C")  # 7 without the king
            expected = {"knock KS" if knocks else "KS"}
            assert choices(later(table, turns), name, knock_at="variable") == expected


def test_knock_thresholds_by_turn_can_be_written_out():
    assert simple.knock_limits((100, 7, 2))[1:6].tolist() == [100, 7, 2, 2, 2]
    assert agents.make("simple:knock_at=10+7+2").name == "simple:knock_at=10+7+2"
    table = holding("5C 5H 5S 7D 8D 9D TC JC QC 7H", drawn="KS", upcard="6C")  # 7 without the king
    for threshold, choice in ((10, "knock KS"), (7, "knock KS"), (2, "KS"), (2, "KS")):
        assert choices(table, "simple", knock_at=(10, 7, 2)) == {choice}, threshold
        later(table, 1)


@pytest.mark.parametrize(("turns", "own"), [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_each_player_counts_their_own_turns(turns, own):
    """An even number of turns is complete when the first player moves, an odd number when the second does."""
    table = Table("2C 3C 4C 5H 6H 7H 9C KS AD 2D", "KH KC JS 8C 8H 4D 5D QD 2S 6S", "TD")
    table.games.state["public"]["turn"][0] = turns
    assert hands.own_turn(view_of(table)["public"]) == own


def test_thresholds_by_turn_apply_to_the_second_player():
    """Player 1 has deadwood 4 in their first and second turns."""
    hand, other = "AC 2C 3C 4H 5H 6H 7S 8S 9S 4D", "5C 6C 2H 3S 5D 7D 9D JD QH KS"
    for turns, expected in ((1, "knock KC"), (3, "KC")):
        table = Table(other, hand, "TD", "JS KC QC", dealer=1).play("pass", "pass", "draw", "JS", "draw")
        table.games.state["public"]["turn"][0] = turns
        assert choices(table, "simple", knock_at=[4, 3]) == {expected}
        assert choices(table, "tonic", knock_at=[4, 3]) == {expected}


# --- medium (Gallucci et al. 2021) --------


@pytest.mark.parametrize(("upcard", "drop"), [("7D", 3), ("8D", 2), ("2D", 8)])
def test_medium_draws_for_a_minimum_drop_in_deadwood(upcard, drop):
    table = facing("KC QH JS 9D 8H 7S 6C 5H 4D 3H", upcard)  # the best discard is a card of 10 points
    assert choices(table, "medium", minimum_drop=drop) == {"take"}
    assert choices(table, "medium", minimum_drop=drop + 1) == {"pass"}


def test_medium_first_discards_what_cannot_be_melded():
    hand = mask("KH QH 7C 7H AS")
    unseen = cards.FULL_DECK & ~hand & ~mask("KC KS JH 9H 2S")
    assert medium.hopeless_cards(hand, unseen) == mask("KH")  # one king and no jack are left
    assert medium.hopeless_cards(hand, unseen & ~mask("QC QS AC AH")) == mask("KH QH AS")
    table = holding("5C 5H 5S 7D 8D 9D TC AS KH QH", drawn="KD", upcard="2S")
    assert choices(table, "medium") == {"KH", "QH", "KD", "TC"}  # nothing is hopeless: as simple
    table.games.state["public"]["pile"][0] |= np.uint64(mask("AC AH"))
    assert choices(table, "medium") == {"AS"}


def test_medium_then_avoids_helping_and_discards_the_highest():
    assert medium.safest_then_highest(mask("KC 9H 9S"), 0) == mask("KC")
    assert medium.safest_then_highest(mask("KC 9H 9S"), mask("KD")) == mask("9H 9S")
    assert medium.safest_then_highest(mask("KC 9H 9S"), mask("KD 8H TH")) == mask("9S")
    assert medium.safest_then_highest(mask("KC QD"), mask("JS")) == mask("KC QD")


@pytest.mark.parametrize(
    ("left", "shown", "knocks"),
    [("9S", "", True), ("TS", "", False), ("8H", "2H", False), ("7H", "2H", True), ("5D", "2H", True)],
)
def test_medium_knocks_at_nine_or_seven_if_cards_are_shown(left, shown, knocks):
    table = holding(f"5C 5H 5S 7D 8D 9D TC JC QC {left}", drawn="KS", upcard="2C")
    table.games.state["public"]["shown"][0, 1] = mask(shown)
    assert {text.startswith("knock") for text in choices(table, "medium")} == {knocks}


# --- utility (Keats 2017) ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("card", "hand", "gone", "last_discard", "score"),
    [
        ("8H", "8H", "", "", 8),  # 1: the value
        ("KH", "KH", "", "", 10),
        ("8H", "8H 8C", "", "", 8 - 4),  # 2a: a pair, both others possible
        ("8H", "8H 8C", "8D", "", 8 - 8 / 15),  # 2b: one of them, 30 cards in the stock
        ("8H", "8H 8C", "8D 8S", "", 8 + 4),  # 2c
        ("9H", "9H TH", "", "", 9 - 3),  # 3a: a partial run
        ("9H", "9H TH", "8H", "", 9 - 3),
        ("9H", "9H TH", "8H JH", "", 9 + 6.75),  # 3b
        ("2H", "2H AH", "3H", "", 2 + 1.5),  # there is nothing below the ace
        ("8H", "8H", "8D", "8D", 8 + 6),  # 4: just discarded by the opponent, equal rank
        ("8H", "8H", "9D", "9D", 8 + 8),  # 5: one rank away in another suit
        ("8H", "8H", "9H", "9H", 8),  # in the same suit it does not count
        ("8H", "8H 8C 9H", "7H TH 8D 8S", "8D", 8 + 4 + 6 + 6),  # all together
    ],
)
def test_utility_discard_scores_of_keats(card, hand, gone, last_discard, score):
    loose = mask(hand)
    possible = cards.FULL_DECK & ~loose & ~mask(gone)
    last = cards.card_id(last_discard) if last_discard else -1
    assert utility.discard_score(cards.card_id(card), loose, possible, 30, last) == pytest.approx(score)


@pytest.mark.parametrize(
    ("upcard", "stock", "score"),
    [
        ("TH", 30, 20 - 10),  # completes 8H 9H TH
        ("7H", 30, 20 + 9 - 7),  # 6 to 9: 9 points more
        ("7H", 20, 20 + 9 - 7 - 1),  # late game
        ("6D", 30, 9 - 6),
        ("3D", 30, -3),
        ("KD", 30, -10 - 1000),  # would be discarded first
    ],
)
def test_utility_draw_scores_of_keats(upcard, stock, score):
    hand = "8H 9H TC JC QC 4S 4C 5S 7S 2H"
    table = facing(hand, upcard)
    table.games.state["public"]["stock_left"] = stock
    possible = cards.FULL_DECK & ~mask(f"{hand} {upcard}")
    assert utility.draw_score(view_of(table)["public"], mask(hand), possible, 20) == score
    assert choices(table, "utility") == {"take" if score > 2 else "pass"}


def test_utility_discards_the_highest_score_and_knocks_early():
    assert choices(holding("8H 9H TC JC QC 4S 4C 5S 7S 2H", "KD", "3D"), "utility") == {"KD"}
    assert choices(holding("5C 5H 5S 7D 8D 9D TC JC QC 8H", "KD", "3D"), "utility") == {"knock KD"}
