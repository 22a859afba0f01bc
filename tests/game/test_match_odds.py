"""Probability of winning a game, by score."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.game.match_odds import chances_to_win


def test_chances_match_values_computed_by_hand():
    """With a target of 100 and 50 points per hand, a player without points needs two hands."""
    chances = chances_to_win(np.bincount([50, 50, 50]), 100)
    assert chances[0, 0] == 0.5
    assert chances[50, 0] == 0.75
    assert chances[0, 50] == 0.25
    assert chances[99, 1] == chances[50, 0]
    assert chances[100, 99] == 1
    assert chances[99, 100] == 0


def test_hands_are_weighted_by_frequency_without_void_hands():
    # At 80 to 70 a hand of 30 points wins for either player; a hand of 10 leads to 90 to 70 or 80 to 80.
    hands = np.bincount([10, 30])
    chances = chances_to_win(hands, 100)
    ahead = 0.5 * 0.5 * (1 + chances[90, 70]) + 0.5 * 0.5 * (0 + chances[80, 80])
    assert chances[80, 70] == pytest.approx(ahead)
    np.testing.assert_array_equal(chances, chances_to_win(np.bincount([10, 30, *[0] * 40]), 100))


def test_chances_of_both_players_sum_to_one():
    chances = chances_to_win(np.arange(60), 60)
    inner = chances[:60, :60]
    np.testing.assert_allclose(inner + inner.T, 1)
    assert (np.diff(inner, axis=0) > 0).all()


@pytest.mark.parametrize("hands", [[], [5], [3, 0, 0], [1, -1, 2], [[1, 2]]])
def test_invalid_point_counts_are_refused(hands):
    with pytest.raises(ValueError, match="at least one hand of more than 0"):
        chances_to_win(np.array(hands), 100)
