"""Published intervals follow from what their rows store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stored_intervals import (
    figures_of_moments,
    interval_of_counts,
    interval_of_parts,
    interval_of_tournament,
    value_and_half,
)

from gin_env.matches.differences import win_rate_difference
from gin_env.matches.intervals import (
    deviations,
    mean_interval,
    wilson_interval,
    win_rate_difference_interval,
    win_rate_interval,
)
from gin_env.matches.matches import play_match
from research.papers.claims import lead_difference, undercuts_difference
from research.reproduce.experiment import deal_counts, match_row, moments_of, more_than, ratio_row
from research.reproduce.pages import RESULTS as FOLDER
from research.reproduce.results import load, stored
from research.reproduce.tables import cell_text

pytestmark = pytest.mark.compiled

RESULTS = Path(__file__).parents[2] / FOLDER
STORED = stored(RESULTS)
ROUNDED = 1e-3
"""Stored ends of intervals have at least three decimal places."""
FIVE_PLACES = ("francis2021/authors-scoring", "francis2021/bayes-readings", "francis2021/stronger-players")
"""Results that keep five decimal places or more."""


def prefixes(row: dict) -> set[str]:
    """Return what precedes "low" and "high" in the keys of each interval of a row."""
    found = {
        key.removesuffix("low") for key, value in row.items() if key.endswith("low") and value is not None
    }
    return found | ({"unmelded_"} if "unmelded" in row else set())


def ends(row: dict, prefix: str = "") -> list[float]:
    """Return the interval of a row in per cent or in its unit."""
    return row["unmelded"][1:] if prefix == "unmelded_" else [row[prefix + end] for end in ("low", "high")]


# --- What is stored determines the interval --------------------------------------------------------------


def test_deal_counts_determine_the_intervals():
    one, other = (play_match("simple", opponent, 400, 3) for opponent in ("random-discard", "late-knock"))
    row = match_row(one)
    counts = np.array(row["deals"])
    assert counts.sum() == 200
    wins, twos = np.repeat(np.arange(3), counts), np.full(200, 2)
    assert win_rate_interval(wins, twos) == pytest.approx(one.interval)
    joint = np.array(deal_counts(one, other)).reshape(3, 3)
    assert joint.sum(axis=1).tolist() == counts.tolist()
    first, second = (np.repeat(kinds.ravel(), joint.ravel()) for kinds in np.indices((3, 3)))
    again = win_rate_difference_interval((first, twos), (second, twos))
    assert again == pytest.approx(win_rate_difference(one, other).interval)
    gain = match_row(one) | more_than(one, other)
    assert gain["deals"] == counts.tolist()
    assert gain["more_deals"] == joint.ravel().tolist()


def test_moments_determine_the_interval_of_a_ratio():
    rng = np.random.default_rng(0)
    totals, counts = rng.integers(0, 90, 200), rng.integers(1, 5, 200)
    row = ratio_row(totals, counts, 9, "share")
    value, low, high = (row[key] for key in ("share", "share_low", "share_high"))
    assert figures_of_moments(row, "share_") == pytest.approx([value, low, high])
    assert cell_text("{share:±+.2f}", [row]) == f"+{value:.2f} ± {(high - low) / 2:.2f}"
    assert ratio_row(totals)["value"] == pytest.approx(totals.mean())
    value, half = value_and_half(moments_of(totals, counts))
    ratio = totals.sum() / counts.sum()
    assert (value - half, value + half) == pytest.approx(mean_interval(ratio, deviations(totals, counts)))
    value, half = value_and_half(moments_of(totals))
    assert (value - half, value + half) == pytest.approx(mean_interval(totals.mean(), totals - totals.mean()))


def test_parts_determine_the_intervals_of_leads_and_undercuts():
    one, other = (play_match("simple", opponent, 400, 3) for opponent in ("tonic", "late-knock"))
    match = play_match("tonic", "late-knock", 400, 3)
    row = {"unit": "lead", "parts": [deal_counts(match), deal_counts(one, other)]}
    assert 100 * np.array(lead_difference(match, one, other)[1]) == pytest.approx(interval_of_parts(row))
    parts = [[match.undercuts[0], match.knocks[1]] for match in (one, other)]
    undercuts = 100 * np.array(undercuts_difference(one, other)[1])
    assert undercuts == pytest.approx(interval_of_parts({"unit": "undercuts", "parts": parts}))


# --- The published intervals -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORED)
def test_every_published_interval_can_be_recomputed(name):
    for row in load(RESULTS, name).rows:
        confidence = 0.9 if name.startswith("truong2021/") and "network" in row else 0.95
        for prefix in prefixes(row):
            published, tolerance = ends(row, prefix), ROUNDED
            if counts := row.get(prefix + "deals"):
                found = 100 * interval_of_counts(counts, confidence)
            elif prefix == "ended_":
                found = 100 * np.array(wilson_interval(row["ended_hands"] / row["hands"], row["hands"]))
            elif f"{prefix}moments" in row:
                value, *found = figures_of_moments(row, prefix)
                tolerance = 1e-5 if name in FIVE_PLACES else ROUNDED
                assert row[prefix.rstrip("_") or "value"] == pytest.approx(value, abs=tolerance), row
            elif "parts" in row:
                found = interval_of_parts(row)
            elif row.get("value") == row["low"] == row["high"]:
                continue  # an exact number
            else:
                raise AssertionError(f"nothing determines the interval {prefix}low to {prefix}high of {row}")
            assert published == pytest.approx(found, abs=tolerance), row


def test_intervals_of_the_tournament_can_be_recomputed():
    for row in load(RESULTS, "tournament").rows:
        assert [100 * end for end in row["interval"]] == pytest.approx(interval_of_tournament(row))
        assert interval_of_tournament(row) == pytest.approx(100 * interval_of_counts(row["deals"]))
