"""The choice among hand-strength networks, and the examples that train them, at small settings."""

import csv
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from typer.testing import CliRunner

from gin_env.agents.hand_strength.weights import load_network
from gin_env.cli import app
from gin_env.training.hand_strength import selection
from gin_env.training.hand_strength.data_sets import generate
from gin_env.training.hand_strength.selection import train_best, validation_win_rate
from gin_env.training.hand_strength.trainer import Schedule, Settings, train

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
import hand_strength_training_length
import reproduce_hand_strength

pytestmark = pytest.mark.long

SETTINGS = Settings("mlp", Schedule(1, 64, 1e-3, 0.1, 1), seed=4)


@pytest.fixture(scope="module")
def data():
    return generate("random-16", 500, estimator="uniform")


def test_the_candidate_that_wins_most_games_is_kept(data, monkeypatch):
    rates = {4: 0.2, 5: 0.5, 6: 0.3}
    monkeypatch.setattr(selection, "validation_win_rate", lambda trainer, games: rates[trainer.settings.seed])
    best, candidates = train_best(data, SETTINGS, 3)
    assert {each.seed: each.win_rate for each in candidates} == rates
    assert best.settings.seed == 5
    assert best.validation_losses[-1] == candidates[1].validation_loss
    assert len({each.validation_loss for each in candidates}) == 3


def test_validation_games_are_always_the_same(data):
    trainer = train(data, SETTINGS)
    assert validation_win_rate(trainer, 40) == validation_win_rate(trainer, 40)


def test_one_candidate_is_plain_training(data):
    best, (only,) = train_best(data, SETTINGS, 1, games=20)
    alone = train(data, SETTINGS)
    assert only.seed == 4
    assert best.train_losses == alone.train_losses


def test_impossible_numbers_of_candidates_are_errors(data):
    with pytest.raises(ValueError, match="candidates = 0 is out of range"):
        train_best(data, SETTINGS, 0)


def test_the_command_says_what_it_compared_and_how_to_repeat_it(tmp_path, monkeypatch):
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
    assert "a checkpoint is of one network" in str(refused.exception) + refused.output


def test_table_1_is_reproduced_at_small_settings(tmp_path):
    command = reproduce_hand_strength.typer.Typer()
    command.command()(reproduce_hand_strength.reproduce)
    options = ["--only", "mlp-simple", "--observations", "400", "--candidates", "2", "--games", "20"]
    folders = [f"--{name}={tmp_path / name}" for name in ("data", "networks", "figures")]
    done = CliRunner().invoke(command, [*options, *folders])
    assert done.exit_code == 0, done.output
    results = json.loads((tmp_path / "figures" / "results.json").read_text())
    assert len(results["table_1"]["mlp-simple"]["validation_win_rates"]) == 2
    assert results["settings"]["candidates"] == 2
    assert "| `mlp-simple` |" in (tmp_path / "figures" / "results.md").read_text()
    assert (tmp_path / "figures" / "figure_4.png").is_file()


def test_training_length_is_measured_at_small_settings(tmp_path):
    hand_strength_training_length.main(
        "simple", "mlp", 2, 1000, 20, 500, data=tmp_path, folder=tmp_path / "figures"
    )
    with (tmp_path / "figures" / "training_length.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["seed"] for row in rows} == {"0", "1"}
    seen = [int(row["states_seen"]) for row in rows if row["seed"] == "0"]
    assert seen == sorted(seen)
    assert seen[-1] >= 1000
    assert (tmp_path / "figures" / "training_length.png").is_file()
