"""Bots in their first, second and third turn, and the cards that they withhold from the opponent."""

from __future__ import annotations

import pytest
from bot_positions import choices, holding, later, mask, view_of
from hands_in_words import Table, action

from gin_env import agents, cards
from gin_env.game import hands


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


@pytest.mark.parametrize(("turns", "discard"), [(0, "7S"), (1, "7S"), (2, "9C"), (3, "9C")])
def test_tonic_keeps_cards_near_runs_in_the_first_two_turns_only(turns, discard):
    """Without this rule, 9C (two ranks above 5C 6C 7C) would go first: it is the highest unmelded card."""
    table = holding("5C 6C 7C 9C KC KH KS AH 4D 7S", drawn="2S", upcard="QD")
    assert choices(later(table, turns), "tonic") == {discard}


def test_tonic_keeps_cards_that_the_opponent_wants():
    """The opponent has taken TD and TH. TC is the highest unmelded card and would complete their set."""
    table = holding("5C 5H 5S KC KH KS TC 8H 3D AS", drawn="6C", upcard="2C")
    assert choices(table, "tonic") == {"TC"}
    public = table.games.state["public"]
    public["shown"][0, 1] = mask("TD TH")
    public["history"][0, :3] = action("pass"), action("take"), cards.card_id("2D")
    assert choices(table, "tonic") == {"8H"}
    public["shown"][0, 1] = mask("TD")  # one ten more makes no meld with theirs
    assert choices(table, "tonic") == {"TC"}


def test_tonic_keeps_pairs_below_the_threshold_of_its_turn():
    """From the third turn on, KD KH (20 points) can go; in the sixth turn, 3H 3D as well."""
    table = holding("5C 6C 7C KD KH 3H 3D 9S AS 7D", drawn="2C", upcard="QS")
    tonic = {"keep_pairs_below": [21, 21, 12, 11, 10, 0]}
    assert agents.make("tonic", **tonic)._parameters["keep_pairs_below"][3] == 12
    assert choices(later(table, 0), "tonic", **tonic) == {"9S"}
    assert choices(later(table, 2), "tonic", **tonic) == {"KD", "KH"}
