"""Files of hand-strength networks (safetensors with their provenance), and the packaged networks by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_env.agents.registry import BOTS
from gin_env.support.tensor_files import NetworkFormat, TensorFileError

if TYPE_CHECKING:
    from gin_env.agents.hand_strength.networks import HandStrength

FORMAT = NetworkFormat("hand-strength network", "2", "python -m research train hand-strength")


def save_network(path: str | Path, network: HandStrength, metadata: dict[str, Any]) -> None:
    """Write a network with its provenance; ``metadata["architecture"]`` must name its architecture."""
    FORMAT.write(path, network, metadata)


def load_network(path: str | Path) -> tuple[HandStrength, dict[str, Any]]:
    """Return (network, metadata) from a file. Raises as `gin_env.support.tensor_files.read_tensors` does."""

    def build_described(metadata: dict[str, Any], _: object) -> HandStrength:
        from gin_env.agents.hand_strength.networks import build

        return build(metadata["architecture"])

    return FORMAT.read(path, build_described)


def find_network(network: str | Path) -> tuple[HandStrength, dict[str, Any]]:
    """Return (network, metadata) of a packaged network or a ``.safetensors`` file.

    Raises TypeError, FileNotFoundError, TensorFileError, or ValueError for an unknown name.
    """
    return load_network(BOTS.file("offensive", "network", network))


def trained_with(network: str | Path, metadata: dict[str, Any]) -> str:
    """Return the name of the estimator used to train a network.

    Raises TensorFileError if the metadata do not contain it.
    """
    data = metadata.get("data")
    estimator = data.get("estimator") if isinstance(data, dict) else None
    if not isinstance(estimator, str):
        raise TensorFileError(
            f"the network {network} does not say which estimator it was trained with; pass one as estimator="
        )
    return estimator
