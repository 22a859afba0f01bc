"""Conversion of Stable-Baselines3 weights to networks, whose layer sizes follow from the weights."""

from __future__ import annotations

import re
from typing import Any

import torch

from gin_env.agents.policies.candidate_network import CandidateScorer
from gin_env.agents.policies.policy_networks import MAX_UNITS, Actor, build
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.support.tensor_files import fault_of, fill_network


def actor_of(weights: dict[str, torch.Tensor], activation: str) -> Actor:
    """Return the actor of an SB3 policy, given all of its weights; `activation` is that of ``MlpPolicy``.

    Raises ValueError or TypeError for other networks and for weights that are not finite or too large.
    """
    kept = _checked(weights)
    trunk = "trunk" if "neighbours.weight" in kept else "policy_net"
    layers = {
        int(match[1]): name
        for name in kept
        if (match := re.fullmatch(rf"{trunk}\.(\d{{1,3}})\.weight", name))
    }
    hidden = [kept[layers[index]].shape[0] for index in sorted(layers)]
    settings: dict[str, Any] = {"name": "mlp", "hidden": hidden, "activation": activation}
    first = kept.get(layers[min(layers)] if layers else "action_net.weight")
    if first is not None and first.shape[-1:] == (NUM_ACTIONS + OBSERVATION_SIZE,):
        settings["reads_mask"] = True  # "MultiInputPolicy" concatenates the entries of the dict in this order
    if trunk == "trunk":
        card_features = kept["neighbours.weight"].shape[0]
        settings = {"name": "card-policy", "hidden": hidden, "card_features": card_features}
    network = build(settings)
    _fill(network, kept)
    return network


def candidate_network_of(weights: dict[str, torch.Tensor]) -> CandidateScorer:
    """Return the network that scores candidates, given the weights of an `SB3CandidatePolicy`.

    Raises as `actor_of` does.
    """
    kept = {name.removeprefix("network."): tensor for name, tensor in _checked(weights).items()}
    if "draws.row_second.weight" not in kept:
        raise ValueError("the weights draws.row_second.weight are missing")
    with torch.device("meta"):  # allocate no memory until all weights are known to have this size
        network = CandidateScorer(len(kept["draws.row_second.weight"]), "draws.memory.first.weight" in kept)
    _fill(network, kept)
    return network


def _checked(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the weights except those of the value, by their names in the networks.

    Raises TypeError or ValueError for anything but tensors of floating-point numbers of a permitted size.
    """
    kept = {}
    for name, tensor in weights.items():
        name = str(name).removeprefix("mlp_extractor.")
        if name.startswith(("value_net.", "value_trunk.")):
            continue
        if (
            not isinstance(tensor, torch.Tensor)
            or tensor.layout != torch.strided
            or tensor.device.type == "meta"
        ):
            raise TypeError(f"{name[:60]!r} is not a tensor of weights")
        if (
            not 1 <= tensor.ndim <= 4
            or any(size > MAX_UNITS for size in tensor.shape)
            or not tensor.is_floating_point()
        ):
            raise ValueError(
                f"{name[:60]!r} is not a tensor of weights: {tensor.dtype}, {tuple(tensor.shape)}"
            )
        kept[name] = tensor
    return kept


def _fill(network: torch.nn.Module, kept: dict[str, torch.Tensor]) -> None:
    fill_network(network, {name: tensor.detach().cpu() for name, tensor in kept.items()}, "the policy")
    for name, tensor in network.state_dict().items():
        if wrong := fault_of(tensor):
            raise ValueError(f"{name} has weights that are {wrong}")
    network.eval()
