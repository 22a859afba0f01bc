"""Checks of a hand that another program describes: its actions, and its counts of the earlier hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gin_env.game import actions as act
from gin_env.game.cards import card_text
from gin_env.game.engine import LEGAL, NOT_IN_HAND, illegality
from gin_env.game.memory import MEMORY, MOST
from gin_env.game.rules import Rules
from gin_env.game.state import NO_CARD
from gin_env.observations.illegal_actions import explain_illegal
from gin_env.observations.knowledge import cards_missing
from gin_env.observations.memory import MEANINGS, NUM_MEMORY
from gin_env.observations.view_kernels import VIEW, write_view_memories
from gin_env.support.checks import check_integer, unknown


def write_counts(records: np.ndarray, memory: Sequence[Mapping[str, int]]) -> None:
    """Write both players' counts of the earlier hands. Raises TypeError or ValueError for impossible ones."""
    public, names = records["public"], MEMORY.names or ()
    if not isinstance(memory, Sequence) or [isinstance(counts, Mapping) for counts in memory] != [True] * 2:
        raise TypeError(f"memory must be a mapping of counts for each player, not {memory!r}")
    for player, name, count in ((seat, *each) for seat in (0, 1) for each in memory[seat].items()):
        if name not in names:
            raise ValueError(unknown("count in memory", name, names))
        most = MOST if public["hand_number"][0] else 0
        public["memory"][name][0, player] = check_integer(f"{name} in memory", count, 0, most)
    if (public["memory"]["discards"] > MOST * public["memory"]["first_discards"].astype(int)).any():
        raise ValueError("memory has discards, but no first_discards")
    both, numbers = records.repeat(2), np.zeros((2, NUM_MEMORY), np.float32)
    both["player"] = 0, 1
    write_view_memories(both, numbers)
    limit = 1 + 1 / public["rules"]["hand_size"][0]  # with big gin, a player lays down a card more
    for name, number in zip(MEANINGS, numbers.max(axis=0), strict=True):
        if not number <= limit:
            raise ValueError(f"no earlier hands lead to this memory: the share {name} would be {number:.2f}")


def check_event(game: np.void, player: int, action: int, card: int, index: int) -> None:
    """Raise IllegalActionError unless the next action is possible, as far as `player` can know."""
    public, hand = game["public"], int(game["private"]["hand"][player])
    mover = int(public["to_move"])
    unseen = Rules.from_record(public["rules"]).deck_mask & ~(hand | int(public["pile"]))
    view = np.zeros(1, VIEW)[0]
    view["public"], view["player"] = public, mover
    # The opponent may hold, and discard, any card that is not known to be elsewhere.
    view["private"]["hand"] = hand if mover == player else unseen
    who = f"action {index}: player {mover}"
    if act.is_discard(action) and action >= act.KNOCK:
        raise act.IllegalActionError(f"{who}, {act.describe(action)}: a knock ends the hand")
    reason = illegality(public, view["private"], action)
    if reason == NOT_IN_HAND and mover != player:
        raise act.IllegalActionError(f"{who}, {act.describe(action)}: that card is elsewhere (hand or pile)")
    if reason != LEGAL:
        raise act.IllegalActionError(f"{who}, {explain_illegal(view, action)}")
    shown = int(public["shown"][1 - player])
    is_unknown = act.is_discard(action) and not shown >> action & 1
    if mover != player and is_unknown and not cards_missing(public, player):
        raise act.IllegalActionError(f"{who}, {act.describe(action)}: all of that player's cards are known")
    if card != NO_CARD and not unseen & ~shown & 1 << card:
        raise act.IllegalActionError(f"{who} drew {card_text(card)}, which is not in the stock")
