"""Confidence intervals: known values and coverage, with the two games of a deal as one observation.

Simulated matches draw latent strengths: a game is won if the luck of the cards, which the twin game reverses,
plus independent noise exceeds a threshold. Real twins split more often than independent games do
(correlation -0.6 to 0), hence the negative correlations; positive ones are tested as well.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import stdtrit
from scipy.stats import binomtest, ttest_1samp

from gin_env.matches import intervals
from gin_env.matches.intervals import (
    deviations,
    mean_interval,
    newcombe_interval,
    normal_quantile,
    t_quantile,
    wilson_interval,
    win_rate_difference_interval,
    win_rate_interval,
)

MATCHES = 2000


def test_normal_quantile_has_known_values():
    for confidence in (0.5, 0.9, 0.95, 0.999):
        assert normal_quantile(confidence) == pytest.approx(NormalDist().inv_cdf((1 + confidence) / 2))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_t_quantile_matches_scipy(confidence):
    for freedom in (1, 2, 5, 19, 99, 2499, 100_000):
        expected = stdtrit(freedom, (1 + confidence) / 2)
        assert t_quantile(confidence, freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("won", "games"), [(0, 10), (1, 10), (8, 10), (10, 10), (500, 1000), (1999, 2000)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wilson_interval_matches_scipy(won, games, confidence):
    expected = binomtest(won, games).proportion_ci(confidence, "wilson")
    assert wilson_interval(won / games, games, confidence) == pytest.approx((expected.low, expected.high))


def test_wilson_ends_are_exact_for_equal_games():
    assert wilson_interval(0.0, 7)[0] == 0
    assert wilson_interval(1.0, 7)[1] == 1


def games_of(deals: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return deals with `wins` games won, both games decided."""
    return np.array(deals), np.full(len(deals), 2)


@pytest.mark.parametrize(
    ("deals", "effect"),
    [
        ([2, 0, 2, 0], 2 * 4 / 3),  # always alike: 2, times m / (m - 1) of four deals
        ([1, 1, 1, 1], 0),  # always split
        ([2, 1, 1, 0], 4 / 3),  # as often as independent games
        ([2, 2, 2, 2], 1),  # not determined
        ([0, 0, 0], 1),
        ([1], 1),
        ([2, 1, 1, 1], 4 / 3 * 0.75 / 64 / (5 / 8 * 3 / 8 / 8)),  # r: 3/4 and three times -1/4
    ],
)
def test_design_effect_has_known_values(deals, effect):
    assert intervals.design_effect(*games_of(deals)) == pytest.approx(effect)


def test_design_effect_allows_undecided_games():
    wins, decided = np.array([2, 1, 0, 0]), np.array([2, 1, 1, 0])
    # p = 3/4; r = 1/2, 1/4, -3/4, 0
    assert intervals.design_effect(wins, decided) == pytest.approx(4 / 3 * 0.875 / 16 / (0.1875 / 4))


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("deals", [[2, 1, 1, 0, 1, 2], [1, 1, 1], [2, 2, 2], [0] * 5, [2, 0, 0]])
def test_win_rate_interval_uses_the_design_effect(deals, confidence):
    wins, decided = games_of(deals)
    further = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    effect = (len(deals) * intervals.design_effect(wins, decided) + further) / (len(deals) + further)
    expected = wilson_interval(wins.sum() / decided.sum(), decided.sum() / effect, confidence)
    assert win_rate_interval(wins, decided, confidence) == pytest.approx(expected)


def test_interval_without_decided_games_is_0_to_1():
    nothing = np.zeros(3, int), np.zeros(3, int)
    assert win_rate_interval(*nothing) == (0, 1)
    assert win_rate_difference_interval(nothing, games_of([1, 1, 2])) == (-1, 1)
    assert win_rate_difference_interval(games_of([1, 1, 2]), nothing) == (-1, 1)


def test_newcombe_interval_of_independent_rates():
    """Newcombe (1998), table II, method 10: 56/70 - 48/80 has the interval 0.0524 to 0.3339."""
    first, second = ((won / of, wilson_interval(won / of, of)) for won, of in ((56, 70), (48, 80)))
    assert newcombe_interval(first, second) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_newcombe_interval_of_correlated_rates():
    first, second = (0.7, (0.6, 0.75)), (0.4, (0.36, 0.48))
    low, high = newcombe_interval(first, second, 0.5)
    assert 0.3 - low == pytest.approx(np.sqrt(0.1**2 + 0.08**2 - 0.1 * 0.08))
    assert high - 0.3 == pytest.approx(np.sqrt(0.05**2 + 0.04**2 - 0.05 * 0.04))


