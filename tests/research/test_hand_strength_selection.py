"""Selection among trained hand-strength networks."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from typer.testing import CliRunner

from gin_env import Rules
from gin_env.agents.hand_strength.bots import load_network
from research.__main__ import app
from research.recipes.hand_strength import selection
from research.recipes.hand_strength.data_sets import generate
from research.recipes.hand_strength.selection import train_best, validation_match
from research.recipes.hand_strength.trainer import HandStrengthSettings, Schedule, train

pytestmark = pytest.mark.long

SETTINGS = HandStrengthSettings("mlp", Schedule(1, 64, 1e-3, 0.1, 1), seed=4)


@pytest.fixture(scope="module")
def data():
    return generate("random-16", 500, estimator="uniform")


def test_candidate_with_the_most_wins_is_kept(data, monkeypatch):
    rates = {4: 0.2, 5: 0.5, 6: 0.3}

    def play(trainer, games):
        return SimpleNamespace(win_rate=rates[trainer.settings.seed])

    monkeypatch.setattr(selection, "validation_match", play)
    best, candidates = train_best(data, SETTINGS, 3)
    assert {each.seed: each.win_rate for each in candidates} == rates
    assert best.settings.seed == 5
    assert best.validation_losses[-1] == candidates[1].validation_loss
    assert len({each.validation_loss for each in candidates}) == 3


def test_validation_games_are_always_the_same(data):
    trainer = train(data, SETTINGS)
    match = validation_match(trainer, 40)
    assert match.as_dict() == validation_match(trainer, 40).as_dict()
    assert match.rules == Rules()
    trainer.data = replace(data, metadata=data.metadata | {"rules": "straight"})
    assert validation_match(trainer, 4).rules == Rules.preset("straight")


def test_single_candidate_equals_plain_training(data):
    best, (only,) = train_best(data, SETTINGS, 1, games=20)
    alone = train(data, SETTINGS)
    assert only.seed == 4
    assert best.train_losses == alone.train_losses


def test_invalid_numbers_of_candidates_raise(data):
    with pytest.raises(ValueError, match=r"candidates must be from .* not 0"):
        train_best(data, SETTINGS, 0)


def test_command_reports_the_comparison_and_how_to_repeat_it(tmp_path, monkeypatch):
    monkeypatch.setattr(selection, "VALIDATION_GAMES", 40)
    options = ["--observations", "500", "--data", str(tmp_path), "--epochs", "1", "--seed", "7"]
    output = tmp_path / "network.safetensors"
    command = ["train", "hand-strength", "mlp-simple", str(output), *options]
    done = CliRunner().invoke(app, [*command, "--candidates", "2"])
    assert done.exit_code == 0, done.output
    assert "seed 7: mean squared error" in done.output
    assert "seed 8: mean squared error" in done.output
    _, training = load_network(output)
    assert [each["seed"] for each in training["candidates"]] == [7, 8]
    assert training["command"].endswith("--seed 7 --candidates 2 --epochs 1")
    refused = CliRunner().invoke(app, [*command, "--candidates", "2", "--checkpoint", str(tmp_path / "run")])
    assert refused.exit_code != 0
    assert "a checkpoint is for one network" in str(refused.exception) + refused.output
