"""A policy network for MaskablePPO that treats all cards alike.

A plain MLP has a separate output for each of the 104 discards and knocks, and must learn separately that it
is good to discard a useless 7♦, a useless 8♦ and so on. `CardPolicy` embeds each card with weights that all
cards share, from the planes of the card, of its neighbours in the suit and of its rank in the other suits. A
trunk turns the whole observation into a query, and the logit of a card is the dot product of query and
embedding. Draws and passes are ordinary outputs of the trunk.

>>> MaskablePPO(CardPolicy, GinRummyVecEnv(256), policy_kwargs={"net_arch": [256, 256]})

It also works with environments from `gymnasium.make`, with or without ``flat=True``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from gin_env.agents.policies.policy_networks import CardActor, dense_layers
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.candidates import ENTRIES
from gin_env.observations.observation import OBSERVATION_SIZE


class CardActorCritic(CardActor):
    """`CardActor` for the logits, with a separate trunk for the value.

    ``forward_actor`` returns logits, float32 (n, 107), ``forward_critic`` features, (n, latent_dim_vf).
    """

    def __init__(self, hidden: list[int], card_features: int) -> None:
        super().__init__(hidden, card_features)
        self.value_trunk = dense_layers(self.hidden, nn.ReLU)
        self.latent_dim_pi = NUM_ACTIONS
        self.latent_dim_vf = hidden[-1]

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(observations), self.forward_critic(observations)

    def forward_actor(self, observations: torch.Tensor) -> torch.Tensor:
        return super().forward(observations)

    def forward_critic(self, observations: torch.Tensor) -> torch.Tensor:
        return self.value_trunk(observations)


class ObservationEntry(BaseFeaturesExtractor):
    """Select the observation from the dict of `gin_env.envs.gymnasium_env.GinRummyEnv`."""

    def __init__(self, observation_space: spaces.Dict) -> None:
        super().__init__(observation_space, features_dim=OBSERVATION_SIZE)

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        return observations["observation"]


class CardPolicy(MaskableActorCriticPolicy):
    """`CardActorCritic` as a policy of MaskablePPO.

    Parameters
    ----------
    observation_space : the observation, alone or in the dict with the mask.
    card_features : size of the embedding of each card.
    net_arch : list of the trunks' layer sizes.
    *args, **kwargs : as for SB3's ``MlpPolicy``.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        *args: Any,
        card_features: int = 32,
        net_arch: Any = (256, 256),
        **kwargs: Any,
    ) -> None:
        entries = observation_space.spaces if isinstance(observation_space, spaces.Dict) else {}
        vector = entries.get("observation", observation_space)
        if vector.shape != (OBSERVATION_SIZE,) or set(ENTRIES) & set(entries):
            raise ValueError(
                "CardPolicy reads the flat observation only: make the environment without candidates=True, "
                "or use gin_env.wrappers.candidate_policy.SB3CandidatePolicy"
            )
        if entries:
            kwargs["features_extractor_class"] = ObservationEntry
        self.card_features = card_features
        kwargs["net_arch"] = list(net_arch) if isinstance(net_arch, tuple) else net_arch
        super().__init__(observation_space, *args, **kwargs)

    def obs_to_tensor(self, observation: Any) -> tuple[Any, bool]:
        """Convert observations of any environment of this package to tensors, for ``model.predict``."""
        vector = observation["observation"] if isinstance(observation, dict) else np.asarray(observation)
        in_dict = isinstance(self.observation_space, spaces.Dict)
        tensors: Any = super().obs_to_tensor({"observation": vector} if in_dict else vector)
        return tensors

    def _build_mlp_extractor(self) -> None:
        if not isinstance(self.net_arch, list) or not self.net_arch:
            raise ValueError(f"net_arch must be a list of layer sizes like [256, 256], not {self.net_arch!r}")
        self.mlp_extractor: Any = CardActorCritic(self.net_arch, self.card_features)

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        self.action_net: Any = nn.Identity()  # the network returns logits
        nn.init.orthogonal_(self.mlp_extractor.wanted.weight, gain=0.1)
        nn.init.orthogonal_(self.mlp_extractor.others.weight, gain=0.01)
        make_optimizer: Any = self.optimizer_class
        self.optimizer = make_optimizer(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"card_features": self.card_features}
