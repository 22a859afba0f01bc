"""``logistic``: Tonic's estimate of the opponent's hand, recomputed from the public history.

Source: Larkin, Collicott and Hiebel, "Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent"
(2021), "Opponent Hand Estimation". Every card of unknown place has a value, 0 at first; its
logistic function is the likelihood that the opponent holds the card. When the opponent

- takes the upcard: + ``increment`` for the other cards of its rank and those within two ranks in its suit;
- discards: - ``decrement`` for the same cards;
- declines the upcard: - ``decline`` for the other cards of the rank and the adjacent ones in the suit, a
  "smaller amount" (reading: half) for those two ranks away.

After the first two the values are spread: from two ranks below the card to two above, in this order, the
mean of the two adjacent values is added to each card's value; so the order of events matters. With
``depth_growth`` g (proposed by the authors; 0 is the paper's Tonic) all changes are multiplied by 1 + g t, t
being the number of completed turns.

Readings:

- A pass in the opening offer declines; the stock draw that two passes force does not decline again.
- The defaults are those of the reading of ``tonic`` nearest to the paper.
- Cards whose place the player knows *now* have likelihood 0 or 1 and take no part: their infinite values
  would spread, so they count as 0 in the means, from the beginning of the hand, as does a rank beyond ace or
  king. So the estimate depends only on what is known now: there is no memory.
- Likelihoods are not normalised: with ten cards in the hand and all values 0 they sum to about 20.
  ``normalised`` takes the values as odds and makes the sum the number of cards in the hand.

Results: docs/results/estimators.md, "All metrics" and "Time".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env.estimators.base import Memoryless
from gin_env.game.actions import DRAW_UPCARD, PASS, is_discard
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, card_bit, each_card
from gin_env.game.history import first_mover, next_mover, upcard_after
from gin_env.observations.knowledge import cards_missing, cards_unseen, write_odds_with_sum
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number, check_switch
from gin_env.support.compilation import kernel

_LARGEST_VALUE = 500.0
"""Limit of the values; beyond it the likelihood is 1 in any case and the exponential would overflow."""


class Changes(NamedTuple):
    """The changes of the values, see above; the kernels also take any record with these fields."""

    increment: float
    decrement: float
    decline: float
    depth_growth: float


class LogisticEstimator(Memoryless):
    """Tonic's estimator; the sum is not the number of cards, unless `normalised`.

    Parameters
    ----------
    increment, decrement, decline, depth_growth : changes of the values, see above.
    normalised : scale the sum to the number of cards in the opponent's hand.
    """

    name = "logistic"

    def __init__(
        self,
        increment: float = 1.5,
        decrement: float = 0.75,
        decline: float = 0.4,
        depth_growth: float = 0.0,
        normalised: bool = False,
    ) -> None:
        self._changes = Changes(
            check_number("increment", increment, 0, 100),
            check_number("decrement", decrement, 0, 100),
            check_number("decline", decline, 0, 100),
            check_number("depth_growth", depth_growth, 0, 100),
        )
        self._normalised = check_switch("normalised", normalised)

    def estimate(self, view: PlayerView) -> np.ndarray:
        estimates = np.empty((len(view), NUM_CARDS), np.float32)
        _write_estimates(view.array, self._changes, self._normalised, estimates)
        return estimates


@kernel
def has_taken_an_upcard(public, player: int) -> bool:
    """Return whether this player has taken a card from the discard pile in this hand."""
    mover = first_mover(public)
    for index in range(public.history_length):
        action = public.history[index]
        if action == DRAW_UPCARD and mover == player:
            return True
        mover = next_mover(action, mover)
    return False


@kernel
def _change(values, unknown: int, lowest: int, rank: int, amount: float) -> None:
    """Add `amount` to the card of this rank in the suit whose ace is `lowest`, if its place is unknown."""
    if 0 <= rank < NUM_RANKS and unknown & card_bit(lowest + rank):
        values[lowest + rank] += amount


@kernel
def _change_surrounding(values, unknown: int, card: int, near: float, far: float) -> None:
    """Add `near` to the other cards of the rank and the next ones in suit, `far` to those two ranks away."""
    rank = card % NUM_RANKS
    lowest = card - rank
    for other in range(rank, NUM_CARDS, NUM_RANKS):
        if other != card and unknown & card_bit(other):
            values[other] += near
    _change(values, unknown, lowest, rank - 2, far)
    _change(values, unknown, lowest, rank - 1, near)
    _change(values, unknown, lowest, rank + 1, near)
    _change(values, unknown, lowest, rank + 2, far)


@kernel
def _spread(values, unknown: int, card: int) -> None:
    """From two ranks below the card to two above: add the mean of the adjacent values to each value."""
    rank = card % NUM_RANKS
    lowest = card - rank
    for other in range(max(rank - 2, 0), min(rank + 3, NUM_RANKS)):
        below = values[lowest + other - 1] if other > 0 else 0.0
        above = values[lowest + other + 1] if other < NUM_RANKS - 1 else 0.0
        _change(values, unknown, lowest, other, (below + above) / 2)


@kernel
def write_values(public, private, player: int, changes, values) -> None:
    """Write the values of all cards into float64 (52,); 0 for the cards whose place `player` knows."""
    opponent = 1 - player
    unknown = cards_unseen(public, private, player)
    values[:] = 0.0
    upcard, mover = np.int64(public.first_upcard), first_mover(public)
    passes = 0
    scale = 1.0
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        upcard = upcard_after(action, upcard)
        if is_discard(action):
            if mover == opponent:
                lowered = -scale * changes.decrement
                _change_surrounding(values, unknown, upcard, lowered, lowered)
                _spread(values, unknown, upcard)
            scale += changes.depth_growth
        elif action == DRAW_UPCARD:
            if mover == opponent:
                raised = scale * changes.increment
                _change_surrounding(values, unknown, upcard, raised, raised)
                _spread(values, unknown, upcard)
        else:
            forced = passes == 2 and index == 2
            if mover == opponent and not forced:
                lowered = -scale * changes.decline
                _change_surrounding(values, unknown, upcard, lowered, lowered / 2)
            passes += action == PASS
        mover = next_mover(action, mover)


@kernel
def cards_held(public, private, player: int, changes, held_value: float) -> int:
    """Return the mask of cards that the opponent was seen to take or whose value exceeds `held_value`."""
    opponent = 1 - player
    held = np.int64(public.shown[opponent])
    if not has_taken_an_upcard(public, opponent):
        return held  # values only rise when the opponent takes a card
    values = np.empty(NUM_CARDS)
    write_values(public, private, player, changes, values)
    for card in each_card(cards_unseen(public, private, player)):
        if values[card] > held_value:
            held |= card_bit(card)
    return held


@kernel
def _write_estimates(views, changes, normalised, estimates):
    odds = np.empty(NUM_CARDS)
    buffer = np.empty(NUM_CARDS)
    for index, view in enumerate(views):
        public, private, player = view.public, view.private, view.player
        write_values(public, private, player, changes, odds)
        for card in range(NUM_CARDS):
            odds[card] = np.exp(min(odds[card], _LARGEST_VALUE)) if odds[card] else 1.0
        unseen = cards_unseen(public, private, player)
        known = np.int64(public.shown[1 - player])
        if normalised:
            write_odds_with_sum(odds, unseen, known, cards_missing(public, player), buffer, estimates[index])
        else:
            for card in range(NUM_CARDS):
                likelihood = 1.0 - 1.0 / (1.0 + odds[card])
                estimates[index, card] = (known >> card & 1) + (unseen >> card & 1) * likelihood
