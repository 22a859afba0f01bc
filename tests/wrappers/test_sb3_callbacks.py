"""`SelfPlayCallback`: opponents, evaluations and the files of a run."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecMonitor

from gin_env import Rules, agents, play_match
from gin_env.wrappers.candidate_policy import SB3CandidatePolicy
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv
from gin_env.wrappers.sb3_callbacks import SelfPlayCallback, index_to_drop

ROLLOUT = 16 * 32


def new_model(env, policy=SB3CandidatePolicy, **settings):
    return MaskablePPO(
        policy, env, n_steps=32, batch_size=256, n_epochs=1, seed=1, device="cpu", policy_kwargs=settings
    )


def new_games(candidates=True):
    return GinRummyVecEnv(16, "simple", seed=1, candidates=candidates)


def small_callback(run, **settings):
    usual = {"snapshot_every": ROLLOUT, "evaluate_every": 2 * ROLLOUT, "games": 20, "verbose": 0}
    return SelfPlayCallback(run, **usual | settings)


def test_callback_plays_past_selves_and_saves_the_best_policy(tmp_path, capsys):
    torch.manual_seed(1)
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        games = VecMonitor(new_games())
    model = new_model(games, hidden=8)
    callback = small_callback(
        tmp_path / "mine", bots=["simple", "random"], bots_share=0.75, pool_size=2, verbose=1
    )
    model.learn(5 * ROLLOUT, callback=callback)
    names = [f"past-{count * ROLLOUT}" for count in (1, 4)]
    assert [bot.name for bot in callback.past] == names
    first, later = (
        torch.cat([each.flatten() for each in taken.values()]) for taken in callback._weights.values()
    )
    assert not torch.equal(first, later), "each as it was then"
    weights = callback.weights()
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["simple"] + weights["random"] == pytest.approx(0.75)
    assert weights["simple"] > weights["random"], "the bot that wins more hands is chosen more often"
    with (tmp_path / "mine" / "evaluations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["bot"] for row in rows} == {"simple", "random"}
    assert [int(row["decisions"]) for row in rows[::2]] == [2 * ROLLOUT, 4 * ROLLOUT, 5 * ROLLOUT]
    logged = [callback.logger.name_to_value[f"evaluation/{row['bot']}"] for row in rows[-2:]]
    assert logged == pytest.approx([float(row["win_rate"]) for row in rows[-2:]], abs=1e-4)
    assert not any(bot.deterministic for bot in callback.past)
    means = [
        (float(a["win_rate"]) + float(b["win_rate"])) / 2 for a, b in zip(rows[::2], rows[1::2], strict=True)
    ]
    assert callback.best_win_rate == pytest.approx(max(means), abs=1e-4)
    saved, callback.best_win_rate = (tmp_path / "mine" / "policy.safetensors").read_bytes(), 2.0
    callback.evaluate()
    assert callback.best_win_rate == 2, "a worse policy is not saved"
    assert (tmp_path / "mine" / "policy.safetensors").read_bytes() == saved
    assert "decisions: wins" in capsys.readouterr().out
    path = str(tmp_path / "mine" / "policy.safetensors")
    best = [play_match(path, bot, 20, 0, episode="hand").win_rate for bot in ("simple", "random")]
    assert sum(best) / 2 == pytest.approx(max(means), abs=1e-4)
    assert agents.make(path).name == "mine"
    for _ in range(999):
        callback.on_rollout_start()
    assert callback.weights()["simple"] == pytest.approx(0.375, abs=0.01), "earlier results fade"


def test_further_calls_of_learn_continue_and_evaluate_again(tmp_path):
    model = new_model(new_games(candidates=False), CardPolicy, net_arch=[8], card_features=4)
    callback = small_callback(tmp_path, bots=["simple"], evaluate_every=10**9)
    for reset in (True, True, False):
        model.learn(2 * ROLLOUT, callback=callback, reset_num_timesteps=reset)
    with (tmp_path / "evaluations.csv").open() as file:
        decisions = [int(row["decisions"]) for row in csv.DictReader(file)]
    assert decisions == [2 * ROLLOUT, 4 * ROLLOUT, 6 * ROLLOUT]
    assert [bot.name for bot in callback.past] == [f"past-{count * ROLLOUT}" for count in (1, 3, 5)]
    assert (tmp_path / "policy.safetensors").exists()


@pytest.mark.parametrize(
    ("candidates", "policy", "settings"),
    [(True, SB3CandidatePolicy, {"hidden": 8}), (False, CardPolicy, {"net_arch": [8], "card_features": 4})],
)
def test_restored_run_has_the_same_model_and_past_selves(tmp_path, candidates, policy, settings):
    model = new_model(new_games(candidates), policy, **settings)
    callback = small_callback(tmp_path, pool_size=2)
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        callback.restore(model)
    model.learn(4 * ROLLOUT, callback=callback)
    drawn = torch.rand(3), np.random.random(3)  # noqa: NPY002
    again = new_model(new_games(candidates), policy, **settings)
    restored = small_callback(tmp_path, pool_size=2)
    restored.restore(again)
    assert torch.equal(torch.rand(3), drawn[0])
    assert (np.random.random(3) == drawn[1]).all()  # noqa: NPY002
    other, games = GinRummyVecEnv(16, seed=model.seed + 4 * ROLLOUT), again.get_env()
    other.reset(), games.reset()
    assert (other.seat.games.state["hidden"]["deck"] == games.seat.games.state["hidden"]["deck"]).all()
    state, other = (each.policy.optimizer.state_dict()["state"] for each in (model, again))
    assert all(torch.equal(state[index]["exp_avg"], other[index]["exp_avg"]) for index in state)
    assert restored.weights() == callback.weights()
    assert again.num_timesteps == 4 * ROLLOUT
    assert restored.best_win_rate == callback.best_win_rate
    assert [bot.name for bot in restored.past] == [bot.name for bot in callback.past]
    expected = [model.policy.state_dict(), *callback._weights.values()]
    found = [again.policy.state_dict(), *restored._weights.values()]
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    again.learn(ROLLOUT, callback=restored, reset_num_timesteps=False)
    assert restored.decisions == 5 * ROLLOUT
    with pytest.raises(ValueError, match="a model with other settings"):
        small_callback(tmp_path, pool_size=2).restore(new_model(new_games(), hidden=16))
    for other, difference in (
        ({"pool_size": 2, "bots": ["tonic"]}, r"bots = \['simple'\]"),
        ({}, "pool_size = 2"),
    ):
        with pytest.raises(ValueError, match=f"has {difference} and cannot be resumed with"):
            small_callback(tmp_path, **other).restore(again)
    again.gamma = 0.5
    with pytest.raises(ValueError, match=r"has the model's gamma = 0\.99 and cannot be resumed with 0\.5"):
        restored.restore(again)


def test_past_self_close_to_its_neighbours_is_dropped_unless_it_is_recent():
    assert [index_to_drop([5]), index_to_drop([5, 6])] == [0, 0]
    assert index_to_drop([1, 2, 3, 10]) == 1, "2 / 8 is less than 8 / 7"
    assert index_to_drop([1, 7, 8, 10]) == 2, "7 / 3 is more than 3 / 2"
    assert index_to_drop([0, 5, 9, 10]) == 1, "9 / 5 is less than 5 / 1"


def test_void_hands_are_not_lost(tmp_path):
    callback = small_callback(tmp_path, bots=["simple", "random"])
    ends = [("void", False), ("knock", False), ("gin", True)]
    infos = [{"opponent": "simple", "outcome": outcome, "won": won} for outcome, won in ends]
    callback.locals = {"infos": [{}, *infos]}
    callback._on_step()
    assert callback._results["simple"].tolist() == [3, 1]
    assert callback.weights()["simple"] == pytest.approx((6 / 13) / (6 / 13 + 5 / 10)), "10 hands before"


def test_evaluations_play_under_the_rules_of_the_environment(tmp_path, monkeypatch):
    def play(*given, episode, rules):
        played.append((*given[2:], episode))
        return play_match(*given, episode="hand", rules=rules)

    played = []
    monkeypatch.setattr("gin_env.wrappers.sb3_callbacks.play_match", play)

    class Bot:
        name, seen = "watcher", set()

        def act(self, view):
            self.seen.add(view.rules)
            return view.masks().argmax(axis=1)

    rules = Rules.preset("oklahoma")
    model = new_model(GinRummyVecEnv(16, "simple", rules, seed=1, candidates=True), hidden=8)
    model.learn(ROLLOUT, callback=small_callback(tmp_path, bots=[Bot()], episode="game", seed=7))
    assert played == [(20, 7, "game")]
    assert (tmp_path / "evaluations.csv").exists()
    assert Bot.seen == {rules}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bots": []}, "bots must be a list of at least one bot"),
        ({"bots": "simple"}, "bots must be a list"),
        ({"bots": ["simpel"]}, "unknown bot 'simpel'"),
        ({"bots_share": 2.0}, "bots_share"),
        ({"pool_size": 0}, "pool_size"),
        ({"games": 3}, "games must be a positive even number"),
        (
            {"bots": ["simple", "simple", "random"]},
            "bots must have different names, not simple, simple, random",
        ),
    ],
)
def test_wrong_setting_of_the_callback_is_refused(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        small_callback(tmp_path, **settings)


def test_callback_needs_the_batch_environment(tmp_path):
    env = make_vec_env("gin_env/GinRummy-v0", 1, env_kwargs={"flat": True})
    with pytest.raises(TypeError, match="SelfPlayCallback needs a GinRummyVecEnv, not DummyVecEnv"):
        new_model(env, "MlpPolicy").learn(32, callback=small_callback(tmp_path))
