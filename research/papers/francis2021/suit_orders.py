"""The shortest sequences of the four suits that contain all their orders (Francis et al. 2021, Theorem 3).

An ambi-superpermutation (ASP) contains each order of its symbols forwards or backwards, a superpermutation
each order forwards. The paper's image of the cards has a row for each symbol of an ASP.
"""

from __future__ import annotations

SUITS = 4
Symbols = tuple[int, ...]


def shortest_length(ambi: bool) -> int:
    """Return the length of the shortest ASP of the four suits, or of their shortest superpermutation.

    A symbol is wasted if it completes no new order. The search finds the largest number of orders with 0, 1,
    2, ... wasted symbols, until all are there (Chaffin's method): a branch ends if even the best continuation
    with the remaining waste would contain no more.

    >>> shortest_length(ambi=True), shortest_length(ambi=False)
    (17, 33)
    """
    orders, largest = 12 if ambi else 24, list[int]()
    while not largest or largest[-1] < orders:
        largest.append(_most_orders(ambi, largest))
    return SUITS - 1 + orders + len(largest) - 1


def _most_orders(ambi: bool, largest: list[int]) -> int:
    """Return the largest number of orders with as many wasted symbols as `largest` has numbers."""
    best = 0

    def extend(last: Symbols, found: frozenset[Symbols], wasted: int) -> None:
        nonlocal best
        best = max(best, len(found))
        for symbol in range(SUITS):
            window = (*last, symbol)
            order = min(window, window[::-1]) if ambi else window
            if len(set(window)) == SUITS and order not in found:
                extend(window[1:], found | {order}, wasted)
            elif wasted < len(largest) and len(found) + largest[len(largest) - wasted - 1] > best:
                extend(window[1:], found, wasted + 1)

    first = tuple(range(SUITS))  # other beginnings only rename the suits
    extend(first[1:], frozenset({first}), 0)
    return best
