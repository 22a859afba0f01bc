"""Files of hand-strength networks: safetensors with where they come from, packaged ones by name."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gin_env

if TYPE_CHECKING:
    import torch

    from gin_env.agents.hand_strength.networks import HandStrength

FILE_VERSION = 1
"""Changes when networks see or are built differently; other versions are refused."""
ENDING = ".safetensors"


class NetworkFileError(ValueError):
    """A file that is no usable hand-strength network."""


def write_tensors(path: str | Path, tensors: dict[str, torch.Tensor], metadata: dict[str, Any]) -> None:
    """Write tensors with metadata (as JSON) and a checksum over both, at once or not at all."""
    from safetensors.torch import save_file

    tensors = {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}
    metadata = metadata | {"file_version": FILE_VERSION, "version": gin_env.__version__}
    text = json.dumps(metadata, sort_keys=True)
    path = Path(path)
    partial = path.with_name(path.name + ".partial")
    save_file(tensors, partial, metadata={"gin_env": text, "checksum": _checksum(tensors, text)})
    partial.replace(path)


def read_tensors(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """(tensors, metadata). Raises FileNotFoundError, or NetworkFileError for a damaged, foreign or old file."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError(
            'hand-strength networks need torch and safetensors: pip install "gin-env[train]"'
        ) from error
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no hand-strength network {path}")
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            header = file.metadata() or {}
    except (SafetensorError, OSError, ValueError) as error:
        raise NetworkFileError(f"{path} is no safetensors file, or is damaged ({error})") from error
    if "gin_env" not in header:
        raise NetworkFileError(f"{path} does not say what it is: it was not written by gin-env")
    if header.get("checksum") != _checksum(tensors, header["gin_env"]):
        raise NetworkFileError(f"{path} is damaged: its checksum does not fit")
    metadata = json.loads(header["gin_env"])
    if metadata.get("file_version") != FILE_VERSION:
        raise NetworkFileError(
            f"{path} has file version {metadata.get('file_version')}, this release reads {FILE_VERSION}; "
            "train it again with `gin-rummy train hand-strength`"
        )
    return tensors, metadata


def _checksum(tensors: dict[str, torch.Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].contiguous().numpy().tobytes())
    return digest.hexdigest()


def save_network(path: str | Path, network: HandStrength, metadata: dict[str, Any]) -> None:
    """Write a network with its provenance; ``metadata["architecture"]`` must name its architecture."""
    write_tensors(path, network.state_dict(), {"kind": "network"} | metadata)


def load_network(path: str | Path) -> tuple[HandStrength, dict[str, Any]]:
    """(network, metadata) of a file. Raises FileNotFoundError or NetworkFileError."""
    tensors, metadata = read_tensors(path)
    if metadata.get("kind") != "network":
        raise NetworkFileError(f"{path} holds a {metadata.get('kind')}, not a finished network")
    from gin_env.agents.hand_strength.networks import build

    try:
        network = build(metadata["architecture"])
        network.load_state_dict(tensors)
    except (KeyError, ValueError, RuntimeError) as error:
        raise NetworkFileError(f"{path} does not fit its own architecture ({error})") from error
    network.eval()
    return network, metadata


def packaged_names() -> list[str]:
    """Names of the networks that come with the package."""
    folder = files("gin_env.agents.hand_strength") / "data"
    return sorted(
        entry.name.removesuffix(ENDING) for entry in folder.iterdir() if entry.name.endswith(ENDING)
    )


@cache
def _packaged(name: str) -> tuple[HandStrength, dict[str, Any]]:
    with as_file(files("gin_env.agents.hand_strength") / "data" / (name + ENDING)) as path:
        return load_network(path)


def find_network(network: str | Path) -> tuple[HandStrength, dict[str, Any]]:
    """The network that a bot's `network` parameter names: a packaged one, or the path of a ``.safetensors`` file.

    Raises TypeError, FileNotFoundError, NetworkFileError, or ValueError with the choices for an unknown name.
    """
    if not isinstance(network, str | Path):
        raise TypeError(f"network is a name or the path of a {ENDING} file, not {network!r}")
    if str(network).endswith(ENDING):
        return load_network(network)
    if network not in packaged_names():
        raise ValueError(
            f"unknown network {str(network)!r}; choose from {', '.join(packaged_names())}, "
            f"or give the path of a {ENDING} file"
        )
    return _packaged(str(network))
