"""Minimum deadwood, arrangements and lay-offs against brute force, the reference data and hand-made cases."""

from __future__ import annotations

import random

import brute_force
import numpy as np
import pytest
from brute_force import random_hand
from hands_in_words import ids, ids_of
from reference_data import reference, sample_and_whole

from gin_env import cards, melds

HANDS = 250


def mask(hand: frozenset[int]) -> int:
    return cards.mask_of(hand)


def some_hands(size: int, seed: int) -> list[frozenset[int]]:
    rng = random.Random(seed)
    return [random_hand(rng, size) for _ in range(HANDS)]


def arrangement_of(hand: frozenset[int]) -> list[frozenset[int]]:
    return [frozenset(ids_of(meld)) for meld in melds.best_melds(mask(hand))]


# --- Against brute force ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 10, 11])
@pytest.mark.compiled
def test_minimum_deadwood_equals_brute_force(size):
    deadwoods = []
    for hand in some_hands(size, seed=size):
        deadwoods.append(brute_force.deadwood(hand))
        assert melds.deadwood(mask(hand)) == deadwoods[-1], cards.format(mask(hand))
    if size > 2:
        assert min(deadwoods) < max(deadwoods)


def test_best_melds_are_melds_of_the_hand_and_leave_the_minimum():
    for hand in some_hands(10, seed=1) + some_hands(11, seed=2):
        laid = arrangement_of(hand)
        assert all(brute_force.is_meld(meld) and meld <= hand for meld in laid)
        assert sum(len(meld) for meld in laid) == len(frozenset().union(*laid))
        assert brute_force.points(brute_force.unmelded(hand, laid)) == brute_force.deadwood(hand)


def test_best_melds_leave_the_fewest_lay_offs():
    deck = frozenset(range(52))
    choices = 0
    for hand in some_hands(10, seed=3):
        counts = {
            len(brute_force.cards_that_fit(arrangement, deck - hand))
            for arrangement in brute_force.best_arrangements(hand)
        }
        choices += len(counts) > 1
        laid = arrangement_of(hand)
        assert len(brute_force.cards_that_fit(laid, deck - hand)) == min(counts), cards.format(mask(hand))
    assert choices > 5, "too few hands with a choice to mean anything"


@pytest.mark.parametrize("size", [2, 6, 11])
@pytest.mark.compiled
def test_deadwood_after_each_discard_equals_brute_force(size):
    for hand in some_hands(size, seed=10 + size):
        after = np.full(52, 200, np.uint8)
        least = melds.deadwood_after_discards(mask(hand), after)
        expected = [brute_force.deadwood(hand - {card}) if card in hand else 200 for card in range(52)]
        assert after.tolist() == expected, cards.format(mask(hand))
        assert least == min(expected)


def test_completes_meld_equals_brute_force():
    rng = random.Random(4)
    answers = set()
    for hand in some_hands(10, seed=4):
        card = rng.choice(sorted(frozenset(range(52)) - hand))
        expected = any(card in meld for meld in brute_force.all_melds(hand | {card}))
        assert bool(melds.completes_meld(mask(hand), card)) == expected
        answers.add(expected)
    assert answers == {True, False}


def test_set_choices_are_counted_once():
    for hand in some_hands(11, seed=5):
        ways = [melds.set_choice(mask(hand), k) for k in range(melds.count_set_choices(mask(hand)))]
        sets_only = {
            mask(frozenset().union(*arrangement))
            for arrangement in brute_force.arrangements(hand)
            if all(len({card % 13 for card in meld}) == 1 for meld in arrangement)
        }
        assert len(ways) == len(set(ways))
        assert set(ways) == sets_only


@pytest.mark.compiled
def test_best_defence_equals_brute_force():
    rng = random.Random(6)
    helped = 0
    for _ in range(HANDS):
        both = random_hand(rng, 20) if rng.random() < 0.5 else frozenset(rng.sample(range(52), 20))
        hand = frozenset(rng.sample(sorted(both), 10))
        defender = both - hand
        laid = arrangement_of(hand)
        if not laid:
            laid = [frozenset(ids("5H 6H 7H"))]
            defender = defender - laid[0]
        expected = brute_force.best_defence(laid, defender)
        texts = [[cards.card_text(card) for card in meld] for meld in laid]
        assert melds.layoff(texts, mask(defender)) == expected, (texts, cards.format(mask(defender)))
        helped += expected < brute_force.deadwood(defender)
    assert helped > HANDS // 10


# --- Against the reference data -----------------------------------------------------------------------


@sample_and_whole
@pytest.mark.compiled
def test_reference_hands_have_the_same_deadwood_and_melds(whole):
    lines = reference("melds.jsonl", whole)
    assert len(lines) >= (6000 if whole else 200)
    for line in lines:
        hand = cards.mask_of(ids_of(line["hand"]))
        assert melds.deadwood(hand) == line["deadwood"], line
        ours = melds.best_melds(hand)
        if not line["num_optimal"]:
            assert ours == []
            continue
        # We merge adjacent runs of one suit into one run, so compare the cards in sets and in runs.
        assert set_and_run_cards(ours) in [set_and_run_cards(optimal) for optimal in line["optimal"]], line


