"""Ends of hands and games: void hands, turn caps, dealers, scores, small decks and `Rules`."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import Table
from test_rules import ALL_BUT_A_FIVE, dull_table

from gin_env.game.rules import BOUNDS, MAX_TURNS, Rules

GIN_DEFENDER = "AC AS AD 8C 8S 8D KC KD KH 2S"


def draw_and_discard_it(table: Table, turns: int) -> None:
    """Play `turns` turns, each discarding the card just drawn from the stock."""
    for _ in range(turns):
        before = set(table.hand(int(table.public["to_move"])).split())
        table.play("draw")
        (drawn,) = set(table.hand(int(table.public["to_move"])).split()) - before
        table.play(drawn)


# --- Void hands (rule 5) ------------------------------------------------------------------------------


def test_rule_5_hand_is_void_at_two_stock_cards():
    table = dull_table().play("pass", "pass")
    draw_and_discard_it(table, 28)
    assert (table.public["stock_left"], table.phase) == (3, "draw")
    table.play("draw")
    assert (table.public["stock_left"], table.phase) == (2, "discard"), "the turn may be finished"
    discard = table.hand(int(table.public["to_move"])).split()[0]
    table.play(discard)
    assert table.result == ("void", -1, 0)
    assert (table.phase, table.games.done[0], table.games.rewards[0]) == ("over", True, 0)
    assert table.public["scores"].tolist() == [0, 0]
    assert table.public["knocker"] == -1


def test_rule_5_last_drawable_stock_card_allows_a_knock():
    # 28 turns of both players, then player 0 draws the 29th card, 5C, and has gin.
    dull_stock = [card for card in STOCK_WITHOUT_HELP.split() if card != "5C"]
    table = Table(ALL_BUT_A_FIVE, DREARY_2, upcard="7D", stock=" ".join([*dull_stock[:28], "5C"]))
    table.play("pass", "pass")
    draw_and_discard_it(table, 28)
    table.play("draw")
    assert table.public["stock_left"] == 2
    table.play("knock 5D")
    assert table.result[:2] == ("gin", 0)


DREARY_2 = "KD QD JC TH 9C 8S 2H 4D AH 6D"
STOCK_WITHOUT_HELP = (
    "AC 5C 6C 7C 8C TC QC KC 3H 4H 5H 6H JH QH KH AS 2S 3S 4S 5S 6S 7S 9S TS AD 2D 3D 8D 9D TD"
)


def test_rule_5_taking_the_upcard_leaves_the_stock_unchanged():
    table = dull_table().play("take", "KC", "take", "KD", "take", "QH")
    assert table.public["stock_left"] == 31


def test_rule_8_void_hand_keeps_the_dealer():
    for dealer in (0, 1):
        table = dull_table(dealer=dealer, episode="game").play("pass", "pass")
        draw_and_discard_it(table, 29)
        assert table.result == ("void", -1, 0)
        assert (table.public["hand_number"], table.public["dealer"]) == (1, dealer)
        assert (table.phase, table.public["to_move"]) == ("opening offer", 1 - dealer)
        assert not table.games.done[0]


def test_hand_is_void_at_the_turn_cap():
    table = dull_table(rules=Rules(max_turns=5)).play("pass", "pass")
    draw_and_discard_it(table, 4)
    assert table.phase == "draw"
    draw_and_discard_it(table, 1)
    assert (table.public["turn"], table.result) == (5, ("void", -1, 0))


def test_last_turn_before_the_cap_allows_a_knock():
    table = Table(ALL_BUT_A_FIVE, GIN_DEFENDER, upcard="7D", stock="5C", rules=Rules(max_turns=1))
    table.play("pass", "pass", "draw", "knock 5D")
    assert table.result == ("gin", 0, 27)


def test_hand_of_upcard_draws_ends_at_the_turn_cap():
    # The longest hand that fits in the record.
    table = dull_table(rules=Rules(max_turns=MAX_TURNS)).play("pass", "pass", "draw")
    table.play(table.hand(0).split()[0])
    while table.phase != "over":
        table.play("take")
        table.play(sorted(text for text in table.legal if not text.startswith("knock"))[0])
    assert table.public["turn"] == MAX_TURNS
    assert table.public["history_length"] == 2 + 2 * MAX_TURNS
    assert table.result == ("void", -1, 0)


# --- Games of several hands (rule 8) ------------------------------------------------------------------


def gin_hand(table: Table, stock: str = "5C", discard: str = "knock 5D") -> None:
    """Play a hand that player 0 wins with gin for 27 points, with either dealer."""
    table.deal(ALL_BUT_A_FIVE, GIN_DEFENDER, "7D", stock)
    table.play("pass", "pass")
    if table.public["to_move"] == 1:
        table.deal(ALL_BUT_A_FIVE, GIN_DEFENDER, "7D", "QD " + stock)
        table.play("pass", "pass", "draw", "QD")
    table.play("draw", discard)


def test_rule_8_deal_alternates_after_every_scored_hand():
    table = dull_table(dealer=1, episode="game")
    dealers = []
    for _ in range(3):
        dealers.append(int(table.public["dealer"]))
        gin_hand(table)
        assert table.result == ("gin", 0, 27)
    assert dealers == [1, 0, 1]
    assert table.public["dealer"] == 0
    assert table.public["scores"].tolist() == [81, 0]


def test_rule_9_game_ends_at_100_points():
    table = dull_table(episode="game")
    for hand in range(4):
        assert not table.games.done[0]
        assert table.public["hand_number"] == hand
        gin_hand(table)
    assert table.games.done[0]
    assert table.phase == "over"
    assert table.public["scores"].tolist() == [108, 0]
    assert table.games.rewards[0] == pytest.approx(1.08)


def test_rule_9_game_continues_at_99_and_ends_at_100():
    for before, over in ((72, False), (73, True)):
        table = dull_table(episode="game")
        table.public["scores"] = (before, 0)
        gin_hand(table)
        assert table.public["scores"].tolist() == [before + 27, 0]
        assert table.games.done[0] == over


@pytest.mark.parametrize(("reward", "paid"), [("win", 1.0), ("points", 0.27)])
def test_rule_9_first_player_to_reach_100_wins_against_99(reward, paid):
    table = dull_table(episode="game", reward=reward)
    table.public["scores"] = (98, 99)
    gin_hand(table)
    assert table.public["scores"].tolist() == [125, 99]
    assert table.games.done[0]
    assert table.games.rewards[0] == pytest.approx(paid)
    # The reverse: the knocker at 99 is undercut by the player at 98.
    table = dull_table(episode="game", reward=reward)
    table.public["scores"] = (99, 98)
    gin_hand(table, stock="QD", discard="knock QD")
    assert table.result == ("undercut", 1, 28)
    assert table.public["scores"].tolist() == [99, 126]
    assert table.games.done[0]
    assert table.games.rewards[0] == pytest.approx({"win": -1.0, "points": -0.28}[reward])


def test_win_reward_is_paid_only_at_the_end_of_the_game():
    table = dull_table(episode="game", reward="win")
    for expected in (0, 0, 0, 1):
        gin_hand(table)
        assert table.games.rewards[0] == expected


def test_game_without_a_winner_ends_at_max_hands():
    table = dull_table(episode="game", reward="win", rules=Rules(max_hands=3))
    for over in (False, False, True):
        gin_hand(table)
        assert table.games.done[0] == over
    assert table.public["hand_number"] == 2
    assert table.games.rewards[0] == 0, "nobody has reached the target"


# --- Small decks --------------------------------------------------------------------------------------


def test_small_deck_uses_only_its_own_cards():
    rules = Rules(ranks=5, suits=3, hand_size=3, knock_limit=3)
    assert (rules.deck_size, rules.initial_stock) == (15, 8)
    table = Table("AC 2C 5H", "4C 5C AS", upcard="2S", stock="3C 4S", rules=rules)
    assert table.public["stock_left"] == 8
    table.play("pass", "pass", "draw")
    assert table.legal == {"AC", "2C", "3C", "5H", "knock 5H"}
    table.play("knock 5H")
    # Gin: no lay-offs, although 4C 5C would extend the run.
    assert table.result == ("gin", 0, 25 + 10)


def test_rule_5_small_deck_hand_is_void_at_its_stock_floor():
    rules = Rules(ranks=5, suits=3, hand_size=3, knock_limit=0, stock_floor=4)
    table = Table("AC 3H 5S", "4C 5C AS", upcard="2S", stock="2H 4S 4H 5H", rules=rules).play("pass", "pass")
    draw_and_discard_it(table, 4)
    assert (table.public["stock_left"], table.result) == (4, ("void", -1, 0))


def test_one_player_can_draw_all_available_stock_cards():
    # Hands of five: one player draws 39 times from the stock while the other takes each discard.
    rules = Rules(hand_size=5, knock_limit=0)
    table = Table("AC 3C 5H 7S 9D", "2C 4H 6S 8D TC", upcard="QC", rules=rules).play("pass", "pass")
    drawn = []
    while table.phase != "over":
        before = table.hand(0).split()
        table.play("draw")
        drawn += set(table.hand(0).split()) - set(before)
        table.play(drawn[-1])
        if table.phase != "over":
            table.play("take", table.hand(1).replace(drawn[-1], "").split()[0])
        private = table.games.state["private"][0]
        assert private["num_stock_draws"].tolist() == [len(drawn), 0]
    assert len(drawn) == rules.initial_stock - rules.stock_floor
    assert [len(table.hand(player).split()) for player in (0, 1)] == [5, 5]


# --- Rules --------------------------------------------------------------------------------------------


def test_default_rules_match_the_eaai_challenge():
    rules = Rules()
    assert (rules.hand_size, rules.knock_limit, rules.gin_bonus, rules.undercut_bonus) == (10, 10, 25, 25)
    assert (rules.target_score, rules.stock_floor, rules.opening_offer) == (100, 2, True)
    assert (rules.next_dealer, rules.void_dealer) == ("alternate", "same")
    assert (rules.deck_size, rules.initial_stock, rules.deck_mask) == (52, 31, (1 << 52) - 1)


@pytest.mark.parametrize("name", BOUNDS)
def test_rule_limits_fit_the_record_and_are_enforced(name):
    most = BOUNDS[name][1]
    if name not in ("stock_floor", "big_gin_bonus"):  # these depend on other rules
        rules = Rules(**{name: most})
        assert Rules.from_record(rules.record()) == rules
    for value in (BOUNDS[name][0] - 1, most + 1):
        with pytest.raises(ValueError, match=rf"Rules.{name} must be from .* not {value}"):
            Rules(**{name: value})


@pytest.mark.parametrize(
    "values",
    [{"ranks": 5.0}, {"knock_limit": "10"}, {"max_turns": None}, {"suits": True}, {"opening_offer": 1}],
)
def test_rules_with_wrong_types_name_the_value(values):
    ((name, value),) = values.items()
    with pytest.raises(TypeError, match=f"Rules.{name} must be .*{value!r}"):
        Rules(**values)


def test_rules_are_frozen_and_accept_numpy_integers():
    rules = Rules(knock_limit=np.int64(4), opening_offer=np.False_)
    assert type(rules.knock_limit) is int
    assert rules == Rules(knock_limit=4, opening_offer=False)
    with pytest.raises(AttributeError):
        rules.knock_limit = 5
