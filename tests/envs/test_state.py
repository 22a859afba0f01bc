"""Copies and saved states of every environment: deepcopy, pickle, get_state and set_state."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest

from gin_env import Rules, gin_rummy_v0, gin_rummy_v4
from gin_env.game.actions import describe
from gin_env.wrappers.sb3 import GinRummyVecEnv
from gin_env.wrappers.text import TextGinRummy

OPPONENTS = ["simple", "random", "tonic"]


def play_aec(env, steps, seed):
    """Play random legal actions and return everything that the players receive."""
    random, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        if not env.agents:
            env.reset()
        observation, *last = env.last()
        seen.append([env.agent_selection, observation, last])
        over = last[1] or last[2]
        env.step(None if over else int(random.choice(np.flatnonzero(observation["action_mask"]))))
    return seen


def play_single(env, steps, seed):
    random, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        legal = np.flatnonzero(env.unwrapped.action_masks())
        seen.append(env.step(int(random.choice(legal))) if len(legal) else env.reset())
    return seen


def play_vector(env, steps, seed):
    random, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        masks = np.array(env.action_masks())
        masks[~masks.any(axis=1)] = 1  # a game that waits for its next episode ignores the action
        seen.append(env.step(np.array([random.choice(np.flatnonzero(mask)) for mask in masks])))
    return seen


def play_sb3(env, steps, seed):
    seen = play_vector(env, steps, seed)
    for info in (info for step in seen for info in step[-1] if "episode" in info):
        del info["episode"]["t"]  # seconds
    return seen


def play_text(env, steps, seed):
    random, seen = np.random.default_rng(seed), []
    for step in range(steps):
        legal = np.flatnonzero(env.game.action_masks())
        action = "nothing" if step % 9 == 4 else describe(int(random.choice(legal))) if len(legal) else ""
        seen.append(env.step(action) if len(legal) else env.reset())
        if len(seen[-1]) > 2 and seen[-1][2]:
            seen.append(env.reset())
    return seen


def vector(**keywords):
    return gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=3, opponent=OPPONENTS, **keywords)


ENVIRONMENTS = {
    "raw": (lambda: gin_rummy_v0.raw_env(episode="game", estimator="bayes-isru"), play_aec),
    "raw with candidates": (lambda: gin_rummy_v0.raw_env(candidates=True), play_aec),
    "wrapped": (gin_rummy_v0.env, play_aec),
    "v4": (gin_rummy_v4.raw_env, play_aec),
    "v4 wrapped": (gin_rummy_v4.env, play_aec),
    "single": (
        lambda: gymnasium.make("gin_env/GinRummy-v0", opponent=OPPONENTS, episode="game"),
        play_single,
    ),
    "vector with memory": (lambda: vector(episode="game", memory=True), play_vector),
    "raw with memory": (lambda: gin_rummy_v0.raw_env(episode="game", memory=True), play_aec),
    "single estimator": (lambda: gymnasium.make("gin_env/GinRummy-v0", estimator="bayes"), play_single),
    "vector": (vector, play_vector),
    "vector, next step": (lambda: vector(autoreset_mode="NextStep", max_episode_steps=9), play_vector),
    "sb3": (lambda: GinRummyVecEnv(3, OPPONENTS), play_sb3),
    "text": (TextGinRummy, play_text),
}


@pytest.fixture(params=ENVIRONMENTS, ids=str)
def played(request):
    """An environment in the middle of its second or a later hand, and a function that plays it."""
    make, play = ENVIRONMENTS[request.param]
    env = make()
    env.seed(3) if hasattr(env, "seed") else None
    env.reset() if hasattr(env, "seed") else env.reset(seed=3)
    play(env, 70, 1)
    return env, play


def plain(thing):
    """Return nested lists and dicts with arrays converted to bytes."""
    if isinstance(thing, dict):
        return {name: plain(value) for name, value in thing.items()}
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        return thing.dtype.str, thing.shape, thing.tobytes()
    return [plain(value) for value in thing] if isinstance(thing, list | tuple | np.ndarray) else thing


def core(env):
    """Return the environment inside Gymnasium's wrappers, which have no get_state."""
    return env.unwrapped if isinstance(env, gymnasium.Env) else env


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copy_plays_independently(played, clone):
    env, play = played
    twin = clone(env)
    expected = play(twin, 60, 2)
    assert plain(play(env, 60, 2)) == plain(expected)


def test_state_can_be_set_repeatedly(played):
    env, play = played
    target = core(env)
    state = target.get_state()
    expected = copy.deepcopy(play(env, 60, 2))
    for seed in (3, 4):
        play(env, 30, seed)
        target.set_state(state)
        assert plain(play(env, 60, 2)) == plain(expected)


def test_state_continues_in_another_process(played):
    env, play = played
    target = core(env)
    state = pickle.loads(pickle.dumps(target.get_state()))
    twin = copy.deepcopy(env)
    expected = play(env, 60, 2)
    play(twin, 25, 5)
    core(twin).set_state(state)
    assert plain(play(twin, 60, 2)) == plain(expected)


def test_setting_a_state_never_writes_into_returned_arrays(played):
    env, play = played
    target = core(env)
    state = target.get_state()
    seen = play(env, 20, 2)
    before = copy.deepcopy(seen)
    target.set_state(state)
    assert plain(seen) == plain(before)


def test_state_after_an_illegal_action_is_restored_with_the_wrappers():
    env = gin_rummy_v0.env()
    env.reset(seed=1)
    state = env.get_state()
    illegal = int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0])
    env.step(illegal)
    assert all(env.terminations.values())
    env.set_state(state)
    assert not any(env.terminations.values())
    assert len(play_aec(env, 60, 2)) == 60


def test_state_can_be_set_in_a_new_environment_before_its_reset():
    env, other = gin_rummy_v0.raw_env(), gin_rummy_v0.env()
    env.reset(seed=1)
    other.set_state(env.get_state())
    assert plain(play_aec(other, 10, 2)) == plain(play_aec(env, 10, 2))


def test_state_keeps_the_remaining_fixed_decks():
    decks = [np.random.default_rng(seed).permutation(52) for seed in range(40)]
    env = gin_rummy_v0.raw_env(episode="game")
    env.reset(seed=1, options={"deck": decks})
    state = env.get_state()
    expected = play_aec(env, 200, 2)
    for _ in range(2):  # what is played does not use up the decks of the state
        env.reset(seed=2)
        env.set_state(state)
        assert plain(play_aec(env, 200, 2)) == plain(expected)


@pytest.mark.parametrize(
    "other",
    [
        lambda: gin_rummy_v0.raw_env(rules=Rules(knock_limit=5)),
        lambda: gin_rummy_v0.raw_env(estimator="bayes"),
        lambda: gin_rummy_v0.raw_env(episode="game"),
        gin_rummy_v4.raw_env,
        TextGinRummy,
    ],
)
def test_state_of_other_settings_is_refused(other):
    env, other = gin_rummy_v0.raw_env(), other()
    env.reset(seed=1)
    other.reset(seed=1)
    before = env.games.state.tobytes()
    with pytest.raises(ValueError, match="the same settings"):
        env.set_state(other.get_state())
    assert env.games.state.tobytes() == before
    with pytest.raises(TypeError, match="get_state"):
        env.set_state(pickle.dumps(env))
