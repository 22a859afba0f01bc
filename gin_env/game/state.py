"""The state of N games: one numpy record array that separates public, private and hidden information.

``STATE`` has a *public* part (what both players see), a *private* part for each player (their hand and their
draws from the stock) and a *hidden* part (the deck and the random streams). A player's view is the public
part and their own private part; bots and observations receive nothing else.
Bits of a mask are card ids (`gin_env.game.cards`). A game takes `STATE.itemsize` bytes (about 700).
"""

from __future__ import annotations

import numpy as np

from gin_env.game.earlier_hands import MEMORY
from gin_env.game.rules import MAX_TURNS, RULES

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
