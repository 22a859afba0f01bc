"""Drift areas of Francis, Just and Neller (2021)."""

from __future__ import annotations

import numpy as np

from gin_env import cards
from research.papers.francis2021 import estimators
from research.papers.francis2021.estimators import drift_areas
from research.reproduce.experiment import Run

HAND = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH"


def held() -> np.ndarray:
    return np.array([cards.parse(HAND) >> card & 1 for card in range(52)], np.float32)


def test_samples_are_positions_not_hands(tmp_path, monkeypatch):
    """Two hands with 3 and 5 positions."""
    sums = [np.array([[6.0, -9.0], [10.0, -15.0]])]
    monkeypatch.setattr(estimators, "sums_by_hand", lambda *_: (sums, np.array([3, 5])))
    monkeypatch.setattr(estimators.estimators, "readings", lambda: ["mine"])
    rows = estimators.measure_drift(Run(0, False, tmp_path))
    assert [(row["samples"], row["value"]) for row in rows] == [(8, 2.0), (8, -3.0)]


def test_printed_drift_area_is_negative_beyond_rank_11():
    """Nine cards rank first, the tenth 42 places too low, weighted by 11 - 10 or 11 - 52."""
    estimate = np.linspace(0.5, 0.4, 52, dtype=np.float32)
    estimate[held() == 1] = 0.9
    estimate[cards.card_id("5H")] = 0
    hands = np.array([cards.parse(HAND)] * 2, np.uint64)
    areas = drift_areas(np.stack([estimate, held()]), hands, np.random.default_rng(0))
    assert areas.tolist() == [[1 * 42, (11 - 52) * 42], [0, 0]]
