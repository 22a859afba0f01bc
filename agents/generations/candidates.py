"""What may be done now, described for the value network: a row of numbers for each candidate.

A *candidate* is a hand of ten cards that the player can reach with her decision, and the card that moves:

- to discard: each card that may go, with the hand that it leaves. The same row serves for discarding and for
  knocking with that card;
- to draw: row 0 takes the upcard (and gives away a card that leaves the least deadwood, the dearest of them),
  row 1 leaves it and keeps the hand as it is.

So one function values draws, discards and knocks: how good the hand is, and what the moved card does for the
opponent. The numbers are those that the papers look at: deadwood, melds, hit count (002, "Hand
macro-features"), what the opponent has shown, discarded and declined around the card (001, 003), the melds
that it could complete (002, "Defensive Score"). They treat the suits alike.
"""

from __future__ import annotations

import numpy as np

from gin_env.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK
from gin_env.agents.hands import (
    CARDS_UP_TO,
    MELD_MATES,
    cards_above,
    cards_below,
    decline,
    meld_completions,
    unmelded_cards,
)
from gin_env.cards import (
    ACES,
    CARD_VALUES,
    NUM_RANKS,
    NUM_SUITS,
    card_bit,
    count_cards,
    lowest_card,
)
from gin_env.compilation import kernel
from gin_env.engine import discards_allowed
from gin_env.knowledge import cards_unseen
from gin_env.melds import least_deadwood_discards, min_deadwood
from gin_env.state import DISCARD, STOCK_ONLY

VERSION = 0
"""Raised whenever a number changes its meaning; a saved network carries the version of its training."""

DISCARD_ROWS = 11
DRAW_ROWS = 2
NO_ACTION = -1

HAND_FEATURES = 12
_RANK = HAND_FEATURES
_DANGER = _RANK + NUM_RANKS
_SURROUNDINGS = _DANGER + 2
_GROUPS, _GROUP = 6, 5
NUM_FEATURES = _SURROUNDINGS + _GROUPS * _GROUP + 1
"""Numbers in a row: the hand, the moved card's rank, what it could complete, its surroundings, its place."""


@kernel
def highest_value(mask: int) -> int:
    """Points of the dearest card in the mask; 0 if it is empty."""
    value = np.int64(10)
    while value > 0 and not mask & ~CARDS_UP_TO[value - 1]:
        value -= 1
    return value


@kernel
def write_hand(row: np.ndarray, hand: int, least: int, unseen: int, knock_limit: int) -> None:
    """Describe a hand of ten: its deadwood, and what the next card may make of it.

    `least` is the least deadwood among the candidates, `unseen` the cards that may still come.
    """
    deadwood = min_deadwood(hand)
    loose = unmelded_cards(hand)
    dearest = highest_value(loose)  # what a card that fits nowhere replaces
    outs = knock_outs = gin_outs = saved = np.int64(0)
    completions = meld_completions(hand) & unseen
    remaining = completions
    while remaining:
        bit = remaining & -remaining
        # The dearest of the cards that stay loose goes.
        goes = highest_value(loose & ~np.int64(MELD_MATES[lowest_card(bit)]))
        after = max(min_deadwood(hand | bit) - goes, 0)
        outs += after < deadwood
        saved += max(deadwood - after, 0)
        knock_outs += after <= knock_limit
        gin_outs += after == 0
        remaining ^= bit
    others = unseen & ~completions
    room = min(max(knock_limit - deadwood + dearest, 0), 10)
    knock_outs += count_cards(others & CARDS_UP_TO[room])
    for value in range(1, dearest):
        saved += count_cards(others & CARDS_UP_TO[value])
    number = max(count_cards(unseen), 1)
    row[0] = deadwood / np.float32(50)
    row[1] = deadwood <= knock_limit
    row[2] = deadwood == 0
    row[3] = np.float32(1) / (1 + max(deadwood - least, 0))
    row[4] = outs / np.float32(12)
    row[5] = knock_outs / np.float32(number)
    row[6] = gin_outs / np.float32(6)
    row[7] = saved / np.float32(5 * number)  # the expected saving of the next draw, / 5
    row[8] = count_cards(loose) / np.float32(10)
    row[9] = dearest / np.float32(10)
    row[10] = count_cards(hand & CARDS_UP_TO[5]) / np.float32(10)
    row[11] = count_cards(meld_completions(loose) & unseen) / np.float32(12)


@kernel
def write_surroundings(row: np.ndarray, start: int, card: int, mask: int) -> None:
    """How many of the card's rank, and which of its four nearest in the suit, are in the mask."""
    same_rank = (np.int64(ACES) << (card % NUM_RANKS)) & ~card_bit(card)
    row[start] = count_cards(same_rank & mask) / np.float32(NUM_SUITS - 1)
    row[start + 1] = (cards_below(card, 1) & mask) != 0
    row[start + 2] = (cards_above(card, 1) & mask) != 0
    row[start + 3] = (cards_below(card, 2) & mask) != 0
    row[start + 4] = (cards_above(card, 2) & mask) != 0


