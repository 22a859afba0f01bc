"""Networks in the repository of Francis et al. 2021's authors.

https://github.com/PeterEFrancis/gin-rummy-AI holds a dense network and a CNN as Keras files. gin-env contains
none of these files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.game.cards import NUM_CARDS

REPOSITORY_003 = "https://github.com/PeterEFrancis/gin-rummy-AI"
_MODELS = Path("GinRummy-maven/regression_models")
DENSE, CNN = _MODELS / "nnhe-simple-3.h5", _MODELS / "f16-128-e10b50-lr01d01-200.h5"
"""The files that CompareHERatings.java reads."""


def read_keras(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the (kernel, bias) of each layer of a Keras file, in order.

    Raises ImportError without h5py, and ValueError for another kind of file.
    """
    try:
        import h5py
    except ImportError as error:
        raise ImportError("Keras files need h5py: pip install h5py") from error
    try:
        with h5py.File(path) as file:
            config = json.loads(file.attrs["model_config"])["config"]
            layers = config["layers"] if isinstance(config, dict) else config
            names = [layer["config"]["name"] for layer in layers]
            weights = file["model_weights"]
            named = [weights[name][name] for name in names if name in weights and name in weights[name]]
            return [(np.array(one["kernel:0"]), np.array(one["bias:0"])) for one in named]
    except (KeyError, OSError, ValueError) as error:
        raise ValueError(f"{path} is not a Keras model ({error})") from error


class AuthorsDense:
    """Their dense network: ReLU, then sigmoids, over (estimate, discard, upcard, 1 or -1)."""

    def __init__(self, layers: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        if [len(bias) for _, bias in layers] != [100, 85, 60, NUM_CARDS]:
            raise ValueError(f"the dense network must have layers of 100, 85, 60 and {NUM_CARDS}")
        self.layers = layers

    def probabilities(self, inputs: np.ndarray) -> np.ndarray:
        """Return the outputs, float32 (n, 52), for `gin_env.estimators.neural.turn_inputs`."""
        upcard, took, discard, before = np.split(
            inputs, [NUM_CARDS, NUM_CARDS + 1, 2 * NUM_CARDS + 1], axis=1
        )
        x = np.concatenate([before, discard, upcard, 2 * took - 1], axis=1)
        for number, (kernel, bias) in enumerate(self.layers):
            x = x @ kernel + bias
            x = 1 / (1 + np.exp(-x)) if number else np.maximum(x, 0)
        return x


def authors_cnn(layers: Sequence[tuple[np.ndarray, np.ndarray]]) -> Any:
    """Return their CNN as a torch module from images (n, 1, 17, 13) to logits (n, 52).

    Two convolutions of 4x4 with stride 2 and TensorFlow's padding ``same``, which puts the odd row or column
    at the end, ReLU after each, and a dense layer.
    """
    import torch
    from torch import nn

    (first, _), (second, _), (dense, _) = layers
    network: Any = nn.Sequential(
        nn.ZeroPad2d((1, 2, 1, 2)),  # 17x13 -> 9x7
        nn.Conv2d(1, first.shape[3], 4, 2),
        nn.ReLU(),
        nn.ZeroPad2d((1, 2, 1, 2)),  # 9x7 -> 5x4
        nn.Conv2d(first.shape[3], second.shape[3], 4, 2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(dense.shape[0], NUM_CARDS),
    )
    order = np.arange(dense.shape[0]).reshape(5, 4, -1).transpose(2, 0, 1).ravel()  # theirs: channels last
    kernels = (first.transpose(3, 2, 0, 1), second.transpose(3, 2, 0, 1), dense[order].T)
    with torch.no_grad():
        for module, kernel, (_, bias) in zip(
            (network[1], network[4], network[7]), kernels, layers, strict=True
        ):
            module.weight.copy_(torch.from_numpy(kernel.copy()))
            module.bias.copy_(torch.from_numpy(bias))
    return network.eval()
