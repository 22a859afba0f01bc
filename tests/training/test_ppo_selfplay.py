"""The self-play example: whatever stops it, the run goes on from its last checkpoint; runs are not mixed."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tyro")

from helpers import load_example  # noqa: E402
from self_play_kills import KILLS, tiny  # noqa: E402

pytestmark = pytest.mark.compiled

HERE = Path(__file__).parents[1] / "support"


@pytest.fixture(scope="module")
def example():
    return load_example("ppo_selfplay")


@pytest.fixture(params=["candidate", "flat"])
def model(example, tmp_path, request):
    settings = replace(tiny(example, tmp_path / "run"), policy=request.param, hidden=(8,))
    settings, progress, _ = example.open_run(settings)
    model = example.make_model(settings)
    example.write_checkpoint(model, settings, progress)
    return model, settings, progress


@pytest.mark.long
def test_a_run_goes_on_after_kills_at_any_moment(tmp_path):
    """In a process of its own, which forks; what is checked stands there."""
    done = subprocess.run(
        [sys.executable, str(HERE / "self_play_kills.py"), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{KILLS} kills, ")


def test_a_new_run_is_not_mixed_with_what_is_in_its_folder(example, tmp_path):
    run = tmp_path / "run"
    settings = tiny(example, run)
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        example.open_run(replace(settings, resume=True))
    (run / "pool").mkdir(parents=True)
    (run / ".checkpoint.safetensors.0a1b2c3d.partial").write_text(
        "half"
    )  # all that a kill at the start leaves
    example.open_run(settings)
    assert [path.name for path in run.iterdir()] == ["pool"]
    for other in ("pool/000000000032.safetensors", "evaluations.csv", "checkpoint.safetensors"):
        (run / other).write_text("of another run")
        with pytest.raises(ValueError, match="is not empty: choose another --run"):
            example.open_run(settings)
        (run / other).unlink()


def test_a_broken_member_of_the_pool_is_named_and_left_out(example, model, capsys):
    model, settings, progress = model
    progress.pool = [f"{steps:012d}.safetensors" for steps in (0, 32, 64, 96)]
    for name in progress.pool[:3]:
        example.save_policy(model, settings.run / "pool" / name)
    broken = settings.run / "pool" / progress.pool[1]
    broken.write_bytes(broken.read_bytes()[:-1000])
    pool = example.load_pool(settings, progress)
    assert [bot.name for bot in pool] == ["000000000000", "000000000064"]
    assert progress.pool == ["000000000000.safetensors", "000000000064.safetensors"]
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" is left out of the pool: ")[0] for line in told] == [
        str(broken),
        str(settings.run / "pool" / "000000000096.safetensors"),
    ]


def test_a_checkpoint_brings_back_the_model_and_the_random_generators(example, model):
    model, settings, progress = model
    model.learn(64)
    progress.decisions, progress.updates = model.num_timesteps, model._n_updates
    example.write_checkpoint(model, settings, progress)
    drawn = torch.rand(3), _numpy_draw()
    again, read, tensors = example.read_checkpoint(replace(settings, resume=True))
    assert asdict(read) == asdict(progress)
    other = example.make_model(again)
    example.restore_model(other, tensors)
    assert torch.equal(torch.rand(3), drawn[0])
    assert (_numpy_draw() == drawn[1]).all()
    for ours, theirs in zip(model.policy.parameters(), other.policy.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    ours, theirs = (each.policy.optimizer.state_dict()["state"] for each in (model, other))
    assert ours.keys() == theirs.keys()
    assert all(
        torch.equal(ours[number][name], theirs[number][name]) for number in ours for name in ours[number]
    )


def _numpy_draw():
    return np.random.rand(3)  # noqa: NPY002 (SB3 draws its minibatches from it)


def test_a_checkpoint_that_does_not_fit_is_refused(example, model):
    model, settings, _ = model
    _, _, tensors = example.read_checkpoint(settings)
    other = example.make_model(replace(settings, hidden=(16,), width=16))
    with pytest.raises(ValueError, match="of a model with other settings"):
        example.restore_model(other, tensors)
    with pytest.raises(ValueError, match="has width = 8; leave it out"):
        example.read_checkpoint(replace(settings, width=16))
    if settings.policy == "flat":
        with pytest.raises(ValueError, match=r"has hidden = \(8,\); leave it out"):
            example.read_checkpoint(replace(settings, hidden=(16,)))
    checkpoint = settings.run / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1000])
    with pytest.raises(ValueError, match="is damaged"):
        example.read_checkpoint(settings)


def test_checkpoint_starts_no_program_that_the_user_did_not_name(example, model):
    model, settings, progress = model
    command = "process:./my-bot"
    example.write_checkpoint(model, replace(settings, bots=(command,)), progress)
    given = replace(settings, resume=True, bots=example.Settings().bots)
    with pytest.raises(ValueError, match=f"names the program '{command}': name it yourself"):
        example.open_run(given)
    assert example.open_run(replace(given, bots=(command,)))[0].bots == (command,)


def test_the_clock_of_the_wall_does_not_end_a_run(example, model, monkeypatch):
    _, settings, progress = model
    progress.minutes = 5.0
    callback = example.SelfPlay(settings, progress, [])
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert 5 <= callback.minutes < 6
    callback.bar.close()
