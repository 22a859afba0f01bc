"""One test for each rule of the game (`gin_env.game.engine`) and each common engine mistake."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import ONE_GAME, Table, action, deck_of, ids

from gin_env import cards
from gin_env.batch import Games
from gin_env.game.actions import PASS, IllegalActionError
from gin_env.game.rules import Rules

# Hands used by several tests. DULL and DREARY have no meld.
DULL = "KC QH JS 9D 8H 7S 6C 5H 4D 3H"
DREARY = "KD QS JC TH 9C 8S 2H 4C AH 6D"


def dull_table(stock: str = "", **options) -> Table:
    return Table(DULL, DREARY, upcard="7D", stock=stock, **options)


# --- Deal and opening offer (rules 1 and 2) -----------------------------------------------------------


def test_rule_1_deal_alternates_cards_then_turns_the_upcard():
    games = Games(1)
    deck = list(range(51, -1, -1))
    for dealer in (0, 1):  # player 0 gets the first card with either dealer
        games.set_deck(0, deck, dealer)
        state = games.state[0]
        assert cards.cards_of(int(state["private"]["hand"][0])) == sorted(deck[0:20:2])
        assert cards.cards_of(int(state["private"]["hand"][1])) == sorted(deck[1:20:2])
        assert state["public"]["upcard"] == state["public"]["first_upcard"] == deck[20]
        assert state["public"]["stock_left"] == 31
        assert state["public"]["to_move"] == 1 - dealer
    table = Table(DULL, DREARY, upcard="7D", stock="2C 5S")
    table.play("pass", "pass", "draw")
    assert "2C" in table.hand(0)
    table.play("2C", "draw")
    assert "5S" in table.hand(1)


@pytest.mark.parametrize("dealer", [0, 1])
def test_rule_2_upcard_is_offered_to_the_non_dealer_then_the_dealer(dealer):
    table = dull_table(dealer=dealer)
    assert (table.phase, table.public["to_move"], table.legal) == (
        "opening offer",
        1 - dealer,
        {"take", "pass"},
    )
    table.play("pass")
    assert (table.phase, table.public["to_move"], table.legal) == ("opening offer", dealer, {"take", "pass"})
    table.play("take")
    assert (table.phase, table.public["to_move"]) == ("discard", dealer)
    assert "7D" in table.hand(dealer)
    discard = table.hand(dealer).split()[0]
    table.play(discard)
    assert (table.phase, table.public["to_move"], table.legal) == ("draw", 1 - dealer, {"take", "draw"})


def test_rule_2_non_dealer_taking_the_upcard_ends_the_offer():
    table = dull_table().play("take", "KC")
    assert (table.phase, table.public["to_move"], table.legal) == ("draw", 1, {"take", "draw"})


def test_rule_2_two_passes_force_a_draw_from_the_stock():
    table = dull_table().play("pass", "pass")
    assert (table.phase, table.public["to_move"], table.legal) == ("draw from the stock", 0, {"draw"})
    with pytest.raises(IllegalActionError, match=r"draw the upcard.*both have passed"):
        table.play("take")
    table.play("draw", "KC")
    assert table.legal == {"take", "draw"}


def test_rule_2_no_opening_offer_starts_with_the_non_dealers_turn():
    table = dull_table(rules=Rules(opening_offer=False))
    assert (table.phase, table.public["to_move"], table.legal) == ("draw", 0, {"take", "draw"})
    with pytest.raises(IllegalActionError, match="pass"):
        table.play("pass")
    assert dull_table(rules=Rules(opening_offer=False)).play("draw").phase == "discard"


# --- Discards (rule 3) --------------------------------------------------------------------------------


def test_rule_3_taken_upcard_cannot_be_discarded_in_the_same_turn():
    table = dull_table().play("take")
    assert "7D" in table.hand(0)
    assert table.legal == set(DULL.split())
    for text in ("7D", "knock 7D"):
        with pytest.raises(IllegalActionError, match="7D was just taken from the discard pile"):
            table.play(text)
    table.play("KC", "draw", "KD", "draw")
    assert "7D" in table.legal, "in a later turn it may"


def test_rule_3_stock_card_can_be_discarded_immediately():
    table = dull_table(stock="2C").play("pass", "pass", "draw")
    assert table.legal == {*DULL.split(), "2C"}
    table.play("2C")
    assert table.public["upcard"] == cards.card_id("2C")


def test_rule_3_card_not_in_hand_cannot_be_discarded():
    table = dull_table().play("pass", "pass", "draw")
    with pytest.raises(IllegalActionError, match=r"discard KD: KD is not in the hand \("):
        table.play("KD")


# --- Knocking (rule 4) --------------------------------------------------------------------------------

ALL_BUT_A_FIVE = "2C 3C 4C 7H 8H 9H JS QS KS 5D"
DEFENDER = "KC QH JD 9D 8S 7S TC 5H QD JC"


def test_rule_4_knock_needs_a_discard_that_leaves_at_most_ten():
    table = Table("2C 3C 4C 7H 8H 9H 5D 3S AD KH", DEFENDER, upcard="7D", stock="TH")
    table.play("pass", "pass", "draw")
    assert table.knocks == {"KH"}, "KH leaves 5 + 3 + 1 = 9, everything else more than 10"
    with pytest.raises(IllegalActionError, match="knock with 5D: deadwood would be 14, the limit is 10"):
        table.play("knock 5D")


def test_rule_4_knock_is_legal_at_ten_and_illegal_at_eleven():
    for small_card, knocks in (("3D", {"KH"}), ("4D", set())):
        table = Table(f"2C 3C 4C 7H 8H 9H 6S {small_card} AD KH", DEFENDER, upcard="7D", stock="TH")
        assert table.play("pass", "pass", "draw").knocks == knocks


def test_rule_4_knock_is_optional_even_with_gin():
    table = Table(ALL_BUT_A_FIVE, DEFENDER, upcard="7D", stock="5C")
    table.play("pass", "pass", "draw")
    assert table.knocks == {"5D", "5C", "2C"}, "5C makes a run of four: discarding 5D is gin"
    assert {"5D", "2C", "KS"} <= table.legal
    table.play("5D")
    assert (table.phase, table.public["to_move"]) == ("draw", 1)


def test_rule_4_knock_is_illegal_above_the_limit():
    table = dull_table().play("pass", "pass", "draw")
    assert table.knocks == set()


def test_rule_4_knock_limit_is_configurable():
    for limit, knocks in ((4, set()), (5, {"KD"}), (10, {"KD"})):
        table = Table(ALL_BUT_A_FIVE, DEFENDER, "7D", stock="KD", rules=Rules(knock_limit=limit))
        table.play("pass", "pass", "draw")
        assert {"KD"} & table.knocks == knocks


def test_rule_7_eleven_melded_cards_allow_gin():
    table = Table("AC 2C 3C 8H 9H TH JH KC KS KD", DULL_WITHOUT_KINGS, upcard="7D", stock="4C")
    table.play("pass", "pass", "draw")
    assert {"AC", "4C", "8H", "JH"} <= table.knocks, "each end of the runs of four leaves gin"
    assert "KC" not in table.knocks, "two kings are 20"
    table.play("knock 4C")
    assert table.result == ("gin", 0, 25 + 74)


DULL_WITHOUT_KINGS = "QC QH JS 9D 8S 7S 6C 5H 4D 5D"


# --- Scores (rules 6 and 7) ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("defender", "drawn", "discard", "result", "deadwood"),
    [
        # Nothing is laid off (TD TS would fit the runs TH, TS, 5C): 10 + 10 + 10 + 9 + 8 + 7 + 6 + 4 + 2 + 1.
        ("KC QH TD 9D 8C 7S 6C 4H 2D AH", "KD", "KD", ("knock", 0, 67 - 5), [5, 67]),
        ("AC AS AD 8C 8S 8D KC KD KH 5S", "QD", "QD", ("undercut", 1, 25 + 0), [5, 5]),
        ("AC AS AD 8C 8S 8D KC KD KH 2S", "QD", "QD", ("undercut", 1, 25 + 3), [5, 2]),
        ("AC AS AD 8C 8S 8D KC KD KH AH", "QD", "QD", ("undercut", 1, 25 + 5), [5, 0]),
        ("AC AS AD 8C 8S 8D KC KD KH AH", "5C", "5D", ("gin", 0, 25), [0, 0]),
    ],
)
def test_rule_7_points_follow_from_the_deadwood_of_both(defender, drawn, discard, result, deadwood):
    table = Table(ALL_BUT_A_FIVE, defender, upcard="7D", stock=drawn)
    table.play("pass", "pass", "draw", f"knock {discard}")
    assert table.result == result
    assert table.public["deadwood"].tolist() == deadwood
    assert table.public["knocker"] == 0
    assert table.public["scores"].tolist() == [result[2] * (result[1] == player) for player in (0, 1)]
    assert table.legal == set()


def test_rule_6_gin_allows_no_lay_offs():
    # TH and 6H fit the run of hearts, TS that of spades, AC that of clubs: none of them may be laid off.
    defender = "TH 6H TS AC 9D 7C 4D 2H JD KD"
    table = Table(ALL_BUT_A_FIVE, defender, upcard="7D", stock="5C").play("pass", "pass", "draw")
    table.play("knock 5D")
    assert table.result == ("gin", 0, 25 + 69)
    assert table.public["deadwood"].tolist() == [0, 69]
    # The same defender lays all of them off when the knock is not gin.
    table = Table(ALL_BUT_A_FIVE, defender, upcard="7D", stock="QD").play("pass", "pass", "draw", "knock QD")
    assert table.public["deadwood"].tolist() == [5, 69 - 27]


@pytest.mark.parametrize(
    ("knocker", "defender", "upcard", "drawn", "deadwood"),
    [
        # 6H and 5H go below 7H 8H 9H, 5H only after 6H; 3H has no 4H.
        (ALL_BUT_A_FIVE, "5H 6H 3H TC 2D 9D 7S 6C KD QC", "7D", "KH", [5, 68 - 11]),
        # A set accepts only its fourth card.
        ("2C 2H 2S 7H 8H 9H JS QS KS 5D", "2D KC QH TD 9D 8C 7S 6C 4H AH", "7D", "KD", [5, 67 - 2]),
        # The defender's 5D 6D 7D leaves 5C 5H; with 7D laid off on the sevens, three fives leave 6D alone.
        ("7C 7H 7S 9S TS JS QD QC QH 3D", "5C 5H 5D 6D 7D KC KS KD 9H 2S", "AH", "TH", [3, 6 + 9 + 2]),
    ],
)
def test_rule_6_defender_lays_off_what_lowers_the_deadwood(knocker, defender, upcard, drawn, deadwood):
    table = Table(knocker, defender, upcard, drawn).play("pass", "pass", "draw", f"knock {drawn}")
    assert table.public["deadwood"].tolist() == deadwood


def test_rule_6_four_of_a_kind_splits_into_a_set_and_a_run():
    # 5D completes 5D 6D 7D, the other fives remain a set.
    table = Table("5C 5H 5S 5D 6D 7D JS QS KS TH", DULL_WITHOUT_FIVES, upcard="7H", stock="AH")
    table.play("pass", "pass", "draw")
    assert {"TH", "AH"} <= table.knocks
    table.play("knock TH")
    assert table.public["deadwood"][0] == 1


DULL_WITHOUT_FIVES = "KC QH TD 9D 8S 7S 6C 4H 2D 2C"


def test_rule_7_bonuses_are_configurable():
    rules = Rules(gin_bonus=20, undercut_bonus=10)
    table = Table(ALL_BUT_A_FIVE, "AC AS AD 8C 8S 8D KC KD KH AH", "7D", stock="5C", rules=rules)
    assert table.play("pass", "pass", "draw", "knock 5D").result == ("gin", 0, 20)
    table = Table(ALL_BUT_A_FIVE, "AC AS AD 8C 8S 8D KC KD KH 2S", "7D", stock="QD", rules=rules)
    assert table.play("pass", "pass", "draw", "knock QD").result == ("undercut", 1, 13)


def test_no_action_is_legal_after_the_hand():
    table = Table(ALL_BUT_A_FIVE, DEFENDER, upcard="7D", stock="5C")
    table.play("pass", "pass", "draw", "knock 5D")
    assert table.games.done[0]
    for text in ("pass", "draw", "take", "2C", "knock 2C"):
        with pytest.raises(IllegalActionError, match="the hand is over"):
            table.play(text)


def test_invalid_action_numbers_are_refused():
    games = dull_table().games
    for number in (-1, 107, 1 << 40):
        with pytest.raises(IllegalActionError, match=f"{number} is not an action"):
            games.play(ONE_GAME, np.array([number]))
    assert action("pass") == PASS
    assert deck_of(DULL, DREARY, "7D", "2C")[:2] == ids("KC KD")
