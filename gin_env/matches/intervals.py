"""Intervals from matches: the two games of a deal are one observation, not two.

A deal is played twice with the seats swapped. Good cards help each bot once, so the two games tend to split,
and a match says more than as many independent games would. What follows needs nothing but the totals of each
deal, and assumes nothing but that deals are independent of each other.

Win rate: Wilson's interval (1927) of p = games won / games decided, for n / f games where n were decided.
f is the design effect (Kish, 1965): the variance of p over the deals, divided by p (1 - p) / n, which it
would be if the games were independent. With r_k = won - p decided in deal k, of m deals, the variance is
m / (m - 1) times the sum of r_k^2, divided by n^2 (that of a ratio, linearised). So that few deals that
happen to split alike do not leave an interval of no width, z^2 more deals are counted whose design effect is
1, as Wilson's centre counts z^2 more games that split (z is the normal quantile, 1.96 for 95 %):

    f = (m f + z^2) / (m + z^2)

Difference of two win rates on the same deals: Newcombe's interval for paired proportions (Statistics in
Medicine 17, 1998, 2635-2650) from these two intervals and the correlation of the two matches' r_k over the
deals, times m / (m + z^2): here too z^2 more deals are counted, in which there is none.

Points per hand, and differences of them: t intervals, with the variance of a ratio as above.

tests/matches/test_intervals.py holds that they cover what they should; docs/results.md has the figures.
"""

from __future__ import annotations

import math

import numpy as np

Interval = tuple[float, float]


def normal_quantile(confidence: float) -> float:
    """z: a normal variable lies within ± z with this probability (1.96 for 0.95)."""
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


def wilson_interval(rate: float, games: float, confidence: float = 0.95) -> Interval:
    """Wilson's interval (1927) of a rate among so many independent games, any number above 0."""
    z_squared = normal_quantile(confidence) ** 2
    centre = (rate + z_squared / (2 * games)) / (1 + z_squared / games)
    half = math.sqrt(z_squared * (rate * (1 - rate) / games + z_squared / (4 * games**2)))
    half /= 1 + z_squared / games
    return (0.0 if rate == 0 else centre - half), (1.0 if rate == 1 else centre + half)


def deviations(totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """What each deal adds to the error of the ratio sum(totals) / sum(counts), times the number of deals.

    Float64 (m,), with mean 0. The variance of the ratio is ``deviations.var(ddof=1) / m``; that of a weighted
    sum of ratios on the same deals is the same of the weighted sum of their deviations. `totals` and
    `counts`, (m,), may be, for example, the games that were won and decided in each deal.
    """
    return (totals - totals.sum() / counts.sum() * counts) * (len(counts) / counts.sum())


def design_effect(wins: np.ndarray, decided: np.ndarray) -> float:
    """The variance of the win rate over that of as many independent games.

    1 if there are fewer than two deals or if all games ended alike; 2 if the games of a deal always end
    alike; 0 if they always split. `wins` and `decided` are the games of each deal, (m,).
    """
    if len(decided) < 2 or not 0 < wins.sum() < decided.sum():
        return 1.0
    rate = wins.sum() / decided.sum()
    variance = deviations(wins, decided).var(ddof=1) / len(decided)
    return float(variance / (rate * (1 - rate) / decided.sum()))


def win_rate_interval(wins: np.ndarray, decided: np.ndarray, confidence: float = 0.95) -> Interval:
    """Interval of the share of the decided games that were won; 0 to 1 if none was decided.

    `wins` and `decided` are the games of each deal, (m,).
    """
    games = int(decided.sum())
    if not games:
        return 0.0, 1.0
    further = normal_quantile(confidence) ** 2
    deals = len(decided)
    effect = (deals * design_effect(wins, decided) + further) / (deals + further)
    return wilson_interval(int(wins.sum()) / games, games / effect, confidence)


def newcombe_interval(
    first: tuple[float, Interval], second: tuple[float, Interval], correlation: float = 0.0
) -> Interval:
    """Interval of the first rate less the second, each given with its interval, by Newcombe's square and add.

    Statistics in Medicine 17 (1998), 873-890 (method 10) for independent rates, 2635-2650 for paired ones.
    """
    (rate, (low, high)), (other, (other_low, other_high)) = first, second

    def distance(one: float, another: float) -> float:
        return math.sqrt(one**2 + another**2 - 2 * correlation * one * another)

    value = rate - other
    return value - distance(rate - low, other_high - other), value + distance(high - rate, other - other_low)


def win_rate_difference_interval(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], confidence: float = 0.95
) -> Interval:
    """Interval of the first win rate less the second, on the same deals in the same order.

    Both are (wins, decided): the games of each deal, (m,). -1 to 1 if one of them has no decided game.
    """
    if not (first[1].any() and second[1].any()):
        return -1.0, 1.0
    one, other = deviations(*first), deviations(*second)
    deals, scale = len(one), math.sqrt((one @ one) * (other @ other))
    correlation = float(one @ other) / scale if scale else 0.0
    correlation *= deals / (deals + normal_quantile(confidence) ** 2)
    rates = [
        (float(wins.sum() / decided.sum()), win_rate_interval(wins, decided, confidence))
        for wins, decided in (first, second)
    ]
    return newcombe_interval(rates[0], rates[1], correlation)


def mean_interval(value: float, of_deals: np.ndarray, confidence: float = 0.95) -> Interval:
    """The t interval of a value, from its `deviations` or a weighted sum of such, (m,).

    Raises ValueError for fewer than two deals, which have no spread.
    """
    from scipy.special import stdtrit

    deals = len(of_deals)
    if deals < 2:
        raise ValueError("one deal has no spread: an interval needs at least two deals, which are four games")
    error = float(stdtrit(deals - 1, (1 + confidence) / 2)) * of_deals.std(ddof=1) / math.sqrt(deals)
    return value - float(error), value + float(error)
