"""Validation of position records from outside the package, before they reach compiled code.

The checks cover every value that kernels use as an index, since compiled code does not check its
arguments.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_UPCARD, PASS, is_discard
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, count_cards, deck_cards, lowest_card
from gin_env.game.history import first_mover, next_mover
from gin_env.game.rules import MAX_HAND_SIZE, MAX_KNOCK_LIMIT, MAX_TURNS
from gin_env.game.state import DISCARD, NO_CARD, OVER
from gin_env.support.compilation import kernel


@kernel
def is_position(public, hand: int, player: int) -> bool:
    """Return whether a public part and the cards of `player` are a valid position of some hand.

    Every value that kernels use as an index is checked, so that records from outside are safe to use.
    """
    rules = public.rules
    if not (0 < rules.ranks <= NUM_RANKS and 0 < rules.suits <= NUM_SUITS and rules.target_score > 0):
        return False
    if not (0 < rules.hand_size <= MAX_HAND_SIZE and 0 < rules.max_turns <= MAX_TURNS):
        return False
    stock = rules.ranks * rules.suits - 2 * rules.hand_size - 1
    if stock <= 0 or public.stock_left > stock or public.turn > rules.max_turns or public.phase > OVER:
        return False
    if not (0 <= player <= 1 and 0 <= public.to_move <= 1 and 0 <= public.dealer <= 1):
        return False
    if not (NO_CARD <= public.upcard < NUM_CARDS and NO_CARD <= public.taken < NUM_CARDS):
        return False
    if not 0 <= public.knock_limit <= MAX_KNOCK_LIMIT:
        return False
    if public.upcard == NO_CARD and public.phase != DISCARD:
        return False
    others = ~deck_cards(rules.ranks, rules.suits)
    pile = np.int64(public.pile)
    if (hand | pile) & others or hand & pile:
        return False
    for either in range(2):
        if np.int64(public.shown[either]) & others:
            return False
        if (np.int64(public.discarded[either]) | np.int64(public.declined[either])) & ~pile:
            return False
    while pile:
        if public.discard_turn[lowest_card(pile)] > public.turn:
            return False
        pile &= pile - 1
    if public.phase == OVER:
        return count_cards(hand) <= rules.hand_size
    drawn = public.phase == DISCARD and public.to_move == player
    return count_cards(hand) == rules.hand_size + np.int64(drawn)


@kernel
def is_history(public, private, player: int) -> bool:
    """Return whether the history of a valid position (`is_position`) can have led to it.

    The player's own draws are checked too.
    """
    if public.history_length > len(public.history) or private.num_stock_draws > len(private.stock_draws):
        return False
    if not 0 <= public.first_upcard < NUM_CARDS:
        return False
    upcard = np.int64(public.first_upcard)
    mover = np.int64(first_mover(public))
    drawn = False
    turns = draws = 0
    for index in range(public.history_length):
        action = public.history[index]
        if is_discard(action):
            if not drawn:
                return False
            upcard = np.int64(action % NUM_CARDS)
            drawn = False
            turns += 1
        elif action == PASS:
            if index > 1 or drawn:
                return False
        elif drawn or action > PASS or (action == DRAW_UPCARD and upcard == NO_CARD):
            return False
        else:
            drawn = True
            if action == DRAW_UPCARD:
                upcard = np.int64(NO_CARD)
            elif mover == player:
                if draws >= private.num_stock_draws or not 0 <= private.stock_draws[draws] < NUM_CARDS:
                    return False
                draws += 1
        mover = next_mover(action, mover)
    if turns != public.turn or draws != private.num_stock_draws or upcard != public.upcard:
        return False
    return public.phase == OVER or (drawn == (public.phase == DISCARD) and mover == public.to_move)
