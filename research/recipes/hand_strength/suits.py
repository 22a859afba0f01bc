"""Orders of the suits, and a player whose values are the same in all of them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import torch

from gin_env.agents.hand_strength.bots import OffensiveBot
from gin_env.agents.hand_strength.features import hand_features
from gin_env.agents.hand_strength.networks import HandStrength
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS

SUIT_ORDERS = np.array(list(permutations(range(NUM_SUITS))))
"""All orders of the suits, int64 (24, 4); the first is the identity."""
CARD_ORDERS = (SUIT_ORDERS[:, :, None] * NUM_RANKS + np.arange(NUM_RANKS)).reshape(
    len(SUIT_ORDERS), NUM_CARDS
)
"""The same for cards, int64 (24, 52): ``x[:, CARD_ORDERS[k]]`` is x with its suits in order k."""


def permuted_suits(cards: torch.Tensor, order: int) -> torch.Tensor:
    """Return `cards`, (n, 52), with the suits in order `SUIT_ORDERS[order]`."""
    return cards[:, torch.from_numpy(CARD_ORDERS[order])]


def value_averaged_over_suits(
    network: HandStrength,
    x: torch.Tensor,
    macro: torch.Tensor,
    o: torch.Tensor,
    owner: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the mean value over all 24 orders of the suits; parameters as for `HandStrength.forward`."""
    values = [
        network(permuted_suits(x, order), macro, permuted_suits(o, order), owner)
        for order in range(len(CARD_ORDERS))
    ]
    return torch.stack(values).mean(dim=0)


class AveragedOffensiveBot(OffensiveBot):
    """`OffensiveBot` with the values of a hand averaged over all 24 orders of the suits."""

    def hand_values(
        self, estimates: np.ndarray, owners: np.ndarray, hands: np.ndarray, exact: bool = False
    ) -> np.ndarray:
        """Return the mean value of each hand: float32 (k,), or float64 if `exact`."""
        x, macro = hand_features(hands)
        network, dtype = (self._exact, torch.float64) if exact else (self.network, torch.float32)
        inputs = [torch.from_numpy(array).to(dtype) for array in (x, macro, estimates)]
        inputs.append(torch.from_numpy(owners))
        with torch.inference_mode():
            return value_averaged_over_suits(network, *inputs).numpy()
