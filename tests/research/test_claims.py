"""The verdict on a published claim, checked for every branch."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gin_env.matches.matches import play_match
from research.papers.claims import (
    TABLES,
    PaperClaim,
    ensemble_slowdown,
    lead_difference,
    turns_of_hands,
    uncertain_likelihoods,
    undercuts_difference,
)
from research.papers.truong2021.hand_strength_claims import (
    TABLE,
    authors_lines,
    claims_table,
    compare,
    convergence,
    data_lines,
    predicted,
    shape_of,
)
from research.papers.truong2021.hand_strength_figures import SCORES
from research.papers.truong2021.paper import COMPARISONS, Comparison
from research.reproduce.experiment import Run
from research.reproduce.pages import PAGES
from research.reproduce.verdicts import MARGIN, Claim, margin_for

ROOT = Path(__file__).parents[2]
ROUNDED = Claim(67.5, 68.5)
"""Values from 66 to 70 are acceptable with the margin of 1.5."""


@pytest.mark.parametrize(
    ("claim", "low", "high", "verdict"),
    [
        # Figure: values from 66 to 70 are acceptable.
        (ROUNDED, 67.6, 68.4, "agrees"),
        (ROUNDED, 66.1, 69.9, "agrees"),
        (ROUNDED, 69.0, 69.9, "agrees"),
        (ROUNDED, 69.0, 70.1, "undecided"),
        (ROUNDED, 65.9, 67.0, "undecided"),
        (ROUNDED, 60.0, 75.0, "undecided"),
        (ROUNDED, 70.1, 71.0, "differs"),
        (ROUNDED, 64.0, 65.9, "differs"),
        # Bound: at least 66.5, or at most -8.5.
        (Claim(68, math.inf), 66.6, 67.4, "agrees"),
        (Claim(68, math.inf), 80.0, 81.0, "agrees"),
        (Claim(68, math.inf), 66.4, 67.4, "undecided"),
        (Claim(68, math.inf), 65.0, 66.4, "differs"),
        (Claim(-math.inf, -10), -9.5, -8.6, "agrees"),
        (Claim(-math.inf, -10), -9.5, -8.4, "undecided"),
        (Claim(-math.inf, -10), -1.2, 0.6, "differs"),
        # Order: no margin.
        (Claim(50, math.inf, 0), 50.1, 51.0, "agrees"),
        (Claim(50, math.inf, 0), 49.9, 51.0, "undecided"),
        (Claim(50, math.inf, 0), 48.7, 49.9, "differs"),
        (Claim(-math.inf, 0, 0), -0.4, -0.1, "agrees"),
        (Claim(-math.inf, 0, 0), -0.4, 0.1, "undecided"),
        (Claim(-math.inf, 0, 0), 0.1, 0.3, "differs"),
    ],
)
def test_interval_determines_the_verdict(claim, low, high, verdict):
    assert claim.verdict((low + high) / 2, (low, high)) == verdict


@pytest.mark.parametrize(
    ("claim", "low", "high"),
    [
        (ROUNDED, 68, 70),
        (ROUNDED, 66, 68),
        (ROUNDED, 70, 72),
        (ROUNDED, 64, 66),
        (Claim(0, math.inf, 0), 0, 0),
    ],
)
def test_interval_touching_the_limit_is_undecided(claim, low, high):
    assert claim.verdict((low + high) / 2, (low, high)) == "undecided"


def test_wider_interval_never_decides_a_claim():
    """Widening an interval around the same value can only make the verdict undecided."""
    for value in range(60, 77):
        verdicts = [ROUNDED.verdict(value, (value - half, value + half)) for half in (0.01, 0.5, 1.2, 3, 9)]
        decided = verdicts[: verdicts.index("undecided")] if "undecided" in verdicts else verdicts
        assert len(set(decided)) <= 1
        assert set(verdicts[len(decided) :]) <= {"undecided"}
        assert verdicts[-1] == "undecided"


def test_published_error_widens_the_interval_in_quadrature():
    exact, uncertain = Claim(70, 70), Claim(70, 70, error=1.2)
    assert exact.verdict(70.0, (69.1, 70.1)) == "agrees"
    assert uncertain.verdict(70.0, (69.2, 70.1)) == "agrees"  # 70 - 1.44, hypot(0.8, 1.2)
    assert uncertain.verdict(70.0, (69.0, 70.1)) == "undecided"  # 70 - 1.56, hypot(1.0, 1.2)
    assert uncertain.verdict(70.0, (69.9, 71.0)) == "undecided"  # 70 + 1.56
    assert exact.verdict(72.5, (72.0, 73.0)) == "differs"
    assert uncertain.verdict(72.5, (72.0, 73.0)) == "undecided"  # 72.5 - 1.3
    assert uncertain.verdict(73.0, (72.5, 73.5)) == "differs"  # 73.0 - 1.3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 1), "not 2 to 1"),
        ((math.nan, 1), "not nan to 1"),
        ((0, 1, -1), "margin must be a number from 0 on, not -1"),
        ((0, 1, math.inf), "margin must be a number from 0 on, not inf"),
        ((0, 1, 1, math.nan), "error must be a number from 0 on, not nan"),
    ],
)
def test_invalid_claim_raises(arguments, message):
    with pytest.raises(ValueError, match=message):
        Claim(*arguments)


@pytest.mark.parametrize("value", [66, 71, math.nan])
def test_value_outside_its_interval_raises(value):
    with pytest.raises(ValueError, match="outside its interval"):
        ROUNDED.verdict(value, (67, 70))


@pytest.mark.parametrize(
    ("low", "high", "neutral", "margin"),
    [
        (68, math.inf, 50, 1.5),
        (53.85, 53.95, 50, 3.85 / 4),
        (3.5, 4.5, 0, 3.5 / 4),
        (-math.inf, -10, 0, 1.5),
        (-math.inf, 45, 50, 1.25),
        (0, 0, 0, 1.5),
        (-math.inf, 50, 50, 1.5),
    ],
)
def test_margin_is_a_quarter_of_the_claimed_effect(low, high, neutral, margin):
    assert margin_for(low, high, neutral) == pytest.approx(margin)


def test_fitted_claim_never_agrees():
    row = {"value": 68.4, "low": 68.2, "high": 68.6}
    arguments = ("a claim", ("tonic-paper", "simple"), "68", 67.5, 68.5)
    assert PaperClaim(*arguments).verdict(row) == "agrees"
    assert PaperClaim(*arguments, fitted=True).verdict(row) == "fitted"
    assert (
        PaperClaim(*arguments, fitted=True).verdict(row | {"value": 60, "low": 59, "high": 61}) == "differs"
    )
    assert PaperClaim(*arguments, testable=False).verdict(row) == "not testable"
    assert PaperClaim(*arguments).verdict(row | {"quick": True}) == ""


@pytest.mark.parametrize("unit", ["times", "turns", "undercuts", "lead"])
def test_only_win_rates_are_compared_with_half(unit):
    """The margin of a ratio of 2 is a quarter of 2, not a quarter of 48."""
    claim = PaperClaim("", ("a", "b"), "", 2, 2, unit=unit)
    assert claim.verdict({"value": 2.6, "low": 2.55, "high": 2.65}) == "differs"
    assert claim.verdict({"value": 2.4, "low": 2.35, "high": 2.45}) == "agrees"


def test_undercuts_difference_compares_shares_of_knocks():
    one, other = (play_match("late-knock", knocker, 40, 0) for knocker in ("simple", "simple:knock_at=4"))
    value, (low, high) = undercuts_difference(one, other)
    shares = [match.undercuts[0] / match.knocks[1] for match in (one, other)]
    assert value == pytest.approx(shares[0] - shares[1])
    assert low < value < high
    with pytest.raises(ValueError, match="has not knocked"):
        undercuts_difference(one, replace(other, knocks=(1, 0)))


def test_table_claims_are_measured_without_matches(tmp_path):
    run = Run(0, True, tmp_path)
    assert TABLES["values"]("fitness-cfr-paper", run) == (19_793, 0)
    assert 0 < TABLES["visited"]("fitness-cfr-paper", run)[0] < 1
    shares, hands = uncertain_likelihoods("tonic-paper", run)
    assert shares.shape == (10,)
    assert 0 < shares.min() < shares.max() < 1
    assert hands == 400


def test_slowdown_of_the_ensemble_is_measured_in_rounds(tmp_path):
    run = Run(0, True, tmp_path)
    ratios, hands = ensemble_slowdown("safe-discard", run)
    assert ratios.shape == (2,)
    assert (ratios > 0).all()
    assert hands == 40
    assert run.estimators == ["ensemble:switching=paper", "bayes", "nn", "shankar-cnn"]


def test_lead_difference_combines_both_intervals():
    match, one, other = (
        play_match(*bots, 40, 0)
        for bots in (("simple", "random"), ("simple", "random-discard"), ("random-discard", "simple"))
    )
    value, (low, high) = lead_difference(match, one, other)
    leads = [2 * each.win_rate - 1 for each in (match, one, other)]
    assert value == pytest.approx(leads[0] - (leads[1] - leads[2]))
    assert low <= value <= high


def test_shape_of_scores_follows_from_their_histogram():
    counts = np.random.default_rng(0).integers(0, 50, len(SCORES) - 1)
    scores = np.repeat((SCORES[:-1] + SCORES[1:]) / 2, counts)
    assert shape_of(counts) == pytest.approx((stats.skew(scores), stats.kurtosis(scores)))


@pytest.mark.parametrize(("deviations", "verdict"), [((9, 8, 7), "agrees"), ((7, 8, 9), "differs")])
def test_deviation_of_scores_falls_with_more_samples(deviations, verdict):
    histogram = np.bincount([0, 1, 1, 2], minlength=len(SCORES) - 1).tolist()
    rows = [
        {"mean": mean, "deviation": deviation, "histogram": histogram}
        for mean, deviation in enumerate(deviations)
    ]
    assert data_lines(rows)[0][3] == verdict


@pytest.mark.parametrize(
    ("leads", "alike", "verdict"),
    [
        ((9, 9), False, "agrees"),
        ((9, 0), False, "undecided"),
        ((9, -9), False, "differs"),
        ((0, 0), True, "agrees"),
        ((0, 9), True, "differs"),
        ((-9, 0), True, "differs"),
    ],
)
def test_kinds_of_networks_are_compared_by_a_rank_test(leads, alike, verdict):
    """Of ten networks each, a lead of 9 is significant."""
    pairs, won = [("a", "b"), ("c", "d")], {}
    for (better, worse), lead in zip(pairs, leads, strict=True):
        won |= {better: (np.arange(10) + lead).tolist(), worse: list(range(10))}
    medians = ", ".join(f"{4.5 + lead:.1f} / 4.5" for lead in leads)
    assert compare(Comparison("a sentence", pairs, alike), won) == (medians, verdict)


def test_comparisons_show_what_both_networks_win_in_the_paper():
    (better, worse), *_ = next(one for one in COMPARISONS if len(one.pairs) == 1).pairs
    rows = [
        {"of": "truong2021/table-1", "network": name, "won": won, "validation_loss": 1.0}
        for name, won in ((better, 51.0), (better, 53.0), (worse, 41.0))
    ]
    assert f"| {TABLE[better][2]} / {TABLE[worse][2]} | 52.0 / 41.0 |" in claims_table(rows)


def test_rows_of_table_1_are_compared_with_prediction_intervals():
    spread = np.linspace(-3, 3, 10)
    won = {name: (figures[2] + spread).tolist() for name, figures in TABLE.items()}
    assert predicted(won)[2:] == ("14 of 14 (p = 1.000)", "agrees")
    half = stats.t.ppf(0.975, 9) * np.std(spread, ddof=1) * math.sqrt(1.1)
    for number, (name, figures) in enumerate(list(TABLE.items())[:3]):
        won[name] = (figures[2] + spread + (half + 0.1) * (-1) ** number).tolist()
    assert predicted(won)[2:] == ("11 of 14 (p = 0.030)", "differs")
    won[name] = (figures[2] + spread + half - 0.1).tolist()
    assert predicted(won)[2:] == ("12 of 14 (p = 0.153)", "agrees")


def test_convergence_needs_flat_losses_that_end_at_the_lowest():
    def row(*losses: float) -> dict:
        return {"after": [1, 64, 80, 96], "validation_losses": losses}

    good = [row(120, 100.9, 100.5, 100), row(120, 99.1, 100, 100)]
    assert convergence(good)[2:] == ("2 of 2", "agrees")
    assert convergence([*good, row(120, 102, 100, 100)])[2:] == ("2 of 3", "differs")
    assert convergence([*good, row(90, 100, 100, 100)])[2:] == ("2 of 3", "differs")


def test_methods_page_states_the_number_of_verdicts():
    verdict = re.compile(
        r"\| *(?:[✓✗?–] )?(?:agrees|differs|undecided|fitted|not testable)(?: \([^)]*\))? *(?=\|)"
    )
    number = sum(len(verdict.findall(path.read_text())) for path in (ROOT / PAGES).glob("*.md"))
    assert f"about {round(number, -1)} verdicts" in (ROOT / PAGES / "methods.md").read_text(), number


def test_network_whose_own_log_ends_elsewhere_is_not_testable():
    name = "mlp-i-random-16"
    paper = TABLE[name][2]
    rows = [{"network": name, "won": paper, "low": paper - 0.7, "high": paper + 0.7}]
    printed = {"network": name, "folder_loss": TABLE[name][1] + 1}
    (line,) = authors_lines(rows, [printed])
    assert line[3] == "agrees"
    (line,) = authors_lines(rows, [printed | {"folder_loss": 133.58}])
    assert line[3] == "not testable"
    assert line[0].endswith("`mlp-i-random-16`, whose log ends at a loss of 133.6, not 150.0")


def test_intervals_of_table_1_are_widened_from_90_to_95_per_cent():
    name = "mlp-i-random-16"
    paper, error = TABLE[name][2:]
    for more, half, verdict in ((1.1, 0, "undecided"), (1.25, 0, "differs"), (4, 2.7, "undecided")):
        won = paper + 0.05 + MARGIN + more * error
        rows = [{"network": name, "won": won, "low": won - half, "high": won + half}]
        assert authors_lines(rows, [])[0][3] == verdict


def test_turns_are_those_of_hands_with_their_own_decks():
    """Hands are played in batches of 2048. Those of Simple last 12.5 turns of both players."""
    turns = turns_of_hands("simple", 2100, 3)
    assert turns.min() > 0
    assert turns.mean() == pytest.approx(12.5, abs=0.5)
    assert not np.array_equal(turns[2048:], turns[:52])
