"""The options of the commands that make shipped files reach their recipes, which are replaced."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

from gin_env import Rules
from gin_env.agents.hand_strength import bots
from research.__main__ import app
from research.recipes.hand_strength import recipes, selection, trainer
from research.recipes.hand_strength.trainer import HandStrengthSettings, find_schedule
from research.reproduce import results

STRAIGHT = Rules.preset("straight")
RECIPES = {
    "cfr.trainer.train_table": "train cfr out --iterations 11 --seed 12 --abstraction plus --candidates all "
    "--exploration 0.3 --rules straight --checkpoint kept --resume",
    "estimators.by_name.train_estimator": "train estimator nn out --games 11 --seed 12 --rules straight "
    "--opponents simple+tonic",
    "puzzles.find_puzzles": "train puzzles out --count 11 --seed 12",
    "open_value.train_value": "train open-value out --hands 11 --steps 120 --seed 12",
    "search_networks.train_opponents": "train opponents out --games 11 --seed 12",
    "gains.train_gains": "train gains out --blocks 11 --data kept --policy policy-1 --seed 12 --workers 3",
    "hand_strength.data_sets.generate": "hand-strength data simple out --observations 11 --stages all "
    "--discount 0.3 --estimator uniform --seed 12 --rules straight --workers 3",
    "tonic.tune_tonic": "tune tonic --trials 11 --games 12 --final-games 14 --finalists 3 --seed 15 "
    "--opponent tonic --start simple --rules straight --csv kept",
}
"""Function that a command calls -> the command."""
NAMES = {"data": "folder", "csv": "trials_csv", "opponent": "opponents", "final-games": "final_games"}
"""Options whose parameters have other names."""


def command(text: str) -> None:
    done = CliRunner().invoke(app, text.split(), catch_exceptions=False)
    assert done.exit_code == 0, done.output


def recorded(monkeypatch, module, name: str, answer: object) -> list[dict]:
    """Replace a function by one that returns `answer`, and return the list of its arguments by name."""
    signature, found = inspect.signature(getattr(module, name)), []

    def record(*arguments, **options):
        given = signature.bind(*arguments, **options).arguments
        given |= asdict(given.pop("settings")) if "train_table" in name else {}
        if "workers" in given:
            given["workers"] = given["workers"].count
        found.append(given)
        return answer

    monkeypatch.setattr(module, name, record)
    return found


@pytest.mark.parametrize("path", RECIPES)
def test_options_reach_the_recipe(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer: object = SimpleNamespace(save=lambda path: None, finalists=[], verdict=[], head_to_head=None)
    module, _, name = path.rpartition(".")
    answer = {} if name == "find_puzzles" else answer
    calls = recorded(monkeypatch, import_module(f"research.recipes.{module}"), name, answer)
    command(RECIPES[path])
    for option, value in re.findall(r"--(\S+)(?: (?!--)(\S+))?", RECIPES[path]):
        (found,) = (call[NAMES.get(option, option)] for call in calls)
        found = found.text if isinstance(found, Rules) else found
        found = "+".join(found) if isinstance(found, list | tuple) else str(found)
        assert found == (value or "True"), option


def test_options_reach_the_training_of_hand_strength(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    states, trained = "states", SimpleNamespace(network=None, validation_losses=[1.0])
    monkeypatch.setattr(bots, "FORMAT", SimpleNamespace(write=lambda *_: None))
    loaded = recorded(monkeypatch, recipes, "load_or_generate", states)
    best = recorded(monkeypatch, selection, "train_best", (trained, []))
    alone = recorded(monkeypatch, trainer, "train", trained)
    monkeypatch.setattr(selection, "validation_match", lambda trainer: SimpleNamespace(win_rate=0.5))
    described = recorded(monkeypatch, recipes, "provenance", {})
    name = "dual-inception-random-16-augmented-independently"
    options = "--data sets --observations 11 --estimator uniform --data-seed 12 --rules straight --seed 13"
    plan = find_schedule("paper", 6)
    settings = HandStrengthSettings("dual-inception", plan, augmented=True, seed=13, independently=True)
    options += " --schedule paper --epochs 6 --workers 3"
    command(f"train hand-strength {name} out {options} --candidates 4")
    command(f"train hand-strength {name} out {options} --checkpoint kept --resume")
    expected = {"folder": Path("sets"), "data_set": "random-16", "stages": "last", "estimator": "uniform"}
    expected |= {"observations": 11, "seed": 12, "rules": STRAIGHT, "workers": 3}
    assert [{key: call[key] for key in expected} for call in loaded] == [expected, expected]
    assert [call.pop("progress") is not None for call in (*best, *alone)] == [True, True]
    assert best == [{"data": states, "settings": settings, "candidates": 4}]
    assert alone == [{"data": states, "settings": settings, "checkpoint": Path("kept"), "resume": True}]
    (_, more) = ([call[key] for key in ("name", "schedule", "epochs", "candidates")] for call in described)
    assert more == [name, "paper", 6, [selection.Contestant(13, 1.0, 0.5)]]


def test_options_reach_the_run_of_an_experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored = SimpleNamespace(rows=[], save=lambda folder: folder)
    calls = recorded(monkeypatch, results, "measure", stored)
    command("run generation keats2017/pools --seed 0 --authors theirs --work work")
    command("run generation --quick")
    found = [
        (call["experiment"].id, call["run"].seed, call["run"].authors, call["run"].quick) for call in calls
    ]
    asked = [(name, 0, Path("theirs"), False) for name in ("generation", "keats2017/pools")]
    assert found == [*asked, ("generation", 77, None, True)]
    assert [str(call["run"].folder) for call in calls[:2]] == [f"work/{name}/seed-0" for name, *_ in asked]
