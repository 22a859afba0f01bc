"""Tournaments, ratings and bot names with parameters."""

from __future__ import annotations

import csv
import json
import sys

import pytest
from typer.testing import CliRunner

from gin_env import agents, cli, estimators, play_match
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.tournaments import CSV_COLUMNS, draw_heat_map, play_tournament, rate
from gin_env.support import specs

pytestmark = pytest.mark.compiled


BOTS = ("simple", "random", "simple:knock_at=4")


@pytest.fixture(scope="module")
def tournament():
    return play_tournament(BOTS, 60, seed=3)


# --- Names with parameters ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "params"),
    [
        ("simple", "simple", {}),
        ("simple:knock_at=4", "simple", {"knock_at": 4}),
        ("simple:knock_at=variable", "simple", {"knock_at": "variable"}),
        ("tonic: increment = 2.5 , break_pairs=True", "tonic", {"increment": 2.5, "break_pairs": True}),
        ("tonic:keep_pairs_below=21+12+0", "tonic", {"keep_pairs_below": (21, 12, 0)}),
        (
            "bot:factors=meld+,none=+,rate=1e+3,low=-1",
            "bot",
            {"factors": ("meld",), "none": (), "rate": 1000.0, "low": -1},
        ),
        ("runs/a.zip", "runs/a.zip", {}),
        ("C:\\runs\\a.zip", "C:\\runs\\a.zip", {}),
        ("C:\\runs\\a.zip:deterministic=false", "C:\\runs\\a.zip", {"deterministic": False}),
    ],
)
def test_names_with_parameters_are_read(text, name, params):
    assert specs.parse(text) == (name, params)


@pytest.mark.parametrize("value", [4, 2.5, True, "variable", None, (21, 12), (1,), (), -3])
def test_parameter_values_round_trip(value):
    assert specs.parse_value(specs.format_value(value)) == value


def test_own_objects_are_spelled_by_their_names(tmp_path):
    """A table of results must not show where an object lies in memory, nor half of a path."""
    own = estimators.make("uniform")
    own.name = "mine"
    assert agents.make("safe-discard", estimator=own).name == "safe-discard:estimator=mine"
    assert specs.format_value(tmp_path / "a" / "table.npz") == str(tmp_path / "a" / "table.npz")


@pytest.mark.parametrize(
    ("registry", "name"), [(registry, name) for registry in (agents, estimators) for name in registry.names()]
)
def test_name_makes_the_same_bot_or_estimator(registry, name):
    parameters = registry.parameters(name) or {}
    given = ",".join(f"{key}={specs.format_value(value)}" for key, value in parameters.items())
    for text in (name, f"{name}:{given}") if given else (name,):
        assert registry.make(registry.make(text).name).name == registry.make(text).name == text


# --- Tournaments --------------------------------------------------------------------------------------


def test_pair_result_is_independent_of_other_bots(tournament):
    alone = play_tournament(BOTS[1:], 60, seed=3)
    assert alone.matches == tournament.matches[2:]


def test_seeds_reproduce_and_differ(tournament):
    assert play_tournament(BOTS, 60, seed=3) == tournament
    assert play_tournament(BOTS, 60, seed=4).matches != tournament.matches


def test_two_bots_compared_against_a_third(tournament):
    first = play_match(BOTS[0], BOTS[1], 60, seed=3)
    second = play_match(BOTS[2], BOTS[1], 60, seed=3)
    expected = win_rate_difference(first, second)
    found = tournament.difference(BOTS[0], BOTS[2], BOTS[1])
    assert (found.value, found.bots) == (pytest.approx(expected.value, abs=0.1), expected.bots)
    match = tournament.match(BOTS[1], BOTS[2])
    assert found.value == pytest.approx(first.win_rate - (1 - match.win_rate))
    assert found.interval == win_rate_difference(first, match.swapped()).interval


def test_confidence_applies_to_every_interval(tournament):
    narrow = play_tournament(BOTS, 60, seed=3, confidence=0.5)
    assert narrow.matches == tournament.matches
    assert narrow.intervals[0][0, 2] == narrow.matches[1].confidence_interval(0.5)[0]
    assert narrow.intervals[0][0, 2] > tournament.intervals[0][0, 2]
    assert narrow.difference(BOTS[0], BOTS[2], BOTS[1]).confidence == 0.5
    assert "50 % Wilson interval" in str(narrow)
    assert "(50 % interval" in narrow.matches[1].summary(0.5)


# --- Ratings ------------------------------------------------------------------------------------------


def test_missing_openskill_omits_only_the_ratings(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    with pytest.raises(ImportError, match=r"gin-env\[plots\]"):
        rate(2, [(0, 1, 1, 0)])
    result = play_tournament(["random", "simple"], 2)
    assert result.ratings is None
    assert result.standings() == [1, 0]
    assert "install openskill" in str(result)
    assert result.as_dict()["ratings"] is None
    draw_heat_map(result, tmp_path / "table.png")


# --- Files --------------------------------------------------------------------------------------------


def test_command_line_writes_json_csv_and_a_picture(tmp_path, tournament):
    files = [tmp_path / name for name in ("table.json", "table.csv", "table.png")]
    options = [
        text
        for option, file in zip(("json", "csv", "plot"), files, strict=True)
        for text in (f"--{option}", file)
    ]
    command = ["tournament", *BOTS, "--games", "60", "--seed", "3", *map(str, options)]
    done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 0, done.output
    assert str(tournament) in done.stdout
    saved = json.loads(files[0].read_text())
    assert saved == json.loads(json.dumps(tournament.as_dict()))
    assert saved["win_rates"][0][0] is None
    rows = list(csv.DictReader(files[1].read_text().splitlines()))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert [(row["a"], row["b"]) for row in rows] == [match.bots for match in tournament.matches]
    assert float(rows[1]["win_rate"]) == tournament.matches[1].win_rate
    assert files[2].read_bytes().startswith(b"\x89PNG")
