"""The observation: one flat float32 vector whose parts have names.

Ten planes hold one value for each card; single values follow. All values are in [-1, 1]. `LAYOUT` says where
each part is; `planes` and `scalars` return zero-copy views. All parts are from the observer's side ("own",
"opponent"), so one policy plays both seats.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, card_bit, each_card, write_ones
from gin_env.game.engine import discards_allowed, may_draw_upcard
from gin_env.game.melds import deadwood_after_discards, least_deadwood_discards, min_deadwood
from gin_env.game.rules import stock_after_deal
from gin_env.game.state import DISCARD, DRAW, OFFER, STOCK_ONLY
from gin_env.observations.knowledge import write_uniform
from gin_env.support.compilation import kernel

PLANES = {
    "hand": "1 for each card in the own hand",
    "upcard": "1 for the top card of the discard pile (none while the player who took it has not discarded)",
    "taken": "1 for the card just taken from the pile: it must not be discarded in this turn",
    "own_discards": "cards in the pile that the observer discarded: 1 / (1 + turns since then)",
    "opponent_discards": "cards in the pile that the opponent discarded: 1 / (1 + turns since then)",
    "opponent_declined": "1 for cards in the pile that the opponent could have taken and did not",
    "own_shown": "1 for cards that the observer took from the pile and still holds",
    "opponent_shown": "1 for cards that the opponent took from the pile and still holds",
    "discard_quality": (
        "for each card that may be discarded now: 1 / (1 + deadwood it leaves - least possible)"
    ),
    "estimate": "the estimator's probability that the opponent holds the card",
}
"""Card planes in order, name -> meaning; each has one value per card id."""

SCALARS = {
    "to_move": "1 if the observer is to move",
    "offer": "1 in the opening offer",
    "stock_only": "1 if both have passed and the stock must be drawn",
    "draw": "1 if the player to move draws",
    "discard": "1 if the player to move discards",
    "dealer": "1 if the observer is the dealer",
    "stock": "cards left in the stock / cards in it after the deal",
    "turn": "turns played / Rules.max_turns",
    "deadwood": "least deadwood of the own hand (when discarding: after the best discard) / 100",
    "upcard_gain": (
        "if the observer may take the upcard: deadwood saved, after the best discard, / 30, within [-1, 1]"
    ),
    "own_score": "own score / target score, at most 1",
    "opponent_score": "opponent's score / target score, at most 1",
    "knock_limit": "most deadwood for a knock in this hand / 10, at most 1",
    "points_double": "1 if the points of this hand count double",
}
"""Single values in order, name -> meaning; they follow the planes."""

NUM_PLANES = len(PLANES)
OBSERVATION_SIZE = NUM_PLANES * NUM_CARDS + len(SCALARS)


@dataclass(frozen=True)
class Part:
    """The place of one named part of the observation, its shape and its meaning."""

    slice: slice
    shape: tuple[int, ...]
    meaning: str


LAYOUT: dict[str, Part] = {
    **{
        name: Part(slice(i * NUM_CARDS, (i + 1) * NUM_CARDS), (NUM_SUITS, NUM_RANKS), meaning)
        for i, (name, meaning) in enumerate(PLANES.items())
    },
    **{
        name: Part(slice(NUM_PLANES * NUM_CARDS + i, NUM_PLANES * NUM_CARDS + i + 1), (), meaning)
        for i, (name, meaning) in enumerate(SCALARS.items())
    },
}
"""name -> `Part`: the whole vector in order, without gaps."""


def planes(observation: np.ndarray) -> np.ndarray:
    """Return a zero-copy view (..., NUM_PLANES, 4, 13) of observations (..., OBSERVATION_SIZE)."""
    _check_shape(observation)
    cards = observation[..., : NUM_PLANES * NUM_CARDS]
    return cards.reshape(*observation.shape[:-1], NUM_PLANES, NUM_SUITS, NUM_RANKS)


def scalars(observation: np.ndarray) -> np.ndarray:
    """Return a zero-copy view (..., number of scalars) of observations (..., OBSERVATION_SIZE)."""
    _check_shape(observation)
    return observation[..., NUM_PLANES * NUM_CARDS :]


def part(observation: np.ndarray, name: str) -> np.ndarray:
    """Return a zero-copy view of one named part: (..., 4, 13) for a card plane, (...) for a single value."""
    _check_shape(observation)
    if name not in LAYOUT:
        raise ValueError(f"unknown part {name!r}; the parts of an observation are {', '.join(LAYOUT)}")
    where = LAYOUT[name]
    return observation[..., where.slice].reshape(observation.shape[:-1] + where.shape)


def _check_shape(observation: np.ndarray) -> None:
    if not isinstance(observation, np.ndarray):
        raise TypeError(
            f"observation must be a numpy array (..., {OBSERVATION_SIZE}), not {type(observation).__name__}"
        )
    if observation.shape[-1:] != (OBSERVATION_SIZE,):
        raise ValueError(f"observation must have shape (..., {OBSERVATION_SIZE}), not {observation.shape}")


# --- Writing it ---------------------------------------------------------------------------------------

# Where each part begins, by name; numba reads the fields of a named tuple as constants.
_Starts = namedtuple("_Starts", LAYOUT)  # type: ignore[misc]  # mypy wants a literal
_AT: Any = _Starts(*(where.slice.start for where in LAYOUT.values()))
_INVERSE = (1 / np.arange(1, 257)).astype(np.float32)
"""float32 (256,): _INVERSE[n] = 1 / (1 + n)."""


@kernel
def write_observation(public, private, player: int, row: np.ndarray) -> None:
    """Write the observation of `player` into float32 (OBSERVATION_SIZE,)."""
    opponent = 1 - player
    row[: _AT.estimate] = 0.0
    hand = np.int64(private.hand)
    write_ones(row, _AT.hand, hand)
    if public.upcard >= 0:
        row[_AT.upcard + np.int64(public.upcard)] = 1.0
    if public.taken >= 0:
        row[_AT.taken + np.int64(public.taken)] = 1.0
    _write_ages(row, _AT.own_discards, np.int64(public.discarded[player]), public)
    _write_ages(row, _AT.opponent_discards, np.int64(public.discarded[opponent]), public)
    write_ones(row, _AT.opponent_declined, np.int64(public.declined[opponent]))
    write_ones(row, _AT.own_shown, np.int64(public.shown[player]))
    write_ones(row, _AT.opponent_shown, np.int64(public.shown[opponent]))
    write_uniform(public, private, player, row[_AT.estimate : _AT.estimate + NUM_CARDS])

    deadwood, gain = _write_qualities(public, private, player, row)
    rules = public.rules
    target = np.float32(rules.target_score)
    row[_AT.to_move] = public.to_move == player
    row[_AT.offer] = public.phase == OFFER
    row[_AT.stock_only] = public.phase == STOCK_ONLY
    row[_AT.draw] = public.phase == DRAW
    row[_AT.discard] = public.phase == DISCARD
    row[_AT.dealer] = public.dealer == player
    row[_AT.stock] = public.stock_left / np.float32(stock_after_deal(rules))
    row[_AT.turn] = public.turn / np.float32(rules.max_turns)
    row[_AT.deadwood] = deadwood / np.float32(100)
    row[_AT.upcard_gain] = min(max(gain / np.float32(30), np.float32(-1)), np.float32(1))
    row[_AT.own_score] = min(public.scores[player] / target, np.float32(1))
    row[_AT.opponent_score] = min(public.scores[opponent] / target, np.float32(1))
    row[_AT.knock_limit] = min(public.knock_limit / np.float32(10), np.float32(1))
    row[_AT.points_double] = public.points_double


@kernel
def _write_ages(row, start: int, mask: int, public) -> None:
    for card in each_card(mask):
        row[start + card] = _INVERSE[public.turn - public.discard_turn[card]]


@kernel
def _write_qualities(public, private, player: int, row):
    """Write the plane of discard qualities; return (deadwood, points that taking the upcard saves)."""
    hand = np.int64(private.hand)
    if public.phase != DISCARD or public.to_move != player:
        deadwood = min_deadwood(hand)
        if public.to_move != player or not may_draw_upcard(public):
            return deadwood, np.int64(0)
        _, with_upcard = least_deadwood_discards(hand | card_bit(public.upcard), hand)
        return deadwood, deadwood - with_upcard
    allowed = discards_allowed(public, private)
    qualities = row[_AT.discard_quality : _AT.discard_quality + NUM_CARDS]
    deadwood_after_discards(hand, qualities)  # the plane holds the deadwood first, then the qualities
    least = np.int64(255)
    for card in each_card(allowed):
        least = min(least, np.int64(qualities[card]))
    for card in each_card(hand):
        qualities[card] = (
            _INVERSE[np.int64(qualities[card]) - least] if allowed >> card & 1 else np.float32(0)
        )
    return least, np.int64(0)
