"""Confidence intervals for matches, in which the two games of a deal are one observation.

A deal is played twice with the seats swapped. Good cards help each bot once, so the two games tend to split,
and a match is more informative than the same number of independent games. The formulas need only the totals
of each deal and assume only that deals are independent.

Win rate: Wilson's interval (1927) of p = games won / games decided, for n / f games where n were decided.
f is the design effect (Kish, 1965): the variance of p over the deals, divided by p (1 - p) / n, which it
would be if the games were independent. With r_k = won - p decided in deal k, of m deals, the variance is
m / (m - 1) times the sum of r_k^2, divided by n^2 (that of a ratio, linearised). A few deals that all split
would give an interval of width 0. To avoid that, z^2 more deals with a design effect of 1 are counted, just
as Wilson's centre counts z^2 more games that split (z is the normal quantile, 1.96 for 95 %):

    f = (m f + z^2) / (m + z^2)

Difference of two win rates on the same deals: Newcombe's interval for paired proportions (Statistics in
Medicine 17, 1998, 2635-2650) from these two intervals and the correlation of the two matches' r_k over the
deals, times m / (m + z^2): again z^2 more deals are counted, without correlation.

Points per hand, and differences of them: t intervals, with the variance of a ratio as above.

tests/matches/test_intervals.py checks the coverage of those of win rates and of their differences.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

Interval = tuple[float, float]


def normal_quantile(confidence: float) -> float:
    """Return z such that a normal variable is within ± z with this probability (1.96 for 0.95).

    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    return NormalDist().inv_cdf((1 + confidence) / 2)


def t_quantile(confidence: float, freedom: int) -> float:
    """Return t such that Student's t is within ± t with this probability (2.78 for 0.95 and freedom 4).

    With t = tan(a) sqrt(freedom), the probability is proportional to the integral of cos(a)^(freedom - 1)
    from 0. Newton's method from the normal quantile approaches a from below, since that integral is concave.

    >>> round(t_quantile(0.95, 4), 2)
    2.78
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)

    def integral(angle: float) -> float:
        return angle / 2 * float(weights @ np.cos(angle / 2 * (nodes + 1)) ** (freedom - 1))

    end = min(math.pi / 2, 9 / math.sqrt(freedom))  # what follows adds less than 1e-17
    wanted = confidence * integral(end)
    angle = math.atan(normal_quantile(confidence) / math.sqrt(freedom))
    step = 1.0
    while step > 1e-15:
        step = (wanted - integral(angle)) / math.cos(angle) ** (freedom - 1)
        angle += step
    return math.tan(angle) * math.sqrt(freedom)


def wilson_interval(rate: float, num_games: float, confidence: float = 0.95) -> Interval:
    """Return Wilson's interval (1927) of a rate over `num_games` > 0 independent games.

    >>> low, high = wilson_interval(0.5, 100)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    z_squared = normal_quantile(confidence) ** 2
    centre = (rate + z_squared / (2 * num_games)) / (1 + z_squared / num_games)
    half = math.sqrt(z_squared * (rate * (1 - rate) / num_games + z_squared / (4 * num_games**2)))
    half /= 1 + z_squared / num_games
    return (0.0 if rate == 0 else centre - half), (1.0 if rate == 1 else centre + half)


