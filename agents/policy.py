"""A policy trained with MaskablePPO (sb3-contrib), as a bot.

The file remembers which observation layout, estimator (by name, with its parameters), rules and kind of
episode the policy was trained with (see `describe_training`), and the bot encodes its own observation from
the `PlayerView` accordingly: no option of the environment that it plays in can feed it other numbers.
"""

from __future__ import annotations

import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env import estimators
from gin_env.estimators.base import Estimator, NeedsHands, is_observed
from gin_env.observation import LAYOUT, LAYOUT_VERSION, OBSERVATION_SIZE
from gin_env.rules import Rules
from gin_env.views import PlayerView

if TYPE_CHECKING:
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

_ESTIMATE = LAYOUT["estimate"].slice
_SCORES = slice(LAYOUT["own_score"].slice.start, LAYOUT["opponent_score"].slice.stop)


def describe_training(
    rules: Rules | None = None, episode: str = "hand", estimator: str | Estimator = "uniform"
) -> dict[str, Any]:
    """What a model must remember of its training; `GinRummyVecEnv.describe_training` calls this.

    Raises ValueError for an estimator that cannot be made again by its name.
    """
    return {
        "layout_version": LAYOUT_VERSION,
        "estimator": estimators.make(estimators.resolve(estimator).name).name,
        "rules": asdict(rules or Rules()),
        "episode": episode,
    }


class PolicyBot:
    """Plays a MaskablePPO policy, one batched forward pass for all its tables.

    Parameters
    ----------
    policy : the network; it is used as it is, see `snapshot` for a frozen copy.
    training : what `describe_training` returned for it.
    deterministic : play the most probable action (default) or draw from the distribution.
    name : the bot's name in results.
    """

    def __init__(
        self,
        policy: MaskableActorCriticPolicy,
        training: dict[str, Any],
        deterministic: bool = True,
        name: str = "policy",
    ) -> None:
        if training.get("layout_version") != LAYOUT_VERSION:
            raise ValueError(
                f"{name} was trained with observation layout {training.get('layout_version')}, this release has "
                f"layout {LAYOUT_VERSION}: train it again, or install the release that it was trained with"
            )
        if policy.observation_space.shape != (OBSERVATION_SIZE,):
            raise ValueError(
                f"{name} takes observations of shape {policy.observation_space.shape}, not ({OBSERVATION_SIZE},)"
            )
        self.policy = policy
        self.estimator = estimators.make(training["estimator"])
        if isinstance(self.estimator, NeedsHands):
            raise ValueError(
                f"{name} was trained with the estimator {self.estimator.name!r}: it cannot play without seeing all cards"
            )
        self.rules = Rules(**training["rules"])
        self.sees_scores = training["episode"] == "game"
        self.deterministic = deterministic
        self.name = name

    @classmethod
    def load(cls, path: str | Path, deterministic: bool = True) -> PolicyBot:
        """The policy in a file that ``MaskablePPO.save`` wrote.

        SB3's format holds pickled objects: load only files that you trust. Raises FileNotFoundError, or
        ValueError for a file that is not such a policy.
        """
        try:
            from sb3_contrib import MaskablePPO
        except ImportError as error:
            raise ImportError('trained policies need sb3-contrib: pip install "gin-env[train]"') from error
        if not Path(path).is_file():
            raise FileNotFoundError(f"no trained policy at {path}")
        if not zipfile.is_zipfile(path):
            raise ValueError(f"{path} is not a file that MaskablePPO.save() wrote: it is no zip archive")
        try:
            model = MaskablePPO.load(path, device="cpu")
        except (KeyError, ValueError, RuntimeError, AttributeError, EOFError) as error:
            raise ValueError(f"{path} cannot be read as a MaskablePPO policy: {error}") from error
        training = getattr(model, "gin_env", None)
        if training is None:
            raise ValueError(
                f"{path} does not say how it was trained; set model.gin_env = env.describe_training() before saving"
            )
        return cls(model.policy, training, deterministic, name=Path(path).stem)

    @classmethod
    def snapshot(cls, model: MaskablePPO, deterministic: bool = False, name: str = "snapshot") -> PolicyBot:
        """A frozen copy of a model in training (set ``model.gin_env`` first)."""
        original = model.policy  # deepcopy fails on it: it holds the last distribution, part of a graph
        policy = type(original)(**original._get_constructor_parameters())
        policy.load_state_dict(original.state_dict())
        policy.set_training_mode(False)
        return cls(policy, model.gin_env, deterministic, name)  # type: ignore[attr-defined]

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
        illegal = torch.from_numpy(view.masks() == 0)
        with torch.no_grad():
            logits = self.logits(torch.from_numpy(observations)).masked_fill(illegal, -torch.inf)
            if self.deterministic:
                return logits.argmax(dim=1).numpy()
            chances = torch.softmax(logits, dim=1).numpy()
        return sample_actions(chances, view.records["random"])

    def logits(self, observations: torch.Tensor) -> torch.Tensor:
        """float32 (n, 107) before masking, from float32 (n, OBSERVATION_SIZE)."""
        policy: Any = self.policy
        features = policy.extract_features(observations, policy.pi_features_extractor)
        return policy.action_net(policy.mlp_extractor.forward_actor(features))


def sample_actions(chances: np.ndarray, random: np.ndarray) -> np.ndarray:
    """int64 (n,): an action from each row of probabilities (n, 107), by uint64 random numbers (n,)."""
    limits = np.cumsum(chances, axis=1, dtype=np.float64)
    # The draw lies in [0, total), so that rounding in the sum can never choose an action of chance 0.
    draws = (random >> np.uint64(11)) * 2.0**-53 * limits[:, -1]
    return (limits <= draws[:, None]).sum(axis=1)
