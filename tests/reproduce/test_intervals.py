"""The sums that results store to recompute their intervals of means and ratios."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit

from gin_env.matches.intervals import deviations, mean_interval, wilson_interval
from gin_env.reproduce.experiment import moments_of
from gin_env.reproduce.pages import RESULTS as FOLDER
from gin_env.reproduce.results import load, stored

RESULTS = Path(__file__).parents[2] / FOLDER


def value_and_half(moments: list[float]) -> tuple[float, float]:
    """Return (ratio, half of its 95 % t interval) that follow from `moments_of` the observations."""
    m, x, y, xx, xy, yy = moments
    value = x / y
    variance = (xx - 2 * value * xy + value**2 * yy) * (m / y) ** 2 / (m - 1)
    return value, float(stdtrit(m - 1, 0.975)) * math.sqrt(max(variance, 0) / m)


def test_moments_determine_the_interval_of_a_ratio():
    rng = np.random.default_rng(0)
    totals, counts = rng.integers(0, 90, 200), rng.integers(1, 5, 200)
    value, half = value_and_half(moments_of(totals, counts))
    ratio = totals.sum() / counts.sum()
    assert (value - half, value + half) == pytest.approx(mean_interval(ratio, deviations(totals, counts)))
    value, half = value_and_half(moments_of(totals))
    assert (value - half, value + half) == pytest.approx(mean_interval(totals.mean(), totals - totals.mean()))


@pytest.mark.parametrize("name", stored(RESULTS))
def test_stored_moments_reproduce_the_published_intervals(name):
    for row in load(RESULTS, name).rows:
        if "moments" in row:
            value, half = value_and_half(row["moments"])
            if row.get("unit") == "times":  # symmetric on the logarithmic scale
                low, high = (value * math.exp(sign * half / value) for sign in (-1, 1))
            else:
                low, high = value - half, value + half
            scale = 100 if row.get("unit") == "likelihoods" else 1
            found = [scale * number for number in (value, low, high)]
            digits = 1e-5 if name == "003/authors-scoring" else 6e-4
            assert [row[key] for key in ("value", "low", "high")] == pytest.approx(found, abs=digits), row


@pytest.mark.parametrize("name", ["000/card-values", "001/likelihoods", "003/authors-scoring", "004/claims"])
def test_figures_in_other_units_store_their_moments(name):
    rows = load(RESULTS, name).rows
    assert all("moments" in row for row in rows if row.get("unit") != "%" and row.get("of") != "turns")


def test_hands_ended_reproduce_their_interval():
    for row in load(RESULTS, "outside/gold-standard").rows:
        low, high = wilson_interval(row["ended_hands"] / row["hands"], row["hands"])
        assert [row["ended_low"], row["ended_high"]] == pytest.approx([100 * low, 100 * high], abs=1e-3)
