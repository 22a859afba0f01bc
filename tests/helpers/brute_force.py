"""A slow, simple, independent solver that enumerates everything.

Nothing here uses the package. A card is a number ``suit * 13 + rank``, a hand a frozenset of cards, a meld a
frozenset of cards, an arrangement a tuple of disjoint melds.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, pairwise

Meld = frozenset[int]


def points(cards: Iterable[int]) -> int:
    return sum(min(card % 13 + 1, 10) for card in cards)


def is_meld(cards: Iterable[int]) -> bool:
    """Three or four of a rank, or three or more consecutive cards of a suit; the ace is low."""
    ordered = sorted(cards)
    if len(ordered) < 3:
        return False
    if len({card % 13 for card in ordered}) == 1:
        return True
    same_suit = len({card // 13 for card in ordered}) == 1
    return same_suit and all(upper - lower == 1 for lower, upper in pairwise(ordered))


STRETCHES = tuple(
    frozenset(range(suit * 13 + first, suit * 13 + last + 1))
    for suit in range(4)
    for first in range(13)
    for last in range(first + 2, 13)
)
"""Every run that there is."""


@cache
def all_melds(hand: Meld) -> tuple[Meld, ...]:
    """Return every set and run in a hand, including parts of longer ones."""
    sets = [
        frozenset(chosen)
        for rank in range(13)
        for size in (3, 4)
        for chosen in combinations([card for card in hand if card % 13 == rank], size)
    ]
    return tuple(sets + [run for run in STRETCHES if run <= hand])


def arrangements(hand: Meld) -> Iterator[tuple[Meld, ...]]:
    """Return every choice of disjoint melds of a hand, including the empty one."""

    def choose(melds: tuple[Meld, ...], laid: tuple[Meld, ...]) -> Iterator[tuple[Meld, ...]]:
        yield laid
        for number, meld in enumerate(melds):
            later = tuple(other for other in melds[number + 1 :] if not other & meld)
            yield from choose(later, (*laid, meld))

    return choose(all_melds(hand), ())


def unmelded(hand: Meld, arrangement: Iterable[Meld]) -> Meld:
    return hand.difference(*arrangement)


@cache
def deadwood(hand: Meld) -> int:
    """Return the lowest deadwood over all arrangements."""
    return min(points(unmelded(hand, arrangement)) for arrangement in arrangements(hand))


def best_arrangements(hand: Meld) -> list[tuple[Meld, ...]]:
    """Return every arrangement with the lowest deadwood."""
    least = deadwood(hand)
    return [chosen for chosen in arrangements(hand) if points(unmelded(hand, chosen)) == least]


def after_laying_off(table: frozenset[Meld], loose: Meld) -> int:
    """Return the lowest deadwood of loose cards after laying off on the melds, in any order."""

    @cache
    def search(table: frozenset[Meld], loose: Meld) -> int:
        least = points(loose)
        for card in loose:
            for meld in table:
                if is_meld(meld | {card}):
                    grown = table - {meld} | {meld | {card}}
                    least = min(least, search(grown, loose - {card}))
        return least

    return search(table, loose)


def best_defence(knocker_melds: Iterable[Meld], defender: Meld) -> int:
    """Return the defender's lowest deadwood over all arrangements and lay-offs."""
    table = frozenset(knocker_melds)
    loose_hands = {unmelded(defender, arrangement) for arrangement in arrangements(defender)}
    return min(after_laying_off(table, loose) for loose in loose_hands)


def cards_that_fit(melds: Iterable[Meld], outside: Meld) -> Meld:
    """Cards of `outside` that could be laid off on the melds one after the other, chains included."""
    table, fitting = list(melds), set()
    while True:
        more = [
            (number, card)
            for number, meld in enumerate(table)
            for card in outside - fitting
            if is_meld(meld | {card})
        ]
        if not more:
            return frozenset(fitting)
        number, card = more[0]
        table[number] |= {card}
        fitting.add(card)


def random_hand(rng: random.Random, size: int) -> frozenset[int]:
    """Return a random hand, half of the time from few ranks or few suits, so that melds overlap."""
    kind = rng.randrange(4)
    first = rng.randrange(9)
    if kind == 0:
        pool = [card for card in range(52) if first <= card % 13 < first + 5]
    elif kind == 1:
        suits = rng.sample(range(4), 2)
        pool = [card for card in range(52) if card // 13 in suits]
    else:
        pool = list(range(52))
    return frozenset(rng.sample(pool, size))
