"""The checks of `make soak`, run at their smallest size."""

from __future__ import annotations

import pytest
import soak
from typer.testing import CliRunner

pytestmark = pytest.mark.compiled


def run(*arguments: str):
    import typer

    app = typer.Typer()
    app.command()(soak.main)
    return CliRunner().invoke(app, arguments)


def test_soak_prints_one_line_per_check_without_failures():
    done = run("--scale", "0.001", "--only", "openspiel,calls,faces,memory")
    assert done.exit_code == 0, done.output
    lines = [line for line in done.output.splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[0] for line in lines[1:]] == ["| openspiel", "| calls", "| faces", "| memory"]


def test_soak_writes_its_table_as_a_result(tmp_path):
    from research.reproduce.registry import find
    from research.reproduce.results import load

    arguments = ("--scale", "0.001", "--only", "calls,programs", "--seed", "3", "--out", str(tmp_path))
    assert run(*arguments).exit_code == 0
    result = load(tmp_path, "long-checks")
    command = "python tests/helpers/soak.py --scale 0.001 --only calls,programs --seed 3"
    assert (result.command, result.seed) == (command, 3)
    assert [(row["check"], row["found"]) for row in result.rows] == [("calls", 0), ("programs", 0)]
    assert "| bots in other programs | 1 matches | 0 |" in find("long-checks").table(result.rows)


def test_finding_makes_the_soak_fail(monkeypatch):
    monkeypatch.setitem(soak.CHECKS, "calls", lambda scale, seed: soak.Row("calls", "1 call", 1, "leaked"))
    done = run("--only", "calls")
    assert done.exit_code == 1
    assert "| calls | 1 call | 1 | 0 | leaked |" in done.output


@pytest.mark.parametrize("arguments", [("--only", "nothing"), ("--scale", "-1")])
def test_unknown_checks_and_sizes_are_refused(arguments):
    assert run(*arguments).exit_code == 2


def test_leak_is_detected(monkeypatch):
    """Views hide the opponent's cards, so the leak is simulated by changing the record."""
    from gin_env.batch import Games

    honest = Games.compact_observations

    def leaking(self, games, player=None, records=None):
        told = honest(self, games, player, records)
        told["stock_left"] += (self.state["private"]["hand"][games, 1 - player] & 1).astype("u1")
        return told

    monkeypatch.setattr(Games, "compact_observations", leaking)
    assert soak.leaks(0.0001, 0, ["simple"]).found > 0


def test_bots_play_random_rules():
    assert soak.play_random_rules(2, 1, ("simple", "tonic")).startswith("2 random rules")


@pytest.mark.long
def test_matches_do_not_depend_on_their_setting():
    row = soak.determinism(0.01, 0)
    assert row.found == 0, row
    assert row.size == "4 settings of 4 matches, 4 hands"


@pytest.mark.long
def test_killed_commands_end_like_uninterrupted_ones():
    row = soak.kills(1, 5)
    assert row.found == 0, row
    assert row.size.startswith("22 kills, ")


def test_bot_that_outlives_its_match_is_found(monkeypatch):
    """A bot that stays referenced keeps its program running."""
    from gin_env import agents

    kept, make = [], agents.make
    monkeypatch.setattr(
        agents, "make", lambda *args, **kwargs: kept.append(make(*args, **kwargs)) or kept[-1]
    )
    assert soak.programs(0.01, 0).found > 0
