"""Estimators on invented counts and hand-made histories, number by number."""

from __future__ import annotations

import numpy as np
import pytest
from bot_positions import logistic_values
from hands_in_words import Table

from gin_env import cards
from gin_env.estimators import logistic
from gin_env.estimators.bayes import BayesEstimator, likelihood_ratios, likelihoods_of_turns, write_shares
from gin_env.estimators.turn_buckets import (
    BOTH,
    BUCKETS,
    DISCARD_ONLY,
    NEITHER_SUITED,
    NEITHER_UNSUITED,
    UPCARD_ONLY,
    Frequencies,
)

RANK = 5


def made_up(counts: dict[tuple[int, ...], tuple[int, int]]) -> Frequencies:
    """Return buckets with (seen, held); before a turn, a card of any rank is held with odds 1 : 3."""
    seen, held = np.zeros(BUCKETS, np.int64), np.zeros(BUCKETS, np.int64)
    for bucket, (number, num_held) in counts.items():
        seen[bucket], held[bucket] = number, num_held
    return Frequencies(seen, held, np.full(13, 400), np.full(13, 100), {})


def ratios(least: int, **counts: tuple[int, int]) -> dict[str, float]:
    relations = {
        "both": BOTH,
        "upcard": UPCARD_ONLY,
        "discard": DISCARD_ONLY,
        "suited": NEITHER_SUITED,
        "unsuited": NEITHER_UNSUITED,
    }
    table = made_up({(1, 12, 11, RANK, relations[name]): count for name, count in counts.items()})
    row = likelihood_ratios(table, least)[1, 12, 11, RANK]
    return {name: float(row[relation]) for name, relation in relations.items()}


def test_bucket_multiplies_odds_by_its_odds_over_the_previous():
    """Half an observation is added to each count."""
    found = ratios(50, both=(60, 20), upcard=(100, 10))
    assert found["both"] == pytest.approx(20.5 / 40.5 / (1 / 3))
    assert found["upcard"] == pytest.approx(10.5 / 90.5 / (1 / 3))
    assert found["discard"] == found["suited"] == 1


@pytest.mark.parametrize(("seen", "counts"), [(49, False), (50, True), (51, True)])
def test_bucket_is_used_from_the_least_observations_on(seen, counts):
    assert (ratios(50, both=(seen, 30))["both"] != 1) == counts


def test_cards_of_neither_suit_share_a_bucket():
    found = ratios(50, suited=(30, 20), unsuited=(40, 5))
    assert found["suited"] == found["unsuited"] == pytest.approx(25.5 / 45.5 / (1 / 3))


def test_one_turn_changes_odds_by_at_most_a_factor_of_100():
    found = ratios(50, both=(100_000, 100_000), upcard=(100_000, 0))
    assert (found["both"], found["upcard"]) == (100, 0.01)


def test_paper_likelihood_is_the_frequency_while_a_card_is_held():
    """Of 239 turns (plus 1/2 in each bucket) with a card of the rank held, 29 1/2 were of this kind."""
    suited = {(1, 12, 11, RANK, BOTH): (60, 29), (1, 12, 11, RANK, NEITHER_SUITED): (160, 170)}
    unsuited = {(0, 12, 11, RANK, UPCARD_ONLY): (60, 0), (0, 12, 11, RANK, NEITHER_UNSUITED): (120, 40)}
    stock, factors = likelihoods_of_turns(made_up(suited | unsuited), 50)[:, 12, 11, RANK]
    all_held = 29 + 170 + 40 + 0.5 * 2 * 13 * 13 * len(factors)
    assert factors[BOTH] == pytest.approx(29.5 / all_held)
    assert factors[NEITHER_SUITED] == pytest.approx(170.5 / all_held / 3)  # three suits share the bucket
    assert stock[NEITHER_UNSUITED] == pytest.approx(40.5 / all_held / 2)  # two suits
    assert factors[NEITHER_UNSUITED] == factors[UPCARD_ONLY] == factors[DISCARD_ONLY] == 1  # never seen


@pytest.mark.parametrize(("seen", "counts"), [(49, False), (50, True)])
def test_paper_likelihood_needs_observations_of_the_turn(seen, counts):
    """Another rank was seen often enough, so this one, which was never seen, counts too."""
    row = likelihoods_of_turns(made_up({(0, 3, 4, 9, UPCARD_ONLY): (seen, 1)}), 50)[0, 3, 4, RANK]
    assert ((row[[UPCARD_ONLY, DISCARD_ONLY, NEITHER_UNSUITED]] != 1) == counts).all()
    assert (row[[BOTH, NEITHER_SUITED]] == 1).all()


