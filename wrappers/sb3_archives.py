"""What Stable-Baselines3 saves (``.zip``), read without running what may be in it.

Such an archive holds the weights (``policy.pth``), which torch reads without unpickling anything but tensors,
and a JSON object (``data``) whose classes are pickles. Unpickling runs whatever code the archive's author
chose, so they are left alone: the sizes of the layers follow from the weights, and beside each pickle stands
in plain text what it is.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import torch

from gin_env.agents.policies.candidate_network import CandidatePolicy, save_candidate_policy
from gin_env.agents.policies.candidate_policy import check_training
from gin_env.agents.policies.policy import PolicyBot
from gin_env.agents.policies.policy_networks import MOST_UNITS, Actor, build, save_network
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.support.files import check_regular_file
from gin_env.support.tensor_files import MOST_BYTES, fill_network

CANDIDATE_POLICY = "gin_env.wrappers.candidate_policy"
KNOWN_POLICIES = (
    "sb3_contrib.common.maskable.policies",
    "stable_baselines3.common.policies",
    "gin_env.wrappers.card_policy",
    CANDIDATE_POLICY,
)
"""Modules of the policies whose weights say all about how they decide."""
_PLAIN_SETTINGS = {
    "net_arch", "card_features", "hidden", "ortho_init", "optimizer_class", "optimizer_kwargs",
    "share_features_extractor", "normalize_images",
}  # fmt: skip
"""Policy keywords that leave no trace in how a policy decides, but for the shapes of its weights."""


class ArchiveError(ValueError):
    """An archive that is damaged, or whose policy cannot be read without running its code."""


def convert_archive(archive: str | Path, path: str | Path) -> None:
    """Write the policy of an archive to a ``.safetensors`` file, running nothing of it.

    Raises FileNotFoundError, or ValueError if the archive is damaged, or its policy none of
    `CandidatePolicy`, `CardPolicy`, ``MlpPolicy`` and ``MultiInputPolicy``.
    """
    data, weights = _read(archive)
    training = data.get("gin_env")
    if not isinstance(training, dict):
        raise ArchiveError(
            f"{archive} does not say how it was trained; load the model in Python, set model.gin_env = "
            "env.describe_training(), and call gin_env.wrappers.sb3.save_policy"
        )
    decisions = data.get("num_timesteps")
    provenance = {
        "archive": Path(archive).name,
        "decisions": decisions if isinstance(decisions, int) else None,
    }
    try:
        activation = _activation(data)
        if data["policy_class"]["__module__"] == CANDIDATE_POLICY:
            rules, episode = check_training(training)
            save_candidate_policy(path, candidate_network_of(weights), rules, provenance, episode)
        else:
            network = actor_of(weights, activation)
            PolicyBot(network, training)  # what could not be read is not written
            save_network(path, network, training, provenance)
    except (ValueError, TypeError) as error:
        raise ArchiveError(f"{archive} cannot be converted: {error}") from error


def convert_trusted_archive(archive: str | Path, path: str | Path) -> None:
    """The same for an archive that you trust like a program: Stable-Baselines3 loads it and runs its code."""
    from sb3_contrib import MaskablePPO

    from gin_env.wrappers.sb3 import save_policy

    try:
        model = MaskablePPO.load(archive, device="cpu")
    except Exception as error:  # what is in the archive may raise anything
        raise ArchiveError(f"{archive} cannot be loaded as a MaskablePPO model: {error}") from error
    save_policy(model, path)


def actor_of(weights: dict[str, torch.Tensor], activation: str) -> Actor:
    """The network that decides, from all the weights of an SB3 policy; `activation` is that of ``MlpPolicy``.

    Raises ValueError or TypeError for weights of other networks, and for some that are not finite.
    """
    kept = _checked(weights)
    trunk = "trunk" if "neighbours.weight" in kept else "policy_net"
    layers = {
        int(found[1]): name
        for name in kept
        if (found := re.fullmatch(rf"{trunk}\.(\d{{1,3}})\.weight", name))
    }
    hidden = [kept[layers[index]].shape[0] for index in sorted(layers)]
    settings: dict[str, Any] = {"name": "mlp", "hidden": hidden, "activation": activation}
    first = kept.get(layers[min(layers)] if layers else "action_net.weight")
    if first is not None and first.shape[-1:] == (NUM_ACTIONS + OBSERVATION_SIZE,):
        settings["reads_mask"] = True  # "MultiInputPolicy" on the dict, whose entries stand in this order
    if trunk == "trunk":
        card_features = kept["neighbours.weight"].shape[0]
        settings = {"name": "card-policy", "hidden": hidden, "card_features": card_features}
    network = build(settings)
    _fill(network, kept)
    return network


def candidate_network_of(weights: dict[str, torch.Tensor]) -> CandidatePolicy:
    """The network that scores candidates, from the weights of an SB3 policy. Raises as `actor_of` does."""
    kept = {name.removeprefix("network."): tensor for name, tensor in _checked(weights).items()}
    if "draws.row_second.weight" not in kept:
        raise ValueError("it has no weights draws.row_second.weight")
    with torch.device("meta"):  # no memory before the size is known to be that of all weights
        network = CandidatePolicy(len(kept["draws.row_second.weight"]))
    _fill(network, kept)
    return network


def _checked(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights without those of the value alone, by their names in the networks; surely tensors."""
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
            raise TypeError(f"{name[:60]!r} is no tensor of weights")
        if (
            tensor.ndim > 4
            or any(size > MOST_UNITS for size in tensor.shape)
            or not tensor.is_floating_point()
        ):
            raise ValueError(f"{name[:60]!r} is no tensor of weights: {tensor.dtype}, {tuple(tensor.shape)}")
        kept[name] = tensor
    return kept


