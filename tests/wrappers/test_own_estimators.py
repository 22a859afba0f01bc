"""Estimators of the user's own in training, in policy files and in archives of Stable-Baselines3."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sb3_contrib import MaskablePPO

from gin_env import agents, estimators, play_match
from gin_env.matches.provenance import describe_bot
from gin_env.wrappers import CardPolicy, GinRummyVecEnv, SelfPlayCallback, save_policy

pytestmark = pytest.mark.compiled

MODULE = """
from pathlib import Path
from gin_env.estimators.base import Memoryless
from gin_env.estimators import known_cards

Path("imported").touch()

class Mine(Memoryless):
    name = "mine"

    def __init__(self, factor=1.0):
        self.factor = factor

    def estimate(self, view):
        held, unseen, missing = known_cards(view)
        return held + 0.01 * self.factor * unseen
"""
OWN = "own_estimator:Mine:factor=3.0"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the user's module, where the program runs."""
    (tmp_path / "own_estimator.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("own_estimator", None)


def forget(folder) -> None:
    """As in a new program, which has not imported the module."""
    sys.modules.pop("own_estimator")
    (folder / "imported").unlink()


def trained(folder, **options) -> MaskablePPO:
    games = GinRummyVecEnv(8, seed=1, estimator=OWN)
    return MaskablePPO(CardPolicy, games, n_steps=16, batch_size=64, n_epochs=1, seed=1, **options)


def test_policy_file_plays_with_the_estimator_of_its_training(folder):
    model = trained(folder)
    save_policy(model, "mine.safetensors")
    name = f"mine.safetensors:estimator={OWN}"
    bot = agents.make(name, programs=True)
    assert bot.name == name
    assert bot.estimator.factor == 3
    games = model.get_env()
    seen = games.reset()
    view = games.seat.games.views(games.seat.games.everyone, 0)
    expected, _ = model.predict(seen, action_masks=games.action_masks(), deterministic=True)
    assert bot.act(view).tolist() == expected.tolist()
    assert set(describe_bot(name, programs=True)["files"]) == {"mine.safetensors"}


@pytest.mark.parametrize("file", ["mine.safetensors", "mine.zip"])
def test_file_alone_never_imports_the_estimator(file, folder):
    model = trained(folder)
    save_policy(model, file) if file.endswith("rs") else model.save(file)
    forget(folder)
    with pytest.raises(ValueError, match=rf"an estimator of your own: .*:estimator={OWN}"):
        play_match(file, "simple", 2, episode="hand")
    named = f"{file}:estimator={OWN}"
    with pytest.raises(ValueError, match="imports a module: if you trust its code"):
        agents.make(named)
    assert not (folder / "imported").exists()
    assert play_match(named, "simple", 2, episode="hand").bots[0] == named
    with pytest.raises(ValueError, match=rf"trained with the estimator '{OWN}', not with 'bayes'"):
        agents.make(f"{file}:estimator=bayes")


def test_self_play_keeps_the_estimator(folder):
    model = trained(folder)
    callback = SelfPlayCallback(
        "run", bots=["simple"], snapshot_every=128, evaluate_every=256, games=2, verbose=0
    )
    model.learn(256, callback=callback)
    assert [bot.estimator.factor for bot in callback.past] == [3] * len(callback.past) != []


def test_estimator_of_a_module_is_made_by_name_only_if_it_is_trusted(folder):
    with pytest.raises(ValueError, match=r"pass programs=True to estimators.make"):
        estimators.make("own_estimator:Mine")
    assert not (folder / "imported").exists()
    made = estimators.make("own_estimator:Mine", factor=2.0, programs=True)
    assert (made.name, made.factor) == ("own_estimator:Mine:factor=2.0", 2)
    with pytest.raises(ValueError, match="unknown estimator 'own_estimator:Other'"):
        estimators.make("own_estimator:Other", programs=True)
    with pytest.raises(TypeError, match="unknown parameter 'speed'; choose from factor"):
        estimators.make("own_estimator:Mine:speed=2", programs=True)


def test_training_with_an_object_says_what_to_write(folder):
    own = estimators.make("own_estimator:Mine", programs=True)
    own.name = "mine"
    games = GinRummyVecEnv(2, estimator=own)
    assert np.isfinite(games.reset()).all()
    with pytest.raises(ValueError, match=r"'mine' could not be found again: .*'my_module:Mine'"):
        games.describe_training()