def test_shares_are_scaled_to_the_unknown_cards_and_at_most_one():
    products = np.ones(52)
    products[:3] = 6.0, 1.0, 1.0
    row = np.zeros(52, np.float32)
    write_shares(products, 0b0111, 1 << 5, 2, row)
    assert row[:3] == pytest.approx([1.0, 0.25, 0.25])
    assert row[5] == 1
    assert row[6:].sum() == 0


def test_unknown_likelihood_raises():
    with pytest.raises(ValueError, match="unknown likelihood 'literal'; choose from odds, paper"):
        BayesEstimator(likelihood="literal")


# --- logistic -------------------------------------------------------------------------------------------

HAND = "AC 2S 4D 5S 6D 7S 8D 9D TS QS"
OPPONENT = "JC 3H 8S 8H KS 2D 4S 6S 7D TH"


def values_after(first: str, second: str) -> dict[str, float]:
    """Return player 0's values after two discards of the opponent, with decrements of 1 for discards."""
    table = Table(HAND, OPPONENT, "KD", "QD 6C TD 7C", dealer=1)
    table.play("pass", "pass", "draw", "QD", "draw", first, "draw", "TD", "draw", second)
    return logistic_values(table, decrement=1.0)


def test_values_spread_to_king_and_ace_but_not_across_suits():
    """KC and AH have neighbouring ids. Each discard lowers the cards around it by 1. Then half of the
    neighbours' values is added, from the lowest rank up: KC gets half of QC's -1.5, AH half of 2H's -1."""
    expected = {
        "JH": -1, "JS": -1, "JD": -1, "9C": -1.5, "TC": -1.75, "QC": -1.5, "KC": -1.75,
        "3C": -1, "3S": -1, "3D": -1, "AH": -1.5, "2H": -1.75, "4H": -1.5, "5H": -1.75,
    }  # fmt: skip
    assert values_after("JC", "3H") == pytest.approx(expected)
    assert values_after("3H", "JC") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("draw", "changes", "expected"),
    [
        ("take", (1.0, 0.0, 0.0, 0.5), {"TC": 2.5, "TH": 2.5}),  # TD, after three turns
        ("draw", (0.0, 1.0, 0.0, 0.5), {"JH": -1.5, "JS": -1.5, "3C": -2.5, "3S": -2.5}),  # JC and 3H
        ("draw", (0.0, 0.0, 1.0, 0.5), {"KH": -1, "QH": -1.5, "TH": -2.5}),
    ],
)
def test_changes_grow_with_the_completed_turns(draw, changes, expected):
    """By half of the first for each turn; only other suits of the rank, which nothing else changes."""
    table = Table(HAND, OPPONENT, "KD", "QD 6C TD 7C", dealer=1)
    table.play("pass", "pass", "draw", "QD", "draw", "JC", "draw", "TD", draw, "3H")
    values = logistic_values(table, *changes)
    assert {card: values[card] for card in expected} == pytest.approx(expected)


def test_card_without_information_has_probability_one_half():
    """Normalised, it is as likely as every other card: ten of 41."""
    view = Table(HAND, OPPONENT, "KD", dealer=1).games.views(np.zeros(1, np.int64))
    unseen = [card for card in range(52) if not cards.parse(f"{HAND} KD") >> card & 1]
    for normalised, share in ((False, 0.5), (True, 10 / 41)):
        estimate = logistic.LogisticEstimator(normalised=normalised).estimate(view)[0]
        assert estimate[unseen].tolist() == pytest.approx([share] * 41)
        assert estimate.sum() == pytest.approx(41 * share)


def test_values_beyond_the_maximum_are_certain():
    table = Table(HAND, OPPONENT, "KD", "QD 6C TD 7C", dealer=1)
    view = table.play("pass", "pass", "draw", "QD", "draw", "JC").games.views(np.zeros(1, np.int64))
    estimate = logistic.LogisticEstimator(decrement=100).estimate(view)[0]
    assert estimate[cards.card_id("JH")] == pytest.approx(0)
    taken = Table(HAND, OPPONENT, "KD", dealer=1).play("pass", "take", "JC")
    view = taken.games.views(np.zeros(1, np.int64))
    estimate = logistic.LogisticEstimator(increment=100, decrement=0, depth_growth=50).estimate(view)[0]
    assert estimate[cards.card_id("KH")] == 1
