"""The networks of the estimators, stored as small safetensors files in half precision.

The module needs torch (the extra ``train``); other modules import it only when a network is needed.

Estimates are computed in single precision. They differ by about 1e-7 with the size of the batch and torch's
number of threads, which change the order of sums.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.estimators.neural import NUM_INPUTS
from gin_env.estimators.public_history import CARD_FEATURES, POSITION_FEATURES, card_features
from gin_env.estimators.shankar import shankar_images
from gin_env.game.cards import NUM_CARDS, NUM_RANKS
from gin_env.observations.views import PlayerView
from gin_env.support.tensor_files import NetworkFormat
from gin_env.support.torch_extra import functional, nn, torch

FORWARD_BATCH = 512
"""Maximum number of views in one forward pass, which fit into the processor's cache."""


class EstimatorNetwork(nn.Module):
    """Base class of the estimators' networks, which compute a logit for each card from views."""

    @classmethod
    def inputs(cls, view: PlayerView) -> tuple[np.ndarray, ...]:
        """Return the arguments of `forward` for views (n,): arrays (n, ...). Not for `DenseNetwork`."""
        raise NotImplementedError

    def card_logits(self, unseen: torch.Tensor, missing: torch.Tensor, *inputs: torch.Tensor) -> torch.Tensor:
        """Return logits, float32 (n, 52), from `inputs`; `unseen` bool (n, 52) and `missing` (n,)."""
        return self(*inputs)


class DenseNetwork(EstimatorNetwork):
    """The dense network of Francis et al.: layers of 100, 85, 60 and 52, all sigmoid; returns logits.

    Inputs float32 (n, 157): upcard and discard of the opponent's last turn one-hot (52 each), whether they
    took the upcard (1), the probabilities before that turn (52).
    """

    def __init__(self) -> None:
        super().__init__()
        sizes = (NUM_INPUTS, 100, 85, 60, NUM_CARDS)
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in itertools.pairwise(sizes))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        for layer in self.layers[:-1]:
            inputs = torch.sigmoid(layer(inputs))
        return self.layers[-1](inputs)

    def probabilities(self, inputs: np.ndarray) -> np.ndarray:
        """Return the probabilities, float32 (n, 52), for `turn_inputs`."""
        return predict(lambda batch: self(batch).sigmoid(), inputs)


class ShankarNetwork(EstimatorNetwork):
    """The CNN of Francis et al. on Shankar images (n, 1, 17, 13): three times convolution, ReLU, pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(*pair, kernel_size=3, padding="same") for pair in ((1, 16), (16, 32), (32, 64))
        )
        self.output = nn.Linear(64 * 2 * 1, NUM_CARDS)  # 17x13 -> 8x6 -> 4x3 -> 2x1

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        for convolution in self.convolutions:
            images = functional.max_pool2d(functional.relu(convolution(images)), 2)
        return self.output(images.flatten(1))

    @classmethod
    def inputs(cls, view: PlayerView) -> tuple[np.ndarray, ...]:
        return (shankar_images(view),)


class SuitEquivariantNetwork(EstimatorNetwork):
    """A residual network over the 4x13 cards whose weights all suits share; returns logits (n, 52).

    Inputs are `public_history.card_features`. Each block combines a card with the two cards on either side in
    its suit (convolution), its rank in all suits (mean) and the whole table (mean and maximum over all
    cards). Permuting the suits permutes the output; ranks differ by a learned bias.
    """

    def __init__(self, channels: int = 32, blocks: int = 3) -> None:
        super().__init__()
        self.cards = nn.Conv2d(len(CARD_FEATURES), channels, (1, 5), padding=(0, 2))
        self.table = nn.Linear(len(POSITION_FEATURES), channels)
        self.rank = nn.Parameter(torch.zeros(channels, 1, NUM_RANKS))
        self.neighbours = nn.ModuleList(
            nn.Conv2d(channels, channels, (1, 5), padding=(0, 2)) for _ in range(blocks)
        )
        self.same_rank = nn.ModuleList(nn.Conv1d(channels, channels, 1, bias=False) for _ in range(blocks))
        self.everything = nn.ModuleList(nn.Linear(2 * channels, channels, bias=False) for _ in range(blocks))
        self.output = nn.Conv2d(channels, 1, 1)

    def forward(self, cards: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        x = functional.relu(self.cards(cards) + self.table(table)[:, :, None, None] + self.rank)
        for neighbours, same_rank, everything in zip(
            self.neighbours, self.same_rank, self.everything, strict=True
        ):
            whole = everything(torch.cat([x.mean((2, 3)), x.amax((2, 3))], dim=1))
            x = x + functional.relu(
                neighbours(x) + same_rank(x.mean(2))[:, :, None] + whole[:, :, None, None]
            )
        return self.output(x).flatten(1)

    @classmethod
    def inputs(cls, view: PlayerView) -> tuple[np.ndarray, ...]:
        return card_features(view)

    def card_logits(self, unseen: torch.Tensor, missing: torch.Tensor, *inputs: torch.Tensor) -> torch.Tensor:
        """Return logits whose probabilities sum to the number of missing cards."""
        return with_expected_sum(self(*inputs), unseen, missing)


NETWORKS: dict[str, type[EstimatorNetwork]] = {
    "nn": DenseNetwork,
    "shankar-cnn": ShankarNetwork,
    "suit-equivariant": SuitEquivariantNetwork,
}
"""Network class by estimator name."""


CLOSE = 1e-5
"""Error of a sum of probabilities that is small enough for a last step of Newton's method."""


