"""A policy for MaskablePPO that scores candidates (`gin_env.agents.policies.candidate_network`).

One function of a few dozen numbers (`gin_env.observations.candidates`) scores every draw, discard and knock,
so the policy learns far faster than one with 107 outputs. The score of a candidate is its action's logit.

>>> env = GinRummyVecEnv(256, "simple", candidates=True)
>>> model = MaskablePPO(SB3CandidatePolicy, env, policy_kwargs={"hidden": 64})
>>> model.learn(1_000_000)
>>> save_policy(model, "policy.safetensors")  # its path is the name of a bot
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from gin_env.agents.policies import candidate_network
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.candidates import ENTRIES
from gin_env.observations.memory import ENTRY

Entries = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
NO_CANDIDATES = (
    "SB3CandidatePolicy reads candidates, which this environment does not show: make it with "
    "candidates=True, as in GinRummyVecEnv(256, candidates=True)"
)


class CandidateEntries(BaseFeaturesExtractor):
    """Select the three entries of the candidates from the observation; the memory is added to the context."""

    def __init__(self, observation_space: spaces.Space[Any]) -> None:
        if not isinstance(observation_space, spaces.Dict) or not set(ENTRIES) <= set(observation_space):
            raise ValueError(NO_CANDIDATES)
        super().__init__(observation_space, features_dim=NUM_ACTIONS)

    def forward(self, observations: dict[str, torch.Tensor]) -> Entries:
        rows, actions, context = (observations[name] for name in ENTRIES)
        if ENTRY in observations:
            context = torch.cat([context, observations[ENTRY]], dim=1)
        return rows, actions.long(), context  # SB3 converts all entries to float32


class ActorAndCritic(nn.Module):
    """The network with SB3's interface. It returns logits float32 (n, 107) and values float32 (n, 1)."""

    def __init__(self, hidden: int, memory: bool) -> None:
        super().__init__()
        self.network = candidate_network.CandidateScorer(hidden, memory)

    def forward(self, entries: Entries) -> tuple[torch.Tensor, torch.Tensor]:
        logits, values = self.network.action_logits(*entries)
        return logits, values[:, None]

    def forward_actor(self, entries: Entries) -> torch.Tensor:
        return self(entries)[0]

    def forward_critic(self, entries: Entries) -> torch.Tensor:
        return self(entries)[1]


class SB3CandidatePolicy(MaskableActorCriticPolicy):
    """A policy of MaskablePPO that scores candidates, and reads the memory if the environment shows it.

    Parameters
    ----------
    hidden : width of the network's layers.
    optimizer_class, optimizer_kwargs : as in SB3's policies.

    Raises ValueError for an environment without candidates.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        hidden: int = 64,
        optimizer_class: type[torch.optim.Optimizer] = torch.optim.Adam,
        optimizer_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.hidden = hidden
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch=[],
            features_extractor_class=CandidateEntries,
            optimizer_class=optimizer_class,
            optimizer_kwargs=optimizer_kwargs,
        )

    def _build(self, lr_schedule: Schedule) -> None:
        self.mlp_extractor: Any = ActorAndCritic(self.hidden, ENTRY in self._read_entries)
        self.action_net: Any = nn.Identity()  # the network returns logits and values already
        self.value_net: Any = nn.Identity()
        make_optimizer: Any = self.optimizer_class
        self.optimizer = make_optimizer(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    @property
    def _read_entries(self) -> list[str]:
        """The entries of the observation that the policy reads."""
        shown = cast(spaces.Dict, self.observation_space).spaces
        return [name for name in (*ENTRIES, ENTRY) if name in shown]

    def obs_to_tensor(
        self, observation: np.ndarray | dict[str, np.ndarray]
    ) -> tuple[dict[str, torch.Tensor], bool]:
        """Convert observations of any environment with candidates to tensors, for ``model.predict``."""
        if not isinstance(observation, dict) or not set(ENTRIES) <= set(observation):
            raise ValueError(NO_CANDIDATES)
        if missing := set(self._read_entries) - set(observation):
            raise ValueError(f"the policy reads {missing.pop()!r}, which this environment does not show")
        tensors: Any = super().obs_to_tensor({name: observation[name] for name in self._read_entries})
        return tensors

    def _get_constructor_parameters(self) -> dict[str, Any]:
        names = "observation_space", "action_space", "lr_schedule", "optimizer_class", "optimizer_kwargs"
        parameters = super()._get_constructor_parameters()
        return {name: parameters[name] for name in names} | {"hidden": self.hidden}
