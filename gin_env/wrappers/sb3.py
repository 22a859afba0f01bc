"""Stable-Baselines3: a `VecEnv` over the batch engine, for MaskablePPO (sb3-contrib).

>>> from sb3_contrib import MaskablePPO
>>> from gin_env.wrappers import GinRummyVecEnv, save_policy
>>> model = MaskablePPO("MlpPolicy", GinRummyVecEnv(num_envs=256, opponent="simple"))
>>> model.learn(1_000_000)
>>> save_policy(model, "policy.safetensors")

The learner makes only its own decisions, and the environment plays the opponents. The reward of a step covers
everything until the learner's next decision, so the learner always gets the reward for the end of a hand,
even if the opponent ends it. SB3 gets the masks from ``env_method("action_masks")``.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from gin_env.agents.policies.candidate_network import save_candidate_policy
from gin_env.agents.policies.candidate_policy import check_training
from gin_env.agents.policies.policy import FrozenPolicy, PolicyBot, check_inputs, training_of
from gin_env.agents.policies.policy_networks import ACTIVATIONS, save_network
from gin_env.agents.policies.sb3_archives import actor_of
from gin_env.batch import check_actions
from gin_env.envs.encoder import Observation, row
from gin_env.envs.learner_seat import LearnerSeat, Opponents, Options, Seated, check_seeds
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.rules import RulesLike
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.support.checks import check_choice
from gin_env.support.threads import warn_if_threads_compete
from gin_env.wrappers.candidate_policy import SB3CandidatePolicy


def save_policy(model: MaskablePPO, path: str | Path) -> None:
    """Write the policy of a model to a ``.safetensors`` file, whose path can be used as the name of a bot.

    The file holds weights, sizes and the description of the training, but no code and no optimizer state.
    The policy must be `SB3CandidatePolicy`, `CardPolicy`, "MlpPolicy" or "MultiInputPolicy" (tanh or ReLU),
    from any environment of this package. Raises ValueError for other policies or unknown training.
    """
    if not isinstance(model.policy, SB3CandidatePolicy):
        check_inputs(model.policy.observation_space, type(model.policy).__name__)
    training = training_of(model)
    provenance = {"decisions": model.num_timesteps}
    if isinstance(model.policy, SB3CandidatePolicy):
        if type(model.policy) is not SB3CandidatePolicy:
            raise ValueError(
                f"{type(model.policy).__name__} cannot be written: it may do more than SB3CandidatePolicy, "
                "from which it is derived"
            )
        network = copy.deepcopy(model.policy.mlp_extractor.network).cpu()
        rules, episode = check_training(training, network.reads_memory)
        save_candidate_policy(path, network, rules, provenance, episode)
        return
    activation = {name: kind for kind, name in ACTIVATIONS.items()}.get(model.policy.activation_fn, "unknown")
    network = actor_of(model.policy.state_dict(), activation)
    frozen = FrozenPolicy(model.policy)
    inputs = torch.rand(64, NUM_ACTIONS + OBSERVATION_SIZE, generator=torch.Generator().manual_seed(0))
    vectors = inputs[:, NUM_ACTIONS:]
    with torch.no_grad():
        expected = frozen((inputs if frozen.reads_mask else vectors).to(model.device)).cpu()
        written = network(inputs if network.reads_mask else vectors)
        if not torch.allclose(written, expected, rtol=1e-4, atol=1e-4):
            raise ValueError(
                f"{type(model.policy).__name__} cannot be written: it does more than the layers of "
                "CardPolicy or MlpPolicy with the same names"
            )
    PolicyBot(network, training, estimator=training.get("estimator"))  # raises if it could not be loaded
    save_network(path, network, training, provenance)


class GinRummyVecEnv(Seated, VecEnv):
    """`num_envs` games against bots, as one SB3 environment.

    Other parameters are those of `gin_env.envs.gymnasium_env.GinRummyEnv`; the only ``render_mode`` is
    ``"rgb_array"``, for `render` and SB3's ``VecVideoRecorder``. Observations are float32
    (num_envs, OBSERVATION_SIZE). With ``candidates=True``, which `SB3CandidatePolicy` needs, they are dicts
    with this array (``"observation"``) and the three `ENTRIES` of `gin_env.observations.candidates`. With
    ``memory=True`` they are dicts with the entry ``"memory"`` as well. An array is never overwritten while
    you hold a reference to it; once you drop it, its memory is reused.

    The info of a game that ended holds ``terminal_observation``, ``episode`` (``r``: return, ``l``: number of
    the learner's decisions, ``t``: seconds since the environment was made), the result of the hand
    (``outcome``, ``won``, ``points``, ``turns``) and the name of the ``opponent``. Other infos are empty.
    """

    _CHANGING = ("_returns", "_lengths", "_actions", "_masks", "_begun", "_seeds", "seat")

    def __init__(
        self,
        num_envs: int = 256,
        opponent: Opponents = "simple",
        rules: RulesLike = None,
        *,
        seed: int | None = None,
        render_mode: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        warn_if_threads_compete()
        if render_mode is not None:
            check_choice("render_mode", render_mode, ["rgb_array"])
        self.seat = LearnerSeat(num_envs, opponent, rules, mask=False, **options)
        self.render_mode = render_mode
        self._started = time.time()
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._actions: np.ndarray | None = None
        self._masks = np.zeros((num_envs, NUM_ACTIONS), np.int8)
        self._begun = False
        super().__init__(num_envs, self.seat.space, spaces.Discrete(NUM_ACTIONS))
        self.metadata: dict[str, Any] = self.metadata | {"render_fps": 2}
        if seed is not None:
            self.seed(seed)

    def reset(self) -> Observation:
        """Begin an episode in every game, and return the first observations."""
        self.seat.reset(self.seat.games.everyone, check_seeds(self._seeds, self.num_envs))
        self._reset_seeds()
        self._returns[:] = 0
        self._lengths[:] = 0
        self._begun = True
        return self._observe()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next `reset`, which then begins episode 0 of seed + i in game i.

        Raises TypeError or ValueError for an invalid seed.
        """
        check_seeds(seed, self.num_envs)
        return super().seed(seed)

    def step_async(self, actions: np.ndarray) -> None:
        if not self._begun:
            raise RuntimeError("call reset() before step()")
        self._actions = check_actions(actions, self.num_envs)

    def step_wait(self) -> VecEnvStepReturn:
        if self._actions is None:
            raise RuntimeError("call step_async() before step_wait()")
        self.seat.step(self._actions)
        self._actions = None
        rewards, over = self.seat.rewards, self.seat.done.copy()
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(over)
        if len(ended):
            self._fill_infos(infos, ended)
            self._returns[ended] = 0
            self._lengths[ended] = 0
            self.seat.begin(ended)
        return self._observe(), rewards, over, infos

    def _fill_infos(self, infos: list[dict[str, Any]], ended: np.ndarray) -> None:
        observations = self.seat.observe(self.seat.masks()[ended], ended)
        results = {name: each.tolist() for name, each in self.seat.hand_results(ended).items()}
        returns, lengths = self._returns[ended].tolist(), self._lengths[ended].tolist()
        seconds = round(time.time() - self._started, 6)
        for index, game in enumerate(ended.tolist()):
            infos[game] = {name: values[index] for name, values in results.items()}
            infos[game]["terminal_observation"] = row(observations, index)
            infos[game]["episode"] = {"r": returns[index], "l": lengths[index], "t": seconds}

    def _observe(self) -> Observation:
        self._masks = self.seat.masks()
        return self.seat.observe(self._masks)

    def action_masks(self) -> np.ndarray:
        """Return a new array with 1 for each legal action, int8 (num_envs, 107)."""
        return self._masks.copy()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return pictures of at most 16 games with both hands: uint8 (320, 480, 3), one alone (640, 960, 3).

        `render` puts them into one picture. Without ``render_mode="rgb_array"`` there are none.
        """
        width = 960 if self.num_envs == 1 else 480
        return self.seat.pictures(16, width) if self.render_mode else [None] * self.num_envs

    def close(self) -> None:
        """Do nothing, since there are no resources to release."""

    # --- SB3's methods for single environments, which are rows of the batch here -----------------------

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        rows = list(self._get_indices(indices))
        if any(not -self.num_envs <= row < self.num_envs for row in rows):
            raise IndexError(f"indices must be from 0 to {self.num_envs - 1}, not {indices!r}")
        if method_name == "action_masks":
            return [self._masks[row].copy() for row in rows]
        raise AttributeError(f"a game of GinRummyVecEnv has no method {method_name!r}, only 'action_masks'")

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError(
            f"{attr_name!r} cannot be set for single games; set_opponents() changes the opponents"
        )

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return True for `Monitor`: infos have ``episode``, as `evaluate_policy` and callbacks want."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
