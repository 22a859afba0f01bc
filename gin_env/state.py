"""The state of N games: one numpy record array, shaped so that it cannot leak.

``STATE`` has a *public* part (what both players see), a *private* part for each player (her hand and what
she drew from the stock) and a *hidden* part (the deck and the random streams). A player's view is the
public part and her own private part; nothing else is ever handed to a bot or an observation.
Bits of a mask are card ids (`gin_env.cards`). A game takes `STATE.itemsize` bytes (about 600).
"""

from __future__ import annotations

import numpy as np

from gin_env.rules import MAX_TURNS, RULES

NUM_PLAYERS = 2
NO_CARD = -1

# Phases: what the player to move has to decide.
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
OUTCOME_NAMES = ("undecided", "knock", "gin", "undercut", "void")

PUBLIC = np.dtype(
    [
        ("rules", RULES),
        ("phase", np.uint8),
        ("to_move", np.int8),  # player 0 or 1; at the end of a hand whoever moved last
        ("dealer", np.int8),
        ("first_upcard", np.int8),  # turned up at the deal
        ("upcard", np.int8),  # top of the discard pile; NO_CARD once it is taken, until the next discard
        ("taken", np.int8),  # the card just taken from the pile, which may not be discarded, else NO_CARD
        ("stock_left", np.uint8),
        ("turn", np.uint8),  # turns completed in this hand, by both players together
        ("hand_number", np.uint16),  # hands begun before this one in this game, void ones included
        ("scores", np.int16, (2,)),
        ("pile", np.uint64),  # the discard pile, its top included
        ("discarded", np.uint64, (2,)),  # cards in the pile, by who discarded them (neither: the first)
        ("declined", np.uint64, (2,)),  # cards in the pile that this player could have taken and did not
        ("shown", np.uint64, (2,)),  # cards that this player took from the pile and still holds
        ("discard_turn", np.uint8, (52,)),  # for cards in the pile: value of `turn` when they came there
        ("history_length", np.uint16),
        ("history", np.uint8, (2 * MAX_TURNS + 4,)),  # action ids in order; `gin_env.history` reads them
        # How the hand ended (`outcome` is UNDECIDED until then):
        ("outcome", np.uint8),
        ("winner", np.int8),  # NO winner: -1
        ("knocker", np.int8),  # nobody knocked: -1
        ("points", np.int16),  # to the winner
        ("deadwood", np.int16, (2,)),  # after melding and laying off; only set once someone has knocked
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
        ("deal_key", np.uint64),  # of dealer and decks in this episode, see `gin_env.streams`
        ("decision_keys", np.uint64, (NUM_PLAYERS,)),  # with which each player breaks ties
        ("twin", np.bool_),  # the decks of this episode have their suits permuted
        ("decisions", np.uint32),  # actions taken in this episode
    ],
    align=True,
)
STATE = np.dtype([("public", PUBLIC), ("private", PRIVATE, (NUM_PLAYERS,)), ("hidden", HIDDEN)], align=True)
