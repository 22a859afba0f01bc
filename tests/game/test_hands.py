"""Hand queries shared by several bots, compared with their definitions card by card."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from bot_positions import facing, mask, view_of
from brute_force import all_melds

from gin_env import cards
from gin_env.agents.hand_strength import features
from gin_env.game import hands
from gin_env.game.cards import CARDS_UP_TO

MELDS = [cards.mask_of(meld) for meld in all_melds(frozenset(range(52))) if len(meld) == 3]
"""All melds of three."""


def test_completions_form_melds_with_two_held_cards():
    rng = np.random.default_rng(3)
    texts = ["", "AC", "KC AH", "QC KC", "AD 2D", "9S TS KS AD", "5C 5D 5H 7C 8C"]
    some = [cards.mask_of(rng.choice(52, size=10, replace=False).tolist()) for _ in range(60)]
    for hand in [mask(text) for text in texts] + some:
        expected = 0
        for meld in MELDS:
            expected |= meld & ~hand if (meld & hand).bit_count() == 2 else 0
        assert int(hands.meld_completions(hand)) == expected


def test_meld_mates_are_the_other_cards_of_its_melds():
    for card in range(52):
        expected = 0
        for meld in MELDS:
            expected |= meld if meld >> card & 1 else 0
        assert int(hands.MELD_MATES[card]) == expected & ~(1 << card)


def test_card_points_match_the_definition():
    values = [min(card % 13 + 1, 10) for card in range(52)]
    for points in range(11):
        assert int(CARDS_UP_TO[points]) == sum(1 << card for card in range(52) if values[card] <= points)
    assert hands.highest_value(0) == 0
    for first, second in combinations(range(52), 2):
        assert hands.highest_value(1 << first | 1 << second) == max(values[first], values[second])
    assert cards.format(hands.FACE_CARDS) == "JC QC KC JH QH KH JS QS KS JD QD KD"


def test_neighbours_stop_at_ace_and_king():
    for card in range(52):
        for steps in (1, 2):
            below, above = card % 13 - steps, card % 13 + steps
            assert hands.cards_below(card, steps) == (1 << card - steps if below >= 0 else 0)
            assert hands.cards_above(card, steps) == (1 << card + steps if above <= 12 else 0)


@pytest.mark.parametrize("needed", [1, 2])
def test_pair_partners_have_enough_completions(needed):
    rng = np.random.default_rng(4)
    for card in [*range(52), *range(52)]:
        others = cards.mask_of(rng.choice(52, size=24, replace=False).tolist()) & ~(1 << card)
        available = cards.FULL_DECK & ~others & ~(1 << card)
        available &= cards.mask_of(rng.choice(52, size=38, replace=False).tolist())
        expected = 0
        for other in cards.cards_of(others):
            pair = 1 << card | 1 << other
            completing = [meld & ~pair for meld in MELDS if meld & pair == pair]
            if sum(1 for third in completing if third & available) >= needed:
                expected |= 1 << other
        assert int(hands.pair_partners(card, others, available, needed)) == expected


def test_melded_cards_follow_the_best_arrangement():
    """7H makes a set with 7C 7D, but both are in runs; 4C extends a run, 5H 5S make a set with 5C."""
    assert not hands.would_be_melded(mask("5C 6C 7C 7D 8D 9D TH QC 2H 3S"), cards.card_id("7H"))
    assert hands.would_be_melded(mask("5C 6C 7C 7D 8D 9D TH QC 2H 3S"), cards.card_id("4C"))
    assert hands.would_be_melded(mask("5H 5S 7D 8D TH QC 2H 3S KC JD"), cards.card_id("5C"))
    assert hands.unmelded_cards(mask("AC 2C 3C KH KS KD 4C 9S")) == mask("9S")
    assert hands.discard_or_knock(mask("AC 2C 3C 9S"), cards.card_id("9S"), 0) == 52 + cards.card_id("9S")
    assert hands.discard_or_knock(mask("AC 2C 3C 9S 4D"), cards.card_id("9S"), 3) == cards.card_id("9S")
    assert hands.discard_or_knock(mask("AC 2C 3C 9S 4D"), cards.card_id("9S"), 4) == 52 + cards.card_id("9S")


def test_decline_passes_in_the_offer_and_draws_later():
    table = facing("KD QS JC TH 9C 8S 2H 4C AH 6D", "7D", "2C 3C 5H")
    assert hands.decline(view_of(table)["public"]) == 106
    table.play("pass", "pass", "draw", "2C")
    assert hands.decline(view_of(table)["public"]) == 104


def test_keep_best_keeps_ties_and_their_score():
    assert hands.keep_best(0, -5.0, 3, -1.0) == (8, -1.0)
    assert hands.keep_best(8, -1.0, 4, -1.0) == (24, -1.0)
    assert hands.keep_best(24, -1.0, 5, -2.0) == (24, -1.0)
    assert hands.keep_best(24, -1.0, 5, 0.5) == (32, 0.5)


# --- Network inputs of Truong and Neller 2021 --------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # deadwood, sets, runs, hits
        ("5H 5S 5D AC 2C 3C 9D TD JD QD", [0, 1, 2, 4]),  # 5C, 4C, 8D, KD
        ("4H 5H 5S KC", [24, 0, 0, 4]),  # 3H 6H, 5C 5D
        ("KC AH 2H QD", [23, 0, 0, 1]),
        ("AC 2C 3C 4C 5C 6C KD", [10, 0, 1, 1]),
    ],
)
def test_macro_features_match_counts_made_by_hand(text, expected):
    x, macro = features.hand_features(np.array([mask(text), 0], np.uint64))
    assert macro.tolist() == [expected, [0, 0, 0, 0]]
    assert np.flatnonzero(x[0]).tolist() == cards.cards_of(mask(text))
    assert not x[1].any()
