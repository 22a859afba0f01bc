"""Properties of a hand that several bots use: unmelded cards, available cards and pairs.

A *pair*, as in Larkin et al. 2021, is two cards that become a meld with one more card. It is *broad* if at
least one such card may still come and *narrow* if two may. A test checks Table 1 of the paper.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import (
    ACES,
    CARDS_UP_TO,
    KINGS,
    NUM_CARDS,
    NUM_RANKS,
    SUIT_MASK,
    card_bit,
    count_cards,
    deck_cards,
)
from gin_env.game.melds import best_set_cards, least_deadwood_discards, min_deadwood, run_cards
from gin_env.game.state import NO_CARD, OFFER, STOCK_ONLY
from gin_env.support.compilation import kernel

_HIGHEST_VALUES = np.array([min(mask.bit_length(), 10) for mask in range(SUIT_MASK + 1)], np.uint8)
"""uint8 (8192,): for each 13-bit mask of ranks, the points of the highest rank."""

FACE_CARDS = (ACES << 10) | (ACES << 11) | (ACES << 12)
"""Jacks, queens and kings."""

BROAD = 1
"""Number of available cards that must complete a broad pair."""
NARROW = 2
"""Number of available cards that must complete a narrow pair."""


def _meld_mates(card: int) -> int:
    """Return the mask of the cards that share some meld of three with the card.

    These are the cards of its rank, and those of its suit up to two ranks away.
    """
    rank, suit = card % NUM_RANKS, card // NUM_RANKS
    same_rank = ACES << rank
    same_suit = sum(1 << suit * NUM_RANKS + other for other in range(NUM_RANKS) if abs(other - rank) <= 2)
    return (same_rank | same_suit) & ~(1 << card)


MELD_MATES = np.array([_meld_mates(card) for card in range(NUM_CARDS)], np.int64)
"""int64 (52,): for each card, the cards that share some meld of three with it."""


@kernel
def own_turn(public) -> int:
    """Return the number of the current turn of the player to move, counting their own turns from 1."""
    return public.turn // 2 + 1


@kernel
def available_cards(public, private) -> int:
    """Return the cards that the player may still receive: neither in their hand nor in the discard pile.

    Cards that the opponent took from the pile are included, since the opponent may discard them again
    (Larkin et al. 2021, "Pair Formation"). `gin_env.observations.knowledge.cards_unseen` excludes them.
    """
    rules = public.rules
    return deck_cards(rules.ranks, rules.suits) & ~np.int64(private.hand) & ~np.int64(public.pile)


@kernel
def decline(public) -> int:
    """Return the action that does not take the upcard: a pass or a draw from the stock."""
    return PASS if public.phase == OFFER else DRAW_STOCK


@kernel
def draw_upcard_if(public, wanted: bool) -> int:
    """Return the action that draws the upcard if it is wanted and may be drawn, and declines it otherwise."""
    return DRAW_UPCARD if wanted and public.phase != STOCK_ONLY else decline(public)


@kernel
def discard_or_knock(hand: int, card: int, limit: int) -> int:
    """Return the action that discards this card, with a knock if that leaves deadwood of at most `limit`.

    `limit` must not exceed `public.knock_limit`.
    """
    return card + (KNOCK if min_deadwood(hand & ~card_bit(card)) <= limit else 0)


@kernel
def keep_best(best: int, highest: float, card: int, score: float):
    """Return the mask of the best cards and their score, after adding one card to the search.

    `best` and `highest` are the mask and score for the previous cards. Begin with an empty mask and a
    score below all others.
    """
    if score > highest:
        return card_bit(card), score
    if score == highest:
        return best | card_bit(card), highest
    return best, highest


@kernel
def least_deadwood_discard(hand: int, allowed: int):
    """Return the highest of the cards whose discard leaves the least deadwood, as a mask, and this deadwood.

    >>> discard, least = least_deadwood_discard(cards.parse("7C 7H 7S 2D KD QD"), cards.parse("2D QD KD"))
    >>> cards.format(discard), least
    ('QD', 12)
    """
    best, least = least_deadwood_discards(hand, allowed)
    highest = best & ~CARDS_UP_TO[highest_value(best) - 1]
    return highest & -highest, least


@kernel
def unmelded_cards(hand: int) -> int:
    """Return the cards left unmelded by the arrangement that the engine would lay (`best_set_cards`)."""
    rest = hand & ~best_set_cards(hand)
    return rest & ~run_cards(rest)


@kernel
def highest_value(mask: int) -> int:
    """Return the points of the highest card in the mask; 0 if it is empty."""
    return np.int64(_HIGHEST_VALUES[(mask | mask >> 13 | mask >> 26 | mask >> 39) & SUIT_MASK])


@kernel
def would_be_melded(hand: int, card: int) -> bool:
    """Return whether the arrangement that the engine would lay for hand + card melds the card."""
    return not unmelded_cards(hand | card_bit(card)) & card_bit(card)


@kernel
def meld_completions(hand: int) -> int:
    """Return the mask of the cards that form a meld with two cards of the hand: its hits."""
    a, b = hand & SUIT_MASK, hand >> 13 & SUIT_MASK
    c, d = hand >> 26 & SUIT_MASK, hand >> 39 & SUIT_MASK
    held_twice = (a & b) | (c & d) | ((a | b) & (c | d))
    one_above = (hand & ~KINGS) << 1  # cards whose lower neighbour is held
    two_above = ((one_above & ~KINGS) << 1) & one_above
    one_below = (hand & ~ACES) >> 1
    two_below = ((one_below & ~ACES) >> 1) & one_below
    return (held_twice * ACES | two_above | two_below | (one_above & one_below)) & ~hand


@kernel
def cards_below(card: int, steps: int) -> int:
    """Return the mask of the card `steps` ranks below in the same suit; 0 if there is none."""
    return card_bit(card - steps) if card % NUM_RANKS >= steps else np.int64(0)


@kernel
def cards_above(card: int, steps: int) -> int:
    """Return the mask of the card `steps` ranks above in the same suit; 0 if there is none."""
    return card_bit(card + steps) if card % NUM_RANKS + steps < NUM_RANKS else np.int64(0)


@kernel
def pair_partners(card: int, others: int, available: int, needed: int) -> int:
    """Return the cards of `others` that pair with the card, with `needed` or more available completions."""
    partners = np.int64(0)
    same_rank = (np.int64(ACES) << (card % NUM_RANKS)) & ~card_bit(card)
    if count_cards(same_rank & available) >= needed:
        partners |= same_rank & others
    below, above = cards_below(card, 1), cards_above(card, 1)
    below_2, above_2 = cards_below(card, 2), cards_above(card, 2)
    if count_cards((below_2 | above) & available) >= needed:
        partners |= below & others
    if count_cards((below | above_2) & available) >= needed:
        partners |= above & others
    if needed <= 1 and below & available:  # pairs with a gap
        partners |= below_2 & others
    if needed <= 1 and above & available:
        partners |= above_2 & others
    return partners


@kernel
def opponents_last_discard(public) -> int:
    """Return the card that the opponent discarded in their last turn; `NO_CARD` before their first.

    For the player to move, this is the upcard or the card that they have just taken from the pile.
    """
    if public.turn == 0:
        return NO_CARD
    return public.upcard if public.taken == NO_CARD else public.taken
