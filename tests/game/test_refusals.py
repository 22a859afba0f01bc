"""Error messages for mistakes that other tests do not cover."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from gin_env import agents
from gin_env.batch import Games
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.estimators import readings
from gin_env.game.state import status
from gin_env.training.estimators.evaluation import evaluate_estimators
from gin_env.training.estimators.positions import collect_positions
from gin_env.training.generations import loop
from research.recipes.estimators import ensemble


def test_estimators_need_different_names():
    with pytest.raises(ValueError, match="at least one estimator is needed"):
        evaluate_estimators([])
    with pytest.raises(ValueError, match="have different names, not uniform, uniform"):
        evaluate_estimators(["uniform", "uniform"])


@pytest.mark.parametrize("share", [0, -0.5, 1.5, float("nan")])
def test_share_of_positions_out_of_range_is_refused(share):
    with pytest.raises(ValueError, match=f"share must be above 0 and at most 1, not {share}"):
        collect_positions(["simple"], 2, 1, share)


def test_ensemble_is_fitted_to_one_bot():
    with pytest.raises(ValueError, match="fitted to one bot only, not simple, tonic"):
        ensemble.train("ensemble", 10, 0, ["simple", "tonic"])


@pytest.mark.parametrize("text", ["[", '[{"number": 1}]', '["kept"]'])
def test_damaged_generation_history_is_named(tmp_path, text):
    (tmp_path / "history.json").write_text(text)
    with pytest.raises(ValueError, match=r"history\.json is not a history of generations"):
        loop.read_history(tmp_path)


def test_sb3_step_wait_requires_step_async():
    pytest.importorskip("stable_baselines3")
    from gin_env.wrappers.sb3 import GinRummyVecEnv

    env = GinRummyVecEnv(2, "simple", seed=0)
    env.reset()
    with pytest.raises(RuntimeError, match=r"call step_async\(\) before step_wait\(\)"):
        env.step_wait()
    env.step_async(np.array([106, 106]))
    env.step_wait()
    with pytest.raises(RuntimeError, match=r"call step_async\(\) before step_wait\(\)"):
        env.step_wait()


def test_parameters_of_unknown_bot_list_the_choices():
    with pytest.raises(ValueError, match="unknown bot 'smiple'; choose from random, simple"):
        agents.parameters("smiple")


def test_status_reports_impossible_rules():
    games = Games(1)
    games.start(games.everyone, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    games.state["public"]["rules"]["ranks"] = 0
    (found,) = status(games.state[0])
    assert found.startswith("rules: ")
    assert "ranks" in found


@pytest.mark.parametrize("make", [GinRummyEnv, lambda opponent: GinRummyVectorEnv(2, opponent)])
def test_render_without_a_mode_warns(make):
    env = make("simple")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None


def test_all_estimators_are_compared_by_default():
    names = readings()
    assert {"uniform", "omniscient", "bayes"} <= set(names)
    assert "ensemble" not in names
    assert sorted(name for name in names if name.startswith("ensemble")) == [
        "ensemble:switching=adaptive",
        "ensemble:switching=fitted",
        "ensemble:switching=paper",
    ]


WITHOUT_TORCH = """
import sys

sys.modules["torch"] = None  # as where it is not installed
from gin_env import agents

for name in sys.argv[1:]:
    try:
        agents.make(name)
    except ImportError as error:
        assert 'pip install "gin-env[train]"' in str(error), (name, error)
    else:
        raise SystemExit(f"{name} was made without torch")
"""


def test_bot_without_torch_names_the_extra():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, "generation", "policy", "balanced"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