def set_and_run_cards(arrangement: list[list[str]]) -> tuple[set[str], set[str]]:
    sets = {text for meld in arrangement for text in meld if meld[0][0] == meld[1][0]}
    return sets, {text for meld in arrangement for text in meld} - sets


@sample_and_whole
@pytest.mark.compiled
def test_reference_knocks_have_the_same_best_defence(whole):
    lines = reference("layoffs.jsonl", whole)
    assert len(lines) >= (1050 if whole else 200)
    better = 0
    for line in lines:
        knocker = cards.mask_of(ids_of(line["knocker_hand"]))
        defender = cards.mask_of(ids_of(line["defender_hand"]))
        assert melds.deadwood(knocker) == line["knocker_dw"], line
        if line["knocker_dw"] > 0:
            assert melds.layoff(line["knock_melds"], defender) == line["optimal_dw"], line
            better += line["optimal_dw"] < line["optimal_dw_given_melds"]
    assert better > 0, "no line in which the best defence differs from the defence with given melds"


# --- Hand-made cases ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "deadwood"),
    [
        ("", 0),
        ("KD AC 2C", 13),  # runs neither wrap around nor cross suits
        ("QC KC AH", 21),
        ("QH KH AH", 21),
        ("AH 2H 3H", 0),
        ("JS QS KS", 0),
        ("5C 5H 5S 5D", 0),
        ("5C 5H 5S 5D 6D 7D", 0),  # one of the four fives belongs in a run
        ("5C 5H 5S 5D 4D 6D 6C 7C", 10),
        ("5C 5H 5S 6S 7S", 10),  # the five of spades cannot be in both
        ("5C 5H 5S 6S 7S 6H 7H 6C 7C", 0),  # three runs or three sets
        ("5C 5H 5S 6S 7S 6H 7H 6C 7C KD", 10),
    ],
)
def test_deadwood_of_hand_made_cases(hand, deadwood):
    assert melds.deadwood(cards.parse(hand)) == deadwood
    assert brute_force.deadwood(frozenset(ids(hand))) == deadwood


def test_eleven_cards_can_all_be_melded():
    hand = cards.parse("AC 2C 3C 4C 8H 9H TH JH KC KS KD")
    assert melds.deadwood(hand) == 0
    assert sorted(map(len, melds.best_melds(hand))) == [3, 4, 4]


def test_knocker_arrangement_has_fewest_lay_offs():
    # Three sets (the fourth 4, 5 and 6 could be laid off) or three runs (every other card of the three
    # suits could be laid off in chains): nine cards melded either way.
    hand = cards.parse("4C 4H 4S 5C 5H 5S 6C 6H 6S AD")
    assert melds.best_melds(hand) == [["4C", "4H", "4S"], ["5C", "5H", "5S"], ["6C", "6H", "6S"]]
    # The set keeps all four sevens, so the run can only be extended downwards.
    hand = cards.parse("4H 5H 6H 7H 7C 7S 7D 9C JS KD")
    assert melds.best_melds(hand) == [["7C", "7H", "7S", "7D"], ["4H", "5H", "6H"]]
    assert brute_force.cards_that_fit(
        [frozenset(ids("7C 7H 7S 7D")), frozenset(ids("4H 5H 6H"))],
        frozenset(range(52)) - frozenset(cards.cards_of(hand)),
    ) == frozenset(ids("3H 2H AH"))


@pytest.mark.parametrize(
    ("table", "hand", "left"),
    [
        ([], "KH QH", 20),
        ([["3H", "4H", "5H"]], "6H 2H KD", 10),  # both ends
        ([["3H", "4H", "5H"]], "6H 7H 9H KD", 19),  # a chain, and a gap in it
        ([["JH", "QH", "KH"]], "TH AH", 1),  # nothing above the king
        ([["AH", "2H", "3H"]], "KC 4H", 10),  # nothing below the ace
        ([["7C", "7H", "7S"]], "7D KD", 10),  # the fourth of a set
        ([["7C", "7H", "7S", "7D"]], "8D KD", 18),
        # Breaking the four sevens is better: with 7H, the eight and the nine extend the knocker's run.
        ([["4H", "5H", "6H"]], "7C 7H 7S 7D 8H 9H", 0),
        ([["4H", "5H", "6H"]], "2C 2H 2S 3H", 0),
        ([["4H", "5H", "6H"]], "2C 2H 2S 3H AH", 1),
        ([["3H", "4H", "5H"]], "2C 2H 2S AH KD", 11),
        ([["7C", "7H", "7S"]], "5C 5H 5D 6D 7D", 6),  # 7D is laid off, so that the fives can be a set
        ([["2D", "3D", "4D"]], "5C 5D 5S 6D", 6),  # laying off 5D and 6D would leave 5C 5S
    ],
)
def test_lay_offs_of_hand_made_cases(table, hand, left):
    assert melds.layoff(table, cards.parse(hand)) == left
    assert brute_force.best_defence([frozenset(ids_of(meld)) for meld in table], frozenset(ids(hand))) == left


