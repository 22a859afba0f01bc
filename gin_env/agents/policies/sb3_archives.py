"""Policies in Stable-Baselines3 archives (``.zip``), read without running any code in them.

An archive holds the weights (``policy.pth``), from which torch unpickles only tensors, and a JSON object
(``data``) that contains pickled classes. Unpickling runs code chosen by the archive's author, so the pickles
are ignored. The weights determine the sizes of the layers, and the JSON describes each pickle in plain text.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import torch

from gin_env import estimators
from gin_env.agents.declared_bots import name_of_file
from gin_env.agents.policies.candidate_network import CandidateScorer, save_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot, check_training
from gin_env.agents.policies.policy import PolicyBot
from gin_env.agents.policies.policy_networks import MAX_UNITS, Actor, build, save_network
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.support.checks import printable
from gin_env.support.files import check_regular_file
from gin_env.support.tensor_files import MAX_BYTES, fault_of, fill_network

CANDIDATE_POLICY = "gin_env.wrappers.candidate_policy"
KNOWN_POLICIES = (
    "sb3_contrib.common.maskable.policies",
    "stable_baselines3.common.policies",
    "gin_env.wrappers.card_policy",
    CANDIDATE_POLICY,
)
"""Modules of the policies whose decisions depend on their weights only."""
_PLAIN_SETTINGS = {
    "net_arch",
    "card_features",
    "hidden",
    "ortho_init",
    "optimizer_class",
    "optimizer_kwargs",
    "share_features_extractor",
    "normalize_images",
}
"""Keywords that affect a policy's decisions only through the shapes of its weights."""


class ArchiveError(ValueError):
    """Raised for a damaged archive, or one whose policy cannot be read without running its code."""


def load_archive(
    path: str | Path, deterministic: bool = True, estimator: str | None = None
) -> PolicyBot | CandidatePolicyBot:
    """Return the policy of an archive as a bot, without running any code of the archive.

    `estimator` is as for `PolicyBot`.
    Raises as `convert_archive` does.
    """
    network, training, _ = _policy(path)
    bot: PolicyBot | CandidatePolicyBot
    if isinstance(network, CandidateScorer):
        rules, episode = check_training(training, network.reads_memory)
        bot = CandidatePolicyBot(network, rules, deterministic, name_of_file(path), episode)
    else:
        bot = PolicyBot(network, training, deterministic, name_of_file(path), estimator)
    bot.files = Path(path), *bot.files
    return bot


def convert_archive(archive: str | Path, path: str | Path) -> None:
    """Write the policy of an archive to a ``.safetensors`` file, without running any code of the archive.

    Raises FileNotFoundError, or ValueError if the archive is damaged or its policy is not one of
    `SB3CandidatePolicy`, `CardPolicy`, ``MlpPolicy`` and ``MultiInputPolicy``.
    """
    network, training, decisions = _policy(archive)
    provenance = {"archive": Path(archive).name, "decisions": decisions}
    if isinstance(network, CandidateScorer):
        rules, episode = check_training(training, network.reads_memory)
        save_candidate_policy(path, network, rules, provenance, episode)
    else:
        save_network(path, network, training, provenance)


def _policy(archive: str | Path) -> tuple[CandidateScorer | Actor, dict[str, Any], int | None]:
    """Return (network, description of its training, number of decisions) from an archive."""
    data, weights = _read(archive)
    space = data.get("observation_space")
    training = data.get("gin_env") or (space.get("gin_env") if isinstance(space, dict) else None)
    if not isinstance(training, dict):
        raise ArchiveError(
            f"{archive} does not say how it was trained, as models from environments of gin-env do; load the "
            "model in Python, set model.gin_env = env.describe_training(), and call "
            "gin_env.wrappers.sb3.save_policy"
        )
    decisions = data.get("num_timesteps")
    try:
        activation = _activation(data)
        network: CandidateScorer | Actor
        if data["policy_class"]["__module__"] == CANDIDATE_POLICY:
            network = candidate_network_of(weights)
            check_training(training, network.reads_memory)
        else:
            network = actor_of(weights, activation)
            own = estimators.names_own_class(training.get("estimator", ""))  # is checked when it plays
            PolicyBot(network, training | {"estimator": "uniform"} if own else training)
    except (ValueError, TypeError) as error:
        raise ArchiveError(f"{archive} cannot be read: {error}") from error
    return network, training, decisions if isinstance(decisions, int) else None


def _read(path: str | Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Return (data, weights of the policy) from an archive."""
    check_regular_file(path, MAX_BYTES)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive)
            data = json.loads(_content(archive, "data"))
            stored = _content(archive, "policy.pth")
        with zipfile.ZipFile(io.BytesIO(stored)) as tensors:  # torch.save writes a zip archive too
            _check_sizes(tensors)
        weights = torch.load(io.BytesIO(stored), map_location="cpu", weights_only=True)
    except ArchiveError as error:
        raise ArchiveError(f"{path} {error}") from error
    except Exception as error:  # zipfile, json and torch raise many kinds of errors for damaged files
        what = printable(str(error).partition("\n")[0], 200)
        raise ArchiveError(
            f"{path} is not an archive of Stable-Baselines3, or is damaged ({what})"
        ) from error
    if not isinstance(data, dict) or not isinstance(weights, dict):
        raise ArchiveError(f"{path} is not an archive of Stable-Baselines3: it holds no data or no weights")
    return data, weights


def _check_sizes(archive: zipfile.ZipFile) -> None:
    unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > MAX_BYTES:
        raise ArchiveError(f"unpacks to {unpacked:,} bytes, more than the {MAX_BYTES:,} that are read")


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the content of an entry, at most as many bytes as its header declares."""
    entry = archive.getinfo(name)
    with archive.open(entry) as file:
        return file.read(entry.file_size)


def _activation(data: dict[str, Any]) -> str:
    """Return the activation, ``"tanh"`` or ``"relu"``, from the plain text of the archive.

    Raises ValueError if the policy's class or settings may change its decisions beyond its weights.
    """
    trust = "if you would run the archive as a program, `gin-rummy convert --trust` loads it with SB3"
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


# --- Networks, whose layer sizes follow from the weights ------------------------------------------------


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
