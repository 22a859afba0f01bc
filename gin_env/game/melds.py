"""Melds: minimum deadwood, best arrangements, lay-offs.

The search only branches on sets. Once the cards in *sets* are fixed, the runs follow: every stretch of
three or more consecutive cards of a suit is melded whole, because splitting or shortening it never
helps. An arrangement is therefore represented by the mask of its set cards. Finding the best one means
trying every way to lay sets: two for a rank held three times (no set, the set) and six for a rank held
four times (none, all four, four choices of three). Most hands have only one: no set at all.

Kernels take and return masks as int64. Cards use only bits 0-51, so the sign never matters. uint64 is
avoided because numba converts mixed uint64/int64 arithmetic to floats.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gin_env.game import cards
from gin_env.game.cards import (
    ACES,
    CARD_VALUES,
    FULL_DECK,
    KINGS,
    NUM_RANKS,
    NUM_SUITS,
    SUIT_MASK,
    card_bit,
    count_cards,
    lowest_card,
    total_value,
)
from gin_env.support.compilation import kernel

# Cards that can start a run of three: A to J of each suit (bits 0-10 of each 13), so that no run
# crosses from the king of one suit to the ace of the next.
_RUN_STARTS = sum(0b0011111111111 << NUM_RANKS * suit for suit in range(NUM_SUITS))


@kernel
def run_cards(hand: int) -> int:
    """Return the cards of `hand` in a stretch of three or more consecutive cards of one suit.

    >>> cards.format(run_cards(cards.parse("2D 3D 4D 5H")))
    '2D 3D 4D'
    """
    starts = hand & (hand >> 1) & (hand >> 2) & _RUN_STARTS
    return starts | (starts << 1) | (starts << 2)


@kernel
def ranks_held_thrice(hand: int) -> int:
    """Return the 13-bit mask of the ranks of which the hand holds three or four cards.

    >>> bin(ranks_held_thrice(cards.parse("AC AH AS 3C 3H 3S 4D")))
    '0b101'
    """
    a, b = hand & SUIT_MASK, hand >> 13 & SUIT_MASK
    c, d = hand >> 26 & SUIT_MASK, hand >> 39 & SUIT_MASK
    return (a & b & (c | d)) | (c & d & (a | b))


@kernel
def _rank_cards(hand: int, rank: int) -> int:
    """Return the cards of one rank in the hand."""
    return hand & (np.int64(ACES) << rank)


@kernel
def count_set_choices(hand: int) -> int:
    """Return the number of ways to lay sets from the hand, "no set" included.

    `set_choice(hand, k)` returns the k-th of them.

    >>> count_set_choices(cards.parse("7C 7H 7S")), count_set_choices(cards.parse("7C 7H 7S 7D"))
    (2, 6)
    """
    ranks = ranks_held_thrice(hand)
    choices = 1
    while ranks:
        held = _rank_cards(hand, lowest_card(ranks))
        choices *= 6 if count_cards(held) == 4 else 2
        ranks &= ranks - 1
    return choices


@kernel
def set_choice(hand: int, choice: int) -> int:
    """Return the mask of the cards in sets in arrangement number `choice`.

    `choice` is a mixed-radix number with one digit per rank held three or four times: 0 lays no set of
    the rank, 1 lays all the cards held, 2 to 5 leave out one of the four.

    >>> [cards.format(set_choice(cards.parse("7C 7H 7S KD"), choice)) for choice in (0, 1)]
    ['', '7C 7H 7S']
    """
    ranks = ranks_held_thrice(hand)
    laid = np.int64(0)
    while ranks:
        held = _rank_cards(hand, lowest_card(ranks))
        radix = 6 if count_cards(held) == 4 else 2
        digit = choice % radix
        choice //= radix
        if digit > 0:
            left_out = held
            for _ in range(digit - 2):  # drop the lowest cards until the card to leave out is the lowest
                left_out &= left_out - 1
            laid |= held if digit == 1 else held ^ (left_out & -left_out)
        ranks &= ranks - 1
    return laid


@kernel
def unmelded_value(rest: int) -> int:
    """Return the points of the cards outside runs, given the cards that are not in sets.

    >>> unmelded_value(cards.parse("2D 3D 4D KS"))
    10
    """
    return total_value(rest & ~run_cards(rest))


@kernel
def min_deadwood(hand: int) -> int:
    """Return the minimum deadwood of a hand over all arrangements.

    >>> min_deadwood(cards.parse("7C 7H 7S 8S 9S KD"))
    24
    """
    best = unmelded_value(hand)
    if ranks_held_thrice(hand):
        for choice in range(1, count_set_choices(hand)):
            best = min(best, unmelded_value(hand & ~set_choice(hand, choice)))
    return best


@kernel
def deadwood_after_discards(hand: int, deadwood: np.ndarray) -> int:
    """Write the minimum deadwood after each possible discard to `deadwood`, shape (52,).

    `deadwood[card]` is written for the cards of the hand; other entries are unchanged. Return the
    smallest value written.

    >>> after = np.zeros(52, np.int64)
    >>> deadwood_after_discards(cards.parse("7C 7H 7S KD"), after)
    0
    >>> after[[cards.card_id("7C"), cards.card_id("KD")]]
    array([24,  0])
    """
    runs = run_cards(hand)
    value = total_value(hand & ~runs)
    least = np.int64(127)
    remaining = hand
    while remaining:
        bit = remaining & -remaining
        card = lowest_card(bit)
        # Discarding an unmelded card saves its points; one from a run may break the run.
        left = unmelded_value(hand ^ bit) if bit & runs else value - np.int64(CARD_VALUES[card])
        deadwood[card] = left
        least = min(least, left)
        remaining ^= bit
    if not ranks_held_thrice(hand):
        return least
    for choice in range(1, count_set_choices(hand)):
        rest = hand & ~set_choice(hand, choice)
        runs = run_cards(rest)
        value = total_value(rest & ~runs)
        remaining = rest  # discarding a card of a set is covered by the choices that leave it out
        while remaining:
            bit = remaining & -remaining
            card = lowest_card(bit)
            left = unmelded_value(rest ^ bit) if bit & runs else value - np.int64(CARD_VALUES[card])
            if left < deadwood[card]:
                deadwood[card] = left
                least = min(least, left)
            remaining ^= bit
    return least


@kernel
def least_deadwood_discards(hand: int, allowed: int):
    """Return the mask of the allowed discards that leave the least deadwood, and that deadwood.

    >>> hand = cards.parse("7C 7H 7S KD QD 2S")
    >>> discards, least = least_deadwood_discards(hand, hand)
    >>> cards.format(discards), least
    ('QD KD', 12)
    """
    best, least = np.int64(0), np.int64(1 << 30)
    for choice in range(count_set_choices(hand)):
        rest = hand & ~set_choice(hand, choice)
        runs = run_cards(rest)
        value = total_value(rest & ~runs)
        remaining = rest & allowed  # discarding a card of a set is covered by the choices that leave it out
        while remaining:
            bit = remaining & -remaining
            # Discarding an unmelded card saves its points; one from a run may break the run.
            saved = np.int64(CARD_VALUES[lowest_card(bit)])
            left = unmelded_value(rest ^ bit) if bit & runs else value - saved
            if left < least:
                best, least = np.int64(0), left
            if left == least:
                best |= bit
            remaining ^= bit
    return best, least


@kernel
def grow_runs(runs: int, hand: int) -> int:
    """Return the cards of `hand` that can be laid off on `runs`, chains of cards included.

    >>> cards.format(grow_runs(cards.parse("2D 3D 4D"), cards.parse("AD 5D 6D KS")))
    'AD 5D 6D'
    """
    grown = runs
    while True:
        upward = (grown & ~KINGS) << 1
        downward = (grown & ~ACES) >> 1
        more = grown | ((upward | downward) & hand)
        if more == grown:
            return grown & ~runs & hand
        grown = more


@kernel
def fourth_cards(set_cards: int) -> int:
    """Return the missing fourth card of each set of three among the laid set cards.

    >>> cards.format(fourth_cards(cards.parse("7C 7H 7S")))
    '7D'
    """
    # Three of a rank miss only one suit, so they include the first suit or the last.
    ranks = (set_cards | set_cards >> 39) & SUIT_MASK
    return (ranks * ACES) & ~set_cards  # multiplying by ACES copies the ranks to every suit


@kernel
def _count_layoffs(hand: int, laid: int) -> int:
    """Return how many cards outside the hand could be laid off on its arrangement with these set cards."""
    outside = FULL_DECK & ~hand
    return count_cards((fourth_cards(laid) | grow_runs(run_cards(hand & ~laid), outside)) & outside)


@kernel
def best_set_cards(hand: int) -> int:
    """Return the set cards of the arrangement that a knocker lays (rule 6 of `gin_env.game.engine`).

    The arrangement has the least deadwood. Ties go to the arrangement with the fewest possible lay-offs:
    the number of cards of a full deck outside the hand, chains included, that could be laid off on it if
    the opponent held them all. Remaining ties go to the first in the order of `set_choice`.

    >>> cards.format(best_set_cards(cards.parse("7C 7H 7S 2D 3D 4D")))
    '7C 7H 7S'
    """
    best, least = np.int64(0), np.int64(1 << 30)
    if not ranks_held_thrice(hand):
        return best
    fewest = np.int64(-1)  # counted only if arrangements tie
    for choice in range(count_set_choices(hand)):
        laid = set_choice(hand, choice)
        value = unmelded_value(hand & ~laid)
        if value < least:
            best, least, fewest = laid, value, np.int64(-1)
        elif value == least:
            if fewest < 0:
                fewest = _count_layoffs(hand, best)
            count = _count_layoffs(hand, laid)
            if count < fewest:
                best, fewest = laid, count
    return best


@kernel
def laid_off_cards(knocker_runs: int, knocker_sets: int, rest: int) -> int:
    """Return the cards laid off from `rest`, the defender's cards outside their own sets.

    A card that extends one of the knocker's runs is laid off with the whole stretch it belongs to: no
    other use of it can leave less deadwood. A fourth card of a set is laid off unless one of the
    defender's own runs uses it.

    >>> cards.format(laid_off_cards(cards.parse("2D 3D 4D"), 0, cards.parse("5D KS")))
    '5D'
    """
    on_runs = grow_runs(knocker_runs, rest)
    left = rest & ~on_runs
    return on_runs | (left & ~run_cards(left) & fourth_cards(knocker_sets))


@kernel
def defence_set_cards(knocker_runs: int, knocker_sets: int, defender: int) -> int:
    """Return the defender's own set cards in the best way of melding and laying off.

    Ties go to the first in the order of `set_choice`.

    >>> cards.format(defence_set_cards(cards.parse("2D 3D 4D"), 0, cards.parse("7C 7H 7S 5D")))
    '7C 7H 7S'
    """
    best, least = np.int64(0), np.int64(1 << 30)
    for choice in range(count_set_choices(defender)):
        laid = set_choice(defender, choice)
        rest = defender & ~laid
        value = unmelded_value(rest & ~laid_off_cards(knocker_runs, knocker_sets, rest))
        if value < least:
            best, least = laid, value
    return best


@kernel
def defender_deadwood(knocker_runs: int, knocker_sets: int, defender: int) -> int:
    """Return the defender's minimum deadwood over all combinations of melding and laying off.

    >>> defender_deadwood(cards.parse("2D 3D 4D"), 0, cards.parse("7C 7H 7S 5D KS"))
    10
    """
    sets = defence_set_cards(knocker_runs, knocker_sets, defender)
    return deadwood_without_sets(knocker_runs, knocker_sets, defender & ~sets)


@kernel
def deadwood_without_sets(knocker_runs: int, knocker_sets: int, rest: int) -> int:
    """Return the defender's deadwood after laying off, among the cards that are not in their own sets.

    >>> deadwood_without_sets(cards.parse("2D 3D 4D"), 0, cards.parse("5D KS"))
    10
    """
    return unmelded_value(rest & ~laid_off_cards(knocker_runs, knocker_sets, rest))


@kernel
def completes_meld(hand: int, card: int) -> bool:
    """Return whether some meld of hand + card, a set or a run, contains the card.

    >>> [completes_meld(cards.parse("7C 7H"), cards.card_id(card)) for card in ("7S", "8S")]
    [True, False]
    """
    bit = card_bit(card)
    if count_cards(_rank_cards(hand, card % NUM_RANKS) & ~bit) >= 2:
        return True
    return (run_cards(hand | bit) & bit) != 0


# --- Public functions: they check their arguments and are not called from kernels --------------------


MAX_CARDS = 20
"""Largest hand that is evaluated: the number of ways to lay sets grows sixfold with each complete rank."""


def deadwood(mask: int) -> int:
    """Return the minimum deadwood of one hand: the points of the cards left unmelded.

    Raises TypeError or ValueError if `mask` is not a mask of cards or holds more than `MAX_CARDS`.

    >>> deadwood(cards.parse("7C 7H 7S KD 2D"))
    12
    """
    return int(min_deadwood(_check_hand(mask)))


def best_melds(mask: int) -> list[list[str]]:
    """Return the melds that the engine lays for this hand, each as a list of card texts; sets come first.

    `best_set_cards` documents how ties between arrangements are broken. A run of six or more cards is
    one meld.

    >>> best_melds(cards.parse("7C 7H 7S 2D 3D 4D KD"))
    [['7C', '7H', '7S'], ['2D', '3D', '4D']]
    """
    hand = _check_hand(mask)
    laid = int(best_set_cards(hand))
    return [
        [cards.card_text(card) for card in meld]
        for meld in split_sets(laid) + split_runs(int(run_cards(hand & ~laid)))
    ]


def layoff(knocker_melds: Sequence[Sequence[str]], defender_mask: int) -> int:
    """Return the defender's deadwood after the best melding *and* laying off on these melds.

    `knocker_melds` are lists of card texts, as `best_melds` returns them. Raises ValueError if one of
    them is not a meld, if a card is in two melds, or if the defender holds a card of a meld.

    >>> layoff([["7C", "8C", "9C"]], cards.parse("TC JC 2D"))  # TC and JC are laid off
    2
    """
    defender = _check_hand(defender_mask)
    runs = sets = 0
    for meld in knocker_melds:
        if isinstance(meld, str):
            raise TypeError(f"a meld must be a list of cards such as ['3H', '4H', '5H'], not {meld!r}")
        mask = cards.mask_of(cards.card_id(text) for text in meld)
        if mask & (runs | sets):
            raise ValueError(f"{cards.format(mask & (runs | sets))} is in two melds")
        if len(meld) >= 3 and len({text[0].upper() for text in meld}) == 1:
            sets |= mask
        elif len(split_runs(mask)) == 1 and int(run_cards(mask)) == mask:
            runs |= mask
        else:
            raise ValueError(f"{' '.join(meld)} is neither a set nor a run")
    if overlap := defender & (runs | sets):
        raise ValueError(f"the defender cannot hold {cards.format(overlap)}: the knocker melded it")
    return int(defender_deadwood(runs, sets, defender))


def _check_hand(mask: int) -> int:
    hand = cards.check_mask(mask)
    if hand.bit_count() > MAX_CARDS:
        raise ValueError(f"{hand.bit_count()} cards are too many: a hand must have at most {MAX_CARDS}")
    return hand


def split_sets(set_cards: int) -> list[list[int]]:
    """Return the set cards grouped by rank, as lists of card ids.

    >>> split_sets(cards.parse("7C 7H 7S"))
    [[6, 19, 32]]
    """
    cards_laid = cards.cards_of(set_cards)
    ranks = sorted({card % NUM_RANKS for card in cards_laid})
    return [[card for card in cards_laid if card % NUM_RANKS == rank] for rank in ranks]


def split_runs(mask: int) -> list[list[int]]:
    """Return the cards grouped into stretches of consecutive cards of one suit, as lists of card ids.

    >>> split_runs(cards.parse("2D 3D 4D 7C 8C 9C"))
    [[6, 7, 8], [40, 41, 42]]
    """
    stretches: list[list[int]] = []
    for card in cards.cards_of(mask):
        if stretches and card - 1 == stretches[-1][-1] and card % NUM_RANKS != 0:
            stretches[-1].append(card)
        else:
            stretches.append([card])
    return stretches
