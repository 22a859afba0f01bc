"""Tonic's estimate of the opponent's hand, computed anew from the public history.

Source: Larkin, Collicott and Hiebel, "Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent" (2021),
paper 001, "Opponent Hand Estimation". Every card of unknown place has a value, 0 at first, and the logistic
function of the value is the likelihood that the opponent holds it. When the opponent

- takes the upcard: + ``increment`` for the other cards of its rank and those up to two ranks away in its suit;
- discards: - ``decrement`` for the same cards;
- declines the upcard: - ``decline`` for the other cards of the rank and the neighbours in the suit, a "smaller
  amount" for the cards two ranks away.

With ``depth_growth`` g (the authors' proposal; 0 is the paper's Tonic) all three are multiplied by
1 + g t, where t counts the turns, of both players together, that were over.

After the first two the values are spread: from two ranks below the card to two ranks above, one after the
other, the mean of the two neighbours' values is added to each card's value.

Readings:

- The "smaller amount" is ``decline`` / 2.
- A pass in the opening offer declines; the stock draw that two passes force does not decline once more.
- Cards whose place the player knows *now* (her hand, the pile, cards that she saw the opponent take) have
  likelihood 0 or 1 and take no part: their infinite values would spread to every neighbour, so they count
  as 0 in the means, from the beginning of the hand. A rank beyond ace or king counts as 0 too.
"""

from __future__ import annotations

import numpy as np

from gin_env.actions import DRAW_STOCK, DRAW_UPCARD, PASS
from gin_env.agents.hands import available_cards
from gin_env.cards import NUM_CARDS, NUM_RANKS, card_bit, lowest_card
from gin_env.compilation import kernel


@kernel
def has_taken_an_upcard(public, player: int) -> bool:
    """Whether this player has taken a card from the discard pile in this hand."""
    mover = 1 - public.dealer
    for index in range(public.history_length):
        action = public.history[index]
        if action == DRAW_UPCARD and mover == player:
            return True
        if action < DRAW_STOCK or action == PASS:
            mover = 1 - mover
    return False


@kernel
def _change(values, unknown: int, lowest: int, rank: int, amount: float) -> None:
    """Add `amount` to the card of this rank in the suit whose ace is `lowest`, if its place is unknown."""
    if 0 <= rank < NUM_RANKS and unknown & card_bit(lowest + rank):
        values[lowest + rank] += amount


@kernel
def _change_surrounding(values, unknown: int, card: int, near: float, far: float) -> None:
    """Add `near` to the other cards of the rank and the neighbours in suit, `far` to those two ranks away."""
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
    """From two ranks below the card to two above: add the mean of the neighbours' values to each value."""
    rank = card % NUM_RANKS
    lowest = card - rank
    for other in range(max(rank - 2, 0), min(rank + 3, NUM_RANKS)):
        below = values[lowest + other - 1] if other > 0 else 0.0
        above = values[lowest + other + 1] if other < NUM_RANKS - 1 else 0.0
        _change(values, unknown, lowest, other, (below + above) / 2)


@kernel
def write_values(
    public,
    private,
    player: int,
    increment: float,
    decrement: float,
    decline: float,
    depth_growth: float,
    values,
) -> None:
    """Write the values of all cards into float64 (52,); 0 for the cards whose place `player` knows."""
    opponent = 1 - player
    unknown = available_cards(public, private) & ~np.int64(public.shown[opponent])
    values[:] = 0.0
    upcard = np.int64(public.first_upcard)
    mover = 1 - public.dealer
    passes = 0
    scale = 1.0
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        if action < DRAW_STOCK:
            upcard = action % NUM_CARDS
            if mover == opponent:
                _change_surrounding(values, unknown, upcard, -scale * decrement, -scale * decrement)
                _spread(values, unknown, upcard)
            mover = 1 - mover
            scale += depth_growth
        elif action == DRAW_UPCARD:
            if mover == opponent:
                _change_surrounding(values, unknown, upcard, scale * increment, scale * increment)
                _spread(values, unknown, upcard)
        else:
            forced = passes == 2 and index == 2
            if mover == opponent and not forced:
                _change_surrounding(values, unknown, upcard, -scale * decline, -scale * decline / 2)
            if action == PASS:
                passes += 1
                mover = 1 - mover


@kernel
def cards_held(public, private, player: int, increment, decrement, decline, depth_growth, held_value) -> int:
    """Cards that the player is confident the opponent holds: seen to be taken, or with a value above `held_value`."""
    opponent = 1 - player
    held = np.int64(public.shown[opponent])
    if not has_taken_an_upcard(public, opponent):
        return held  # values only rise when the opponent takes a card
    values = np.empty(NUM_CARDS)
    write_values(public, private, player, increment, decrement, decline, depth_growth, values)
    remaining = available_cards(public, private)
    while remaining:
        card = lowest_card(remaining)
        if values[card] > held_value:
            held |= card_bit(card)
        remaining &= remaining - 1
    return held
