"""What players have shown in the earlier hands of a game: counts in the public part of the state.

The open cards at the end of a knocked hand and the public actions of every hand are all that enters them.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_UPCARD, PASS
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
    ],
    align=True,
)
"""What one player has shown in the hands of this game before the current one. Counts stop at 65,535."""
MOST = 2**16 - 1


_NOTHING = np.zeros(1, MEMORY)


@kernel
def forget_hands(public) -> None:
    """Set all counts to 0: a game begins."""
    for player in range(2):
        public.memory[player] = _NOTHING[0]


@kernel
def remember_hand(public) -> None:
    """Add a hand that has ended to the counts of both players."""
    taken, declined = _count_upcards(public)
    for player in range(2):
        memory = public.memory[player]
        memory.upcards_taken = min(memory.upcards_taken + (taken >> 8 * player & 255), MOST)
        memory.upcards_declined = min(memory.upcards_declined + (declined >> 8 * player & 255), MOST)
        memory.set_cards = min(memory.set_cards + public.set_cards[player], MOST)
        memory.run_cards = min(memory.run_cards + public.run_cards[player], MOST)
    if public.knocker < 0:
        return
    memory = public.memory[public.knocker]
    deadwood = public.deadwood[public.knocker]
    memory.knocks = min(memory.knocks + 1, MOST)
    memory.gins = min(memory.gins + (deadwood == 0), MOST)
    memory.knock_deadwood = min(memory.knock_deadwood + deadwood, MOST)
    memory.knock_turns = min(memory.knock_turns + public.turn, MOST)


@kernel
def _count_upcards(public):
    """Return the upcards that were taken, and those that could have been but were not, in an ended hand.

    The counts of player 1 are in the second byte.
    """
    taken, declined = np.int64(0), np.int64(0)
    index, mover = 0, first_mover(public)
    while index < 2 and public.history[index] == PASS:
        declined += np.int64(1) << 8 * mover
        mover = 1 - mover
        index += 1
    if index == 2:  # after two passes the stock must be drawn
        mover = 1 - mover
        index = 4
    for draw in range(index, public.history_length, 2):  # each followed by a discard
        if public.history[draw] == DRAW_UPCARD:
            taken += np.int64(1) << 8 * mover
        else:
            declined += np.int64(1) << 8 * mover
        mover = 1 - mover
    return taken, declined


@kernel
def copy_memory(ended, following) -> None:
    """Write what the first game of `ended`, at the end of its hand, passes on into games of the next hand."""
    public = ended[0].public
    remember_hand(public)
    for index in range(len(following)):
        for player in range(2):
            following[index].public.memory[player] = public.memory[player]
