"""Recipes play by --rules and write the rules into their files."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from gin_env import Rules
from gin_env.agents.cfr.bot import StrategyTable
from gin_env.estimators.turn_buckets import Frequencies
from research.__main__ import app
from research.recipes.estimators import by_name, ensemble, network_trainer
from research.recipes.hand_strength import recipes
from research.recipes.hand_strength.data_sets import DataSet

pytestmark = pytest.mark.compiled


def gin_rummy(*arguments: str):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_trained_tables_carry_their_rules(tmp_path):
    table, counts = tmp_path / "table.npz", tmp_path / "counts.npz"
    gin_rummy("train", "cfr", table, "--iterations", 20, "--rules", "oklahoma")
    metadata = StrategyTable.load(table).metadata
    assert metadata["rules"] == "oklahoma"
    assert metadata["command"].endswith(" --rules oklahoma")
    gin_rummy("train", "estimator", "bayes", counts, "--games", 2, "--rules", "bicycle")
    metadata = Frequencies.load(counts).metadata
    assert metadata["rules"] == "bicycle"
    assert metadata["command"].endswith(" --rules bicycle")


@pytest.mark.parametrize("name", by_name.MODULES)
def test_trained_estimators_name_their_rules_and_opponents(name, monkeypatch):
    """The trainings themselves are replaced."""
    told = []
    monkeypatch.setattr(ensemble, "fit_table", lambda *given: told.append(given))
    monkeypatch.setattr(network_trainer, "train_network", lambda *given: told.append(given))
    rules = Rules.preset("bicycle")
    trained = by_name.train_estimator(name, 3, 8, ["simple"], rules=rules)
    if name not in network_trainer.DEFAULT_GAMES:
        assert trained.metadata["command"].endswith(" --games 3 --seed 8 --opponents simple --rules bicycle")
        assert trained.metadata["rules"] == "bicycle"
    if told:
        assert {rules, 8} <= {one for one in told[0] if isinstance(one, Rules | int)}


def test_hand_strength_data_is_played_by_the_rules(tmp_path):
    path = tmp_path / "data.npz"
    gin_rummy("hand-strength", "data", "simple", path, "--observations", 30, "--rules", "straight")
    data = DataSet.load(path)
    assert data.metadata["rules"] == "straight"
    assert (np.abs(data.scores) >= 25).all()  # only gin ends a hand
    names = [
        recipes.data_file(tmp_path, "simple", "last", "bayes", 30, 0, rules) for rules in (None, Rules())
    ]
    assert names[0] == names[1]
    assert recipes.data_file(tmp_path, "simple", "last", "bayes", 30, 0, Rules(knock_limit=3)) != names[0]
