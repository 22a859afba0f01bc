"""A bot that plays a trained policy.

The policy's file (`gin_env.agents.policies.policy_networks`) names the parts of the observation that the
policy reads, and the estimator, rules and kind of episode used in training (see `describe_training`). The bot
encodes this observation from the `PlayerView` itself, so its input does not depend on the options of an
environment.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env import estimators
from gin_env.agents.declared_bots import name_of_file
from gin_env.batch import Episode
from gin_env.estimators.base import Estimator, NeedsHands, is_observed
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.rules import Rules
from gin_env.game.streams import units
from gin_env.observations.observation import LAYOUT, OBSERVATION_SIZE
from gin_env.observations.parts import describe_parts, find_parts
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice, check_switch
from gin_env.support.specs import NamedObject, files_of

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
    memory: bool = False,
) -> dict[str, Any]:
    """Return a JSON-serialisable description of a model's training, to keep with the model.

    Parameters are those of the environment, whose `describe_training` calls this. Raises ValueError for an
    estimator that cannot be made by its name: pass one of your own as ``"my_module:Class"``.
    """
    vectors = ["observation"] + ["row", "context"] * candidates + ["memory"] * memory
    return {
        "reads": describe_parts(*vectors),
        "estimator": _name_to_keep(estimators.resolve(estimator, programs=True)),
        "rules": asdict(rules or Rules()),
        "episode": episode,
    }


def _name_to_keep(estimator: Estimator) -> str:
    if estimators.names_own_class(estimator.name):
        return estimator.name  # by which it was made
    try:
        return estimators.make(estimator.name).name
    except ValueError as error:
        raise ValueError(
            f"the estimator {estimator.name!r} could not be found again: pass its name, not the object, "
            f"such as 'my_module:{type(estimator).__name__}' ({error})"
        ) from error


def training_of(model: MaskablePPO) -> dict[str, Any]:
    """Return the description of a model's training: ``model.gin_env``, or else that of its environment.

    Raises ValueError if there is none, or if the network reads observations that SB3 normalises.
    """
    normalised = getattr(model, "get_vec_normalize_env", lambda: None)()
    if normalised is not None and normalised.norm_obs:
        raise ValueError(
            "the network reads observations that VecNormalize has changed, and a bot would not: train with "
            "VecNormalize(norm_obs=False), since all values are between -1 and 1 already"
        )
    training = getattr(model, "gin_env", None) or getattr(model.observation_space, "gin_env", None)
    if not isinstance(training, dict):
        raise ValueError(
            "the model does not say how it was trained: set model.gin_env = env.describe_training() first"
        )
    return training


class FrozenPolicy:
    """A frozen copy of a policy in training, which maps observations to logits.

    For a policy that reads the dict of `GinRummyEnv`, the input is (n, 107 + OBSERVATION_SIZE), with the mask
    first.
    """

    def __init__(self, original: MaskableActorCriticPolicy) -> None:
        self.reads_mask = original.observation_space.shape is None
        # deepcopy fails on a policy, whose last distribution is part of an autograd graph.
        self.policy: Any = type(original)(**original._get_constructor_parameters())
        self.policy.load_state_dict(original.state_dict())
        self.policy.set_training_mode(False)

    def __call__(self, observations: Any) -> torch.Tensor:
        if self.reads_mask:
            masks, vectors = observations[:, :NUM_ACTIONS], observations[:, NUM_ACTIONS:]
            observations = {"action_mask": masks, "observation": vectors}
        features = self.policy.extract_features(observations, self.policy.pi_features_extractor)
        return self.policy.action_net(self.policy.mlp_extractor.forward_actor(features))


class PolicyBot(NamedObject):
    """Play by a trained network, with one batched forward pass for all views.

    Parameters
    ----------
    network : maps observations float32 (n, OBSERVATION_SIZE) to logits float32 (n, 107), such as a network of
        `gin_env.agents.policies.policy_networks`. It is not copied; see `snapshot` for a frozen copy. If its
        attribute ``reads_mask`` is true, the mask precedes the observation: (n, 107 + OBSERVATION_SIZE).
    training : what `describe_training` returned for it.
    deterministic : play the most probable action (default) or sample from the distribution.
    name : the bot's name in results.
    estimator : name of the estimator in `training`, if that is a class of your own, whose code you trust.
    """

    def __init__(
        self,
        network: Callable[[torch.Tensor], torch.Tensor],
        training: dict[str, Any],
        deterministic: bool = True,
        name: str = "policy",
        estimator: str | None = None,
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
        self.estimator = _trusted(training["estimator"], estimator, name)
        self.files = files_of(self.estimator)
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
    def load(cls, path: str | Path, deterministic: bool = True, estimator: str | None = None) -> PolicyBot:
        """Return the policy in a file from `gin_env.wrappers.sb3.save_policy` or ``gin-rummy convert``.

        A policy that was trained with an estimator of your own needs its name again, since a file must not
        run code: ``"policy.safetensors:estimator=my_module:Class"``. Raises FileNotFoundError, or ValueError
        for any other file.
        """
        from gin_env.agents.policies.policy_networks import load_network

        network, training = load_network(path)
        try:
            bot = cls(network, training, deterministic, name_of_file(path), estimator)
        except TypeError as error:
            raise ValueError(f"{path} does not say how it was trained: {error}") from error
        bot.files = Path(path), *bot.files
        return bot

    @classmethod
    def snapshot(cls, model: MaskablePPO, deterministic: bool = False, name: str = "snapshot") -> PolicyBot:
        """Return a frozen copy of a model in training. Set ``model.gin_env`` first.

        The model can have any policy of SB3 that reads the observation, alone or in the dict with the mask.
        For a `SB3CandidatePolicy`, use `CandidatePolicyBot.snapshot`.
        """
        check_inputs(model.policy.observation_space, name)
        training = training_of(model)
        estimator = training.get("estimator")  # of the environment of this program
        return cls(FrozenPolicy(model.policy), training, deterministic, name, estimator)

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`. Warns under rules other than those used in training."""
        import torch

        warn_of_rules(self.name, (self.rules,), view)
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
            logits = self.network(torch.from_numpy(observations))
            logits = logits.masked_fill(torch.from_numpy(masks == 0), -torch.inf)
            if self.deterministic:
                return logits.argmax(dim=1).numpy()
            chances = torch.softmax(logits, dim=1).numpy()
        return sample_actions(chances, view.array["random"])


