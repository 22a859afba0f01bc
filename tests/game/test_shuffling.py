"""Shuffles are fair: every card is equally likely at every position, for any dealer and hand number."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import stats

from gin_env.batch import Games
from gin_env.game.engine import start_next_hand
from gin_env.game.rules import Rules
from gin_env.game.streams import below, mix, unit

DECKS = 1040
"""Each card is expected 20 times at each position."""


@functools.cache
def dealt(twins: bool = False, hand: int = 0, rules: Rules | None = None) -> Games:
    games = Games(DECKS, rules, episode="game")
    episodes = np.arange(DECKS, dtype=np.uint64)
    games.start(games.everyone, np.full(DECKS, 11, np.uint64), episodes, np.full(DECKS, twins))
    for record in games.state if hand else ():
        start_next_hand(record)
    return games


@pytest.mark.parametrize(("twins", "hand"), [(False, 0), (True, 0), (False, 1)])
def test_cards_are_uniform_over_deck_positions(twins, hand):
    """Chi-square test over positions and cards."""
    decks = dealt(twins, hand).state["hidden"]["deck"]
    counts = np.zeros((52, 52))
    np.add.at(counts, (np.arange(52)[None, :], decks.astype(int)), 1)
    squares = ((counts - DECKS / 52) ** 2 / (DECKS / 52)).sum()
    assert 0.001 < stats.chi2.sf(squares, 51 * 51) < 0.999


def test_adjacent_cards_are_independent():
    """Chi-square test over the distances between adjacent cards: all 51 are equally likely."""
    decks = dealt().state["hidden"]["deck"].astype(int)
    distances = (np.diff(decks[:, ::7], axis=1) % 52).ravel()
    assert 0.001 < stats.chisquare(np.bincount(distances, minlength=52)[1:]).pvalue < 0.999


def test_players_deal_first_equally_often():
    dealers = dealt().state["public"]["dealer"]
    assert stats.binomtest(int(dealers.sum()), DECKS).pvalue > 0.001


def test_dealer_is_independent_of_the_cards():
    games = dealt()
    suits = games.state["public"]["first_upcard"] // 13
    table = [np.bincount(suits[games.state["public"]["dealer"] == dealer], minlength=4) for dealer in (0, 1)]
    assert stats.chi2_contingency(table).pvalue > 0.001


@pytest.mark.compiled
def test_small_decks_are_shuffled_uniformly():
    rules = Rules(ranks=4, suits=2, hand_size=1, knock_limit=1)
    decks = dealt(rules=rules).state["hidden"]["deck"][:, :8]
    kinds = [0, 1, 2, 3, 13, 14, 15, 16]
    counts = np.array([[(decks[:, place] == card).sum() for card in kinds] for place in range(8)])
    assert 0.001 < stats.chi2.sf(((counts - 130) ** 2 / 130).sum(), 7 * 7) < 0.999


def test_random_numbers_are_scaled_to_their_limits():
    """Check the smallest and largest numbers, and that all values are equally likely."""
    largest = np.uint64(2**64 - 1)
    assert (below(np.uint64(0), 7), below(largest, 7), below(np.uint64(2**63), 2)) == (0, 6, 1)
    assert unit(np.uint64(0)) == 0
    assert 1 - 2**-52 <= unit(largest) < 1
    assert unit(np.uint64(2**63)) == 0.5
    numbers = [np.uint64(mix(np.uint64(5), np.uint64(counter))) for counter in range(2100)]
    counts = np.bincount([below(number, 7) for number in numbers], minlength=7)
    assert 0.001 < stats.chisquare(counts).pvalue < 0.999
    assert stats.kstest([unit(number) for number in numbers], "uniform").pvalue > 0.001
