"""The example that answers paper 000's open questions, at the smallest size."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gin_env import agents
from gin_env.agents.cfr.abstractions import PAPER, decision_slices
from gin_env.agents.cfr.table import packaged_table

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def example():
    path = Path(__file__).parent.parent / "examples" / "open_questions.py"
    spec = importlib.util.spec_from_file_location("open_questions", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["open_questions"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def run(example, folder: Path, *arguments: str) -> tuple[str, list[dict[str, str]]]:
    """What the command prints, and the lines of its one CSV file."""
    done = CliRunner().invoke(example.app, [*arguments, "--folder", str(folder)])
    assert done.exit_code == 0, done.output
    (table,) = folder.glob("*.csv")
    return done.output, list(csv.DictReader(table.read_text().splitlines()))


def test_checkpoints_grow(example):
    assert example.growing(1_000_000) == [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    assert example.growing(220_000) == [300, 1000, 3000, 10_000, 30_000, 100_000, 220_000]
    assert example.growing(100)[-2:] == [30, 100]


def test_training_plays_every_checkpoint(example, tmp_path):
    printed, rows = run(
        example, tmp_path / "new", "training", "--quick", "--games", "2", "--opponent", "simple"
    )
    assert [row["x"] for row in rows if row["bot"] == "cfr"] == [str(x) for x in example.growing(100)]
    assert {row["curve"] for row in rows} == {"cfr (paper) against simple", "cfr-plus (plus) against simple"}
    assert all(row["curve"] in printed for row in rows)
    assert (tmp_path / "new" / "cfr_training.png").read_bytes().startswith(b"\x89PNG")


def test_early_knock_plays_both_readings_and_the_opponents_threshold(example, tmp_path):
    _, rows = run(example, tmp_path, "early-knock", "--games", "2", "--thresholds", "0,7")
    assert len(rows) == 10
    assert {(row["bot"], row["opponent"]) for row in rows if row["x"] == "7"} == {
        ("fitness-cfr:early_knock=7", "fitness-cfr"),
        ("fitness-cfr:early_knock=7", "simple"),
        ("fitness-cfr(knocks at 7 only)", "fitness-cfr"),
        ("fitness-cfr(knocks at 7 only)", "simple"),
        ("fitness-cfr", "simple:knock_at=7"),
    }
    assert (tmp_path / "early_knock.png").read_bytes().startswith(b"\x89PNG")


def test_a_table_without_knocks_changes_nothing_else(example):
    table = packaged_table("paper")
    knocks = decision_slices(PAPER)[2]
    silent = example.without_knocks(table).strategy
    assert not silent[knocks].any()
    assert np.array_equal(silent[: knocks.start], table.strategy[: knocks.start])
    assert table.strategy[knocks].any()


def test_stages_compares_every_mapping_with_the_hard_stages(example, tmp_path):
    printed, rows = run(example, tmp_path, "stages", "--games", "2", "--bots", "cfr")
    assert [(row["bot"], row["opponent"]) for row in rows] == [
        ("cfr:stages=hard", "simple"),
        ("cfr:stages=linear", "cfr"),
        ("cfr:stages=linear", "simple"),
        ("cfr:stages=harmonic", "cfr"),
        ("cfr:stages=harmonic", "simple"),
    ]
    assert "| `cfr` | hard |" in printed
    assert "| 0.00 |" in printed


def test_compared_counts_the_decisions_that_differ(example):
    compared = example.Compared("simple", "simple:knock_at=0")
    example.play_match(compared, "simple", 20, 1)
    assert 0 < compared.different < compared.decisions / 5
    same = example.Compared("simple", agents.make("simple"))
    example.play_match(same, "simple", 20, 1)
    assert same.different == 0 < same.decisions