def with_expected_sum(logits: torch.Tensor, unseen: torch.Tensor, missing: torch.Tensor) -> torch.Tensor:
    """Return the logits (n, 52), shifted so that the probabilities of the unseen cards sum to `missing` (n,).

    One shift for each row, found by Newton's method; a last step is differentiable, which gives the exact
    gradient of the shift (implicit function theorem). Rows in which all or none of the unseen cards are
    missing have no finite shift; they come out close to 1 or 0.
    """
    with torch.no_grad():
        count = unseen.sum(1).clamp(min=1)
        share = (missing / count).clamp(1e-6, 1 - 1e-6)
        missing = share * count
        low = torch.where(unseen, -logits, torch.inf).amin(1) + torch.logit(share)
        high = torch.where(unseen, -logits, -torch.inf).amax(1) + torch.logit(share)
        shift = (low + high) / 2
        for _ in range(24):
            p = torch.sigmoid(logits + shift[:, None]) * unseen
            excess = p.sum(1) - missing
            if (excess.abs() < CLOSE).all():
                break
            low, high = torch.where(excess < 0, shift, low), torch.where(excess < 0, high, shift)
            newton = shift - excess / (p * (1 - p)).sum(1).clamp(min=1e-9)
            shift = torch.where((newton > low) & (newton < high), newton, (low + high) / 2)
        shift = torch.where(unseen.any(1), shift, 0.0)
    p = torch.sigmoid(logits + shift[:, None]) * unseen
    slope = (p * (1 - p)).sum(1).detach().clamp(min=1e-9)
    return logits + (shift - (p.sum(1) - missing) / slope)[:, None]


def predict(function: Callable[..., torch.Tensor], *inputs: np.ndarray) -> np.ndarray:
    """Return what `function` returns for arrays (n, ...), float32 (n, ...).

    It is called in batches of `FORWARD_BATCH`, without gradients.
    """
    with torch.inference_mode():
        parts = [
            function(*(torch.from_numpy(array[start : start + FORWARD_BATCH]) for array in inputs)).numpy()
            for start in range(0, len(inputs[0]), FORWARD_BATCH)
        ]
    return np.concatenate(parts) if parts else np.zeros((0, NUM_CARDS), np.float32)


def format_of(name: str) -> NetworkFormat:
    """Return the format of the files of an estimator's network."""
    return NetworkFormat(f"network of {name}", "1", f"python -m research train estimator {name}")


def load(name: str, path: str | Path) -> tuple[nn.Module, dict[str, Any]]:
    """Return the network of estimator `name` and its metadata from a file.

    Raises what `NetworkFormat.read_tensors` raises.
    """
    network: Any
    network, metadata = format_of(name).read(path, lambda *_: NETWORKS[name]())
    return network.to(memory_format=torch.channels_last), metadata  # faster by a third
