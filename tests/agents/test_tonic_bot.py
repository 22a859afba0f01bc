"""Tonic (Larkin et al. 2021) and its estimator, on hand-made positions: a test for each rule it states."""

from __future__ import annotations

import pytest
from bot_positions import choices, facing, holding, later, logistic_values, mask, view_of
from hands_in_words import Table, action, action_text

from gin_env import agents, cards
from gin_env.agents import tonic
from gin_env.estimators import logistic


@pytest.mark.parametrize(
    ("upcard", "turns", "takes"),
    [
        ("6D", 0, True),  # a pair with 6S, both other sixes may come
        ("6D", 1, True),  # second turn
        ("6D", 2, False),  # third turn
        ("9H", 0, False),  # no narrow pair
        ("JD", 0, False),  # never a face card
        ("TD", 0, False),  # a pair with TC has more than 18 points
    ],
)
def test_tonic_draws_for_a_cheap_narrow_pair_in_the_first_two_turns(upcard, turns, takes):
    table = facing("2H 4C 6S 8D TC QH KD JS AC 3S", upcard)
    assert choices(later(table, turns), "tonic") == {"take" if takes else "pass"}


@pytest.mark.parametrize(
    ("hand", "takes"),
    [
        ("AH AC 4S 4D 7H 7C TS TD QC KS", True),  # four pairs among ten unmelded cards
        ("AH AC 4S 4D 7H 7C TS TD QC QH", False),  # five
        ("3C 4C 5C 7H 7D TS TD AS QH KD", True),  # two among seven
        ("3C 4C 5C 7H 7D TS TD AS QH KH", False),  # three
        ("3C 4C 5C 6C 7C 7H TS JS AH QD", True),  # one among five, as the paper says
        ("3C 4C 5C 6C 7C 7H TS JS QD KD", False),  # two
    ],
)
def test_tonic_draws_for_a_pair_while_it_has_few(hand, takes):
    assert choices(facing(hand, "8H"), "tonic") == {"take" if takes else "pass"}


def test_tonic_counts_overlapping_pairs_once_each():
    hand = mask("5H 6H 6C KC")
    assert tonic.count_pairs(hand, cards.FULL_DECK & ~hand) == 2
    assert tonic.count_pairs(hand, cards.FULL_DECK & ~hand & ~mask("6D 6S")) == 1


def test_tonic_draws_for_a_meld_and_for_a_knock_in_every_turn():
    assert choices(later(facing("5C 5H 5S 7D 8D 9D TC JC 4S KS", "QC"), 3), "tonic") == {"take"}
    # The king would go, and the upcard be all the deadwood that is left.
    hand = "5C 5H 5S 6D 7D 8D TC JC QC KS"
    assert choices(later(facing(hand, "AD"), 2), "tonic") == {"take"}
    # 1 is below every threshold.
    assert choices(later(facing(hand, "AD"), 8), "tonic", knock_at="variable") == {"take"}
    assert choices(later(facing(hand, "AD"), 8), "tonic") == {"pass"}  # by now it waits for gin
    assert choices(later(facing(hand, "4H"), 2), "tonic") == {"take"}
    assert choices(later(facing(hand, "4H"), 8), "tonic") == {"pass"}  # 4 is too much in the ninth turn


@pytest.mark.parametrize(
    ("below", "kept"),
    [(tonic.ALL_PAIRS, "5H 6H KC KD 3S 3D"), (12, "5H 6H 3S 3D"), (11, "3S 3D"), (10, "3S 3D"), (0, "")],
)
def test_tonic_keeps_pairs_below_the_threshold_of_the_turn(below, kept):
    hand = mask("5H 6H KC KD 3S 3D 9C")
    assert tonic.kept_pairs(hand, cards.FULL_DECK & ~hand, below) == mask(kept)
    assert agents.make("tonic")._parameters["keep_pairs_below"][1:8].tolist() == [21, 21, 12, 11, 10, 0, 0]


def test_tonic_keeps_cards_near_runs_while_the_card_between_may_come():
    # The paper's example: with 5C 6C 7C, keep 3C and 9C if 4C and 8C may come.
    runs, unmelded = mask("5C 6C 7C"), mask("3C 9C TC 9H KS")
    available = cards.FULL_DECK & ~runs & ~unmelded
    assert tonic.cards_near_runs(runs, unmelded, available) == mask("3C 9C")
    assert tonic.cards_near_runs(runs, unmelded, available & ~mask("8C")) == mask("3C")
    assert tonic.cards_near_runs(mask("JC QC KC AH 2H 3H"), mask("9C AC 5H KH 2C"), cards.FULL_DECK) == mask(
        "9C 5H"
    )


@pytest.mark.parametrize(("turns", "discard"), [(0, "8H"), (1, "8H"), (2, "9C")])
@pytest.mark.parametrize("pair_turns", [0, 2, 6])
def test_tonic_keeps_cards_near_runs_in_turns_1_and_2_only(turns, discard, pair_turns):
    """The number of turns in which it draws for pairs is a parameter of its own."""
    table = later(holding("5C 6C 7C 9C 8H 2D 2S AS AD 4S", drawn="3H", upcard="KH"), turns)
    assert choices(table, "tonic", pair_turns=pair_turns) == {discard}


