"""What the opponent has shown in the earlier hands of a game, as network inputs.

Environments of whole games have these numbers in their observations if they are made with ``memory=True``,
as the entry `ENTRY`: float32 (NUM_MEMORY,), all zeros in the first hand. All are from 0 to 1. They contain
what the rules show to both players: public actions, and the cards laid down after a knock.

`LAYOUT` names the numbers. A network's file lists the names that it reads (`gin_env.observations.parts`), so
a release may add numbers; one whose meaning changes gets another name.

>>> env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=64, episode="game", memory=True)
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.support.compilation import kernel

ENTRY = "memory"
"""The key in the observations of the environments."""
MEANINGS = {
    "hands": "hands of this game before this one / 20, at most 1",
    "knocks": "share of these hands in which the opponent knocked",
    "gins": "share of these hands in which the opponent had gin",
    "knock_deadwood": "mean deadwood of the opponent's knocks / 10, at most 1",
    "knock_turn": "mean number of turns before the opponent's knocks / Rules.max_turns",
    "set_cards": "share of the opponent's cards that they laid down in sets, in knocked hands",
    "run_cards": "share of the opponent's cards that they laid down in runs, in knocked hands",
    "upcards_taken": "share of the upcards that the opponent took, of those that they could take",
    "upcards": "upcards that the opponent could take, mean of these hands / 20, at most 1",
    "first_discards": "mean points of the opponent's first three discards in each hand / 10",
    "low_discards": "share of the opponent's discards that count at most 4 points",
    "rising_discards": "share of the opponent's discards that count more than their discard before",
    "upcards_melded": "of the upcards the opponent still held at the knock, the share that was in melds",
    "high_cards": (
        "the opponent's cards in no meld that count more than their last discard, mean of knocked hands / 5, "
        "at most 1"
    ),
}
"""Numbers in order, name -> meaning."""
NUM_MEMORY = len(MEANINGS)
LAYOUT = {name: slice(index, index + 1) for index, name in enumerate(MEANINGS)}
"""Name -> place."""


@kernel
def write_memory(public, player: int, row: np.ndarray) -> None:
    """Write what `player` knows of the opponent from earlier hands into float32 (NUM_MEMORY,)."""
    row[:] = 0
    hands = np.float32(public.hand_number)
    memory, other = public.memory[1 - player], public.memory[player]
    upcards = np.float32(memory.upcards_taken) + memory.upcards_declined
    # In every hand somebody discards; a view without any action of the earlier hands does not know them.
    if not hands or not (memory.discards or other.discards or upcards):
        return
    knocks = np.float32(memory.knocks)
    row[0] = min(hands / np.float32(20), np.float32(1))
    row[1] = knocks / hands
    row[2] = memory.gins / hands
    if knocks:
        row[3] = min(memory.knock_deadwood / (10 * knocks), np.float32(1))
        row[4] = memory.knock_turns / (public.rules.max_turns * knocks)
    knocked = knocks + other.knocks
    if knocked:
        cards = public.rules.hand_size * knocked
        row[5] = memory.set_cards / cards
        row[6] = memory.run_cards / cards
    if upcards:
        row[7] = memory.upcards_taken / upcards
        row[8] = min(upcards / (20 * hands), np.float32(1))
    if memory.discards:
        discards = np.float32(memory.discards)
        row[9] = memory.first_points / (10 * np.float32(memory.first_discards))
        row[10] = memory.low_discards / discards
        row[11] = memory.rising_discards / discards
    if memory.upcards_kept:
        row[12] = memory.upcards_melded / np.float32(memory.upcards_kept)
    if knocked:
        row[13] = min(memory.high_cards / (5 * knocked), np.float32(1))
