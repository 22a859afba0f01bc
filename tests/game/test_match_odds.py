"""The chance to win a game, by score."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.game.match_odds import chances_to_win


def paying(**points):
    hands = np.zeros(101)
    for name, count in points.items():
        hands[int(name.removeprefix("points_"))] = count
    return hands


def test_chances_by_hand():
    """To 100 points, where every hand pays 50: who has none needs two hands."""
    chances = chances_to_win(paying(points_50=3), 100)
    assert chances[0, 0] == 0.5
    assert chances[50, 0] == 0.75
    assert chances[0, 50] == 0.25
    assert chances[99, 1] == chances[50, 0]
    assert chances[100, 99] == 1
    assert chances[99, 100] == 0


def test_hands_count_by_frequency_and_void_hands_do_not():
    # From 70 to 70 a hand of 30 wins; after one of 10 it is 80 to 70: lost if the next is a lost 30.
    hands = paying(points_10=1, points_30=1)
    chances = chances_to_win(hands, 100)
    ahead = 0.5 * 0.5 * (1 + chances[90, 70]) + 0.5 * 0.5 * (0 + chances[80, 80])
    assert chances[80, 70] == pytest.approx(ahead)
    np.testing.assert_array_equal(chances, chances_to_win(hands + paying(points_0=40), 100))


def test_what_one_player_gains_the_other_loses():
    chances = chances_to_win(np.arange(60), 60)
    inner = chances[:60, :60]
    np.testing.assert_allclose(inner + inner.T, 1)
    assert (np.diff(inner, axis=0) > 0).all()


@pytest.mark.parametrize("hands", [[], [5], [3, 0, 0], [1, -1, 2], [[1, 2]]])
def test_counts_that_say_nothing_are_refused(hands):
    with pytest.raises(ValueError, match="at least once more than 0"):
        chances_to_win(np.array(hands), 100)