@pytest.mark.parametrize(
    ("table", "hand", "message"),
    [
        ([["3H", "4H"]], "KD", "3H 4H is neither a set nor a run"),
        ([["3H", "4H", "6H"]], "KD", "3H 4H 6H is neither"),
        ([["3H", "4H", "5C"]], "KD", "3H 4H 5C is neither"),
        ([["3H", "3C", "4H"]], "KD", "is neither"),
        ([["QH", "KH", "AH"]], "KD", "is neither"),
        ([["QH", "KH", "AS"]], "KD", "is neither"),
        ([[]], "KD", "is neither"),
        ([["3H", "4H", "5H"], ["5C", "5H", "5S"]], "KD", "5H is in two melds"),
        ([["3H", "3H", "3H"]], "KD", "3H is named twice"),
        ([["3H", "4H", "5H"]], "5H KD", "the defender cannot hold 5H"),
        ([["3H", "4H", "XX"]], "KD", "'XX' is not a card"),
    ],
)
def test_impossible_table_melds_are_refused(table, hand, message):
    with pytest.raises(ValueError, match=message):
        melds.layoff(table, cards.parse(hand))


@pytest.mark.parametrize("function", [melds.deadwood, melds.best_melds, lambda mask: melds.layoff([], mask)])
def test_invalid_masks_are_refused(function):
    for bad in (3.0, None, "AS KD", True):
        with pytest.raises(TypeError, match="integer mask"):
            function(bad)
    for bad in (-1, 1 << 52):
        with pytest.raises(ValueError, match="only bits 0 to 51"):
            function(bad)


def test_meld_as_a_single_string_is_refused():
    with pytest.raises(TypeError, match="list of cards"):
        melds.layoff(["3H 4H 5H"], 0)


def test_results_are_plain_python_numbers():
    assert type(melds.deadwood(cards.parse("KD"))) is int
    assert type(melds.layoff([["3H", "4H", "5H"]], cards.parse("KD"))) is int
    assert type(melds.deadwood(np.uint64(cards.parse("KD")))) is int


# --- Suit boundaries and ties -------------------------------------------------------------------------------


def test_runs_do_not_continue_into_the_next_suit():
    """The card ids of a king and the next suit's ace are adjacent."""
    for low, high in ("CH", "HS", "SD"):
        runs = [[f"J{low}", f"Q{low}", f"K{low}"], [f"A{high}", f"2{high}", f"3{high}"]]
        assert melds.best_melds(cards.parse(" ".join([*runs[0], *runs[1]]))) == runs
        assert melds.layoff(runs, cards.parse(f"T{low} 4{high} 7D")) == 7
        with pytest.raises(ValueError, match="neither a set nor a run"):
            melds.layoff([[*runs[0], *runs[1]]], cards.parse("7D"))


def test_fewest_lay_offs_count_sets_too():
    """Both arrangements leave 39 points; TH TS TD, JC QC KC allow one lay-off, TH TS TD, QC QS QD two."""
    hand = "9C JC QC KC TH KH TS QS TD QD"
    assert melds.best_melds(cards.parse(hand)) == [["TH", "TS", "TD"], ["JC", "QC", "KC"]]


@pytest.mark.parametrize(
    "hand",
    [
        "AC 2C 3C 4C 5H 6H 7H 8S 9S TS JS",  # all in runs: only the ends of the longer runs are free
        "AC 2C 3C 4H 5H 6H 7S 8S 9S KD QD",  # runs of three: none of their cards is free
        "5C 5H 5S 5D 6D 7D 8D 9C 9H 9S KC",  # the four fives and the run share 5D
        "AC AH AS 2C 3C 4C KD KH QS JD TH",  # a set and a run share AC
        "2C 4H 6S 8D TC QH KS 3D 5C 7H 9S",
    ],
)
def test_best_discards_minimize_deadwood(hand):
    held = cards.parse(hand)
    after = {card: melds.deadwood(held & ~(1 << card)) for card in cards.cards_of(held)}
    for kept in (0, cards.card_id(hand.split()[-1]), cards.card_id(hand.split()[0])):
        allowed = held & ~(1 << kept)
        least = min(left for card, left in after.items() if allowed >> card & 1)
        best = cards.mask_of(card for card, left in after.items() if left == least and allowed >> card & 1)
        assert tuple(map(int, melds.least_deadwood_discards(held, allowed))) == (best, least)
    deadwood = np.full(52, -1)
    assert melds.deadwood_after_discards(held, deadwood) == min(after.values())
    assert deadwood.tolist() == [after.get(card, -1) for card in range(52)]
