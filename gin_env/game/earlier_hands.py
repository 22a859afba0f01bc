"""What players have shown in the earlier hands of a game: counts in the public part of the state.

The open cards at the end of a knocked hand and the public actions of every hand are all that enters them.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_UPCARD, PASS
from gin_env.game.cards import CARD_VALUES, CARDS_UP_TO, count_cards
from gin_env.game.history import first_mover
from gin_env.support.compilation import kernel

MEMORY = np.dtype(
    [
        ("knocks", np.uint16),  # hands in which the player knocked, with gin or without
        ("gins", np.uint16),
        ("knock_deadwood", np.uint16),  # sum over the player's knocks
        ("knock_turns", np.uint16),  # turns of both players before the end of the hand, sum over the knocks
        ("set_cards", np.uint16),  # cards laid down in the player's own sets, by either player's knock
        ("run_cards", np.uint16),  # the same in runs; cards laid off on the opponent's melds are in neither
        ("upcards_taken", np.uint16),
        ("upcards_declined", np.uint16),
        ("discards", np.uint16),  # with those of knocks
        ("first_discards", np.uint16),  # discards among the first `FIRST_DISCARDS` of their hand
        ("first_points", np.uint16),  # sum of the points of these
        ("low_discards", np.uint16),  # discards of at most `LOW_POINTS` points
        ("rising_discards", np.uint16),  # discards of more points than the player's discard before, in a hand
        ("upcards_kept", np.uint16),  # upcards taken that the player still held when a hand was laid open
        ("upcards_melded", np.uint16),  # those of them that the player laid down in sets or runs
        ("high_cards", np.uint16),  # cards in neither that count more than the player's last discard
    ],
    align=True,
)
"""What one player has shown in the hands of this game before the current one. Counts stop at 65,535."""
MOST = 2**16 - 1
FIRST_DISCARDS = 3
LOW_POINTS = 4


_NOTHING = np.zeros(1, MEMORY)
_POINTS = np.tile(CARD_VALUES, 2)
"""(104,): the points of the card of each discard and knock."""


@kernel
def forget_hands(public) -> None:
    """Set all counts to 0: a game begins."""
    for player in range(2):
        public.memory[player] = _NOTHING[0]


@kernel
def remember_hand(game) -> None:
    """Add a hand that has ended to the counts of both players."""
    public = game.public
    for player in range(2):
        memory = public.memory[player]
        last_points = remember_actions(public, player, memory)
        if public.knocker < 0:
            continue
        sets, runs = np.int64(public.laid_sets[player]), np.int64(public.laid_runs[player])
        kept, others = np.int64(public.shown[player]), np.int64(game.private[player].hand) & ~(sets | runs)
        memory.set_cards = _add(memory.set_cards, count_cards(sets))
        memory.run_cards = _add(memory.run_cards, count_cards(runs))
        memory.upcards_kept = _add(memory.upcards_kept, count_cards(kept))
        memory.upcards_melded = _add(memory.upcards_melded, count_cards(kept & (sets | runs)))
        memory.high_cards = _add(memory.high_cards, count_cards(others & ~CARDS_UP_TO[last_points]))
    if public.knocker < 0:
        return
    memory = public.memory[public.knocker]
    deadwood = public.deadwood[public.knocker]
    memory.knocks = _add(memory.knocks, 1)
    memory.gins = _add(memory.gins, deadwood == 0)
    memory.knock_deadwood = _add(memory.knock_deadwood, deadwood)
    memory.knock_turns = _add(memory.knock_turns, public.turn)


@kernel
def _add(count, more):
    return min(np.int64(count) + np.int64(more), MOST)


@kernel
def remember_actions(public, player: int, memory):
    """Count a player's draws and discards so far in this hand; return the points of the last discard.

    Without a discard, it returns 10.
    """
    passes = 0
    while passes < 2 and public.history[passes] == PASS:
        passes += 1
    begins = (first_mover(public) == player) == (passes != 1)  # whether the player draws first
    taken, declined = np.int64(0), np.int64(passes == 2 or (passes == 1 and not begins))
    count, first_points, low, rising, last = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(10)
    for draw in range(passes if begins else passes + 2, public.history_length, 4):  # each before a discard
        if public.history[draw] == DRAW_UPCARD:
            taken += 1
        elif draw != 2 or passes != 2:  # after two passes the stock must be drawn
            declined += 1
        points = np.int64(_POINTS[public.history[draw + 1]])
        first_points += points if count < FIRST_DISCARDS else 0
        low += points <= LOW_POINTS
        rising += points > last
        last = points
        count += 1
    memory.upcards_taken = _add(memory.upcards_taken, taken)
    memory.upcards_declined = _add(memory.upcards_declined, declined)
    memory.discards = _add(memory.discards, count)
    memory.first_discards = _add(memory.first_discards, min(count, FIRST_DISCARDS))
    memory.first_points = _add(memory.first_points, first_points)
    memory.low_discards = _add(memory.low_discards, low)
    memory.rising_discards = _add(memory.rising_discards, rising)
    return last
