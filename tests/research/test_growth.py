"""The growth of strength with the decisions learned, from runs whose strength is known."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from research.questions.learning import growth_fit, growth_table


def run(budget, won=None):
    """Return a row of `ppo/growth`; without `won`, the logit grows by 0.2 for ten times the decisions."""
    if won is None:
        won = 100 / (1 + np.exp(-0.2 * (np.log10(budget) - 8)))
    match = {"opponent": "simple", "won": won, "low": won - 1, "high": won + 1}
    return {"budget": budget, "decisions": budget, "seed": 1} | match


LONG = [run(9_000_000), run(27_000_000), run(81_000_000)]


@pytest.mark.parametrize("others", [[], [run(1_000_000, 10.0)], [run(1_000_000_000, 90.0)]])
def test_growth_is_expected_from_long_runs_that_end_before_the_target(others):
    fit = growth_fit(others + LONG, "simple")
    assert fit(1e8) == pytest.approx(50)
    assert fit(1e9) == pytest.approx(100 / (1 + np.exp(-0.2)))


def test_table_shows_what_was_expected_of_the_target_below_what_it_won():
    lines = growth_table([*LONG, run(1_000_000_000, 90.0)]).splitlines()
    assert lines[-2:] == [
        "| 1,000 million | 90.0 (89.0 to 91.0) |",
        "| 1,000 million, expected | 55.0 |",
    ]


def test_nothing_is_expected_from_two_budgets():
    rows = [*LONG[:2], run(1_000_000), run(1_000_000_000)]
    assert growth_fit(rows, "simple") is None
    assert "expected" not in growth_table(rows)


def test_only_opponents_of_three_budgets_have_an_expectation():
    rows = [*LONG, *(row | {"opponent": "tonic"} for row in LONG[:2])]
    assert growth_table(rows).splitlines()[-1] == "| 1,000 million, expected | 55.0 |  |"