def test_tonic_keeps_cards_that_the_opponent_wants():
    unmelded = mask("7H 8H 2C KD")
    assert tonic.desired_cards(unmelded, mask("7C 7S")) == mask("7H")
    assert tonic.desired_cards(unmelded, mask("9H TH")) == mask("8H")
    assert tonic.desired_cards(unmelded, mask("7C 9H")) == 0
    assert tonic.desired_cards(unmelded, mask("7C")) == 0


def test_tonic_last_choice_is_the_face_card_in_the_fewest_broad_pairs():
    def chosen(candidates: str, unmelded: str, gone: str = "") -> int:
        available = cards.FULL_DECK & ~mask(unmelded) & ~mask(gone)
        return int(tonic.last_choice(mask(candidates), mask(unmelded), available))

    assert chosen("KC QH JS TD 9D", "KC QH JS TD 9D") == mask("KC")  # the highest that is in no pair
    assert chosen("KC KD JS 9D", "KC KD JS 9D") == mask("JS")
    assert chosen("KC KD JS 9D", "KC KD JS 9D", gone="KH KS") == mask("KC KD")
    assert chosen("KC QC QD", "KC QC QD") == mask("KC")  # QC is in two pairs, the others in one: the higher
    assert chosen("TD TC 9D", "TD TC 9D") == mask("TD TC")  # no face card: the highest rank


def test_tonic_uses_all_unmelded_cards_if_the_filters_leave_none():
    table = holding("5C 5H 5S 7D 8D 9D KC KD 2H 2S", drawn="4D", upcard="TH")
    assert choices(table, "tonic") == {"4D"}
    table = holding("5C 5H 5S 7D 8D 9D KC KD 2H 2S", drawn="3H", upcard="TH")  # everything is in a pair
    assert choices(table, "tonic") == {"KC", "KD"}


def test_tonic_discards_from_a_long_meld_if_all_eleven_cards_are_melded():
    table = holding("4D 5D 6D 7D TC JC QC AH AC AS", drawn="2S", upcard="9H")
    assert choices(table, "tonic") == {"knock 2S"}
    table = holding("4D 5D 6D 7D TC JC QC AH AC AS", drawn="AD", upcard="9H")
    assert choices(table, "tonic") <= {
        action_text(52 + card) for card in cards.cards_of(mask("4D 7D AH AC AS AD"))
    }


def test_tonic_may_break_a_pair_to_knock():
    table = holding("5C 5H 5S 7D 8D 9D TD 6C 6H AS", drawn="3H", upcard="KH")
    assert choices(table, "tonic") == {"3H"}
    assert choices(table, "tonic", break_pairs=True) == {"knock 6C", "knock 6H"}
    assert choices(table, "tonic", break_pairs=True, knock_at=4) == {"3H"}, "no discard allows a knock"


def test_tonic_fallback_can_keep_cards_that_the_opponent_wants():
    table = holding("5C 5H 5S 7D 8D 9D TC TS 4H 4S", drawn="3H", upcard="KH")  # everything is in a pair
    table.games.state["public"]["shown"][0, 1] = mask("TD TH")
    table.games.state["public"]["history"][0, :3] = action("pass"), action("take"), cards.card_id("2D")
    assert choices(table, "tonic") == {"TC", "TS"}
    assert choices(table, "tonic", filtered_fallback=True) == {"4H", "4S"}


# --- tonic's estimator --------------------------------------------------------------------------------


HAND = "KD QS JC TH 9C 8S 2H 4S AH 6D"


def test_estimator_spreads_an_increment_as_in_the_example():
    # The opponent takes 5C. 3C and 4C, 6C and 7C get 1 each; then, going up, half of both adjacent values.
    table = Table(HAND, "KC KH QC QH JD JH TS 9S 8D 7S", "5C", "3D").play("pass", "take", "KC", "draw")
    found = logistic_values(table, increment=1.0)
    expected = {"5H": 1, "5S": 1, "5D": 1, "3C": 1.5, "4C": 1.75, "6C": 1.5, "7C": 1.75}
    assert found == pytest.approx(expected)
    view = view_of(table)
    held = logistic.cards_held(view["public"], view["private"], 0, logistic.Changes(1.0, 0.0, 0.0, 0.0), 1.6)
    assert held == mask("5C 4C 7C")


def test_estimator_lowers_cards_near_discarded_and_declined_ones():
    table = Table(HAND, "KC KH QC QH JD JH TS 9S 8D 7S", "5C", "3D 2C 2S")
    table.play("pass", "pass", "draw", "3D", "draw", "QC", "draw")
    declined = logistic_values(table, decline=1.0)
    # 5C in the offer and 3D in the next turn; the forced draw of player 0 is nothing to the opponent.
    expected = {"5H": -1, "5S": -1, "5D": -1 - 0.5, "3C": -0.5, "7C": -0.5, "4C": -1, "6C": -1}
    expected |= {"3H": -1, "3S": -1, "3C": -1.5, "2D": -1, "4D": -1, "AD": -0.5}
    assert declined == pytest.approx(expected)
    discarded = logistic_values(table, decrement=1.0)
    # Nothing spreads: the cards next to TC and KC are in the player's hand or in the pile.
    assert discarded == pytest.approx({"QH": -1, "QD": -1, "TC": -1, "KC": -1})
    deeper = logistic_values(table, decrement=1.0, depth_growth=0.5)  # one turn was over at the discard
    assert deeper == pytest.approx({card: 1.5 * value for card, value in discarded.items()})
