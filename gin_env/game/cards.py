"""Cards as numbers, hands as bit masks, and their text forms.

A card's id is ``suit * 13 + rank`` with ranks ``A23456789TJQK`` and suits ``CHSD``; its text is rank
then suit: ``TH``, ``AS``. A hand is a mask with bit ``id`` set for each card, so the four suits are
consecutive blocks of 13 bits.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gin_env.game.streams import below
from gin_env.support.checks import is_integer
from gin_env.support.compilation import kernel

RANKS = "A23456789TJQK"
SUITS = "CHSD"
NUM_RANKS = 13
NUM_SUITS = 4
NUM_CARDS = 52
FULL_DECK = (1 << NUM_CARDS) - 1
SUIT_MASK = (1 << NUM_RANKS) - 1
"""Mask of the 13 cards of the first suit; shift a hand right by 13 to apply it to the next suit."""

ACES = sum(1 << NUM_RANKS * suit for suit in range(NUM_SUITS))
KINGS = ACES << (NUM_RANKS - 1)

CARD_VALUES = np.array([min(rank + 1, 10) for rank in range(NUM_RANKS)] * NUM_SUITS, np.uint8)
"""uint8 (52,): deadwood points of each card: ace 1, number cards their number, T J Q K 10."""

CARDS_UP_TO = np.array(
    [sum(1 << card for card in range(NUM_CARDS) if CARD_VALUES[card] <= points) for points in range(11)],
    np.int64,
)
"""int64 (11,): for each number of points from 0 to 10, the cards that are worth at most that."""

# uint8 (8192,): total points of the cards in each 13-bit mask of one suit (at most 85).
_SUIT_VALUES = (
    (np.arange(1 << NUM_RANKS)[:, None] >> np.arange(NUM_RANKS) & 1) @ CARD_VALUES[:NUM_RANKS]
).astype(np.uint8)


@kernel
def card_bit(card: int) -> int:
    """Return the mask of one card.

    >>> card_bit(3)
    8
    """
    return np.int64(1) << np.int64(card)


@kernel
def deck_cards(ranks: int, suits: int) -> int:
    """Return the mask of a deck with the first `ranks` ranks from the ace and the first `suits` of CHSD.

    >>> format(deck_cards(3, 2))
    'AC 2C 3C AH 2H 3H'
    """
    suit = np.int64(SUIT_MASK) >> (NUM_RANKS - ranks)
    deck = np.int64(0)
    for number in range(suits):
        deck |= suit << NUM_RANKS * number
    return deck


@kernel
def count_cards(mask: int) -> int:
    """Return the number of cards in a mask.

    >>> count_cards(parse("AS 2S TD"))
    3
    """
    count = 0  # LLVM compiles this loop to one popcnt instruction
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel
def lowest_card(mask: int) -> int:
    """Return the id of the lowest card of a non-empty mask.

    >>> card_text(lowest_card(parse("AS 2S TD")))
    'AS'
    """
    return count_cards((mask & -mask) - 1)


@kernel
def each_card(mask: int):
    """Yield the ids of the cards of a mask in ascending order.

    >>> [card_text(card) for card in each_card(parse("AS 2S TD"))]
    ['AS', '2S', 'TD']
    """
    while mask:
        yield lowest_card(mask)
        mask &= mask - 1


@kernel
def nth_card(mask: int, index: int) -> int:
    """Return the id of the card at position `index` of a mask, counting from 0 in ascending order.

    >>> card_text(nth_card(parse("AS 2S TD"), 1))
    '2S'
    """
    for _ in range(index):
        mask &= mask - 1
    return lowest_card(mask)


@kernel
def pick_card(mask: int, random: int) -> int:
    """Return a card of a non-empty mask, chosen uniformly with the uint64 random number `random`.

    >>> card_text(pick_card(parse("AS 2S TD"), np.uint64(0)))
    'AS'
    """
    return nth_card(mask, below(random, count_cards(mask)))


@kernel
def write_ones(row: np.ndarray, start: int, mask: int) -> None:
    """Write a 1 to `row[start + card]` for each card of the mask.

    >>> row = np.zeros(6, np.float32)
    >>> write_ones(row, 1, 0b1010)
    >>> row
    array([0., 0., 1., 0., 1., 0.], dtype=float32)
    """
    while mask:
        row[start + lowest_card(mask)] = 1
        mask &= mask - 1


@kernel
def total_value(mask: int) -> int:
    """Return the deadwood points of all the cards of a mask, melded or not.

    >>> total_value(parse("AS 2S TD"))
    13
    """
    return (
        np.int64(_SUIT_VALUES[mask & SUIT_MASK])
        + np.int64(_SUIT_VALUES[mask >> 13 & SUIT_MASK])
        + np.int64(_SUIT_VALUES[mask >> 26 & SUIT_MASK])
        + np.int64(_SUIT_VALUES[mask >> 39 & SUIT_MASK])
    )


def card_id(text: str) -> int:
    """Return the id of a card. Raises ValueError for anything that is not a card.

    >>> card_id("TH")
    22
    """
    if not isinstance(text, str):
        raise TypeError(f"a card must be a string such as 'TH', not {text!r}")
    rank, suit = RANKS.find(text[:1].upper()), SUITS.find(text[1:2].upper())
    if len(text) != 2 or rank < 0 or suit < 0:
        raise ValueError(
            f"{text!r} is not a card: write a rank of {RANKS} and then a suit of {SUITS}, as in 'TH'"
        )
    return suit * NUM_RANKS + rank


def card_text(card: int) -> str:
    """Return the text of a card id.

    >>> card_text(22)
    'TH'
    """
    if not is_integer(card):
        raise TypeError(f"a card id must be an integer, not {card!r}")
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"{card} is not a card id: ids run from 0 to {NUM_CARDS - 1}")
    return RANKS[card % NUM_RANKS] + SUITS[card // NUM_RANKS]


def parse(text: str) -> int:
    """Return the mask of the cards in a text, separated by blanks.

    Raises ValueError for an unknown card or a card that occurs twice.

    >>> parse("AC 2C 3C")
    7
    """
    if not isinstance(text, str):
        raise TypeError(f"cards must be a string such as 'AS TD', not {text!r}")
    return mask_of(card_id(word) for word in text.split())


def format(mask: int) -> str:
    """Return the text of a mask, suit by suit in ascending rank: the inverse of `parse`.

    >>> format(parse("TD AS"))
    'AS TD'
    """
    return " ".join(card_text(card) for card in cards_of(mask))


def mask_of(cards: Iterable[int]) -> int:
    """Return the mask of card ids.

    Raises TypeError for anything that is not an integer, ValueError for an id out of range or repeated.

    >>> mask_of([0, 1, 2])
    7
    """
    mask = 0
    for card in cards:
        text = card_text(card)
        if mask >> int(card) & 1:
            raise ValueError(f"{text} is named twice")
        mask |= 1 << int(card)
    return mask


def cards_of(mask: int) -> list[int]:
    """Return the card ids of a mask, ascending.

    >>> cards_of(parse("AC TH"))
    [0, 22]
    """
    mask = check_mask(mask)
    return [card for card in range(NUM_CARDS) if mask >> card & 1]


def card_columns(masks: np.ndarray) -> np.ndarray:
    """Return which cards are in each mask, bool (n, 52), for masks uint64 (n,).

    >>> card_columns(np.array([parse("AC 3C")], np.uint64))[0, :4]
    array([ True, False,  True, False])
    """
    return (masks[:, None] >> np.arange(NUM_CARDS, dtype=np.uint64) & np.uint64(1)).astype(np.bool_)


def check_mask(mask: int) -> int:
    """Return `mask` as a Python int. Raises TypeError or ValueError if it is not a mask of cards.

    >>> check_mask(np.uint64(7))
    7
    """
    if not is_integer(mask):
        raise TypeError(
            f"a hand must be an integer mask, not {mask!r}; cards.parse('AS TD') makes one from text"
        )
    if not 0 <= mask <= FULL_DECK:
        raise ValueError(f"{mask} is not a mask of cards: only bits 0 to {NUM_CARDS - 1} may be set")
    return int(mask)