def _trusted(trained: str, named: str | None, policy: str) -> Estimator:
    """Return the estimator of a policy's training; one of the user's own only if the user named it too."""
    if named is not None and named != trained:
        raise ValueError(f"{policy} was trained with the estimator {trained!r}, not with {named!r}")
    if named is None and estimators.names_own_class(trained):
        raise ValueError(
            f"{policy} was trained with an estimator of your own: if you trust its code, add it to the name "
            f"of the file, as in 'policy.safetensors:estimator={trained}'"
        )
    return estimators.make(trained, programs=named is not None)


def warn_of_rules(name: str, trained: Sequence[Rules], view: PlayerView) -> None:
    """Warn, once for each combination, if a policy plays by rules other than those used in training."""
    records = view.array["public"]["rules"]
    while len(records):
        played = Rules.from_record(records[0])
        records = records[records != records[0]]
        if played not in trained:
            texts = " and ".join(rules.text for rules in trained)
            warnings.warn(f"{name} was trained under {texts}, not under {played.text}", stacklevel=3)


def check_inputs(space: Any, name: str) -> None:
    """Raise ValueError unless a policy that reads this Gymnasium space can be a `PolicyBot`."""
    entries = getattr(space, "spaces", None)
    known = space.shape == (OBSERVATION_SIZE,) or set(entries or ()) == {"observation", "action_mask"}
    if not known:
        raise ValueError(
            f"{name} reads {space.shape if entries is None else ', '.join(entries)}, not the observation "
            f"({OBSERVATION_SIZE},), alone or with action_mask; write a bot that makes its inputs:\n"
            "    class Mine:\n"
            "        def act(self, view):\n"
            "            return model.predict(my_inputs(view), action_masks=view.masks())[0]"
        )


def sample_actions(chances: np.ndarray, random: np.ndarray) -> np.ndarray:
    """Return a column sampled from each row of probabilities (n, k), int64 (n,); `random` is uint64 (n,)."""
    limits = np.cumsum(chances, axis=1, dtype=np.float64)
    # Samples are in [0, total), so rounding of the sum never selects an action of probability 0.
    draws = units(random) * limits[:, -1]
    return (limits <= draws[:, None]).sum(axis=1)
