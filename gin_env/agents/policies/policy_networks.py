"""The networks of trained policies, as plain torch modules, and their files: ``policy.safetensors``.

A file holds the weights, the name and sizes of the architecture, and a description of the training
(`gin_env.agents.policies.policy.describe_training`). Reading it runs no code from the file, and memory is
allocated only for sizes that match the weights. `gin_env.wrappers.sb3.save_policy` writes a file from a
Stable-Baselines3 model, and ``gin-rummy convert`` from an archive saved by SB3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from gin_env.observations.observation import NUM_PLANES, OBSERVATION_SIZE
from gin_env.observations.parts import describe_parts, find_parts
from gin_env.support.checks import check_choice, check_integer, check_switch
from gin_env.support.tensor_files import NetworkFormat, check_ending
from gin_env.support.torch_extra import nn, torch

FORMAT = NetworkFormat("policy", "2", "gin_env.wrappers.sb3.save_policy")
MAX_LAYERS = 8
MAX_UNITS = 4096
ACTIVATIONS = {"tanh": nn.Tanh, "relu": nn.ReLU}


class CardActor(nn.Module):
    """Logits of all actions by weights that all cards share; see `gin_env.wrappers.card_policy`.

    Parameters
    ----------
    hidden : sizes of the trunk's layers.
    card_features : size of the embedding of each card.
    num_inputs, num_planes : number of inputs, and number of card planes, which come first.
    """

    reads_mask = False

    def __init__(
        self,
        hidden: Sequence[int],
        card_features: int = 32,
        num_inputs: int = OBSERVATION_SIZE,
        num_planes: int = NUM_PLANES,
    ) -> None:
        super().__init__()
        self.hidden = check_hidden(hidden, least=1)
        self.card_features = check_integer("card_features", card_features, 1, 1024)
        self.num_planes = num_planes
        # Each card sees two neighbours on either side in its suit, and the sum over the cards of its rank.
        self.neighbours = nn.Conv2d(num_planes, card_features, (1, 5), padding=(0, 2))
        self.same_rank = nn.Conv2d(num_planes, card_features, 1)
        self.trunk = dense_layers(self.hidden, nn.ReLU, num_inputs)
        self.wanted = nn.Linear(hidden[-1], 2 * card_features)  # one query for discards, one for knocks
        # Both queries' biases, draws and pass.
        self.others = nn.Linear(hidden[-1], 2 + NUM_ACTIONS - 2 * NUM_CARDS)

    @property
    def architecture(self) -> dict[str, Any]:
        return {"name": "card-policy", "hidden": self.hidden, "card_features": self.card_features}

    def forward(self, observations: torch.Tensor) -> Any:
        """Return logits before masking, float32 (n, 107), for observations float32 (n, OBSERVATION_SIZE)."""
        planes = observations[:, : self.num_planes * NUM_CARDS]
        planes = planes.view(-1, self.num_planes, NUM_SUITS, NUM_RANKS)
        same_rank = self.same_rank(planes.sum(dim=2, keepdim=True))  # broadcast over the suits
        cards = torch.relu(self.neighbours(planes) + same_rank).flatten(2)  # (n, features, 52)
        trunk = self.trunk(observations)
        wanted = self.wanted(trunk).view(-1, 2, self.card_features)
        others = self.others(trunk)
        agreement = torch.bmm(wanted, cards) * self.card_features**-0.5 + others[:, :2, None]
        return torch.cat([agreement.flatten(1), others[:, 2:]], dim=1)


class MlpActor(nn.Module):
    """Logits by dense layers: the policy half of Stable-Baselines3's ``MlpPolicy``, with the same names.

    Parameters
    ----------
    hidden : sizes of the layers between observation and logits; can be empty.
    activation : ``"tanh"`` (SB3's default) or ``"relu"``.
    reads_mask : whether the mask precedes the observation, as ``MultiInputPolicy`` reads the dict.
    num_inputs : number of values of the observation that it reads.
    """

    def __init__(
        self,
        hidden: Sequence[int],
        activation: str = "tanh",
        reads_mask: bool = False,
        num_inputs: int = OBSERVATION_SIZE,
    ) -> None:
        super().__init__()
        self.hidden = check_hidden(hidden, least=0)
        self.activation = check_choice("activation", activation, list(ACTIVATIONS))
        self.reads_mask = check_switch("reads_mask", reads_mask)
        inputs = num_inputs + NUM_ACTIONS * reads_mask
        self.policy_net = dense_layers(self.hidden, ACTIVATIONS[activation], inputs)
        self.action_net = nn.Linear([inputs, *hidden][-1], NUM_ACTIONS)

    @property
    def architecture(self) -> dict[str, Any]:
        described = {"name": "mlp", "hidden": self.hidden, "activation": self.activation}
        return described | {"reads_mask": True} if self.reads_mask else described

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return logits before masking, float32 (n, 107), for observations float32 (n, OBSERVATION_SIZE).

        If `reads_mask`, the mask precedes the observation: (n, 107 + OBSERVATION_SIZE).
        """
        return self.action_net(self.policy_net(observations))


Actor = CardActor | MlpActor
ARCHITECTURES: dict[str, type[Actor]] = {"card-policy": CardActor, "mlp": MlpActor}


def check_hidden(hidden: object, least: int) -> list[int]:
    """Return `hidden` as a list. Raises TypeError or ValueError unless it has `least` or more valid sizes."""
    if isinstance(hidden, str) or not isinstance(hidden, Sequence):
        raise TypeError(f"hidden layers must be a list of sizes such as [256, 256], not {hidden!r}")
    if not least <= len(hidden) <= MAX_LAYERS:
        raise ValueError(f"{len(hidden)} hidden layers: {least} to {MAX_LAYERS} are possible")
    return [check_integer("a hidden layer's size", size, 1, MAX_UNITS) for size in hidden]


def dense_layers(
    hidden: list[int], activation: type[nn.Module], inputs: int = OBSERVATION_SIZE
) -> nn.Sequential:
    """Return linear layers of these sizes over `inputs` values, each followed by an activation."""
    layers: list[nn.Module] = []
    for before, size in zip([inputs, *hidden], hidden, strict=False):
        layers += [nn.Linear(before, size), activation()]
    return nn.Sequential(*layers)


def build(architecture: object, reads: Mapping[str, Any] | None = None) -> Actor:
    """Return a network of this architecture, without weights (on the device "meta").

    `architecture` is as in ``network.architecture``. `reads` names the parts of the observation that are
    inputs, in the format of `describe_parts` (default: all). Raises ValueError or TypeError for an unknown
    name, unknown settings, or sizes out of range.
    """
    if not isinstance(architecture, dict) or not isinstance(architecture.get("name"), str):
        raise TypeError("an architecture must be an object with a name and settings")
    settings = dict(architecture)
    kind = ARCHITECTURES[check_choice("architecture", settings.pop("name"), list(ARCHITECTURES))]
    reads = describe_parts("observation") if reads is None else reads
    settings["num_inputs"] = len(find_parts("observation", reads))
    if kind is CardActor:
        planes = takewhile(lambda part: part[1] == NUM_CARDS, reads["observation"])
        settings["num_planes"] = len(list(planes))
    with torch.device("meta"):
        return kind(**settings)


def save_network(
    path: str | Path, network: Actor, training: dict[str, Any], provenance: dict[str, Any] | None = None
) -> None:
    """Write a policy with `training`, from `describe_training`, and its provenance (JSON-serialisable).

    Raises ValueError unless the file's name ends in .safetensors, which names of bots need.
    """
    check_ending(path, "a policy")
    metadata = {"architecture": network.architecture, "training": training, "provenance": provenance or {}}
    FORMAT.write(path, network, metadata)


def load_network(path: str | Path) -> tuple[Actor, dict[str, Any]]:
    """Return (network, training) from a file written by `save_network`.

    Raises as `NetworkFormat.read_tensors` does.
    """

    def build_described(metadata: dict[str, Any], _: dict[str, torch.Tensor]) -> Actor:
        if not isinstance(metadata.get("training"), dict):
            raise ValueError("it does not say how the policy was trained")
        return build(metadata.get("architecture"), metadata["training"].get("reads", {}))

    network, metadata = FORMAT.read(path, build_described)
    return network, metadata["training"]
