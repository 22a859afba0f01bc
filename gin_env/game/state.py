"""The state of N games: one numpy record array that separates public, private and hidden information.

``STATE`` has a *public* part (what both players see), a *private* part for each player (their hand and their
draws from the stock) and a *hidden* part (the deck and the random streams). A player's view is the public
part and their own private part; bots and observations receive nothing else.
Bits of a mask are card ids (`gin_env.game.cards`). A game takes `STATE.itemsize` bytes (about 700).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gin_env.game.cards import format as format_cards
from gin_env.game.memory import MEMORY
from gin_env.game.rules import MAX_TURNS, RULES, Rules

NUM_PLAYERS = 2
NO_CARD = -1

# Phases: the decision that the player to move faces.
OFFER = 0  # take the first upcard or pass
STOCK_ONLY = 1  # both passed: the non-dealer must draw from the stock
DRAW = 2  # draw from the stock or take the upcard
DISCARD = 3  # discard, or knock with a discard
OVER = 4  # the hand has ended
PHASE_NAMES = ("opening offer", "draw from the stock", "draw", "discard", "over")

# Outcomes of a hand.
UNDECIDED = 0
KNOCK_WON = 1
GIN = 2
UNDERCUT = 3
VOID = 4
BIG_GIN = 5  # gin with eleven melded cards, if the rules include it
OUTCOME_NAMES = ("undecided", "knock", "gin", "undercut", "void", "big gin")

PUBLIC = np.dtype(
    [
        ("rules", RULES),
        ("knock_limit", np.int8),  # maximum deadwood for a knock in this hand; set at the deal
        ("points_double", np.bool_),  # all points of this hand count double; set at the deal
        ("phase", np.uint8),
        ("to_move", np.int8),  # player 0 or 1; at the end of a hand, the player who moved last
        ("dealer", np.int8),
        ("first_upcard", np.int8),  # turned up at the deal
        ("upcard", np.int8),  # top of the discard pile; NO_CARD from when it is taken until the next discard
        ("taken", np.int8),  # the card just taken from the pile, which must not be discarded, else NO_CARD
        ("stock_left", np.uint8),
        ("turn", np.uint8),  # turns completed in this hand, by both players together
        ("hand_number", np.uint16),  # hands of this game before this one, void hands included
        ("scores", np.int16, (2,)),
        ("boxes", np.uint16, (2,)),  # hands won in this game
        ("memory", MEMORY, (2,)),  # what each player has shown in the hands of this game before this one
        ("pile", np.uint64),  # the discard pile, its top included
        ("discarded", np.uint64, (2,)),  # cards in the pile, by discarder (neither player: the first upcard)
        ("declined", np.uint64, (2,)),  # cards in the pile that this player could have taken but did not
        ("shown", np.uint64, (2,)),  # cards that this player took from the pile and still holds
        ("discard_turn", np.uint8, (52,)),  # for cards in the pile: value of `turn` when they were added
        ("history_length", np.uint16),
        ("history", np.uint8, (2 * MAX_TURNS + 4,)),  # action ids in order; `gin_env.game.history` reads them
        # The result of the hand (`outcome` is UNDECIDED until it ends):
        ("outcome", np.uint8),
        ("winner", np.int8),  # -1: no winner
        ("knocker", np.int8),  # -1: nobody knocked
        ("points", np.int16),  # added to the winner's score
        ("deadwood", np.int16, (2,)),  # after melding and laying off; only set once someone has knocked
        ("laid_sets", np.uint64, (2,)),  # cards laid down in each player's own sets; 0 until someone knocks
        ("laid_runs", np.uint64, (2,)),  # the same in runs
    ],
    align=True,
)
PRIVATE = np.dtype(
    [
        ("hand", np.uint64),
        ("stock_draws", np.int8, (50,)),  # cards drawn from the stock, in order (49 with hands of one card)
        ("num_stock_draws", np.uint8),
    ],
    align=True,
)
HIDDEN = np.dtype(
    [
        ("deck", np.int8, (52,)),  # as dealt: hands alternately from player 0 on, upcard, stock in order
        ("deal_key", np.uint64),  # for the dealer and decks of this episode, see `gin_env.game.streams`
        ("decision_keys", np.uint64, (NUM_PLAYERS,)),  # for each player's tie-breaks
        ("twin", np.bool_),  # the decks of this episode have their suits permuted
        ("decisions", np.uint32),  # actions taken in this episode
    ],
    align=True,
)
STATE = np.dtype([("public", PUBLIC), ("private", PRIVATE, (NUM_PLAYERS,)), ("hidden", HIDDEN)], align=True)


def status(record: np.void) -> list[str]:
    """Return a description of every broken invariant of one `STATE` record; an empty list if it is valid.

    Use it to check code that writes states directly, such as a search, a test or a port to other hardware.
    Raises TypeError for anything but a record of `STATE`.
    """
    if not isinstance(record, np.void) or record.dtype != STATE:
        raise TypeError(f"status() takes one record of gin_env.game.state.STATE, not {type(record).__name__}")
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
