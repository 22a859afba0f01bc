"""Cards, masks and their text forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gin_env import cards

hands = st.sets(st.integers(0, 51))


def test_card_id_is_13_times_suit_plus_rank():
    assert cards.card_id("AC") == 0
    assert cards.card_id("TH") == 22
    assert cards.card_id("KD") == 51
    texts = [cards.card_text(card) for card in (0, 12, 13, 22, 26, 39, 51)]
    assert " ".join(texts) == "AC KC AH TH AS AD KD"


@given(st.integers(0, 51))
def test_card_text_round_trips(card):
    assert cards.card_id(cards.card_text(card)) == card
    assert cards.card_id(cards.card_text(card).lower()) == card


@given(hands)
def test_mask_round_trips_through_ids_and_text(hand):
    mask = cards.mask_of(hand)
    assert mask == sum(1 << card for card in hand)
    assert cards.cards_of(mask) == sorted(hand)
    assert cards.parse(cards.format(mask)) == mask
    assert len(cards.format(mask).split()) == len(hand)


def test_parse_accepts_any_order_and_spacing():
    assert cards.parse("  td AS\n") == 1 << cards.card_id("AS") | 1 << cards.card_id("TD")
    assert cards.format(cards.parse("TD AS")) == "AS TD"
    assert cards.parse("") == 0
    assert cards.format(0) == ""


@given(hands.filter(bool))
def test_mask_kernels_agree_with_plain_python(hand):
    mask = cards.mask_of(hand)
    assert cards.count_cards(mask) == len(hand)
    assert cards.lowest_card(mask) == min(hand)
    assert cards.total_value(mask) == sum(min(card % 13 + 1, 10) for card in hand)
    assert cards.card_bit(min(hand)) == mask & -mask


def test_card_values_run_from_one_to_ten():
    assert cards.CARD_VALUES.reshape(4, 13).tolist() == [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]] * 4


@pytest.mark.parametrize("text", ["", "T", "10H", "1H", "TX", "HT", "AS TD", " AS"])
def test_invalid_card_text_is_named_in_the_error(text):
    with pytest.raises(ValueError, match="is not a card") as error:
        cards.card_id(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("value", [None, 5, b"AS", ["AS"]])
def test_non_text_card_raises_type_error(value):
    for read in (cards.card_id, cards.parse):
        with pytest.raises(TypeError, match="string such as"):
            read(value)


def test_duplicate_card_is_refused():
    with pytest.raises(ValueError, match="AS is named twice"):
        cards.parse("AS TD AS")
    with pytest.raises(ValueError, match="AC is named twice"):
        cards.mask_of([0, 0])


@pytest.mark.parametrize("card", [-1, 52, 1000])
def test_card_id_out_of_range_is_named_in_the_error(card):
    with pytest.raises(ValueError, match=f"{card} is not a card id"):
        cards.card_text(card)
    with pytest.raises(ValueError, match=f"{card} is not a card id"):
        cards.mask_of([card])


@pytest.mark.parametrize("mask", [-1, 1 << 52, np.uint64(1 << 63)])
def test_mask_with_bits_above_51_is_refused(mask):
    with pytest.raises(ValueError, match="only bits 0 to 51"):
        cards.cards_of(mask)


@pytest.mark.parametrize("mask", [1.0, float("nan"), True, "AS", None, [1], np.array([1])])
def test_non_integer_mask_raises_type_error(mask):
    with pytest.raises(TypeError, match="integer mask"):
        cards.format(mask)


def test_numpy_integers_are_accepted_as_masks():
    mask = cards.parse("KD AC")
    for kind in (np.uint64, np.int64):
        assert cards.format(kind(mask)) == "AC KD"
