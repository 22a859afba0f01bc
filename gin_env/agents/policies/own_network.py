"""Networks of the user's own classes: their files, and the bot that plays one.

A file holds the weights, the class's name, the arguments that make it, and a description of the training. It
holds no code: the class is found by its name, which the user writes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from gin_env.agents.declared_bots import OWN_NETWORK
from gin_env.agents.policies.policy import PolicyBot, describe_training
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.parts import find_parts
from gin_env.support.tensor_files import TensorFileError, check_ending, fill_network
from gin_env.support.torch_extra import nn, torch


def save_own_network(
    path: str | Path,
    network: nn.Module,
    training: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
) -> None:
    """Write a network; see `gin_env.agents.save_network`."""
    check_ending(path, "a network")
    if not isinstance(network, nn.Module):
        raise TypeError(f"network must be a torch.nn.Module, not {network!r}")
    settings = dict(settings or {})
    training = describe_training() if training is None else training
    kind = type(network)
    if kind.__module__.startswith("torch."):
        raise ValueError(
            f"a plain {kind.__name__} cannot be made again from its name; build it in a class of your own:\n"
            f"    class Net(nn.{kind.__name__}):\n"
            "        def __init__(self):\n"
            "            super().__init__(...)  # what you passed here"
        )
    if not kind.__qualname__.isidentifier():
        raise ValueError(f"{kind.__qualname__} must be defined at the top level of a module")
    copied = _fill(kind, settings, network.state_dict(), path)
    PolicyBot(copied, training)  # raises if this release cannot play it
    _check_shapes(copied, training)
    metadata = {"class": f"{_module(kind)}:{kind.__qualname__}", "settings": settings, "training": training}
    OWN_NETWORK.write(path, copied, metadata)


def load_own_network(
    kind: type[nn.Module], spelled: str, weights: str | None = None, deterministic: bool = True
) -> PolicyBot:
    """Return the bot that plays a network of this class.

    Parameters
    ----------
    kind : the class, which the user named ``spelled``.
    weights : the file that `save_own_network` wrote.
    deterministic : play the most probable action (default) or sample from the distribution.

    Raises FileNotFoundError, or ValueError if the file is damaged or holds a network of another class.
    """
    if weights is None:
        raise ValueError(f"bot {spelled!r} is a network: name its weights, {spelled}:weights=FILE")
    tensors, metadata = OWN_NETWORK.read_tensors(weights)
    training, settings, saved = (metadata.get(key) for key in ("training", "settings", "class"))
    if not isinstance(training, dict) or not isinstance(settings, dict) or not isinstance(saved, str):
        raise TensorFileError(f"{weights} does not say how the network was made and trained")
    if saved.rpartition(":")[2] != kind.__qualname__:
        raise TensorFileError(f"{weights} holds a network of the class {saved[:80]!r}, not {spelled!r}")
    bot = PolicyBot(_fill(kind, settings, tensors, weights), training, deterministic, spelled)
    bot.files = Path(weights), *bot.files
    return bot


def _fill(
    kind: type[nn.Module], settings: dict[str, Any], tensors: dict[str, torch.Tensor], path: str | Path
) -> nn.Module:
    """Return a new network of this class with these weights."""
    try:
        with torch.random.fork_rng(devices=[]):  # saving a network must not change its training
            network = kind(**settings)
    except TypeError as error:
        raise ValueError(
            f"{kind.__name__} cannot be made with {settings}: {error}; pass its arguments to save_network as "
            "settings"
        ) from error
    fill_network(network, {name: tensor.cpu() for name, tensor in tensors.items()}, path)
    return network.eval()


def _check_shapes(network: nn.Module, training: dict[str, Any]) -> None:
    """Raise ValueError unless the network maps the observation of its training to logits."""
    num_inputs = len(find_parts("observation", training["reads"]))
    num_inputs += NUM_ACTIONS * bool(getattr(network, "reads_mask", False))
    expected = f"{type(network).__name__} must map (n, {num_inputs}) to logits (n, {NUM_ACTIONS})"
    try:
        with torch.no_grad():
            logits = network(torch.zeros(2, num_inputs))
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{expected}: {error}") from error
    if not isinstance(logits, torch.Tensor) or logits.shape != (2, NUM_ACTIONS):
        shape = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
        raise ValueError(f"{expected}, not (2, {num_inputs}) to {shape}")


def _module(kind: type) -> str:
    """Return the name under which the module of a class can be imported."""
    if kind.__module__ != "__main__":
        return kind.__module__
    file = getattr(sys.modules["__main__"], "__file__", None)
    return os.path.splitext(os.path.basename(file))[0] if file else "__main__"
