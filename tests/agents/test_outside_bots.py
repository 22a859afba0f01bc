"""Bots of papers outside the five: ``marjj`` and ``gold-standard``, on hand-made positions."""

from __future__ import annotations

import pytest
from bot_positions import choices, holding, later, mask

from gin_env import cards
from gin_env.agents import marjj

NEAR_GIN = "5C 5H 5S 7D 8D 9D TC JC QC 2H"


# --- marjj --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("turns", "knocks"), [(0, True), (2, True), (3, False), (20, False)])
def test_marjj_knocks_in_its_first_three_turns(turns, knocks):
    table = later(holding(NEAR_GIN, "KS", "4D"), turns)
    assert {text.startswith("knock") for text in choices(table, "marjj")} == {knocks}
    assert {text.startswith("knock") for text in choices(table, "marjj", knock_turns=21)} == {True}
    assert {text.startswith("knock") for text in choices(table, "marjj", knock_turns=0)} == {False}


def test_marjj_keeps_the_hand_with_the_better_draws():
    """KC, TC and TH leave the same deadwood, but no draw helps the king."""
    table = later(holding("9C 9H TC TH 6S 7S AD 2D 3D KC", drawn="4C", upcard="4H"), 3)
    assert choices(table, "marjj", danger_weight=0, future_weight=0) == {"KC", "TC", "TH"}
    assert choices(table, "marjj", danger_weight=0) == {"KC"}


@pytest.mark.parametrize(("turns", "discards"), [(0, {"KC"}), (1, {"KC", "TC", "TH"})])
def test_marjj_discounts_the_future_from_its_second_turn_on(turns, discards):
    table = later(holding("9C 9H TC TH 6S 7S AD 2D 3D KC", drawn="4C", upcard="4H"), turns)
    assert choices(table, "marjj", danger_weight=0, discount=0) == discards


def test_marjj_avoids_discards_that_the_opponent_melds():
    table = later(holding("9C 9H TC TH 6S 7S AD 2D 3D KC", drawn="QD", upcard="4H"), 3)
    assert choices(table, "marjj", danger_weight=0, future_weight=0) >= {"KC", "QD"}
    table.games.state["public"]["shown"][0, 1] = mask("KD KS")
    assert "KC" not in choices(table, "marjj", danger_weight=1, future_weight=0)


@pytest.mark.parametrize(
    ("unseen", "best_draws", "plain_mean", "expected"),
    [
        ("KC KD", 1, False, 0.0),  # KC makes gin
        ("KC KD", 2, False, (0 + 2) / 2),
        ("KC KD", 6, False, (0 + 2) / 2),
        ("KD KH KS AD", 2, False, (1 + 2) / 4),  # AD replaces 2H
        ("", 6, False, 0.0),
        ("KD KH KS AD", 2, True, (1 + 2) / 2),
        ("KD KH KS AD", 6, True, (1 + 3 * 2) / 4),
        ("", 6, True, 0.0),
    ],
)
def test_marjj_weighs_the_best_draws_or_takes_their_mean(unseen, best_draws, plain_mean, expected):
    """By their chance as in the paper, or the plain mean as in the program."""
    ahead = marjj.next_deadwood(mask(NEAR_GIN), mask(unseen), best_draws, plain_mean)
    assert ahead == pytest.approx(expected)


@pytest.mark.parametrize(
    ("card", "shown", "unseen", "points"),
    [
        ("7H", "", "", 0),
        ("7H", "7C 7D", "", 14),  # held for certain
        ("7H", "7C", "7D", 0.25 * 14),
        ("7H", "7D", "7C", 0.25 * 14),
        ("7H", "", "8H 9H", 0.25**2 * 17),
        ("7H", "6H 8H", "", 14),
        ("7H", "5H 8H", "", 0),  # no meld of three
        ("7H", "7C 7D 7S", "", 3 * 14),
        ("QH", "KH AH", "", 0),  # runs do not wrap
        ("2H", "AH", "3H", 0.25 * 4),
    ],
)
def test_marjj_counts_the_points_that_the_opponent_may_save(card, shown, unseen, points):
    saved = marjj.saved_points(cards.card_id(card), mask(shown), mask(unseen), 0.25)
    assert saved == pytest.approx(points)


@pytest.mark.parametrize(
    ("card", "shown", "unseen", "danger"),
    [
        ("7H", "", "7C 7D 7S 5H 6H 8H 9H", 4),  # no card of the rank is gone
        ("7H", "", "7C 7D 5H 6H 8H 9H", -4),
        ("7H", "", "7C 5H 6H 8H 9H", -10),  # no set is possible
        ("7H", "7C 7D", "7S 5H 6H 8H 9H", 20),  # a set is ready
        ("7H", "7C 7D", "5H 6H 8H 9H", 20 - 4),
        ("7H", "6H 8H", "7C 7D 5H 9H", 20 - 4),  # a run is ready
        ("7H", "6H 5H", "7C 7D 8H 9H", 5 + 3 - 4),  # two on one side do not count
        ("7H", "6H 9H", "7C 7D 5H 8H", 20 - 4),  # and these do
        ("7H", "5H 8H", "7C 7D 6H 9H", 20 - 4),
        ("7H", "", "7C 7D 6H 8H 9H", -3 - 4),  # 5H is gone
        ("7H", "", "7C 7D 5H 6H 9H", -5 - 4),  # 8H is gone
        ("7H", "", "7C 7D 5H 9H", -10 - 4),  # 6H and 8H are gone: no run
        ("KH", "", "KC KD JH QH", -5 - 3 - 4),  # nothing is above a king
        ("2H", "AH 3H", "2C 2D 4H", 20 - 3 - 4),  # an ace is below a two, and nothing below the ace
    ],
)
def test_marjj_adds_fixed_dangers_as_in_the_program(card, shown, unseen, danger):
    assert marjj.fixed_danger_of(cards.card_id(card), mask(shown), mask(unseen)) == danger


def test_marjj_discards_by_the_look_ahead_and_danger_of_its_parameters():
    """KC, TC and TH leave the same deadwood; the opponent shows two kings, or two tens."""
    table = later(holding("9C 9H TC TH 6S 7S AD 2D 3D KC", drawn="4C", upcard="4H"), 3)
    table.games.state["public"]["shown"][0, 1] = mask("KD KS")
    small = {"future_weight": 0, "danger_weight": 0.1, "fixed_danger": True}
    assert choices(table, "marjj", **small) == {"TC", "TH"}
    table.games.state["public"]["shown"][0, 1] = mask("TD TS")
    assert choices(table, "marjj", **small) == {"KC"}
    assert choices(table, "marjj", danger_weight=0, mean_draws=True) == {"KC"}


# --- gold-standard ------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", ["9S", "2H"])
def test_gold_standard_knocks_as_soon_as_it_may(left):
    table = later(holding(f"5C 5H 5S 7D 8D 9D TC JC QC {left}", "KS", "2C"), 9)
    assert choices(table, "gold-standard") == {"knock KS"}
    assert choices(table, "gold-standard", knock_at=1) == {"KS"}
    assert choices(table, "gold-standard", hold_for_gin=True) == {"KS"}
