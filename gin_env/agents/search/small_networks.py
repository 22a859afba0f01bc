"""Small networks of the search: two hidden layers, evaluated for one row at a time by a compiled function."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gin_env.support.compilation import kernel
from gin_env.support.tensor_files import NetworkFormat, TensorFileError

FORMAT = NetworkFormat("networks of the search", "1", "python -m research train opponents")
PACKAGED = Path(__file__).parent / "data" / "opponents.safetensors"


class SmallNetwork(NamedTuple):
    """The weights, float32; matrices have a row for each input."""

    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray
    last: np.ndarray
    last_bias: np.ndarray


@cache
def packaged_networks() -> dict[str, SmallNetwork]:
    """Return the packaged networks by name."""
    return load_networks(PACKAGED)


def load_networks(path: str | Path) -> dict[str, SmallNetwork]:
    """Return the networks in a file of `research.recipes.search_networks`, by name.

    Raises as `gin_env.support.tensor_files.read_tensors` does.
    """
    tensors, _ = FORMAT.read_tensors(path)
    names = dict.fromkeys(name.partition(".")[0] for name in tensors)
    try:
        return {
            name: SmallNetwork(*(tensors[f"{name}.{part}"].numpy() for part in SmallNetwork._fields))
            for name in names
        }
    except KeyError as error:
        raise TensorFileError(f"{path} lacks the tensor {error}") from error


def check_sizes(network: SmallNetwork, inputs: int, outputs: int) -> SmallNetwork:
    """Return the network. Raises TensorFileError if it has other numbers of inputs or outputs."""
    sizes = network.first.shape[0], network.last.shape[1]
    if sizes != (inputs, outputs):
        raise TensorFileError(
            f"a network of the search has {sizes[0]} inputs and {sizes[1]} outputs, not {inputs} and "
            f"{outputs}: train it again with {FORMAT.command}"
        )
    return network


@kernel
def evaluate(network, row: np.ndarray, hidden: np.ndarray, outputs: np.ndarray) -> None:
    """Write the outputs for one row; `hidden`, float32 (2, width), is overwritten."""
    first, second = hidden[0], hidden[1]
    _add_layer(row, network.first, network.first_bias, first)
    for unit in range(len(first)):
        first[unit] = max(first[unit], np.float32(0))
    _add_layer(first, network.second, network.second_bias, second)
    for unit in range(len(second)):
        second[unit] = max(second[unit], np.float32(0))
    _add_layer(second, network.last, network.last_bias, outputs)


@kernel
def _add_layer(inputs: np.ndarray, matrix: np.ndarray, bias: np.ndarray, outputs: np.ndarray) -> None:
    outputs[:] = bias
    for index in range(len(inputs)):
        value = inputs[index]
        for unit in range(len(outputs)):
            outputs[unit] += value * matrix[index, unit]
