"""The networks of Truong and Neller 2021 in torch, and one invariant to the order of suits.

Source: "Offensive Score", Figure 3 and Table 1. Each network takes the player's hand x (n, 52), the opponent
estimate o (n, 52) and the macro-features m (n, 4), and returns the hand's value in points (n,). It consists
of features, 16 hidden units with ReLU and a linear output.

===================== ================================== =============== ==========
name                  features                           inputs of 16    parameters
===================== ================================== =============== ==========
mlp                   x, m, o                            52 + 4 + 52     1,761
dual-inception        4 filters 2×2, 3×3, 4×4 of x; of o 272 + 4 + 272   9,057
card-messages         see `CardMessages`                 104 + 4 + 104   4,321
===================== ================================== =============== ==========

`research.recipes.hand_strength.architectures` has the paper's others and controls.

Readings:

- Figure 3 gives 182 inputs for both MLPs, but the 1,761 parameters of this one imply 108.
- Macro-features and scores are not scaled: they are in points and counts. The paper mentions no scales, and
  scaling costs much of the strength (docs/results/truong2021.md, "Length of training").
- Weights are initialised as in Keras (Glorot uniform), since "other training parameters were set as default".

The hidden layer's weights are split into one matrix for the hand and one for the opponent's hand, so that the
opponent's half is computed only once for all discards of a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from gin_env.agents.hand_strength.features import MACRO_FEATURES
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from gin_env.support.checks import check_choice

HIDDEN = 16
FILTER_WIDTHS = (2, 3, 4)


class Features(nn.Module):
    """A map from one number per card, (n, 52), to features, (n, `size`)."""

    size: int


class Cards(Features):
    """The 52 numbers, unchanged."""

    size = NUM_CARDS

    def forward(self, cards: torch.Tensor) -> torch.Tensor:
        return cards


class Inception(Features):
    """Parallel square filters, 2, 3 and 4 cards wide, over the 4×13 matrix, without padding, with ReLU.

    All filters at all positions form a sparse linear map of the 52 cards with shared weights. Multiplying by
    its matrix takes a third of the time of three small convolutions and their gradients.
    """

    entries: torch.Tensor
    sources: torch.Tensor
    filter_of: torch.Tensor

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.filters = nn.ModuleList([nn.Conv2d(1, filters, width) for width in FILTER_WIDTHS])
        entries, sources, filter_of = _filter_places(filters)
        self.size = len(filter_of)
        self.register_buffer("entries", torch.from_numpy(entries), persistent=False)
        self.register_buffer("sources", torch.from_numpy(sources), persistent=False)
        self.register_buffer("filter_of", torch.from_numpy(filter_of), persistent=False)

    def forward(self, cards: torch.Tensor) -> torch.Tensor:
        parameters: list[torch.Tensor] = list(self.filters.parameters())  # weights and biases in turn
        weights = torch.cat([weight.flatten() for weight in parameters[::2]])
        biases = torch.cat(parameters[1::2])
        matrix = weights.new_zeros(self.size * NUM_CARDS)
        matrix = matrix.index_copy(0, self.entries, weights.index_select(0, self.sources)).view(
            self.size, NUM_CARDS
        )
        return torch.relu(functional.linear(cards, matrix, biases.index_select(0, self.filter_of)))


def _filter_places(filters: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of the filters' weights in the (size, 52) matrix of `Inception`.

    The result is (positions in the flattened matrix, index of the weight at each position, filter of each
    row). Rows are in the order of the concatenated, flattened outputs of the convolutions.
    """
    entries: list[int] = []
    sources: list[int] = []
    filter_of: list[int] = []
    first_weight = 0
    for number, width in enumerate(FILTER_WIDTHS):
        for each in range(filters):
            for suit, rank in product(range(NUM_SUITS + 1 - width), range(NUM_RANKS + 1 - width)):
                row = len(filter_of)
                filter_of.append(number * filters + each)
                for weight, (down, right) in enumerate(product(range(width), repeat=2)):
                    entries.append(row * NUM_CARDS + (suit + down) * NUM_RANKS + rank + right)
                    sources.append(first_weight + each * width**2 + weight)
        first_weight += filters * width**2
    return np.array(entries), np.array(sources), np.array(filter_of)


class CardMessages(Features):
    """Message passing between cards, invariant to the order of suits ("Conclusions and Future Work").

    In each of two rounds, every card receives messages from its own suit (two ranks to either side, weights
    shared by all cards) and the sum of messages from its rank in all suits. The cards of each rank are then
    added up: (n, channels × 13).
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.suit = nn.ModuleList(
            [nn.Conv2d(before, channels, (1, 5), padding=(0, 2)) for before in (1, channels)]
        )
        self.rank = nn.ModuleList([nn.Conv2d(before, channels, 1, bias=False) for before in (1, channels)])
        self.size = channels * NUM_RANKS

    def forward(self, cards: torch.Tensor) -> torch.Tensor:
        planes = cards.view(-1, 1, NUM_SUITS, NUM_RANKS)
        for from_suit, from_rank in zip(self.suit, self.rank, strict=True):
            planes = torch.relu(from_suit(planes) + from_rank(planes.sum(dim=2, keepdim=True)))
        return planes.sum(dim=2).flatten(1)


class HandStrength(nn.Module):
    """Value of a hand in points: one hidden layer over features of both hands and macro-features."""

    def __init__(self, hand: Features, opponent: Features) -> None:
        super().__init__()
        self.hand, self.opponent = hand, opponent
        inputs = hand.size + len(MACRO_FEATURES) + opponent.size
        whole = nn.Linear(inputs, HIDDEN)  # initialised as one layer, then split
        split = hand.size + len(MACRO_FEATURES)
        self.from_hand = nn.Linear(split, HIDDEN)
        self.from_opponent = nn.Linear(opponent.size, HIDDEN, bias=False)
        self.output = nn.Linear(HIDDEN, 1)
        for layer in (whole, *self.modules()):
            if isinstance(layer, nn.Linear | nn.Conv2d):
                nn.init.xavier_uniform_(layer.weight)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
        with torch.no_grad():
            self.from_hand.weight.copy_(whole.weight[:, :split])
            self.from_opponent.weight.copy_(whole.weight[:, split:])

    def forward(
        self, x: torch.Tensor, macro: torch.Tensor, o: torch.Tensor, owner: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return values float32 (n,) for x (n, 52), m (n, 4) and o (n, 52).

        With `owner`, int64 (n,), hand k is valued against opponent o[owner[k]].
        """
        hand = self.from_hand(torch.cat([self.hand(x), macro], dim=1))
        opponent = self.from_opponent(self.opponent(o))
        if owner is not None:
            opponent = opponent[owner]
        return self.output(functional.relu(hand + opponent))[:, 0]


ARCHITECTURES: dict[str, Callable[[], HandStrength]] = {
    "mlp": lambda: HandStrength(Cards(), Cards()),
    "dual-inception": lambda: HandStrength(Inception(4), Inception(4)),
    "card-messages": lambda: HandStrength(CardMessages(8), CardMessages(8)),
}


def build(architecture: str, seed: int = 0) -> HandStrength:
    """Return a network with random weights. Raises ValueError for an unknown architecture."""
    check_choice("architecture", architecture, ARCHITECTURES)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ARCHITECTURES[architecture]()
