"""The Stable-Baselines3 environment, trained policies as bots, and the self-play example."""

from __future__ import annotations

import csv
import subprocess
import sys
import textwrap
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from hands_in_words import started
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor, VecNormalize

from gin_env import agents, play_match
from gin_env.agents.policies.policy import PolicyBot, describe_training, sample_actions
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.game.actions import DRAW_UPCARD, PASS
from gin_env.observations.candidates import ENTRIES
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def model() -> MaskablePPO:
    """Return a tiny policy after two updates."""
    env = GinRummyVecEnv(8, "simple", seed=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=1, device="cpu")
    model.learn(2 * 8 * 32)
    model.gin_env = describe_training()
    return model


# SB3's checker suggests flattening any dict observation; use GinRummyVecEnv with MaskablePPO instead.
@pytest.mark.filterwarnings("ignore:.*:UserWarning:stable_baselines3.common.env_checker")
def test_sb3_checker_accepts_the_single_environment():
    check_env(GinRummyEnv("simple", illegal_action="lose"))


@pytest.mark.parametrize("candidates", [False, True])
def test_memory_is_that_of_the_view_and_opponents_stay(candidates):
    pool = ["simple", "tonic", "simple:knock_at=0"]
    env = GinRummyVecEnv(16, pool, episode="game", memory=True, candidates=candidates, seed=4)
    entries = {"observation", "memory", *(ENTRIES if candidates else ())}
    observations, bot, known, met = env.reset(), agents.make("simple"), 0, {}
    assert not observations["memory"].any()
    for _ in range(250):
        assert set(observations) == set(env.observation_space.spaces) == entries
        games = env.seat.games
        views = games.views(games.everyone, 0)
        assert np.array_equal(observations["memory"], views.memories())
        known += observations["memory"].any()
        for game, name in enumerate(env.seat.opponent_names(games.everyone)):
            met.setdefault((game, int(env.seat.episodes[game])), set()).add(name)
        observations, _, over, infos = env.step(bot.act(views))
        for game in np.flatnonzero(over):
            assert infos[game]["terminal_observation"]["memory"].any()
            assert not observations["memory"][game].any()
    assert known > 50
    assert len(met) > 20
    assert all(len(names) == 1 for names in met.values())
    assert len(set.union(*met.values())) == 3


def test_environment_works_inside_sb3_wrappers(tmp_path):
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        env = VecMonitor(GinRummyVecEnv(4, "simple"), str(tmp_path / "monitor.csv"))
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, device="cpu", seed=0)
    model.learn(4 * 32)
    env.close()
    assert (tmp_path / "monitor.csv").read_text().count("\n") > 3


def test_pictures_of_the_games_go_through_sb3_wrappers():
    env = VecNormalize(GinRummyVecEnv(20, "random", seed=1, render_mode="rgb_array"))
    env.reset()
    images = env.get_images()
    assert (len(images), images[0].shape, images[0].dtype) == (16, (320, 480, 3), np.uint8)
    assert env.render().shape == (4 * 320, 4 * 480, 3)
    assert (env.render_mode, env.unwrapped.metadata["render_fps"]) == ("rgb_array", 2)
    assert GinRummyVecEnv(2).get_images() == [None, None]
    with pytest.raises(ValueError, match="unknown render_mode 'human'; choose from rgb_array"):
        GinRummyVecEnv(2, render_mode="human")


def test_policy_with_an_observation_of_its_own_says_which_bot_to_write(tmp_path):
    class Cards(gymnasium.ObservationWrapper):
        observation_space = gymnasium.spaces.Box(0, 1, (52,))

        def observation(self, observation):
            return observation[:52]

    env = Cards(gymnasium.make("gin_env/GinRummy-v0", opponent="random", flat=True).unwrapped)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, device="cpu")
    for use in (
        agents.resolve,
        PolicyBot.snapshot,
        lambda model: save_policy(model, tmp_path / "p.safetensors"),
    ):
        with pytest.raises(ValueError, match=r"reads \(52,\), not .*write a bot") as caught:
            use(model)
    namespace = {"model": model, "my_inputs": lambda view: view.observations()[:, :52]}
    exec(textwrap.dedent(str(caught.value).partition(":\n")[2]), namespace)
    assert play_match(namespace["Mine"](), "random", 4, seed=1, episode="hand").bots[0] == "Mine"


