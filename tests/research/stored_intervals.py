"""Intervals recomputed from what the rows of results store."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import stdtrit

from gin_env.matches.intervals import (
    mean_interval,
    normal_quantile,
    wilson_interval,
    win_rate_difference_interval,
    win_rate_interval,
)

Row = dict[str, Any]


def interval_of_counts(counts: list[int], confidence: float = 0.95) -> np.ndarray:
    """Return the interval that follows from the deals of a win rate, a difference or a Shapley value."""
    if len(counts) == 49:
        each = np.repeat(np.arange(-24, 25) / 24, counts)
        return np.array(mean_interval(each.mean(), each - each.mean(), confidence))
    matches = {3: 1, 9: 2}[len(counts)]
    kinds = np.indices((3,) * matches).reshape(matches, -1)
    won = [(wins, np.full(len(wins), 2)) for wins in np.repeat(kinds, counts, axis=1)]
    if matches == 1:
        return np.array(win_rate_interval(*won[0], confidence))
    return np.array(win_rate_difference_interval(won[0], won[1], confidence))


def value_and_half(moments: list[float]) -> tuple[float, float]:
    """Return (ratio, half of its 95 % t interval) that follow from `moments_of` the observations."""
    m, x, y, xx, xy, yy = moments
    value = x / y
    variance = (xx - 2 * value * xy + value**2 * yy) * (m / y) ** 2 / (m - 1)
    return value, float(stdtrit(m - 1, 0.975)) * math.sqrt(max(variance, 0) / m)


def figures_of_moments(row: Row, prefix: str = "") -> np.ndarray:
    """Return (value, low, high) of a mean or a ratio in the unit of the row."""
    value, half = value_and_half(row[f"{prefix}moments"])
    if row.get("unit") == "times":  # symmetric on the logarithmic scale
        return value * np.exp(np.array([0, -half, half]) / value)
    return (100 if row.get("unit") == "likelihoods" else 1) * (value + np.array([0, -half, half]))


def interval_of_parts(row: Row) -> np.ndarray:
    """Return the interval of a lead or of a difference of undercuts, in per cent."""
    if row["unit"] == "undercuts":
        shares = [undercuts / knocks for undercuts, knocks in row["parts"]]
        knocks = [knocks for _, knocks in row["parts"]]
        variances = [share * (1 - share) / number for share, number in zip(shares, knocks, strict=True)]
        value, half = shares[0] - shares[1], 1.96 * math.sqrt(sum(variances))
    else:
        match, gain = (np.array(counts) for counts in row["parts"])
        first, second = gain.reshape(3, 3).sum(axis=1), gain.reshape(3, 3).sum(axis=0)
        lead = 2 * win_rate(match) - 1
        value = lead - 2 * (win_rate(first) - win_rate(second))
        half = math.hypot(np.ptp(interval_of_counts(match)), np.ptp(interval_of_counts(gain)))
    return 100 * (value + np.array([-half, half]))


def win_rate(counts: np.ndarray) -> float:
    """Return the share of games won in deals of which none, one or both games were won, int (3,)."""
    return float(counts @ [0, 1, 2] / (2 * counts.sum()))


def interval_of_tournament(row: Row) -> np.ndarray:
    """Return the interval of a match of the tournament, which stores its design effect, in per cent."""
    z_squared, deals = normal_quantile(0.95) ** 2, row["games"] // 2
    effect = (deals * row["design_effect"] + z_squared) / (deals + z_squared)
    return 100 * np.array(wilson_interval(row["win_rate"], row["games"] / effect))
