"""What players have shown in the earlier hands of a game: counts in the public part of the state.

The open cards at the end of a knocked hand and the public actions of every hand are all that enters them.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS
from gin_env.game.cards import count_cards
from gin_env.game.history import first_mover, next_mover
from gin_env.game.melds import best_set_cards, defence_set_cards, run_cards
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
def remember_hand(public, private) -> None:
    """Add a hand that has ended to the counts of both players; `private` holds the parts of both."""
    _remember_upcards(public)
    knocker = np.int64(public.knocker)
    if knocker < 0:
        return  # a void hand: nobody shows any cards
    hand, defence = np.int64(private[knocker].hand), np.int64(private[1 - knocker].hand)
    sets = best_set_cards(hand)
    runs = run_cards(hand & ~sets)
    memory = public.memory[knocker]
    memory.knocks = min(memory.knocks + 1, MOST)
    if public.deadwood[knocker] == 0:
        memory.gins = min(memory.gins + 1, MOST)
        defence_sets = best_set_cards(defence)  # no lay-offs
    else:
        defence_sets = defence_set_cards(runs, sets, defence)
    memory.knock_deadwood = min(memory.knock_deadwood + public.deadwood[knocker], MOST)
    memory.knock_turns = min(memory.knock_turns + public.turn, MOST)
    _remember_melds(memory, sets, runs)
    _remember_melds(public.memory[1 - knocker], defence_sets, run_cards(defence & ~defence_sets))


@kernel
def copy_memory(ended, following) -> None:
    """Write what the first game of `ended`, at the end of its hand, passes on into games of the next hand."""
    game = ended[0]
    remember_hand(game.public, game.private)
    for index in range(len(following)):
        for player in range(2):
            following[index].public.memory[player] = game.public.memory[player]


@kernel
def _remember_melds(memory, sets: int, runs: int) -> None:
    memory.set_cards = min(memory.set_cards + count_cards(sets), MOST)
    memory.run_cards = min(memory.run_cards + count_cards(runs), MOST)


@kernel
def _remember_upcards(public) -> None:
    """Count the upcards that each player took, and those that they could have taken but did not."""
    mover, passes = first_mover(public), 0
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        memory = public.memory[mover]
        if action == DRAW_UPCARD:
            memory.upcards_taken = min(memory.upcards_taken + 1, MOST)
        elif action == PASS or (action == DRAW_STOCK and not (passes == 2 and index == 2)):
            memory.upcards_declined = min(memory.upcards_declined + 1, MOST)
        passes += action == PASS
        mover = next_mover(action, mover)
