"""``nn``, ``shankar-cnn`` and ``suit-equivariant``: neural network estimators.

Source of the first two: Francis et al. 2021, "Simple Neural Network" and "Shankar CNN"; the third is ours.

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

from collections.abc import Callable
from typing import Any

import numpy as np

from gin_env.estimators.base import Memoryless
from gin_env.estimators.declared_estimators import ESTIMATORS
from gin_env.estimators.public_history import hash_turns, known_cards, opponent_turns, with_known_cards
from gin_env.game.cards import NUM_CARDS, card_columns
from gin_env.observations.views import PlayerView


class _NetworkEstimator(Memoryless):
    """Base class of the network estimators.

    Parameters
    ----------
    weights : the name of a packaged set of weights, by the observed players, or a
        file of ``python -m research train estimator``.

    Raises ImportError without torch, FileNotFoundError or ValueError for a file that is missing or unusable.
    """

    name = ""

    def __init__(self, weights: str = "simple") -> None:
        from gin_env.estimators.networks import load

        self.files = (ESTIMATORS.file(self.name, "weights", weights),)
        self.network: Any
        self.network, self.provenance = load(self.name, self.files[0])

    def estimate(self, view: PlayerView) -> np.ndarray:
        from gin_env.estimators.networks import predict

        held, unseen, missing = known_cards(view)
        inputs = unseen, missing, *self.network.inputs(view)
        probabilities = predict(lambda *batch: self.network.card_logits(*batch).sigmoid(), *inputs)
        return with_known_cards(probabilities, held, unseen)


class ShankarCnnEstimator(_NetworkEstimator):
    """Francis et al. 2021's CNN over the Shankar array."""

    name = "shankar-cnn"


class SuitEquivariantEstimator(_NetworkEstimator):
    """A network over the public history with weights shared by the suits.

    Its estimates sum to the number of cards in the opponent's hand.
    """

    name = "suit-equivariant"


# --- nn -------------------------------------------------------------------------------------------------

NUM_INPUTS = 3 * NUM_CARDS + 1
NN_MEMORY = np.dtype(
    [
        ("turns", np.int64),  # number of the opponent's turns in the estimate
        ("history", np.uint64),  # hash of these turns
        ("estimate", np.float32, (NUM_CARDS,)),  # the network's estimate after these turns
    ],
    align=True,
)


class NnEstimator(_NetworkEstimator):
    """Francis et al. 2021's simple neural network, which updates its own estimate of the previous turn.

    Without memory it processes all turns of the hand, with memory only the new ones; the result is the same.
    """

    name = "nn"

    def estimate(self, view: PlayerView) -> np.ndarray:
        return self.advance(view, self.new_memory(len(view)))

    def new_memory(self, count: int) -> np.ndarray:
        """Return `NN_MEMORY` records (count,)."""
        return np.zeros(count, NN_MEMORY)

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        turns, counts = opponent_turns(view)
        done = np.where(memory["turns"] <= counts, memory["turns"], 0)
        done[memory["history"] != hash_turns(turns, done)] = 0
        estimate = memory["estimate"].copy()
        walk_turns(view, self.network.probabilities, done, estimate)
        memory["turns"], memory["history"], memory["estimate"] = counts, hash_turns(turns, counts), estimate
        held, unseen, missing = known_cards(view)
        share = missing / np.maximum(unseen.sum(axis=1), 1)
        probabilities = np.where(counts[:, None] > 0, estimate, share[:, None])
        return with_known_cards(probabilities, held, unseen)


def turn_inputs(turns: np.ndarray, before: np.ndarray | None, view: PlayerView) -> np.ndarray:
    """Return the inputs, float32 (n, NUM_INPUTS), for `OPPONENT_TURN` records (n,).

    `before` are the estimates (n, 52) before the turn, or None for the uniform estimate before the first.
    """
    cards = np.arange(NUM_CARDS)
    held, out = card_columns(turns["held"]), card_columns(turns["out"])
    if before is None:
        missing = view.array["public"]["rules"]["hand_size"][:, None] - held.sum(axis=1, keepdims=True)
        before = missing / np.maximum((~held & ~out).sum(axis=1, keepdims=True), 1)
    return np.concatenate(
        [
            turns["upcard"][:, None] == cards,
            turns["took"][:, None],
            turns["discard"][:, None] == cards,
            np.where(held, 1, np.where(out, 0, before)),
        ],
        axis=1,
        dtype=np.float32,
    )


def walk_turns(
    view: PlayerView,
    predict: Callable[[np.ndarray], np.ndarray] | None,
    done: np.ndarray,
    estimate: np.ndarray,
) -> np.ndarray:
    """Process the opponents' turns in order, from turn `done` (n,) of each view.

    Returns the inputs of the last turn, float32 (n, NUM_INPUTS). `predict` computes estimates (k, 52) from
    `turn_inputs`; `estimate` (n, 52) is updated in place. Without `predict` the estimate before each turn is
    uniform. For views without new turns, the inputs are not set and the estimate is unchanged.
    """
    turns, counts = opponent_turns(view)
    inputs = np.empty((len(view), NUM_INPUTS), np.float32)
    for step in range(turns.shape[1]):
        now = np.flatnonzero((done <= step) & (step < counts))
        if len(now):
            before = estimate[now] if step and predict is not None else None
            inputs[now] = rows = turn_inputs(turns[now, step], before, view[now])
            if predict is not None:
                estimate[now] = predict(rows)
    return inputs
