"""What else works with the environments: wrappers, tests and tutorials of other libraries.

`benchmarks/compatibility.py` runs this in a virtual environment with current releases and writes its lines
into docs/frameworks.md. Each function below is one row: its docstring is what works, and it raises if that
does not. The word after the bar is what the environment needs for it.
"""

from __future__ import annotations

import copy
import importlib
import io
import pickle
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.metadata import version

import gymnasium
import numpy as np
import torch
from gymnasium import wrappers
from gymnasium.utils.env_checker import check_env
from peers.tutorial_wrapper import SB3ActionMaskWrapper
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from gin_env import gin_rummy_v0

ID = "gin_env:gin_env/GinRummy-v0"
ROWS: list[tuple[str, Callable[[], object]]] = []


def row(package: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Add a function to the rows of a package."""

    def add(function: Callable[[], object]) -> Callable[[], object]:
        ROWS.append((package, function))
        return function

    return add


def play(env: gymnasium.Env, num_steps: int = 40) -> None:
    """Play random legal actions in a single environment, through episodes."""
    env.reset(seed=1)
    for _ in range(num_steps):
        mask = env.unwrapped.action_masks()
        observation, _, over, truncated, _ = env.step(int(np.random.default_rng(1).choice(mask.nonzero()[0])))
        assert env.observation_space.contains(observation)
        if over or truncated:
            env.reset()


def play_batch(env: gymnasium.vector.VectorEnv, num_steps: int = 20) -> None:
    """Play the first legal actions in a batch."""
    observations, infos = env.reset(seed=1)
    for _ in range(num_steps):
        masks = observations["action_mask"] if isinstance(observations, dict) else infos["action_mask"]
        observations, _, _, _, infos = env.step(np.asarray(masks).argmax(axis=1))
    env.close()


@row("gymnasium")
def vectors() -> None:
    """`make_vec` with `vectorization_mode="sync"` and `"async"` | nothing"""
    for mode in ("sync", "async"):
        play_batch(gymnasium.make_vec(ID, 2, vectorization_mode=mode))


@row("gymnasium")
def usual_wrappers() -> None:
    """Wrappers of episodes and rewards, such as `TimeLimit`, `ClipReward`, `NormalizeReward` | nothing"""
    env = gymnasium.make(ID, max_episode_steps=10)
    env = wrappers.RecordEpisodeStatistics(wrappers.FilterObservation(env, ["observation", "action_mask"]))
    env = wrappers.TransformReward(wrappers.ClipReward(env, -0.1, 0.1), lambda reward: 2 * reward)
    play(wrappers.NormalizeReward(env))


@row("gymnasium")
def flatten_observation() -> None:
    """`FlattenObservation` (the mask comes first) | nothing"""
    play(wrappers.FlattenObservation(gymnasium.make(ID)))


@row("gymnasium")
def stacked_frames() -> None:
    """`FrameStackObservation`, `NormalizeObservation` | `flat=True`"""
    env = gymnasium.make(ID, flat=True)
    play(wrappers.NormalizeObservation(wrappers.FrameStackObservation(env, 3)))


@row("gymnasium")
def vector_normalization() -> None:
    """`vector.NormalizeObservation` | `flat=True, autoreset_mode="NextStep"`"""
    env = gymnasium.make_vec(ID, 4, flat=True, autoreset_mode="NextStep")
    wrapped = gymnasium.wrappers.vector.NormalizeObservation(env)
    wrapped.reset(seed=1)
    for _ in range(20):
        masks = env.unwrapped.action_masks()
        wrapped.step(masks.argmax(axis=1))


@row("gymnasium")
def environment_checker() -> None:
    """`check_env` | `illegal_action="lose"`"""
    check_env(gymnasium.make(ID, illegal_action="lose").unwrapped, skip_render_check=True)


@row("gymnasium")
def copies() -> None:
    """`copy.deepcopy` and `pickle` of every environment | nothing"""
    for env in (gymnasium.make(ID), gymnasium.make_vec(ID, 2), gin_rummy_v0.env()):
        env.reset(seed=1)
        copy.deepcopy(env)
        pickle.loads(pickle.dumps(env))


@row("pettingzoo")
def its_tests() -> None:
    """`api_test`, `seed_test` | nothing"""
    from pettingzoo.test import api_test, seed_test

    for make in (gin_rummy_v0.env, gin_rummy_v0.raw_env):
        api_test(make(), num_cycles=100)
        seed_test(make, num_cycles=50)


@row("pettingzoo")
def parallel() -> None:
    """`parallel_api_test`, and libraries that need a parallel environment | `turn_based_aec_to_parallel`"""
    from pettingzoo.test import parallel_api_test

    parallel_api_test(turn_based_aec_to_parallel(gin_rummy_v0.env()), num_cycles=50)


@row("pettingzoo")
def action_mask_tutorial() -> None:
    """The tutorial "SB3: Action Masked PPO" | nothing"""
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from sb3_contrib.common.wrappers import ActionMasker

    env = SB3ActionMaskWrapper(gin_rummy_v0.env())
    env.reset(seed=1)
    masked = ActionMasker(env, lambda env: env.action_mask())
    MaskablePPO(MaskableActorCriticPolicy, masked, n_steps=64, batch_size=64, n_epochs=1).learn(64)


@row("stable-baselines3")
def checker_of_sb3() -> None:
    """`check_env` | `flat=True, illegal_action="lose"`"""
    from stable_baselines3.common.env_checker import check_env as sb3_check

    sb3_check(gymnasium.make(ID, flat=True, illegal_action="lose").unwrapped, skip_render_check=True)


@row("stable-baselines3")
def vector_wrappers() -> None:
    """`VecMonitor`, `VecNormalize`, `VecFrameStack` around `GinRummyVecEnv` | nothing"""
    from stable_baselines3.common import vec_env

    from gin_env.wrappers.sb3 import GinRummyVecEnv

    env = vec_env.VecFrameStack(vec_env.VecNormalize(vec_env.VecMonitor(GinRummyVecEnv(4))), 2)
    env.reset()
    for _ in range(20):
        env.step(np.stack(env.env_method("action_masks")).argmax(axis=1))


@row("supersuit")
def aec_wrappers() -> None:
    """`frame_stack_v1`, `dtype_v0`, `flatten_v0`, `normalize_obs_v0` | `flat=True`"""
    import supersuit

    env = gin_rummy_v0.env(flat=True)
    env = supersuit.flatten_v0(supersuit.normalize_obs_v0(supersuit.dtype_v0(env, np.float32)))
    env = supersuit.frame_stack_v1(env, 3)
    env.reset(seed=1)
    for agent in env.agent_iter(30):
        observation, _, over, truncated, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        masks = env.unwrapped.infos[agent]["action_mask"]
        env.step(None if over or truncated else int(masks.argmax()))


@row("supersuit")
def vectors_of_supersuit() -> None:
    """`pettingzoo_env_to_vec_env_v1`, `concat_vec_envs_v1`; they drop masks | `turn_based_aec_to_parallel`"""
    import supersuit

    env = supersuit.pettingzoo_env_to_vec_env_v1(turn_based_aec_to_parallel(gin_rummy_v0.env(flat=True)))
    env = supersuit.concat_vec_envs_v1(env, 2, base_class="gymnasium")
    env.reset(seed=1)
    for _ in range(5):
        env.step(np.full(env.num_envs, 104))


@row("skrl")
def wrapped_by_skrl() -> None:
    """`wrap_env` of a batch and of a parallel environment; your model masks the logits | `flat=True`"""
    from skrl.envs.wrappers.torch import wrap_env

    batch = gymnasium.make_vec(ID, 8, flat=True)
    env = wrap_env(batch)
    env.reset()
    for _ in range(5):
        masks = torch.as_tensor(batch.unwrapped.action_masks())
        observations, *_ = env.step(masks.argmax(dim=1, keepdim=True))
        assert observations.shape[0] == 8
    pair = wrap_env(turn_based_aec_to_parallel(gin_rummy_v0.env(flat=True)))
    _, infos = pair.reset()
    for _ in range(5):
        masks = {agent: torch.as_tensor(infos[agent]["action_mask"]) for agent in pair.agents}
        _, _, _, _, infos = pair.step({agent: mask.argmax().view(1, 1) for agent, mask in masks.items()})


def main() -> None:
    """Print a line for each row that works; stop at the first that does not."""
    packages = sys.argv[1:]
    torch.set_num_threads(1)
    for package, function in ROWS:
        if packages and package not in packages:
            continue
        importlib.import_module(package.replace("-", "_"))
        what, _, needs = (function.__doc__ or "").rpartition(" | ")
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            function()
        print(f"| {package} {version(package)} | {what} | {needs} |", flush=True)


if __name__ == "__main__":
    main()
