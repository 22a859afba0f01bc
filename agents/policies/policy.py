"""A trained policy as a bot.

Its file (`gin_env.agents.policies.policy_networks`) names the parts of the observation that it reads, and the
estimator, rules and kind of episode of its training (see `describe_training`). The bot encodes its own
observation from the `PlayerView` accordingly, so the options of an environment never change its input.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env import estimators
from gin_env.batch import Episode
from gin_env.estimators.base import Estimator, NeedsHands, is_observed
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.rules import Rules
from gin_env.game.streams import units
from gin_env.observations.observation import LAYOUT, OBSERVATION_SIZE
from gin_env.observations.parts import describe_parts, find_parts
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice, check_switch

if TYPE_CHECKING:
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

_ESTIMATE = LAYOUT["estimate"].slice
_SCORES = slice(LAYOUT["own_score"].slice.start, LAYOUT["opponent_score"].slice.stop)


def describe_training(
    rules: Rules | None = None,
    episode: Episode = "hand",
    estimator: str | Estimator = "uniform",
    candidates: bool = False,
) -> dict[str, Any]:
    """What a model must remember of its training; `GinRummyVecEnv.describe_training` calls this.

    Parameters are those of the environment. Raises ValueError for an estimator that cannot be made again by
    its name.
    """
    vectors = ["observation", "row", "context"] if candidates else ["observation"]
    return {
        "reads": describe_parts(*vectors),
        "estimator": estimators.make(estimators.resolve(estimator).name).name,
        "rules": asdict(rules or Rules()),
        "episode": episode,
    }


def training_of(model: MaskablePPO) -> dict[str, Any]:
    """What ``model.gin_env`` says. Raises ValueError if it was not set."""
    training = getattr(model, "gin_env", None)
    if not isinstance(training, dict):
        raise ValueError(
            "the model does not say how it was trained: set model.gin_env = env.describe_training() first"
        )
    return training


class FrozenPolicy:
    """A copy of a policy in training: observations to logits, whatever the training does to the original.

    A policy that takes the dict of `GinRummyEnv` reads (n, 107 + OBSERVATION_SIZE), the mask first.
    """

    def __init__(self, original: MaskableActorCriticPolicy) -> None:
        self.reads_mask = original.observation_space.shape is None
        # deepcopy fails on a policy: it holds the last distribution, part of a graph.
        self.policy: Any = type(original)(**original._get_constructor_parameters())
        self.policy.load_state_dict(original.state_dict())
        self.policy.set_training_mode(False)

    def __call__(self, observations: Any) -> torch.Tensor:
        if self.reads_mask:
            masks, vectors = observations[:, :NUM_ACTIONS], observations[:, NUM_ACTIONS:]
            observations = {"action_mask": masks, "observation": vectors}
        features = self.policy.extract_features(observations, self.policy.pi_features_extractor)
        return self.policy.action_net(self.policy.mlp_extractor.forward_actor(features))


class PolicyBot:
    """Plays a trained network, one batched forward pass for all its tables.

    Parameters
    ----------
    network : observations float32 (n, OBSERVATION_SIZE) to logits float32 (n, 107), such as a network of
        `gin_env.agents.policies.policy_networks`; it is used as it is, see `snapshot` for a frozen copy. If
        it has ``reads_mask``, and that is true, the mask precedes the observation, (n, 107 +
        OBSERVATION_SIZE).
    training : what `describe_training` returned for it.
    deterministic : play the most probable action (default) or draw from the distribution.
    name : the bot's name in results.
    """

    def __init__(
        self,
        network: Callable[[torch.Tensor], torch.Tensor],
        training: dict[str, Any],
        deterministic: bool = True,
        name: str = "policy",
    ) -> None:
        if missing := [key for key in describe_training() if key not in training]:
            raise ValueError(f"{name} does not say how it was trained: {', '.join(missing)} is missing")
        try:
            self._columns = find_parts("observation", training["reads"])
        except ValueError as error:
            raise ValueError(
                f"{name} cannot be played: {error}; train it again, or install the release of its training"
            ) from error
        self._reads_all = np.array_equal(self._columns, np.arange(OBSERVATION_SIZE))
        self.network = network
        self.estimator = estimators.make(training["estimator"])
        if isinstance(self.estimator, NeedsHands):
            raise ValueError(
                f"{name} was trained with the estimator {self.estimator.name!r}: "
                "it cannot play without seeing all cards"
            )
        try:
            self.rules = Rules(**training["rules"])
        except TypeError as error:
            raise ValueError(
                f"{name} was trained under rules that this release does not know: {error}"
            ) from error
        self.sees_scores = check_choice("episode", training["episode"], ("hand", "game")) == "game"
        self.deterministic = check_switch("deterministic", deterministic)
        self.name = name

    @classmethod
    def load(cls, path: str | Path, deterministic: bool = True) -> PolicyBot:
        """The policy in a file that `gin_env.wrappers.sb3.save_policy` or ``gin-rummy convert`` wrote.

        Raises FileNotFoundError, or ValueError for any other file. An archive of
        Stable-Baselines3 (``.zip``) is refused unopened: it may hold code, which SB3 runs when it loads it.
        """
        path = Path(path)
        if not path.exists():
            raise FileNotFoundError(f"no trained policy at {path}")
        if path.suffix == ".zip":
            files = f"{shlex.quote(str(path))} {shlex.quote(str(path.with_suffix('.safetensors')))}"
            raise ValueError(
                f"{path} is not loaded: an archive of Stable-Baselines3 may hold code that runs when it is; "
                f"convert it with `gin-rummy convert {files}`, and name that file"
            )
        from gin_env.agents.policies.policy_networks import load_network

        network, training = load_network(path)
        try:
            return cls(network, training, deterministic, name=path.stem)
        except TypeError as error:
            raise ValueError(f"{path} does not say how it was trained: {error}") from error

    @classmethod
    def snapshot(cls, model: MaskablePPO, deterministic: bool = False, name: str = "snapshot") -> PolicyBot:
        """A frozen copy of a model in training (set ``model.gin_env`` first); any policy of SB3's will do.

        It must read the observation, alone or in the dict with the mask; `CandidatePolicyBot.snapshot` copies
        a `SB3CandidatePolicy`.
        """
        check_inputs(model.policy.observation_space, name)
        return cls(FrozenPolicy(model.policy), training_of(model), deterministic, name)

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`. Raises ValueError under other rules than those of the training."""
        if view.rules != self.rules:
            raise ValueError(f"{self.name} was trained under {self.rules}, not under {view.rules}")
        import torch

        observations = view.observations()
        if not is_observed(self.estimator):
            observations[:, _ESTIMATE] = self.estimator.estimate(view)
        if not self.sees_scores:
            observations[:, _SCORES] = 0.0
        if not self._reads_all:
            observations = observations[:, self._columns]
        masks = view.masks()
        if getattr(self.network, "reads_mask", False):
            observations = np.concatenate([masks.astype(np.float32), observations], axis=1)
        with torch.no_grad():
            logits = self.logits(torch.from_numpy(observations))
            logits = logits.masked_fill(torch.from_numpy(masks == 0), -torch.inf)
            if self.deterministic:
                return logits.argmax(dim=1).numpy()
            chances = torch.softmax(logits, dim=1).numpy()
        return sample_actions(chances, view.records["random"])

    def logits(self, observations: torch.Tensor) -> torch.Tensor:
        """float32 (n, 107) before masking, from what the network reads, float32 (n, ...)."""
        return self.network(observations)


def check_inputs(space: Any, name: str) -> None:
    """Raise ValueError unless a policy that reads this space of Gymnasium's can be a `PolicyBot`."""
    entries = getattr(space, "spaces", None)
    known = space.shape == (OBSERVATION_SIZE,) or set(entries or ()) == {"observation", "action_mask"}
    if not known:
        raise ValueError(
            f"{name} reads {space.shape if entries is None else ', '.join(entries)}; a PolicyBot reads the "
            f"observation ({OBSERVATION_SIZE},), alone or in a dict with action_mask, and "
            "gin_env.agents.policies.candidate_policy.CandidatePolicyBot.snapshot copies a SB3CandidatePolicy"
        )


def sample_actions(chances: np.ndarray, random: np.ndarray) -> np.ndarray:
    """int64 (n,): an action from each row of probabilities (n, 107), by uint64 random numbers (n,)."""
    limits = np.cumsum(chances, axis=1, dtype=np.float64)
    # The draw is in [0, total), so that rounding of the sum never chooses an action of probability 0.
    draws = units(random) * limits[:, -1]
    return (limits <= draws[:, None]).sum(axis=1)
