"""What a hand is worth with all cards open: a network that predicts how the hand ends.

It sees both hands and the stock, so it is for looking back at finished games, never for a player:
`gin_env.matches.luck` takes luck out of results with it. Its positions are the `CHANCE` records there. It was
trained on games of several bots by ``python -m research train open-value``.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

import numpy as np

from gin_env.game.cards import FULL_DECK, NUM_CARDS, count_cards, write_ones
from gin_env.game.hands import least_deadwood_discard, meld_completions, unmelded_cards
from gin_env.game.melds import min_deadwood
from gin_env.support.compilation import kernel
from gin_env.support.tensor_files import NetworkFormat
from gin_env.support.torch_extra import nn, torch

FORMAT = NetworkFormat("open-card value network", "1", "python -m research train open-value")
PACKAGED = "open-value.safetensors"

CLASSES = np.array([1, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60])
"""Least points of each class of results; there are as many for lost hands, and one for void hands."""
NUM_CLASSES = 2 * len(CLASSES) + 1
_MASKS = 9  # of cards, among the inputs
_STEPS = 24  # of deadwood, for each player
NUM_INPUTS = _MASKS * NUM_CARDS + 4 + 2 * _STEPS
_MAX_STOCK = 31
ROWS = 1 << 14
"""Number of positions evaluated together."""


class OpenValue(nn.Module):
    """The logits of the classes of results, for inputs (n, NUM_INPUTS) of `write_inputs`.

    Attributes
    ----------
    points : float32 (NUM_CLASSES,): mean points of each class, for the player to move.
    at_deal : float32 (NUM_CLASSES,): mean probability of each class over all deals.
    """

    points: torch.Tensor
    at_deal: torch.Tensor

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(NUM_INPUTS, first),
            nn.ReLU(),
            nn.Linear(first, second),
            nn.ReLU(),
            nn.Linear(second, NUM_CLASSES),
        )
        self.register_buffer("points", torch.zeros(NUM_CLASSES))
        self.register_buffer("at_deal", torch.zeros(NUM_CLASSES))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.layers(inputs)

    @torch.inference_mode()
    def probabilities(self, positions: np.ndarray) -> np.ndarray:
        """Return the probability of each class: float32 (n, NUM_CLASSES) for `CHANCE` records (n,)."""
        found = np.empty((len(positions), NUM_CLASSES), np.float32)
        inputs = np.empty((min(ROWS, len(positions)), NUM_INPUTS), np.float32)
        for first in range(0, len(positions), ROWS):
            part = positions[first : first + ROWS]
            write_inputs(part, inputs[: len(part)])
            logits = self(torch.from_numpy(inputs[: len(part)]))
            found[first : first + len(part)] = logits.softmax(dim=1).numpy()
        return found


@cache
def packaged_value() -> OpenValue:
    """Return the packaged network. Raises ImportError without torch and safetensors."""
    with as_file(files("gin_env.matches") / "data" / PACKAGED) as path:
        return FORMAT.read(path, lambda metadata, _: OpenValue(*map(int, metadata["sizes"])))[0]


@kernel
def write_inputs(positions: np.ndarray, inputs: np.ndarray) -> None:
    """Write the inputs of the network, float32 (n, NUM_INPUTS), for `CHANCE` records (n,)."""
    for index in range(len(positions)):
        position, row = positions[index], inputs[index]
        row[:] = 0
        mover, other, pile = position.mover, position.other, position.pile
        stock = FULL_DECK & ~(mover | other | pile)
        kept, deadwood = mover, min_deadwood(mover)
        drew = position.card >= 0
        if drew:
            discard, deadwood = least_deadwood_discard(mover, mover)
            kept = mover & ~discard
        others_deadwood = min_deadwood(other)
        write_ones(row, 0, mover)
        write_ones(row, NUM_CARDS, other)
        write_ones(row, 2 * NUM_CARDS, pile)
        write_ones(row, 3 * NUM_CARDS, unmelded_cards(kept))
        write_ones(row, 4 * NUM_CARDS, unmelded_cards(other))
        write_ones(row, 5 * NUM_CARDS, meld_completions(kept) & stock)
        write_ones(row, 6 * NUM_CARDS, meld_completions(other) & stock)
        write_ones(row, 7 * NUM_CARDS, position.mover_shown)
        write_ones(row, 8 * NUM_CARDS, position.other_shown)
        numbers = row[_MASKS * NUM_CARDS :]
        numbers[0] = count_cards(stock) / _MAX_STOCK
        numbers[1] = drew
        numbers[2] = deadwood / 50
        numbers[3] = others_deadwood / 50
        numbers[4 + _step(deadwood)] = 1
        numbers[4 + _STEPS + _step(others_deadwood)] = 1


@kernel
def _step(deadwood: int) -> int:
    """Return 0 to 11 for that deadwood, and one number for each five points above."""
    return deadwood if deadwood < 12 else min(12 + (deadwood - 12) // 5, _STEPS - 1)
