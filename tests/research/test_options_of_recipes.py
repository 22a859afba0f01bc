"""The options of the commands that make shipped files reach their recipes, which are replaced."""

from __future__ import annotations

import inspect
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
from research.reproduce.by_id import find

STRAIGHT = Rules.preset("straight")
RECIPES = {
    "train cfr out --iterations 11 --seed 12 --abstraction plus --candidates all --exploration 0.3 "
    "--rules straight --checkpoint kept --resume": (
        "cfr.trainer.train_table",
        {"iterations": 11, "seed": 12, "abstraction": "plus", "candidates": "all", "exploration": 0.3}
        | {"rules": STRAIGHT, "checkpoint": Path("kept"), "resume": True},
    ),
    "train estimator nn out --games 11 --seed 12 --opponents tonic+policy --rules straight": (
        "estimators.by_name.train_estimator",
        {"name": "nn", "games": 11, "seed": 12, "opponents": ["tonic", "policy"], "rules": STRAIGHT},
    ),
    "train puzzles out --count 11 --seed 12": ("puzzles.find_puzzles", {"count": 11, "seed": 12}),
    "train open-value out --hands 11 --steps 120 --seed 12": (
        "open_value.train_value",
        {"hands": 11, "steps": 120, "seed": 12},
    ),
    "train opponents out --games 11 --seed 12": (
        "search_networks.train_opponents",
        {"games": 11, "seed": 12},
    ),
    "train gains out --blocks 11 --data kept --policy policy-1 --seed 12 --workers 3": (
        "gains.train_gains",
        {"folder": Path("kept"), "blocks": 11, "policy": "policy-1", "seed": 12, "workers": 3},
    ),
    "hand-strength data random-16 out --observations 11 --stages all --discount 0.3 --estimator uniform "
    "--seed 12 --rules straight --workers 3": (
        "hand_strength.data_sets.generate",
        {"name": "random-16", "observations": 11, "stages": "all", "discount": 0.3, "estimator": "uniform"}
        | {"seed": 12, "rules": STRAIGHT, "workers": 3},
    ),
    "tune tonic --trials 11 --games 12 --final-games 14 --finalists 3 --seed 15 --opponent tonic "
    "--opponent policy --start simple --rules straight --csv kept": (
        "tonic.tune_tonic",
        {"trials": 11, "games": 12, "final_games": 14, "finalists": 3, "seed": 15, "start": "simple"}
        | {"opponents": ("tonic", "policy"), "rules": STRAIGHT, "trials_csv": Path("kept")},
    ),
}
"""Command -> the function that it calls and what this receives."""


def command(text: str) -> None:
    done = CliRunner().invoke(app, text.split(), catch_exceptions=False)
    assert done.exit_code == 0, done.output


def recorded(monkeypatch, module, name: str, answer: object) -> list[dict]:
    """Replace a function by one that returns `answer`, and return the list of its arguments by name."""
    signature, found = inspect.signature(getattr(module, name)), []

    def record(*arguments, **options):
        given = signature.bind(*arguments, **options).arguments
        if "workers" in given:
            given["workers"] = given["workers"].count
        found.append(given)
        return answer

    monkeypatch.setattr(module, name, record)
    return found


@pytest.mark.parametrize("text", RECIPES, ids=lambda text: " ".join(text.split()[:3]))
def test_options_reach_the_recipe(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (path, expected), answer = RECIPES[text], SimpleNamespace(save=lambda path: None)
    answer.finalists, answer.verdict, answer.head_to_head = [], [], None
    module, _, name = path.rpartition(".")
    found = {} if name == "find_puzzles" else answer
    calls = recorded(monkeypatch, import_module(f"research.recipes.{module}"), name, found)
    command(text)
    assert [{key: call.get(key) for key in expected} for call in calls] == [expected]


def test_options_reach_the_training_of_hand_strength(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    states, match = "states", SimpleNamespace(win_rate=0.5)
    trained = SimpleNamespace(network=None, validation_losses=[1.0])
    monkeypatch.setattr(bots, "FORMAT", SimpleNamespace(write=lambda *_: None))
    loaded = recorded(monkeypatch, recipes, "load_or_generate", states)
    best = recorded(monkeypatch, selection, "train_best", (trained, []))
    alone = recorded(monkeypatch, trainer, "train", trained)
    monkeypatch.setattr(selection, "validation_match", lambda trainer: match)
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
    assert alone == [
        {"data": states, "settings": settings, "checkpoint": Path("kept"), "resume": True},
    ]
    assert [(call["name"], call["schedule"], call["epochs"]) for call in described] == [(name, "paper", 6)] * 2
    assert described[1]["candidates"] == [selection.Contestant(13, 1.0, 0.5)]


def test_options_reach_the_run_of_an_experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored = SimpleNamespace(rows=[], save=lambda folder: folder)
    calls = recorded(monkeypatch, results, "measure", stored)
    command("run generation 004/pools --seed 0 --authors theirs --work work")
    command("run generation --quick")
    runs = [call["run"] for call in calls]
    assert [call["experiment"] for call in calls] == [find(one) for one in ("generation", "004/pools", "generation")]
    assert [run.seed for run in runs] == [0, 0, 77]
    assert [run.authors for run in runs] == [Path("theirs"), Path("theirs"), None]
    assert [run.quick for run in runs] == [False, False, True]
    folders = [Path("work/generation/seed-0"), Path("work/004/pools/seed-0")]
    assert [run.folder for run in runs[:2]] == folders
