"""Coverage of the intervals in real matches."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env import play_match
from gin_env.matches.intervals import win_rate_interval
from research.questions import interval_coverage
from research.reproduce.by_id import find

# --- Coverage -----------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_coverage_is_counted_in_real_matches():
    assert interval_coverage.held("paired", [(0.4, 0.6), (0.1, 0.3), (0.2, 0.5), (0.5, 0.7)], 0.5) == {
        "paired_held": 75.0,
        "paired_half_width": 11.25,
    }
    match = play_match("random-discard", "simple", 200, seed=1, episode="hand")
    row = interval_coverage.coverage_row(match, 5)
    parts = zip(*(np.split(games, 5) for games in match.wins_and_decided), strict=True)
    found = [win_rate_interval(*part, 0.95) for part in parts]
    assert row.items() >= interval_coverage.held("paired", found, match.win_rate).items()
    assert row["independent_half_width"] > row["paired_half_width"]
    other = play_match("simple", "simple", 200, seed=1, episode="hand")
    difference = interval_coverage.coverage_row(match, 5, other)
    assert difference["value"] == pytest.approx(100 * (match.win_rate - other.win_rate), abs=0.001)
    rate, less = find("interval-coverage").table([row, difference]).splitlines()[2:]
    assert rate.startswith("| `random-discard` against `simple` | 40 hands |")
    assert less.startswith("| `random-discard` less `simple`, against `simple` | 40 hands |")
