"""The networks of Truong and Neller 2021 that the package has no file of, and controls.

===================== ================================== =============== ==========
name                  features                           inputs of 16    parameters
===================== ================================== =============== ==========
mlp-i                 interactions, m, o (not x)         126 + 4 + 52    2,945
dual-inception-16     16 filters of each size            1,088+4+1,088   35,937
macro-only            m alone: a control                 1 + 4 + 1       129
dual-inception-mixed  of 52 cards in a fixed other order 272 + 4 + 272   9,057
===================== ================================== =============== ==========

The last two are controls for the filters. In ``macro-only`` zeros replace x and o; in
``dual-inception-mixed`` the filters see all cards, but no neighbours (`MixedInception`). Importing this
module adds them to `gin_env.agents.hand_strength.networks.ARCHITECTURES`, so `build` makes them too.

Source: "Offensive Score". Interaction terms are products of neighbouring cards; "four neighbours of A♥ are
A♣, A♦, A♠, and 2♥". Readings:

- MLP-i has 2,945 parameters, which imply 182 inputs, so it has no x.
- Interactions are the 48 pairs of neighbouring ranks in a suit and the 78 pairs of equal rank. MLP-i needs
  these 126 terms to have 2,945 parameters. (A "2×1 filter" over the matrix would cover only 39 of the 78.)
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import torch

from gin_env.agents.hand_strength.networks import (
    ARCHITECTURES,
    Cards,
    Features,
    HandStrength,
    Inception,
    build,
)
from gin_env.game.cards import NUM_CARDS, NUM_RANKS

__all__ = ["INTERACTIONS", "Interactions", "MixedInception", "NoCards", "build"]


_NEIGHBOURS = [(card, card + 1) for card in range(NUM_CARDS) if card % NUM_RANKS < NUM_RANKS - 1]
_SAME_RANK = [
    pair for rank in range(NUM_RANKS) for pair in combinations(range(rank, NUM_CARDS, NUM_RANKS), 2)
]
INTERACTIONS = np.array(_NEIGHBOURS + _SAME_RANK)
"""Pairs of cards whose products are the interaction terms, int64 (126, 2)."""


class Interactions(Features):
    """Products of neighbouring cards, (n, 126); see `INTERACTIONS`."""

    size = len(INTERACTIONS)
    first: torch.Tensor
    second: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("first", torch.from_numpy(INTERACTIONS[:, 0].copy()), persistent=False)
        self.register_buffer("second", torch.from_numpy(INTERACTIONS[:, 1].copy()), persistent=False)

    def forward(self, cards: torch.Tensor) -> torch.Tensor:
        return cards[:, self.first] * cards[:, self.second]


class MixedInception(Inception):
    """`Inception` over the cards in a random order, the same for all networks, as a control.

    The network still sees every card, but its filters see no neighbours and thus neither runs nor sets.
    """

    order: torch.Tensor

    def __init__(self, filters: int) -> None:
        super().__init__(filters)
        mixed = torch.from_numpy(np.random.default_rng(0).permutation(NUM_CARDS))
        self.register_buffer("order", mixed, persistent=False)

    def forward(self, cards: torch.Tensor) -> torch.Tensor:
        return super().forward(cards[:, self.order])


class NoCards(Features):
    """A zero in place of the 52 numbers, as a control."""

    size = 1

    def forward(self, cards: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(cards[:, :1])


ARCHITECTURES |= {
    "mlp-i": lambda: HandStrength(Interactions(), Cards()),
    "dual-inception-16": lambda: HandStrength(Inception(16), Inception(16)),
    "macro-only": lambda: HandStrength(NoCards(), NoCards()),
    "dual-inception-mixed": lambda: HandStrength(MixedInception(4), MixedInception(4)),
}
