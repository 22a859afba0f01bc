"""The observation in a thirteenth of its bytes, for replay buffers and for sending it elsewhere.

A `COMPACT` record holds what a player observes: planes of cards as bit masks (bits are card ids), all other
values as small integers. `expand` computes the rest (deadwood, the quality of discards, the uniform estimate)
and returns the float32 vector, equal bit for bit to that of `Games.observations`, because the same function
writes it. `expand_masks` returns the action masks.

>>> records = games.compact_observations(games.everyone)  # of the players to move
>>> batch = expand(records[sample])

Another estimator's probabilities are not in the record; store them separately if you use one.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.cards import NUM_CARDS
from gin_env.game.engine import write_mask
from gin_env.game.record_checks import is_position
from gin_env.game.state import PUBLIC
from gin_env.observations.observation import OBSERVATION_SIZE, write_observation
from gin_env.support.checks import result_array
from gin_env.support.compilation import kernel

_FIRST = ("pile", "discarded", "declined", "shown", "rules", "scores")
_LAST = ("knock_limit", "points_double", "phase", "to_move", "dealer", "upcard", "taken", "stock_left")
COMPACT = np.dtype(
    [
        ("hand", np.uint64),  # of the observer
        *((name, PUBLIC[name]) for name in _FIRST),
        ("player", np.int8),  # the observer
        *((name, PUBLIC[name]) for name in (*_LAST, "turn", "discard_turn")),
    ],
    align=True,
)


def expand(records: np.ndarray, observations: np.ndarray | None = None) -> np.ndarray:
    """Return the observation vectors of `COMPACT` records (k,): float32 (k, OBSERVATION_SIZE).

    The result is written into `observations` if you pass it. Raises TypeError for anything but such records,
    ValueError for records that are not positions of a hand.
    """
    _check(records)
    observations = result_array(
        "observations", observations, (len(records), OBSERVATION_SIZE), np.dtype(np.float32)
    )
    _expand(records, observations)
    return observations


def expand_masks(records: np.ndarray) -> np.ndarray:
    """Return the observers' legal actions: int8 (k, 107), zeros for observers who are not to move.

    Errors as for `expand`.
    """
    _check(records)
    masks = np.zeros((len(records), NUM_ACTIONS), np.int8)
    _expand_masks(records, masks)
    return masks


def _check(records: np.ndarray) -> None:
    if not isinstance(records, np.ndarray) or records.dtype != COMPACT or records.ndim != 1:
        raise TypeError("records must be a one-dimensional array of dtype compact.COMPACT")
    wrong = _first_wrong(records)
    if wrong >= 0:
        raise ValueError(f"record {wrong} is not a position of a hand: it is damaged, or was never written")


@kernel
def write_compact(public, private, player: int, compact) -> None:
    """Write what `player` observes of a game into a `COMPACT` record."""
    compact.rules = public.rules
    compact.knock_limit = public.knock_limit
    compact.points_double = public.points_double
    compact.pile = public.pile
    for either in range(2):
        compact.discarded[either] = public.discarded[either]
        compact.declined[either] = public.declined[either]
        compact.shown[either] = public.shown[either]
        compact.scores[either] = public.scores[either]
    compact.hand = private.hand
    compact.phase = public.phase
    compact.to_move = public.to_move
    compact.dealer = public.dealer
    compact.upcard = public.upcard
    compact.taken = public.taken
    compact.stock_left = public.stock_left
    compact.turn = public.turn
    compact.player = player
    for card in range(NUM_CARDS):
        compact.discard_turn[card] = public.discard_turn[card]


@kernel
def _first_wrong(records):
    for index in range(len(records)):
        compact = records[index]
        if not is_position(compact, np.int64(compact.hand), compact.player):
            return index
    return -1


@kernel
def _expand(records, observations):
    for index in range(len(records)):
        compact = records[index]
        write_observation(compact, compact, compact.player, observations[index])


@kernel
def _expand_masks(records, masks):
    for index in range(len(records)):
        compact = records[index]
        if compact.to_move == compact.player:
            write_mask(compact, compact, masks[index])
