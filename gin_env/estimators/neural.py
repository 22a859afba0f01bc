"""``nn``, ``shankar-cnn`` and ``suit-equivariant``: neural network estimators.

Source of the first two: paper 003, "Simple Neural Network" and "Shankar CNN"; the third is ours.

``nn``: dense sigmoid layers of 100, 85, 60 and 52 on "a few features of the current game state", trained in
generations, "since this network is trained on the current probability distribution". Figure 1, which shows
the inputs, is missing from the text. Reconstruction: what the paper's Bayesian estimator looks at, in the
one-hot encoding that the caption mentions: the face-up card of the opponent's last turn (52), whether they
took it (1), their discard (52), and the current probabilities (52), in which known cards are 0 or 1. The
authors' program (OurNNHandEstimator.java, PeterEFrancis/gin-rummy-AI) has these inputs too, with -1 for an
upcard that was not taken, and ReLU in the first layer. There is one update for each turn that the opponent
completes; before the first, the estimate is uniform. The paper does not give the amount of training data, the
loss, the epochs or the number of generations: see `research.recipes.estimators.network_trainer`.

``shankar-cnn``: `gin_env.estimators.shankar` makes the image; 16, 32 and 64 filters of 3x3 with ReLU and 2x2
pooling (same padding: without it a 17x13 image is used up after two of them), then one sigmoid for each
card. The paper does not give the output layer.

Both give each card its own probability, as in the paper: their sum need not be the number of cards (the
Probabilistic Integrity Loss measures by how much). Cards whose place is known are set to 0 or 1.

``suit-equivariant``: a residual network that reads the whole public history card by card (`CARD_FEATURES` in
`gin_env.estimators.public_history`), with weights that all suits share, and whose probabilities sum to
exactly the number of unknown cards in the opponent's hand (one shift of all logits).

Results: docs/results/estimators.md, "All metrics" and docs/results/francis2021.md, "Stronger players".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gin_env.estimators.base import Memoryless
from gin_env.estimators.public_history import hash_turns, known_cards, opponent_turns
from gin_env.estimators.registry import ESTIMATORS
from gin_env.estimators.turn_inputs import walk_turns
from gin_env.game.cards import NUM_CARDS
from gin_env.observations.views import PlayerView


class _NetworkEstimator(Memoryless):
    """Base class of the network estimators.

    Parameters
    ----------
    weights : the name of a packaged set of weights, by the observed players or a
        file of ``python -m research train estimator``.
    """

    name = ""

    def __init__(self, weights: str = "simple") -> None:
        self.network, self.provenance = find_weights(self.name, weights)

    def estimate(self, view: PlayerView) -> np.ndarray:
        """float32 (n, 52), see `Estimator.estimate`."""
        from gin_env.estimators.networks import predict

        held, unseen, missing = known_cards(view)
        probabilities = predict(
            lambda *data: self.network.card_logits(*data).sigmoid(),
            unseen,
            missing,
            *self.network.inputs(view),
        )
        return np.where(unseen, probabilities, held).astype(np.float32)


class ShankarCnnEstimator(_NetworkEstimator):
    """Paper 003's CNN over the Shankar array."""

    name = "shankar-cnn"


class SuitEquivariantEstimator(_NetworkEstimator):
    """A network over the public history with weights shared by the suits.

    Its estimates sum to the number of cards in the opponent's hand.
    """

    name = "suit-equivariant"


# --- nn -------------------------------------------------------------------------------------------------

NN_MEMORY = np.dtype(
    [
        ("turns", np.int64),  # number of the opponent's turns in the estimate
        ("history", np.uint64),  # hash of these turns
        ("estimate", np.float32, (NUM_CARDS,)),  # the network's estimate after these turns
    ],
    align=True,
)


class NnEstimator(_NetworkEstimator):
    """Paper 003's simple neural network, which updates its own estimate of the previous turn.

    Without memory it processes all turns of the hand, with memory only the new ones; the result is the same.
    """

    name = "nn"

    def estimate(self, view: PlayerView) -> np.ndarray:
        """float32 (n, 52), see `Estimator.estimate`."""
        return self.advance(view, self.new_memory(len(view)))

    def new_memory(self, count: int) -> np.ndarray:
        """Return `NN_MEMORY` records (count,)."""
        return np.zeros(count, NN_MEMORY)

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        """Return the probabilities, float32 (n, 52); see `Estimator.advance`."""
        turns, counts = opponent_turns(view)
        done = np.where(memory["turns"] <= counts, memory["turns"], 0)
        done[memory["history"] != hash_turns(turns, done)] = 0
        estimate = memory["estimate"].copy()
        walk_turns(view, self.network.probabilities, done, estimate)
        memory["turns"], memory["history"], memory["estimate"] = counts, hash_turns(turns, counts), estimate
        held, unseen, missing = known_cards(view)
        share = missing / np.maximum(unseen.sum(axis=1), 1)
        return np.where(unseen, np.where(counts[:, None] > 0, estimate, share[:, None]), held).astype(
            np.float32
        )


# --- Shared by all of them ------------------------------------------------------------------------------


def with_known_cards(probabilities: np.ndarray, view: PlayerView) -> np.ndarray:
    """Return the probabilities (n, 52), set to 0 or 1 for the cards whose place the player knows."""
    held, unseen, _ = known_cards(view)
    return np.where(unseen, probabilities, held).astype(np.float32)


def find_weights(name: str, weights: str | Path) -> tuple[Any, dict[str, Any]]:
    """Return the network and its provenance for a `weights` parameter: a packaged set, or a file.

    Raises ImportError without torch, FileNotFoundError or ValueError for a file that is missing or unusable.
    """
    from gin_env.estimators.networks import load

    return load(name, ESTIMATORS.file(name, "weights", weights))
