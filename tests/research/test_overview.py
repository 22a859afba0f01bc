"""Verdicts counted from the tables of claims, and the declared charts."""

from __future__ import annotations

from research.papers.francis2021.authors_estimators import THEIR_SCORING
from research.papers.overview import PAPERS, counts, verdicts
from research.reproduce.by_id import EXPERIMENTS
from research.reproduce.charts import errors_of


def test_verdicts_are_those_of_the_verdict_column():
    lines = ["| claim | its figure | verdict |", "|---|---|---|"]
    lines += [
        "| 'agrees' | 1 | ✗ differs (1) |",
        "| b | 2 | ✓ agrees |",
        "| c | | not testable |",
        "",
        "(1) A note.",
    ]
    assert verdicts("\n".join(lines)) == ["differs", "agrees", "not testable"]


def test_verdicts_of_francis_are_those_of_the_authors_scoring():
    table = f"| Figure | {THEIR_SCORING} | ours |\n|---|---|---|\n| 2 | ✓ agrees | ✗ differs |\n"
    assert verdicts(table) == ["agrees"]


def test_papers_name_experiments_and_parts_have_all_of_their_results():
    named = [EXPERIMENTS[name] for names in PAPERS.values() for name in names]
    assert {part for one in named for part in one.parts or (one.id,)} == set(EXPERIMENTS["claims"].parts)


def test_no_rows_have_no_verdicts():
    assert all(not any(each.values()) for each in counts([]).values())


def test_errors_are_distances_from_the_ends():
    rows = [{"won": 50.0, "low": 48.0, "high": 53.0}]
    assert errors_of(rows, "won").tolist() == [[2.0], [3.0]]
    assert errors_of([{"won": 50.0}], "won") is None
