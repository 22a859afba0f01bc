"""What a player sees on the playing screen, and the step-by-step scoring of a hand."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import ONE_GAME, Table, ids

from gin_env.game.actions import KNOCK
from gin_env.game.cards import card_id, parse
from gin_env.game.rules import Rules
from gin_env.observations.views import PlayerView
from gin_env.ui.reveal import describe_showdown
from gin_env.ui.visible_table import action_name, discard_options, heat_map, per_cent, visible_table

# Player 0 knocks with three runs and KD; player 1 has a set and two cards to lay off on the runs.
HAND_0, HAND_1 = "AC 2C 3C 4H 5H 6H 9S TS JS KD", "4C 5C 9D 7H 2D 3D 8D TD QH KC"


def table(hand_1: str = HAND_1, **options) -> Table:
    return Table(HAND_0, hand_1, "KS", "9C 8C 7C", **options)


def view_of(one: Table, player: int = 0) -> PlayerView:
    return one.games.views(ONE_GAME, player)


def showdown(one: Table, player: int = 0, letters: bool = True):
    hands = one.games.state["private"]["hand"][0].tolist()
    return describe_showdown(view_of(one, player), (hands[player], hands[1 - player]), "tonic", letters)


def test_player_sees_the_deal():
    shown = visible_table(view_of(table()), "tonic")
    assert [group.caption for group in shown.hand] == ["run", "run", "run", "deadwood 10"]
    assert (shown.deadwood, shown.known, shown.closed, shown.stock) == (10, [], 10, 31)
    assert (shown.upcard, shown.pile, shown.turns) == (card_id("KS"), [card_id("KS")], [])
    assert (shown.own_score, shown.opponent_score, shown.target, shown.hand_number) == (0, 0, 100, 1)
    assert (shown.dealt_by_me, shown.my_turn) == (False, True)
    assert shown.prompt == "Take the upcard K♠, or pass."


@pytest.mark.parametrize(
    ("rules", "gin", "knocks"),
    [
        (Rules(), "gin", "AC 2C 3C 5H 6H 8S 9S JS QS"),
        (Rules(knock_limit=0), "gin", "8S QS"),
        (Rules(big_gin_bonus=31), "big gin", "AC 2C 3C 5H 6H 8S 9S JS QS"),
    ],
)
def test_discards_that_leave_no_deadwood_are_named_gin(rules, gin, knocks):
    one = Table("AC 2C 3C 4H 5H 6H 8S 9S TS JS", HAND_1, "KS", "QS", rules=rules)
    view = view_of(one.play("pass", "pass", "draw"))
    options = discard_options(view)
    assert {card: option.gin for card, option in options.items() if option.gin} == dict.fromkeys(
        ids("8S QS"), gin
    )
    assert {card for card, option in options.items() if option.knock is not None} == set(ids(knocks))
    assert visible_table(view, "tonic").prompt == f"Choose a card to discard, or go {gin} with 8♠."


def test_actions_are_named_gin_by_the_hand():
    hand, king, ace = parse("AC 2C 3C 4H 5H 6H 7S 8S 9S TS KD"), card_id("KD"), card_id("AC")
    names = [action_name(action, 0, hand=hand) for action in (KNOCK + king, king, KNOCK + ace, ace)]
    assert names == ["go gin with K♦", "discard K♦ without going gin", "knock with A♣", "discard A♣"]


def test_knock_with_the_lowest_card_is_shown_as_a_knock():
    one = Table("AC 4H 5H 6H 7C 8C 9C 9S TS JS", HAND_1, "KS", "2C").play("pass", "pass", "draw", "knock AC")
    assert visible_table(view_of(one), "tonic", letters=True).turns[-1] == (True, "stock 2C", "AC knock")


@pytest.mark.parametrize(
    ("knocker", "defender", "told"),
    [
        # A seven also fits the set, but then the eight could not be laid off.
        (
            "4C 4H 4D 7C 7H 7D 4S 5S 6S AC",
            "KH KS KD 7S 8S AH 2S 9H TH JC",
            ["7S on 4S 5S 6S: 7", "8S on 4S 5S 6S 7S: 8"],
        ),
        # The same below a run: the ten also fits a set and must be laid off before the nine.
        (
            "TC TH TS JD QD KD 2C 3C 4C AS",
            "8D 9D TD 2H 2S 5H 6S 7H 9C QC",
            ["10D on JD QD KD: 10", "9D on 10D JD QD KD: 9", "8D on 9D 10D JD QD KD: 8"],
        ),
        # Without a run, the fourth card of a rank is laid off on the set.
        ("4C 4H 4D 9C TC JC 6S 7S 8S AC", "4S KH KS KD 2H 2S 3H 6D 8H QD", ["4S on 4C 4H 4D: 4"]),
    ],
)
def test_lay_off_prefers_melds_that_allow_further_lay_offs(knocker, defender, told):
    one = Table(knocker, defender, "KC", "QH").play("pass", "pass", "draw", "knock QH")
    laid = [stage.text for stage in showdown(one).stages if "lays off" in stage.text]
    assert laid == [f"tonic lays off {step} less deadwood." for step in told]


def test_undercut_is_scored_step_by_step():
    one = table("QC QH QS TH JH KH 2D 3D 4D 5D").play("pass", "pass", "draw", "knock 9C")
    told = showdown(one)
    assert told.headline == "tonic undercuts: 25 points"
    assert [stage.text for stage in told.stages] == [
        "You knock with 10 deadwood (KD).",
        "tonic melds 10H JH QH KH, 2D 3D 4D 5D.",
        "tonic lays off QS on 9S 10S JS: 10 less deadwood.",
        "tonic keeps 10 deadwood (QC).",
        "10 is not more than 10: an undercut.",
        "25 for the undercut + 10 − 10 = 25 for tonic.",
        "Score: you 0, tonic 25; 100 points win the game.",
    ]


def test_gin_is_scored_without_lay_offs():
    one = Table(HAND_0, HAND_1, "QS").play("take", "knock KD")
    told = showdown(one)
    assert told.headline == "You have gin: 66 points"
    assert told.stages[0].text == "You go gin: every card is in a meld. No lay-offs after gin."
    assert "25 for gin + 41 deadwood = 66 for you." in [stage.text for stage in told.stages]
    assert [group.caption for group in told.own_groups] == ["run", "run", "run"]
    big = Table(HAND_0.replace("KD", "QS"), HAND_1, "KS", rules=Rules(big_gin_bonus=31))
    told = showdown(big.play("take", "knock 9S"))
    assert "31 for big gin + 41 deadwood = 72 for you." in [stage.text for stage in told.stages]


def test_small_hands_and_void_hands_follow_the_rules():
    hands = "AC 3H 5S 7D 9C JH KS", "2C 4H 6S 8D TC QH KD"
    one = Table(*hands, "KC", "2D", rules=Rules(hand_size=7, max_turns=1, void_dealer="same"))
    assert visible_table(view_of(one), "tonic").closed == 7
    assert "The same player deals." in showdown(one.play("pass", "pass", "draw", "2D")).stages[0].text


def test_doubled_hand_and_immediate_box_are_in_the_sum():
    for rules, points, sum_ in (
        (Rules(oklahoma=True, spades_double=True), 132, "2 × (25 for gin + 41 deadwood), for the spade"),
        (Rules(immediate_boxes=True, box_bonus=20), 86, "25 for gin + 41 deadwood + 20 for the hand"),
    ):
        told = showdown(Table(HAND_0, HAND_1, "QS", rules=rules).play("take", "knock KD"))
        assert told.headline == f"You have gin: {points} points"
        assert f"{sum_} = {points} for you." in [stage.text for stage in told.stages]


def test_heat_map_has_a_cell_for_each_card():
    chances = np.zeros(52)
    chances[card_id("AC")], chances[card_id("TH")], chances[card_id("KD")] = 1.0, 0.246, 0.004
    drawn = heat_map(chances.tolist(), letters=True)
    assert [suit for suit, _ in drawn] == ["C", "H", "S", "D"]
    cells = dict(drawn)
    assert (cells["C"][0], cells["H"][9], cells["D"][12]) == (100, 25, 1)
    assert sum(map(sum, cells.values())) == 126
    assert [per_cent(chance) for chance in (0, 0.001, 0.5, 0.996, 1)] == [0, 1, 50, 99, 100]
