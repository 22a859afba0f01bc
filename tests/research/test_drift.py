"""Drift areas of Francis, Just and Neller (2021)."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env import cards
from gin_env.training.estimators.evaluation import Evaluation
from gin_env.training.estimators.metrics import METRICS
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


def test_rows_of_metrics_keep_the_evaluation(tmp_path, monkeypatch):
    """Figures are drawn from the rows: they give back the means and their errors."""
    values, turns = np.random.default_rng(2).random((2, 8, len(METRICS))), [1] * 5 + [2] * 3
    counts, sums, squares = np.array([0, 5, 3]), *np.zeros((2, 2, 3, len(METRICS)))
    np.add.at(sums.swapaxes(0, 1), turns, values.swapaxes(0, 1))
    np.add.at(squares.swapaxes(0, 1), turns, values.swapaxes(0, 1) ** 2)
    about = np.ones((2, 20, 3)), np.array([4e-6, 8e-6])
    result = Evaluation(("a", "b"), "simple", 4, 0, counts, sums, squares, *about)
    monkeypatch.setattr(estimators, "evaluate_estimators", lambda *_: result)
    rows = estimators.measure_metrics(Run(0, False, tmp_path))
    again = estimators.evaluation_of(rows)
    for column, metric in enumerate(METRICS):
        whole, of_turn = values[..., column], values[:, 5:, column]
        assert [row[metric] for row in rows[:2]] == pytest.approx(whole.mean(axis=1), abs=1e-6)
        assert again.mean(metric)[:, 2] == pytest.approx(of_turn.mean(axis=1), rel=1e-4)
        errors = of_turn.std(axis=1, ddof=1) / np.sqrt(3)
        assert again.standard_error(metric)[:, 2] == pytest.approx(errors, rel=1e-3)
    assert [(row["samples"], row["microseconds"]) for row in rows[:2]] == [(8, 0.5), (8, 1)]


def test_sums_are_of_the_samples_of_each_hand(tmp_path, monkeypatch):
    along = [(10, [0, 1], [[1, 2], [3, 4]], None), (100, [0, 0], [[5, 6], [7, 8]], None)]
    monkeypatch.setattr(estimators, "estimate_along", lambda *_: along)
    about = Run(4, False, tmp_path), ["uniform", "bayes"], "simple", 2
    sums, counts = estimators.sums_by_hand(*about, lambda each, times: times * np.array(each)[:, None], 1)
    assert counts.tolist() == [3, 1]
    assert sums[..., 0].tolist() == [[1110, 20], [1530, 40]]


def test_reductions_and_readings_are_of_their_own_metric(tmp_path, monkeypatch):
    """Metric m of the n-th estimator is 10 n + m; hands count 1 to 3 times."""
    metrics, weights = list(METRICS), np.array([1.0, 2.0, 3.0])
    values = (10 * np.arange(1, 6)[:, None, None] + np.arange(len(metrics))) * weights[:, None]
    monkeypatch.setattr(estimators, "sums_by_hand", lambda _, names, *about: (values[: len(names)], weights))
    run, loss = Run(0, False, tmp_path), metrics.index("log_loss")
    for row in estimators.measure_readings(run):
        place = 1 + estimators.READINGS.index(row["estimator"])
        assert (row["value"], row["samples"]) == (10 * place + metrics.index(row["metric"]), 6)
    found = [row["value"] for row in estimators.measure_stronger(run)]
    assert found == [round(-1000 * place / (10 + loss), 6) for place in range(1, 5)] * 3
