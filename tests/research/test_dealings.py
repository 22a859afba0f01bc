"""Other ways of dealing the samples of Random-256."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.game.engine import start_episode
from gin_env.game.rules import Rules
from gin_env.game.state import STATE
from research.papers.truong2021.dealings import WAYS, explore_keeping, start_sample_keeping

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(("way", "kept"), WAYS.items())
def test_samples_keep_the_first_cards_of_the_deck(way, kept):
    states = np.zeros(1, STATE)
    states["public"]["rules"] = Rules().record()
    start_episode(states[0], 3, 7, False)
    before = states["hidden"]["deck"][0].copy()
    start_sample_keeping(states[0], kept, 3, 7, 1)
    after = states["hidden"]["deck"][0]
    assert sorted(after) == sorted(before)
    assert np.array_equal(after[:kept], before[:kept])
    assert np.array_equal(after, before) == (kept == 52)
    for player in range(2):
        hand = int(states["private"]["hand"][0, player])
        assert hand == sum(1 << int(card) for card in after[player:20:2])


def test_more_samples_find_higher_scores():
    means = [explore_keeping(20, 40, samples, 0)[1].mean() for samples in (1, 4, 16)]
    assert means == sorted(means)
    cards, scores = explore_keeping(20, 40, 4, 0)
    assert len(cards) == len(scores) <= 40
    assert all(int(hand).bit_count() == 10 for hand in cards)
    assert np.array_equal(explore_keeping(20, 40, 4, 0)[1], scores)
