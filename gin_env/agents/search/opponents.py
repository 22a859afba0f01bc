"""Which bot the opponent plays like: probabilities of a few models, from what the opponent has done.

A small network reads the numbers of the player's memory (`gin_env.observations.memory`) three times: of the
earlier hands of the game, of the current hand, and of all together. It is trained on games of `policy`
against each model.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.search.small_networks import check_sizes, evaluate, packaged_networks
from gin_env.game.memory import forget_hands, remember_actions
from gin_env.game.state import STATE
from gin_env.observations.memory import NUM_MEMORY, write_memory
from gin_env.support.compilation import kernel
from gin_env.support.specs import parse

MODELS = {
    "policy": "suit-equivariant:weights=policy",
    "policy-1": "suit-equivariant:weights=policy",
    "simple": "suit-equivariant",
    "tonic": "suit-equivariant",
}
"""Bots that the opponent may play like, and the estimator of the cards of each."""
UNKNOWN = "unknown"
"""As opponent of a search: one of `MODELS`."""
OTHER_ESTIMATOR = "suit-equivariant:weights=policy"
"""The estimator for an opponent that is none of `MODELS`."""
NUM_CONDUCT = 3 * NUM_MEMORY
"""Numbers that describe what the opponent has done."""
MIN_ACTIONS = 4
"""Least number of public actions for which the current hand counts."""


def estimators_for(opponent: str) -> list[str]:
    """Return the estimators for an opponent: those of all `MODELS` if it is `UNKNOWN`.

    A bot with other parameters has the estimator of the model with its name.
    """
    if opponent == UNKNOWN:
        return list(MODELS.values())
    return [MODELS.get(parse(opponent)[0], OTHER_ESTIMATOR)]


class OpponentModels:
    """The probability that the opponent is each of `MODELS`."""

    def __init__(self) -> None:
        self._network = check_sizes(packaged_networks()["opponents"], NUM_CONDUCT, len(MODELS))

    def __call__(self, view: np.void) -> np.ndarray:
        """Return the probabilities for a `VIEW` record, float64 (k,)."""
        row, logits = np.zeros(NUM_CONDUCT, np.float32), np.empty(len(MODELS), np.float32)
        write_conduct(view, np.zeros(1, STATE), row)
        _write_logits(self._network, row, logits)
        chances = np.exp(logits.astype(np.float64) - logits.max())
        return chances / chances.sum()


@kernel
def write_conduct(view, games, row: np.ndarray) -> None:
    """Write what the opponent did in earlier hands, in this hand, and in all, float32 (NUM_CONDUCT,).

    `games` has room for one `STATE` record.
    """
    player = np.int64(view.player)
    opponent = 1 - player
    write_memory(view.public, player, row[:NUM_MEMORY])
    row[NUM_MEMORY:] = 0
    if view.public.history_length < MIN_ACTIONS:
        row[2 * NUM_MEMORY :] = row[:NUM_MEMORY]
        return
    public = games[0].public
    for earlier in range(2):
        games[0].public = view.public
        if not earlier or not row[0]:  # the earlier hands do not count, or are unknown
            forget_hands(public)
            public.hand_number = 0
        remember_actions(public, opponent, public.memory[opponent])
        public.hand_number += 1
        write_memory(public, player, row[(1 + earlier) * NUM_MEMORY : (2 + earlier) * NUM_MEMORY])


@kernel
def _write_logits(network, row: np.ndarray, logits: np.ndarray) -> None:
    evaluate(network, row, np.empty((2, len(network.first_bias)), np.float32), logits)
