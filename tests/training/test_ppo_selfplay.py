"""Self-play with Stable-Baselines3: checkpoints and resumed runs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tyro")

from example_scripts import load_example  # noqa: E402
from self_play_kills import KILLS, tiny  # noqa: E402

from gin_env.batch import Games  # noqa: E402
from gin_env.game.rules import Rules  # noqa: E402
from gin_env.matches.matches import play_match  # noqa: E402
from gin_env.training.runs import CHECKPOINT, open_folder  # noqa: E402
from gin_env.wrappers.checkpoints import restore_model  # noqa: E402
from gin_env.wrappers.sb3_self_play import SelfPlayRun, SelfPlaySettings  # noqa: E402

pytestmark = pytest.mark.compiled

HERE = Path(__file__).parents[1] / "helpers"


@pytest.fixture(scope="module")
def example():
    return load_example("ppo_selfplay")


@pytest.fixture(params=["candidate", "flat"])
def run(example, tmp_path, request):
    settings = replace(tiny(tmp_path / "run"), policy=request.param, net_arch=(8,))
    return SelfPlayRun(settings, example.make_model)


@pytest.mark.long
def test_killed_run_resumes(tmp_path):
    """The checks are in a separate script because they fork."""
    done = subprocess.run(
        [sys.executable, str(HERE / "self_play_kills.py"), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{KILLS} kills, ")


def test_checkpoint_restores_model_pool_and_random_generators(example, run):
    for _ in range(4):
        run.add_past_self()
        run.model.learn(64, reset_num_timesteps=False)
        run.count()
    run.save()
    drawn = torch.rand(3), _numpy_draw()
    again = SelfPlayRun(replace(run.settings, resume=True), example.make_model)
    assert torch.equal(torch.rand(3), drawn[0])
    assert (_numpy_draw() == drawn[1]).all()
    assert again.progress == run.progress
    assert len(again.pool) == run.settings.pool_size == 3
    assert run.progress.pool[-1] == 192
    expected, found = run.tensors(), again.tensors()
    assert expected.keys() == found.keys()
    for name, tensor in expected.items():
        if not name.startswith("random."):
            assert torch.equal(tensor, found[name]), name
    games = Games(64)
    games.start(seed=1)
    view = games.views(games.everyone)
    for (first, _), (second, _) in zip(run.pool, again.pool, strict=True):
        assert (first.act(view) == second.act(view)).all()


def _numpy_draw():
    return np.random.rand(3)  # noqa: NPY002 (SB3 draws its minibatches from it)


def test_pool_samples_new_and_old_snapshots_and_bots(run, monkeypatch):
    met = []
    monkeypatch.setattr(run.env, "set_opponents", lambda *chosen: met.append(chosen))
    for _ in range(3):
        run.add_past_self()
    opponents, shares = met[-1]
    assert [getattr(bot, "name", bot) for bot in opponents] == ["past"] * 3 + ["simple"]
    np.testing.assert_allclose(shares, [0.1, 0.1, 0.4, 0.4])


def test_run_trains_and_evaluates_by_its_rules(example, run, recwarn):
    settings = replace(run.settings, run=run.settings.run / "straight", rules="straight")
    straight = SelfPlayRun(settings, example.make_model)
    straight.model.learn(64)
    assert (straight.env.seat.games.state["public"]["knock_limit"] == 0).all()
    assert straight.evaluation_rules == Rules.preset("straight")
    path = settings.run / "straight.safetensors"
    straight.save_policy(path)
    play_match(str(path), "random", 2, 1, episode="hand", rules=Rules.preset("straight"))
    assert not [warning for warning in recwarn if "was trained under" in str(warning.message)]
    with pytest.warns(UserWarning, match="straight was trained under straight, not under eaai"):
        play_match(str(path), "random", 2, 1, episode="hand")


def test_unknown_rules_of_a_run_are_refused(run):
    with pytest.raises(ValueError, match="unknown rules 'whist'"):
        open_folder(replace(run.settings, run=run.settings.run / "other", rules="whist"))
    assert not (run.settings.run / "other").exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bots": ()}, "at least one bot"),
        ({"newest_share": 0.7}, "must add up to at most 1, not 0.7 and 0.4"),
        ({"bots_share": -0.1}, "bots_share must be from 0 to 1"),
        ({"num_envs": 1001}, "num_envs must be from 1 to 1000"),
        ({"pool_size": 0}, "pool_size must be from 1"),
    ],
)
def test_invalid_settings_fail_before_writing(tmp_path, changed, message):
    with pytest.raises(ValueError, match=message):
        open_folder(replace(SelfPlaySettings(tmp_path / "run"), **changed))
    assert not (tmp_path / "run").exists()


def test_mismatched_checkpoint_is_refused(example, run):
    settings = run.settings
    other = example.make_model(replace(settings, net_arch=(16,), hidden=16))
    with pytest.raises(ValueError, match="of a model with other settings"):
        restore_model(other, run.tensors())
    with pytest.raises(ValueError, match="has hidden = 8; leave hidden out"):
        open_folder(replace(settings, resume=True, hidden=16))
    with pytest.raises(ValueError, match=r"has net_arch = \(8,\); leave net_arch out"):
        open_folder(replace(settings, resume=True, net_arch=(16,)))
    checkpoint = settings.run / CHECKPOINT
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1000])
    with pytest.raises(ValueError, match="is damaged"):
        open_folder(replace(settings, resume=True))


def test_checkpoint_cannot_start_an_unnamed_program(run):
    command = "process:./my-bot"
    run.settings = replace(run.settings, bots=(command,))
    run.save()
    given = replace(run.settings, resume=True, bots=SelfPlaySettings().bots)
    with pytest.raises(ValueError, match=f"names '{command}', which runs other code: pass it again"):
        open_folder(given)
    assert open_folder(replace(given, bots=(command,)))[0].bots == (command,)