def test_difference_uses_the_correlation_of_the_deals():
    first, second = games_of([2, 1, 0, 1, 2]), games_of([2, 0, 0, 1, 1])
    rates = (0.6, win_rate_interval(*first)), (0.4, win_rate_interval(*second))
    # r: 0.8, -0.2, -1.2, -0.2, 0.8 and 1.2, -0.8, -0.8, 0.2, 0.2
    correlation = (0.96 + 0.16 + 0.96 - 0.04 + 0.16) / np.sqrt(2.8 * 2.8)
    expected = newcombe_interval(*rates, correlation * 5 / (5 + normal_quantile(0.95) ** 2))
    assert win_rate_difference_interval(first, second) == pytest.approx(expected)


def test_match_without_spread_has_no_correlation():
    first, second = games_of([2, 1, 0, 1, 2]), games_of([2, 2, 2, 2, 2])
    rates = (0.6, win_rate_interval(*first)), (1.0, win_rate_interval(*second))
    assert win_rate_difference_interval(first, second) == pytest.approx(newcombe_interval(*rates))


def test_mean_interval_matches_scipy():
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    expected = ttest_1samp(values, 0).confidence_interval(0.9)
    found = mean_interval(values.mean(), deviations(values, np.ones(5)), 0.9)
    assert found == pytest.approx((expected.low, expected.high))
    with pytest.raises(ValueError, match="at least two deals"):
        mean_interval(3.0, np.zeros(1))


# --- Coverage -----------------------------------------------------------------------------------------


def draw_deals(
    random: np.random.Generator, shape: tuple[int, int], rates: list[float], luck: float, shared: float = 0.0
) -> list[np.ndarray]:
    """Return the games won in each deal, int64 (matches, deals), by bots with these win rates.

    `luck` is the share of the cards in the strength of a game (negative: the twin game does not reverse it);
    `shared` is the share of other factors common to all bots.
    """
    cards = random.standard_normal(shape) * np.sqrt(abs(luck))
    wins = [np.zeros(shape, np.int64) for _ in rates]
    for seat in (1, -1 if luck > 0 else 1):
        common = random.standard_normal(shape) * np.sqrt((1 - abs(luck)) * shared)
        for bot, rate in enumerate(rates):
            own = random.standard_normal(shape) * np.sqrt((1 - abs(luck)) * (1 - shared))
            wins[bot] += seat * cards + common + own < NormalDist().inv_cdf(rate)
    return wins


def covered(found: list[tuple[float, float]], value: float) -> float:
    """Return the percentage of intervals that contain the value."""
    return 100 * float(np.mean([low <= value <= high for low, high in found]))


@pytest.mark.parametrize(
    ("rate", "luck", "deals", "unpaired"),
    [
        (0.5, 0.6, 500, "too wide"),  # as two bots of equal strength
        (0.7, 0.5, 100, "too wide"),
        (0.9, 0.5, 500, None),
        (0.98, 0.6, 500, None),
        (0.5, 0.0, 50, None),  # independent games
        (0.5, -0.5, 100, "too narrow"),  # unlike real matches
    ],
)
def test_win_rate_interval_has_nominal_coverage(rate, luck, deals, unpaired):
    """95 % intervals in 2,000 matches; Wilson's interval is too wide where deals split."""
    random = np.random.default_rng(deals + int(100 * rate))
    (wins,) = draw_deals(random, (MATCHES, deals), [rate], luck)
    two = np.full(deals, 2)
    assert 93 <= covered([win_rate_interval(of_match, two) for of_match in wins], rate) <= 97
    plain = covered([wilson_interval(of_match.mean() / 2, 2 * deals) for of_match in wins], rate)
    assert {"too wide": plain > 97, "too narrow": plain < 93, None: 93 <= plain <= 97}[unpaired]


@pytest.mark.parametrize(
    ("rates", "luck", "shared", "deals", "wide"),
    [
        ([0.7, 0.68], 0.5, 0.0, 100, False),  # bots that share only the cards
        ([0.6, 0.5], 0.4, 0.6, 100, True),
        ([0.7, 0.69], 0.3, 0.9, 200, True),  # a bot before and after a small change
        ([0.97, 0.9], 0.3, 0.5, 200, True),
    ],
)
def test_difference_interval_has_nominal_coverage(rates, luck, shared, deals, wide):
    """95 % intervals in 2,000 pairs of matches; assuming independence is too wide for similar bots."""
    random = np.random.default_rng(deals + int(100 * rates[0]))
    first, second = draw_deals(random, (MATCHES, deals), rates, luck, shared)
    two, difference = np.full(deals, 2), rates[0] - rates[1]
    found = [
        win_rate_difference_interval((one, two), (other, two))
        for one, other in zip(first, second, strict=True)
    ]
    assert 93 <= covered(found, difference) <= 97
    independent = [
        newcombe_interval(*((won.mean() / 2, win_rate_interval(won, two)) for won in pair))
        for pair in zip(first, second, strict=True)
    ]
    assert (covered(independent, difference) > 97) == wide