def test_evaluation_needs_no_monitor_and_takes_the_points_that_a_wrapper_hides():
    class Shaped(VecEnvWrapper):
        def reset(self):
            return self.venv.reset()

        def step_wait(self):
            seen, rewards, over, infos = self.venv.step_wait()
            return seen, rewards + 7, over, infos

    games = GinRummyVecEnv(4, "simple", seed=3)
    model = MaskablePPO("MlpPolicy", games, n_steps=16, batch_size=64, device="cpu", seed=0)
    mean, _ = evaluate_policy(model, Shaped(games), n_eval_episodes=8)
    assert -1.5 < mean < 0.5


def test_training_is_reproducible():
    def weights():
        env = GinRummyVecEnv(8, ["simple", "random"], seed=7)
        model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=7, device="cpu")
        model.learn(8 * 16 * 2)
        return np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()])

    assert (weights() == weights()).all()


def test_learner_can_play_against_its_snapshots(model):
    frozen = PolicyBot.snapshot(model)
    env = GinRummyVecEnv(16, "simple", seed=2)
    env.reset()
    env.set_opponents([frozen, "simple", "random"], [0.6, 0.2, 0.2])
    for _ in range(60):
        env.step(get_action_masks(env).argmax(axis=1))
    before = [parameter.clone() for parameter in frozen.network.policy.parameters()]
    model.learn(8 * 32)
    assert all(
        (old == new).all() for old, new in zip(before, frozen.network.policy.parameters(), strict=True)
    )


def test_policy_trained_on_hands_does_not_see_scores(model, tmp_path):
    save_policy(model, tmp_path / "tiny.safetensors")
    bot = PolicyBot.load(tmp_path / "tiny.safetensors")
    view, seen = started(1, seed=1, episode="game"), []
    bot.network.register_forward_pre_hook(lambda network, inputs: seen.append(inputs[0].clone()))
    for scores in ((0, 0), (80, 40)):
        view.state["public"]["scores"][0] = scores
        bot.act(view.views(view.everyone))
    assert (seen[0] == seen[1]).all()


def test_sampling_follows_the_action_probabilities():
    chances = np.tile(np.array([0.0, 0.2, 0.0, 0.6, 0.0], np.float32), (40_000, 1))  # rounding, exaggerated
    random = np.random.default_rng(0).integers(0, 2**64, 40_000, np.uint64)
    random[:2] = 0, 2**64 - 1
    actions = sample_actions(chances, random)
    assert set(actions.tolist()) == {1, 3}
    assert (actions == 3).mean() == pytest.approx(0.75, abs=0.01)


@pytest.mark.long
def test_self_play_example_trains_resumes_and_writes_a_bot(tmp_path):
    run = tmp_path / "run"
    command = [
        sys.executable, str(ROOT / "examples" / "ppo_selfplay.py"), "--run", str(run),
        "--num-envs", "16", "--num-steps", "16", "--num-minibatches", "4", "--bots", "simple",
        "--evaluate-every", "512", "--evaluation-games", "4",
    ]  # fmt: skip

    def done(*arguments):
        return subprocess.run([*command, *arguments], capture_output=True, text=True)

    first = done("--total-timesteps", "1024")
    assert first.returncode == 0, first.stderr
    assert "holds a run: choose another --run, or add --resume" in done().stderr
    more = done("--total-timesteps", "2048", "--resume")
    assert more.returncode == 0, more.stderr
    with (run / "evaluations.csv").open() as file:
        assert [row["decisions"] for row in csv.DictReader(file)] == ["512", "1024", "1536", "2048"]
    assert any(run.glob("tensorboard/*/events*"))
    assert play_match(str(run / "policy.safetensors"), "random", 4, episode="hand").hands == 4


@pytest.mark.parametrize("indices", [2**64 - 1, 3, -4, [0, 3]])
def test_masks_of_invalid_game_indices_raise(indices):
    env = GinRummyVecEnv(3, seed=1)
    env.reset()
    env.step(np.array([PASS, DRAW_UPCARD, DRAW_UPCARD]))
    masks = env.action_masks()
    assert (masks[0] != masks[2]).any()
    assert np.array_equal(env.env_method("action_masks", indices=[2, -3]), masks[[2, 0]])
    with pytest.raises(IndexError, match=r"indices must be from 0 to 2"):
        env.env_method("action_masks", indices=indices)
