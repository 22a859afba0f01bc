"""Inputs of the network of ``nn``: the opponent's turns in order, with the estimate before each turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gin_env.estimators.public_history import opponent_turns
from gin_env.game.cards import NUM_CARDS, card_columns
from gin_env.observations.views import PlayerView

NUM_INPUTS = 3 * NUM_CARDS + 1


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