def _fill(network: torch.nn.Module, kept: dict[str, torch.Tensor]) -> None:
    fill_network(network, {name: tensor.detach().cpu() for name, tensor in kept.items()}, "the policy")
    for name, tensor in network.state_dict().items():
        if not tensor.isfinite().all():
            raise ValueError(f"some weights of {name} are not finite")
    network.eval()


def _read(path: str | Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """(data, weights of the policy) of an archive."""
    check_regular_file(path, MOST_BYTES)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive)
            data = json.loads(archive.read("data"))
            stored = archive.read("policy.pth")
        with zipfile.ZipFile(io.BytesIO(stored)) as tensors:  # what torch.save writes is a zip archive too
            _check_sizes(tensors)
        weights = torch.load(io.BytesIO(stored), map_location="cpu", weights_only=True)
    except ArchiveError as error:
        raise ArchiveError(f"{path} {error}") from error
    except Exception as error:  # zipfile, json and torch raise nearly anything for a damaged file
        what = str(error).partition("\n")[0][:200]
        raise ArchiveError(
            f"{path} is no archive that Stable-Baselines3 saved, or is damaged ({what})"
        ) from error
    if not isinstance(data, dict) or not isinstance(weights, dict):
        raise ArchiveError(
            f"{path} is no archive that Stable-Baselines3 saved: it holds no data or no weights"
        )
    return data, weights


def _check_sizes(archive: zipfile.ZipFile) -> None:
    unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > MOST_BYTES:
        raise ArchiveError(f"unpacks to {unpacked:,} bytes, more than the {MOST_BYTES:,} that are read")


def _activation(data: dict[str, Any]) -> str:
    """``"tanh"`` or ``"relu"``, from what stands beside the pickles.

    Raises ValueError if the policy's class or settings may decide otherwise than its weights say.
    """
    trust = "if you trust the archive like a program, --trust loads it as SB3 does, and runs what is in it"
    policy = data.get("policy_class")
    module = policy.get("__module__") if isinstance(policy, dict) else None
    if module not in KNOWN_POLICIES:
        where = repr(module[:60]) if isinstance(module, str) else "an unknown module"
        raise ValueError(f"its policy is a class of {where}; {trust}")
    settings = data.get("policy_kwargs")
    if not isinstance(settings, dict):
        raise ValueError(f"the settings of its policy are not readable; {trust}")
    for name, value in settings.items():
        harmless = name in _PLAIN_SETTINGS or name.startswith(":") or name == "activation_fn"
        if not harmless and not (name == "features_extractor_class" and "FlattenExtractor" in str(value)):
            raise ValueError(f"its policy has the setting {name[:60]!r}; {trust}")
    text = settings.get("activation_fn", "torch.nn.modules.activation.Tanh")
    for name in ("Tanh", "ReLU"):
        if f"torch.nn.modules.activation.{name}'" in f"{text}'":
            return name.lower()
    raise ValueError(f"its activation is {str(text)[:60]!r}: only Tanh and ReLU can be written")
