"""Figures 6 and 7 of Truong and Neller (2021)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gin_env import cards
from gin_env.estimators.risk import discard_risks
from research.papers.truong2021 import authors_networks, hand_strength_figures
from research.recipes.hand_strength import trainer
from research.reproduce import pages
from research.reproduce.by_id import EXPERIMENTS
from research.reproduce.results import load

RESULTS = Path(__file__).parents[2] / pages.RESULTS


def test_equation_5_gives_the_risks_of_figure_7():
    """Seven of the eight printed scores within 0.02 (half a unit of rounding allowed)."""
    risks = discard_risks(hand_strength_figures.FIGURE_7_ESTIMATE)[0]
    errors = {
        text: abs(risks[cards.card_id(text)] - printed)
        for text, (printed, _) in hand_strength_figures.FIGURE_7.items()
    }
    assert sorted(text for text, error in errors.items() if error > 0.0201) == ["6H"]
    assert risks[cards.card_id("9H")] == pytest.approx(0.53, abs=0.005)
    assert errors["6H"] < 0.025


def test_scores_of_figure_7_are_beside_those_of_the_same_card():
    for row in hand_strength_figures.measure_figure_7(SimpleNamespace(used=str)):
        assert row["risk"] == pytest.approx(row["paper_risk"], abs=0.025), row["card"]


@pytest.mark.parametrize("name", ["truong2021/figure-6", "truong2021/figure-7"])
def test_packaged_networks_still_have_their_published_figures(name):
    rows = EXPERIMENTS[name].measure(SimpleNamespace(used=lambda *bots: None))
    for row, published in zip(rows, load(RESULTS, name).rows, strict=True):
        assert row == pytest.approx(published, abs=1e-3)


def test_figures_2_and_5_describe_scores_and_residuals(monkeypatch):
    """The validation states are predicted at 0 to 39; their scores are 1 more, of the lowest four 1 less."""
    chosen, predicted = np.arange(60)[:19:-1], np.arange(39.0, -1, -1)
    scores = np.full(60, 77.0)
    scores[chosen] = predicted + np.where(predicted < 4, -1, 1)
    module, trainers = hand_strength_figures, SimpleNamespace(validation=chosen)
    monkeypatch.setattr(module, "data_set", lambda run, name: SimpleNamespace(scores=scores))
    monkeypatch.setattr(trainer, "HandStrengthTrainer", lambda states, settings: trainers)
    monkeypatch.setattr(trainer, "predict", lambda network, states, which: predicted[59 - which])
    run = SimpleNamespace(used=str, seed=7, some=list, quick=False)
    (row,) = module.measure_figure_5(run)
    assert (row["states"], row["mean"], row["deviation"]) == (40, 0.8, 0.6)
    assert row["mean_of_lowest_predictions"] == -1
    assert (row["skewness"], row["excess_kurtosis"]) == pytest.approx((-2.6667, 5.1111), abs=1e-3)
    assert sorted(row["histogram"])[-2:] == [4, 36]
    assert row["quantiles"][:8] + row["quantiles"][-8:] == [-3.0] * 8 + [0.3333] * 8
    assert row["groups"] == [[2 * n + 0.5, -3 if n < 2 else 0.3333, 0] for n in range(20)]
    simple, *_ = module.measure_figure_2(run)
    assert (simple["mean"], simple["deviation"]) == (round(scores.mean(), 3), round(scores.std(), 3))
    assert simple["histogram"][np.searchsorted(module.SCORES, 77) - 1] == 20


def test_figure_6_is_a_position_in_which_the_queen_is_legal():
    view = hand_strength_figures.figure_6_view()
    assert int(view.hands[0]) == cards.parse("3C 6C QC 6H 7H AS 5S 7D TD JD TH")
    assert view.masks()[0, cards.card_id("QC")] == 1


def test_values_of_the_authors_network_are_beside_the_printed_values(monkeypatch):
    monkeypatch.setattr(authors_networks, "convert", lambda run, name: name)
    monkeypatch.setattr(hand_strength_figures, "figure_6_discard", str)
    printed = {row["card"]: row["paper_value"] for row in load(RESULTS, "truong2021/figure-7").rows}
    monkeypatch.setattr(hand_strength_figures, "figure_7_values", lambda network: list(printed.values()))
    rows = [row for row in authors_networks.figure_rows(None) if row["of"] == "figure 7"]
    assert {row["card"]: row["paper"] for row in rows} == printed
    assert {row["card"]: row["measured"] for row in rows} == printed
