"""Figures 6 and 7 of Truong and Neller (2021)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gin_env import cards
from gin_env.estimators.risk import discard_risks
from research.papers.truong2021 import hand_strength_figures


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


def test_figure_6_is_a_position_in_which_the_queen_is_legal():
    view = hand_strength_figures.figure_6_view()
    assert int(view.hands[0]) == cards.parse("3C 6C QC 6H 7H AS 5S 7D TD JD TH")
    assert view.masks()[0, cards.card_id("QC")] == 1