@kernel
def write_card(row: np.ndarray, card: int, hand: int, unseen: int, public, player: int) -> None:
    """Describe the card that moves: what it could complete for the opponent, and who did what around it."""
    opponent = 1 - player
    row[_RANK + card % NUM_RANKS] = 1
    shown = np.int64(public.shown[opponent])
    reachable = unseen | shown
    same_rank = count_cards((np.int64(ACES) << (card % NUM_RANKS)) & ~card_bit(card) & reachable)
    row[_DANGER] = same_rank * (same_rank - 1) / np.float32(6)  # of three possible pairs of its rank
    below, above = cards_below(card, 1) & reachable, cards_above(card, 1) & reachable
    runs = np.int64(below != 0 and above != 0)
    runs += below != 0 and cards_below(card, 2) & reachable != 0
    runs += above != 0 and cards_above(card, 2) & reachable != 0
    row[_DANGER + 1] = runs / np.float32(3)
    write_surroundings(row, _SURROUNDINGS, card, shown)
    write_surroundings(row, _SURROUNDINGS + 5, card, np.int64(public.discarded[opponent]))
    write_surroundings(row, _SURROUNDINGS + 10, card, np.int64(public.declined[opponent]))
    write_surroundings(row, _SURROUNDINGS + 15, card, np.int64(public.discarded[player]))
    write_surroundings(row, _SURROUNDINGS + 20, card, hand)
    write_surroundings(row, _SURROUNDINGS + 25, card, unseen)
    row[NUM_FEATURES - 1] = np.int64(public.pile) >> card & 1


@kernel
def write_discards(public, private, player: int, rows: np.ndarray, actions: np.ndarray) -> None:
    """Rows (11, NUM_FEATURES) and actions (11, 2), discard and knock, of a player who has to discard."""
    rows[:] = 0
    actions[:] = NO_ACTION
    hand = np.int64(private.hand)
    unseen = cards_unseen(public, private, player)
    limit = np.int64(public.rules.knock_limit)
    remaining = discards_allowed(public, private)
    _, least = least_deadwood_discards(hand, remaining)
    index = 0
    while remaining:
        bit = remaining & -remaining
        card = lowest_card(bit)
        write_hand(rows[index], hand ^ bit, least, unseen, limit)
        write_card(rows[index], card, hand ^ bit, unseen, public, player)
        actions[index, 0] = card
        if min_deadwood(hand ^ bit) <= limit:
            actions[index, 1] = KNOCK + card
        remaining ^= bit
        index += 1


@kernel
def write_draws(public, private, player: int, rows: np.ndarray, actions: np.ndarray) -> None:
    """Rows (2, NUM_FEATURES) and actions (2, 2) of a player who has to draw: take the upcard, leave it."""
    rows[:] = 0
    actions[:] = NO_ACTION
    if public.phase == STOCK_ONLY:
        actions[1, 0] = DRAW_STOCK
        return
    hand = np.int64(private.hand)
    unseen = cards_unseen(public, private, player)
    limit = np.int64(public.rules.knock_limit)
    upcard = np.int64(public.upcard)
    gone, after = _least_and_dearest(hand | card_bit(upcard), hand)
    least = min(after, min_deadwood(hand))
    taken = (hand | card_bit(upcard)) ^ gone
    write_hand(rows[0], taken, least, unseen, limit)
    write_card(rows[0], upcard, taken, unseen, public, player)
    actions[0, 0] = DRAW_UPCARD
    write_hand(rows[1], hand, least, unseen, limit)
    write_card(rows[1], upcard, hand, unseen, public, player)
    actions[1, 0] = decline(public)


@kernel
def _least_and_dearest(hand: int, allowed: int):
    """(the dearest of the discards that leave the least deadwood, as a mask; that deadwood)."""
    best, least = least_deadwood_discards(hand, allowed)
    dearest, points = np.int64(0), np.int64(-1)
    while best:
        bit = best & -best
        value = np.int64(CARD_VALUES[lowest_card(bit)])
        if value > points:
            dearest, points = bit, value
        best ^= bit
    return dearest, least


@kernel
def _write_all_discards(views, rows, actions):
    for index in range(len(views)):
        view = views[index]
        write_discards(view.public, view.private, view.player, rows[index], actions[index])


@kernel
def _write_all_draws(views, rows, actions):
    for index in range(len(views)):
        view = views[index]
        write_draws(view.public, view.private, view.player, rows[index], actions[index])


def candidate_rows(views: np.ndarray, discarding: bool) -> tuple[np.ndarray, np.ndarray]:
    """Candidates of `VIEW` records (n,) whose players all discard, or all draw.

    Returns rows float32 (n, 11 or 2, NUM_FEATURES) and their actions int64 (n, 11 or 2, 2): discard or draw,
    and knock; `NO_ACTION` where there is none.
    """
    number = DISCARD_ROWS if discarding else DRAW_ROWS
    rows = np.empty((len(views), number, NUM_FEATURES), np.float32)
    actions = np.empty((len(views), number, 2), np.int64)
    (_write_all_discards if discarding else _write_all_draws)(views, rows, actions)
    return rows, actions


def are_discarding(views: np.ndarray) -> np.ndarray:
    """bool (n,): who of these players has to discard (the others have to draw)."""
    return views["public"]["phase"] == DISCARD
