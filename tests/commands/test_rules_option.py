"""The option --rules: every command that plays takes it, plays by it, and writes it into its files."""

from __future__ import annotations

import numpy as np
import pytest
from test_command_line import COMMANDS
from typer.testing import CliRunner

from gin_env import Rules
from gin_env.agents.cfr.table import StrategyTable
from gin_env.cli import app
from gin_env.estimators.frequencies import Frequencies
from gin_env.game.rules import rules_option
from gin_env.training.estimators.positions import play_hands
from research.recipes.hand_strength import recipes
from research.recipes.hand_strength.data_sets import DataSet

NO_NEW_GAMES = {
    "bench",
    "bots",
    "compile",
    "convert",
    "replay",
    "reproduce",
    "serve-bot",
    "train gains",
    "train opponents",
}
"""Commands that play nothing, games by rules of their own, or games that somebody else starts."""

pytestmark = pytest.mark.compiled


def gin_rummy(*arguments: str):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_that_plays_takes_rules(path):
    command, name = COMMANDS[path], path.removeprefix("gin-rummy").strip()
    takes = any("--rules" in param.opts for param in command.params)
    assert takes == (name not in NO_NEW_GAMES and not hasattr(command, "commands"))


def test_rules_option_is_empty_for_the_default():
    assert rules_option(None) == rules_option(Rules()) == ""
    assert rules_option(Rules(knock_limit=7)) == " --rules knock_limit=7"


def test_hands_for_estimators_are_played_by_the_rules():
    for games, waiting in play_hands(["simple"], 3, 1, Rules.preset("straight")):
        assert (games.state["public"]["knock_limit"][waiting] == 0).all()


def test_estimator_evaluation_names_other_rules():
    output = gin_rummy("evaluate-estimators", "uniform", "bayes", "--games", 20, "--rules", "straight")
    assert "20 hands, simple against itself under straight, seed 0" in output


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


def test_data_set_carries_its_rules(tmp_path):
    pytest.importorskip("pyarrow")
    from examples import dataset

    arguments = ("--hands", 30, "--bot", "simple", "--estimator", "uniform", "--rules", "straight")
    gin_rummy("dataset", tmp_path, *arguments)
    (hands,) = dataset.load(tmp_path)
    assert set(hands.outcomes) <= {"gin", "void"}
    assert hands.record(0).rules == Rules.preset("straight")
    assert hands.record(0).positions()
    card = (tmp_path / "README.md").read_text()
    assert "--rules straight" in card
    assert "rules are gin-env's `straight`" in card


def test_exploiter_is_trained_and_judged_by_the_rules(tmp_path, recwarn):
    pytest.importorskip("tyro")
    from gin_env.agents.policies.candidate_network import load_candidate_policy
    from gin_env.training import exploiter
    from research.questions.exploit import QUICK

    settings = exploiter.settings_against("simple", tmp_path / "run", rules=("straight",), **QUICK)
    result = exploiter.play_exploiter(exploiter.train_exploiter(settings), 2)
    assert load_candidate_policy(result.policy)[1] == (Rules.preset("straight"),)
    assert result.as_dict()["rules"] == "straight"
    assert result.match.rules == Rules.preset("straight")
    assert not [warning for warning in recwarn if "was trained under" in str(warning.message)]


def test_position_is_explained_by_the_rules():
    hand = ("--hand", "4C 5C 6C 9H 9S TD QD QH KS 2D", "--upcard", "3D", "--bot", "simple")
    assert "Limit for knocking in this hand: 3." in gin_rummy("explain", *hand, "--rules", "oklahoma")
    with pytest.raises(ValueError, match="a record has its own position and rules: omit --rules"):
        gin_rummy("explain", "--record", "games.jsonl", "--rules", "oklahoma")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("whist", "unknown rules 'whist'; choose from eaai, bicycle, oklahoma, "),
        ("big_gin_bonus=31,gin_bonus=0", "Rules.big_gin_bonus needs a gin_bonus above 0"),
        (
            "oklahoma,knock_limit=11",
            "Rules.knock_limit must be at most 10 with oklahoma, not 11: no card is worth more",
        ),
    ],
)
def test_invalid_rules_are_refused_with_one_message(rules, message):
    done = CliRunner().invoke(app, ["match", "simple", "random", "--rules", rules])
    assert done.exit_code == 2
    output = " ".join(done.output.replace("│", " ").split())
    assert f"Invalid value for '--rules': {message}" in output
    assert "Traceback" not in output
