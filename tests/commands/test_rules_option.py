"""The option --rules: every command that plays takes it, plays by it, and writes it into its files."""

from __future__ import annotations

import pytest
from test_command_line import COMMANDS
from typer.testing import CliRunner

from gin_env import Rules
from gin_env.cli import app
from gin_env.training.estimators.positions import play_hands

NO_NEW_GAMES = {
    "benchmark",  # a protocol fixes them
    "puzzle",  # its positions have their own
    "bots",
    "rules",
    "train",
    "compile",
    "convert",
    "replay",
    "serve-bot",
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


def test_hands_for_estimators_are_played_by_the_rules():
    for games, waiting in play_hands(["simple"], 3, 1, Rules.preset("straight")):
        assert (games.state["public"]["knock_limit"][waiting] == 0).all()


def test_estimator_evaluation_names_other_rules():
    output = gin_rummy("estimators", "uniform", "bayes", "--games", 20, "--rules", "straight")
    assert "20 hands, simple against itself under straight, seed 0" in output


def test_exploiter_is_trained_and_judged_by_the_rules(tmp_path, recwarn):
    pytest.importorskip("tyro")
    from ppo_runs import QUICK

    from gin_env.agents.policies.candidate_network import load_candidate_policy
    from gin_env.training import exploiter, ppo

    settings = exploiter.settings_against("simple", tmp_path / "run", rules=("straight",), **QUICK)
    result = exploiter.play_exploiter(ppo.train(settings), 2)
    assert load_candidate_policy(result.method["policy"])[1] == (Rules.preset("straight"),)
    assert result.as_dict()["rules"] == "straight"
    assert result.match.rules == Rules.preset("straight")
    assert not [warning for warning in recwarn if "was trained under" in str(warning.message)]


def test_position_is_explained_by_the_rules():
    hand = ("--hand", "4C 5C 6C 9H 9S TD QD QH KS 2D", "--upcard", "3D", "--bot", "simple")
    assert "Limit for knocking in this hand: 3." in gin_rummy("explain", *hand, "--rules", "oklahoma")
    with pytest.raises(ValueError, match="a record has its own position and rules: omit --rules"):
        gin_rummy("explain", "--record", "games.jsonl", "--rules", "oklahoma")


def test_invalid_rules_are_refused_with_one_message():
    done = CliRunner().invoke(app, ["match", "simple", "random", "--rules", "oklahoma,knock_limit=11"])
    assert done.exit_code == 2
    output = " ".join(done.output.replace("│", " ").split())
    message = "Rules.knock_limit must be at most 10 with oklahoma, not 11: no card is worth more"
    assert f"Invalid value for '--rules': {message}" in output
    assert "Traceback" not in output
