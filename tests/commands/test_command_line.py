"""Behaviour shared by all commands: version, completion, JSON output, help and errors."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from ppo_runs import QUICK
from python_programs import run_python
from typer.testing import CliRunner

from gin_env import Rules, __version__, agents, estimators
from gin_env.cli import app, main
from gin_env.commands.lists import show


def run(*arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    return run_python("-m", "gin_env", *arguments, status=status)


def test_version_is_printed():
    assert CliRunner().invoke(app, ["--version"]).output == f"gin-env {__version__}\n"


def test_json_goes_to_standard_output_alone():
    done = run("match", "simple", "random", "--games", "2", "--seed", "3", "--json", "-")
    assert json.loads(done.stdout)["bots"] == ["simple", "random"]
    assert "simple won" in done.stderr


def test_bots_are_listed_as_json():
    listed = json.loads(run("bots", "--json", "-").stdout)
    names = [one["name"] for one in listed]
    assert names == [*agents.names(), *agents.paper_names()]
    assert listed[1]["parameters"] == {"knock_at": 10}


def test_error_is_printed_without_a_progress_bar():
    done = run("match", "simple", "nobody", status=2)
    assert done.stderr.startswith("gin-rummy: unknown bot 'nobody'")


def status_of(monkeypatch, *arguments: str) -> int:
    """Run the command line in this process and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["gin-rummy", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("match simple", "missing argument 'b' (see gin-rummy match --help)"),
        ("match simple tonic --bogus", "no such option: --bogus (see gin-rummy match --help)"),
        ("match simple tonic --workers 0", "workers must be"),
        ("match simple random --games 7", "even number"),
        ("match simple nowhere.zip", "there is no file nowhere.zip"),
        ("match simple random --deals", "it needs --json"),
        ("match simple random --confidence 95", "between 0 and 1"),
        ("tournament simple", "at least two bots"),
        ("tournament --csv x --json ./x", "is named for two outputs"),
        ("match simple tonic --workers many", "must be a number or `all`, not 'many'"),
        ("exploit simple --by luck", "'luck' is not one of 'ppo', 'search'"),
        ("matsh", "no such command 'matsh'"),
    ],
)
def test_mistake_in_a_command_looks_like_one_in_a_value(command, message, monkeypatch, capsys):
    assert status_of(monkeypatch, *command.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("gin-rummy: ")
    assert message in line


@pytest.mark.parametrize("status", [0, 130])
def test_process_ends_with_the_status_of_its_command(status, monkeypatch):
    def interrupted(*_, **__) -> None:
        raise typer.Exit(status)

    monkeypatch.setattr("gin_env.matches.matches.play_match", interrupted)
    assert status_of(monkeypatch, "match", "simple", "random", "--games", "2") == status


def test_question_without_an_answer_ends_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert status_of(monkeypatch, "puzzle") == 1
    assert capsys.readouterr().err == "gin-rummy: aborted\n"


def test_command_without_arguments_prints_the_help_once(monkeypatch, capsys):
    assert status_of(monkeypatch) == 2
    assert capsys.readouterr().out.count("Usage:") == 1


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["", "--record", "--json"])
def test_full_disk_is_named(option):
    place, output = ("/dev/full", [option, "/dev/full"]) if option else ("the standard output", [])
    command = [*f"{sys.executable} -m gin_env match simple random --games 2 --hands".split(), *output]
    with open("/dev/null" if option == "--json" else "/dev/full", "w") as written:
        done = subprocess.run(command, stdout=written, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"gin-rummy: No space left on device: {place}"


def test_long_name_is_not_repeated_whole():
    assert len(run("match", "x" * 5000, "simple", status=2).stderr) < 300


def walk(command: typer.core.TyperCommand, path: str = "gin-rummy"):
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from walk(inner, f"{path} {name}")


COMMANDS = dict(walk(typer.main.get_command(app)))


@pytest.mark.long
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_empty(tmp_path, closed):
    """Services and cron jobs start like this."""
    command = f"{sys.executable} -m gin_env match simple random --games 2"
    done = subprocess.run(f"{command} --json match.json {closed}", shell=True, cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads((tmp_path / "match.json").read_text())["bots"] == ["simple", "random"]


@pytest.mark.long
@pytest.mark.parametrize(("words", "option"), [((), "--ent-coef"), (("generations",), "--settings.hands")])
def test_help_of_train_lists_the_settings(words, option):
    pytest.importorskip("tyro")
    assert option in run("train", *words, "--help").stdout


@pytest.mark.long
def test_train_command_writes_a_policy_and_names_itself(tmp_path):
    pytest.importorskip("tyro")
    folder = tmp_path / "run"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
    done = run("train", *options, f"--run={folder}")
    assert f"next: gin-rummy benchmark {folder}/policy.safetensors" in done.stdout
    assert b"gin-rummy train --" in (folder / "policy.safetensors").read_bytes(), "the command that made it"
    assert agents.make(str(folder / "policy.safetensors")).name == "run"
    run("train", f"--run={folder}", "--resume", "--total-timesteps=2000")
    assert "is not empty" in run("train", f"--run={folder}", "--total-timesteps=2000", status=2).stderr


def test_list_of_bots_shows_stored_results_and_what_is_missing(capsys):
    row = {"summary": "Plays", "parameters": {"cards": (1, 2)}, "missing": None}
    scored = {"score": 61.26, "microseconds": 0.254}
    show([{"name": "best", **row, **scored}, {"name": "newest", **row, "missing": "needs torch"}])
    assert capsys.readouterr().out.splitlines() == [
        "        score      µs",
        "best     61.3    0.25  Plays",
        "newest                 Plays (needs torch)",
    ]
    show([{"name": "plain", **row}], with_parameters=True)
    assert capsys.readouterr().out.splitlines() == ["plain  Plays", "         cards=1+2"]


@pytest.mark.long
def test_lists_show_one_line_and_parameters_on_demand():
    header, *lines = run("bots").stdout.splitlines()
    assert header.split() == ["score", "µs"]
    assert [line.split()[0] for line in lines] == [*agents.names(), *agents.paper_names()]
    assert "  knock_at=10" in run("bots", "simple").stdout
    assert [line.split()[0] for line in run("rules").stdout.splitlines()] == list(Rules.presets())
    assert "oklahoma           true *" in run("rules", "oklahoma").stdout
    assert "opening_offer      false *" in run("rules", "opening_offer=false").stdout
    assert [line.split()[0] for line in run("estimators").stdout.splitlines()] == estimators.names()