def deviations(totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the contribution of each deal to the error of a ratio, times the number of deals.

    Parameters
    ----------
    totals, counts : arrays, shape (m,): numerator and denominator of each deal, such as games won and games
        decided. The ratio is ``sum(totals) / sum(counts)``.

    Returns
    -------
    float64 array, shape (m,), with mean 0. The variance of the ratio is ``deviations.var(ddof=1) / m``. For a
    weighted sum of ratios on the same deals, use the weighted sum of their deviations.

    Examples
    --------
    >>> deviations(np.array([2, 1, 0]), np.array([2, 2, 2]))
    array([ 0.5,  0. , -0.5])
    """
    return (totals - totals.sum() / counts.sum() * counts) * (len(counts) / counts.sum())


def design_effect(wins: np.ndarray, decided: np.ndarray) -> float:
    """Return the variance of the win rate divided by that of the same number of independent games.

    `wins` and `decided` are the games of each deal, shape (m,). The result is 1 with fewer than two deals or
    if all games ended alike, 2 if the two games of a deal always end alike, and 0 if they always split.

    >>> design_effect(np.array([1, 1, 1]), np.array([2, 2, 2]))
    0.0
    """
    if len(decided) < 2 or not 0 < wins.sum() < decided.sum():
        return 1.0
    rate = wins.sum() / decided.sum()
    variance = deviations(wins, decided).var(ddof=1) / len(decided)
    return float(variance / (rate * (1 - rate) / decided.sum()))


def win_rate_interval(wins: np.ndarray, decided: np.ndarray, confidence: float = 0.95) -> Interval:
    """Return the interval of the share of decided games that were won; (0, 1) if none was decided.

    `wins` and `decided` are the games of each deal, shape (m,).

    >>> wins, decided = np.array([2, 1, 1, 0] * 25), np.full(100, 2)
    >>> low, high = win_rate_interval(wins, decided)
    >>> round(low, 3), round(high, 3)
    (0.431, 0.569)
    """
    num_games, num_deals = int(decided.sum()), len(decided)
    if not num_games:
        return 0.0, 1.0
    z_squared = normal_quantile(confidence) ** 2
    effect = (num_deals * design_effect(wins, decided) + z_squared) / (num_deals + z_squared)
    return wilson_interval(int(wins.sum()) / num_games, num_games / effect, confidence)


def newcombe_interval(
    first: tuple[float, Interval], second: tuple[float, Interval], correlation: float = 0.0
) -> Interval:
    """Return the interval of the first rate minus the second by Newcombe's square-and-add method.

    Each rate is given with its own interval. Source: Statistics in Medicine 17 (1998), 873-890 (method 10)
    for independent rates, 2635-2650 for paired ones.

    >>> low, high = newcombe_interval((0.6, (0.5, 0.7)), (0.5, (0.4, 0.6)))
    >>> round(low, 3), round(high, 3)
    (-0.041, 0.241)
    """
    (rate, (low, high)), (other, (other_low, other_high)) = first, second

    def distance(x: float, y: float) -> float:
        return math.sqrt(x**2 + y**2 - 2 * correlation * x * y)

    value = rate - other
    return value - distance(rate - low, other_high - other), value + distance(high - rate, other - other_low)


def win_rate_difference_interval(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], confidence: float = 0.95
) -> Interval:
    """Return the interval of the first win rate minus the second, on the same deals in the same order.

    Both are (wins, decided): the games of each deal, shape (m,). (-1, 1) if either has no decided game.

    >>> first = np.array([2, 1, 2, 1] * 25), np.full(100, 2)
    >>> second = np.array([1, 1, 1, 0] * 25), np.full(100, 2)
    >>> low, high = win_rate_difference_interval(first, second)
    >>> 0 < low < 0.375 < high
    True
    """
    if not (first[1].any() and second[1].any()):
        return -1.0, 1.0
    x, y = deviations(*first), deviations(*second)
    num_deals, scale = len(x), math.sqrt((x @ x) * (y @ y))
    correlation = float(x @ y) / scale if scale else 0.0
    correlation *= num_deals / (num_deals + normal_quantile(confidence) ** 2)
    rates = [
        (float(wins.sum() / decided.sum()), win_rate_interval(wins, decided, confidence))
        for wins, decided in (first, second)
    ]
    return newcombe_interval(rates[0], rates[1], correlation)


def mean_interval(value: float, of_deals: np.ndarray, confidence: float = 0.95) -> Interval:
    """Return the t interval of a value from its `deviations`, or a weighted sum of such, shape (m,).

    Raises ValueError for fewer than two deals, which have no spread.

    >>> values = np.array([1.0, 2.0, 3.0, 4.0])
    >>> low, high = mean_interval(values.mean(), values - values.mean())
    >>> round(float(low), 2), round(float(high), 2)
    (0.45, 4.55)
    """
    num_deals = len(of_deals)
    if num_deals < 2:
        raise ValueError("an interval needs at least two deals (four games)")
    quantile = t_quantile(confidence, num_deals - 1)
    error = quantile * float(of_deals.std(ddof=1)) / math.sqrt(num_deals)
    return value - error, value + error
