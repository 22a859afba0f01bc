"""The invariants of a state, for tests of code that writes states: `status`."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gin_env.game.cards import format as format_cards
from gin_env.game.rules import Rules
from gin_env.game.state import (
    BIG_GIN,
    DISCARD,
    GIN,
    KNOCK_WON,
    NO_CARD,
    OFFER,
    OVER,
    PHASE_NAMES,
    UNDECIDED,
    UNDERCUT,
)


def status(record: np.void) -> list[str]:
    """Return a description of every broken invariant of one `STATE` record; an empty list if it is valid."""
    public = record["public"]
    broken = _broken_numbers(public)
    if broken:
        return broken  # the other checks need numbers in range
    rules, phase, mover = Rules.from_record(public["rules"]), int(public["phase"]), int(public["to_move"])
    hands = [int(private["hand"]) for private in record["private"]]
    pile, upcard, taken = int(public["pile"]), int(public["upcard"]), int(public["taken"])
    stock_left = int(public["stock_left"])
    stock = [int(card) for card in record["hidden"]["deck"][rules.deck_size - stock_left : rules.deck_size]]
    places = {"player 0's hand": hands[0], "player 1's hand": hands[1], "the pile": pile}
    places["the stock"] = sum(1 << card for card in set(stock))

    def check(sound: bool, what: str) -> None:
        if not sound:
            broken.append(what)

    for (name, cards), (other, others) in combinations(places.items(), 2):
        check(not cards & others, f"{name} and {other} share {format_cards(cards & others)}")
    everywhere = places["player 0's hand"] | places["player 1's hand"] | pile | places["the stock"]
    check(len(set(stock)) == stock_left, "the stock holds a card twice")
    check(everywhere == rules.deck_mask, f"missing or foreign: {format_cards(everywhere ^ rules.deck_mask)}")
    for player, hand in enumerate(hands):
        size = rules.hand_size + (phase == DISCARD and mover == player)
        check(hand.bit_count() == size, f"player {player} holds {hand.bit_count()} cards, not {size}")
        shown, declined = int(public["shown"][player]), int(public["declined"][player])
        check(not shown & ~hand, f"player {player} has shown {format_cards(shown & ~hand)}, not in the hand")
        check(
            not declined & ~pile,
            f"player {player} declined {format_cards(declined & ~pile)}, not in the pile",
        )
    by_0, by_1 = (int(cards) for cards in public["discarded"])
    check(not by_0 & by_1, f"both players discarded {format_cards(by_0 & by_1)}")
    check(not (by_0 | by_1) & ~pile, f"discarded, but not in the pile: {format_cards((by_0 | by_1) & ~pile)}")
    nobodys = pile & ~(by_0 | by_1) & ~(1 << int(public["first_upcard"]))
    check(not nobodys, f"nobody discarded {format_cards(nobodys)}, but the pile holds it")
    if taken != NO_CARD:
        check(phase == DISCARD, f"a card is taken in the phase '{PHASE_NAMES[phase]}'")
        check(
            bool(int(public["shown"][mover]) >> taken & 1), "the card just taken is not shown by its player"
        )
    check(
        (upcard == NO_CARD) == (taken != NO_CARD),
        "there is an upcard, or a card just taken, never both or neither",
    )
    limit = rules.limit_of_hand(int(public["first_upcard"]))
    check(int(public["knock_limit"]) == limit, f"the knock limit is {public['knock_limit']}, not {limit}")
    check(upcard == NO_CARD or bool(pile >> upcard & 1), "the upcard is not in the pile")
    check(
        (phase == OVER) == (int(public["outcome"]) != UNDECIDED),
        "a hand has an outcome exactly when it is over",
    )
    won = int(public["outcome"]) in (KNOCK_WON, GIN, UNDERCUT, BIG_GIN)
    check(won == (int(public["winner"]) >= 0), "a hand has a winner exactly when it was knocked")
    check(won == (int(public["knocker"]) >= 0), "a hand has a knocker exactly when it was knocked")
    return broken


def _broken_numbers(public: np.void) -> list[str]:
    """Return a description of each number of the public part that is out of range."""
    try:
        rules = Rules.from_record(public["rules"])
    except (ValueError, TypeError) as error:
        return [f"rules: {error}"]
    ranges = {
        "phase": (OFFER, OVER),
        "to_move": (0, 1),
        "dealer": (0, 1),
        "first_upcard": (0, 51),
        "upcard": (NO_CARD, 51),
        "taken": (NO_CARD, 51),
        "stock_left": (0, rules.deck_size - 2 * rules.hand_size - 1),
        "turn": (0, rules.max_turns),
        "history_length": (0, len(public["history"])),
        "outcome": (UNDECIDED, BIG_GIN),
        "winner": (-1, 1),
        "knocker": (-1, 1),
    }
    return [
        f"{name} = {int(public[name])}, not from {least} to {most}"
        for name, (least, most) in ranges.items()
        if not least <= int(public[name]) <= most
    ]
