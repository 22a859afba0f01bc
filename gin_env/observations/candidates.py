"""A player's possible actions as network inputs: a row of numbers for each candidate, and shared context.

A *candidate* is a hand of ten cards that the player can reach with this decision, and the card that moves:

- to discard: each card that may be discarded, with the hand that it leaves. The same row serves for
  discarding and for knocking with that card;
- to draw: row 0 takes the upcard (and gives away the highest of the cards that leave the least deadwood),
  row 1 leaves it and keeps the hand as it is.

So one function values draws, discards and knocks: how good the hand is, and what the moved card does for the
opponent. `gin_env.observations.candidate_features` describes the numbers.

Three arrays hold the candidates of n players to move. `gin_env.batch.Games.candidates` and
`gin_env.observations.views.PlayerView.candidates` write them, into the caller's arrays if there are any.
Environments made with ``candidates=True`` have them in their observations, under the names of `ENTRIES`:

- rows, float32 (n, 11, NUM_FEATURES): `LAYOUT` names the numbers. Rows without an action are 0;
- actions, int64 (n, 11, 2): what each row does (discard, draw or pass) and the same with a knock;
  `NO_ACTION` if it is impossible;
- context, float32 (n, NUM_CONTEXT): the numbers that all rows share, named by `CONTEXT`. In an array of the
  caller with NUM_MEMORY more columns, the memory of earlier hands follows (`gin_env.observations.memory`).

If nobody has to discard, two rows are enough: rows (n, 2, NUM_FEATURES) and actions (n, 2, 2).
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK
from gin_env.game.cards import card_bit, count_cards, each_card, lowest_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import decline, least_deadwood_discard, meld_completions
from gin_env.game.melds import deadwood_after_discards, min_deadwood
from gin_env.game.state import DISCARD, OVER, STOCK_ONLY
from gin_env.observations.candidate_features import (
    CONTEXT,
    LAYOUT,
    MEANINGS,
    NUM_CONTEXT,
    NUM_FEATURES,
    describe_hand,
    part,
    write_card,
    write_context,
    write_hand,
)
from gin_env.observations.knowledge import cards_unseen
from gin_env.observations.memory import NUM_MEMORY, write_memory
from gin_env.support.compilation import kernel

# The names of `candidate_features` that users find here.
__all__ = ["CONTEXT", "LAYOUT", "MEANINGS", "NUM_CONTEXT", "NUM_FEATURES", "part", "write_context"]

DISCARD_ROWS = 11
DRAW_ROWS = 2
NO_ACTION = -1

ENTRIES = ("candidate_rows", "candidate_actions", "candidate_context")
"""The keys of rows, actions and context in the observations of the environments."""


@kernel
def write_discards(
    public, private, player: int, rows: np.ndarray, actions: np.ndarray, after: np.ndarray
) -> None:
    """Write rows (11, NUM_FEATURES) and actions (11, 2), discard and knock, of a player who has to discard.

    `after`, int64 (52, 52), is overwritten. The eleven hands differ in one card: what each unseen card
    makes of them is computed for all of them together.
    """
    actions[:] = NO_ACTION
    hand = np.int64(private.hand)
    unseen = cards_unseen(public, private, player)
    limit = np.int64(public.knock_limit)
    for card in each_card(meld_completions(hand) & unseen):
        deadwood_after_discards(hand | card_bit(card), after[card])
    allowed = discards_allowed(public, private)
    # The card that is discarded never comes, so its line of `after` is free for the hands as they are.
    deadwood = after[lowest_card(hand)]
    deadwood_after_discards(hand, deadwood)
    least = np.int64(127)
    for card in each_card(allowed):
        least = min(least, deadwood[card])
    for index, card in enumerate(each_card(allowed)):
        left = hand & ~card_bit(card)
        describe_hand(rows[index], left, deadwood[card], least, unseen, limit, after, card)
        write_card(rows[index], card, left, unseen, public, player, False)
        actions[index, 0] = card
        if deadwood[card] <= limit:
            actions[index, 1] = KNOCK + card
    rows[count_cards(allowed) :] = 0


@kernel
def write_draws(
    public, private, player: int, rows: np.ndarray, actions: np.ndarray, after: np.ndarray
) -> None:
    """Write rows and actions (2 or more) of a player who has to draw: take the upcard, or leave it.

    `after`, int64 (52, 52), is overwritten.
    """
    actions[:] = NO_ACTION
    if public.phase == STOCK_ONLY:
        rows[:] = 0
        actions[1, 0] = DRAW_STOCK
        return
    hand = np.int64(private.hand)
    unseen = cards_unseen(public, private, player)
    limit = np.int64(public.knock_limit)
    upcard = np.int64(public.upcard)
    gone, left = least_deadwood_discard(hand | card_bit(upcard), hand)
    least = min(left, min_deadwood(hand))
    taken = (hand | card_bit(upcard)) ^ gone
    write_hand(rows[0], taken, least, unseen, limit, after)
    write_card(rows[0], upcard, taken, unseen, public, player, False)
    actions[0, 0] = DRAW_UPCARD
    write_hand(rows[1], hand, least, unseen, limit, after)
    write_card(rows[1], upcard, hand, unseen, public, player, True)
    actions[1, 0] = decline(public)
    rows[DRAW_ROWS:] = 0


@kernel
def write_candidates(
    public,
    private,
    player: int,
    rows: np.ndarray,
    actions: np.ndarray,
    context: np.ndarray,
    after: np.ndarray,
) -> bool:
    """Write all three arrays for a player; return False if they have to discard and rows are too few.

    `after`, int64 (52, 52), is overwritten. A player who is not to move has no action.
    """
    write_context(public, private, player, context)
    if len(context) > NUM_CONTEXT:
        write_memory(public, player, context[NUM_CONTEXT:])
    if public.phase == OVER or public.to_move != player:
        rows[:] = 0
        actions[:] = NO_ACTION
    elif public.phase == DISCARD:
        if len(rows) < DISCARD_ROWS:
            return False
        write_discards(public, private, player, rows, actions, after)
    else:
        write_draws(public, private, player, rows, actions, after)
    return True


def new_arrays(count: int, num_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return uninitialised rows, actions and context for `count` players with `num_rows` candidates each."""
    return (
        np.empty((count, num_rows, NUM_FEATURES), np.float32),
        np.empty((count, num_rows, 2), np.int64),
        np.empty((count, NUM_CONTEXT), np.float32),
    )


def check_arrays(
    count: int, rows: np.ndarray | None, actions: np.ndarray | None, context: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays for the candidates of `count` players: the caller's, or new ones of 11 rows.

    A context of the caller may have room for the memory, `NUM_MEMORY` more columns. Raises ValueError for
    arrays of another shape, dtype or memory layout.
    """
    given = {"rows": rows, "actions": actions, "context": context}
    for name, array in given.items():
        if array is not None and not (isinstance(array, np.ndarray) and array.ndim > 1):
            raise ValueError(f"{name} must be an array with several dimensions, not {type(array).__name__}")
    sized = actions if rows is None else rows
    num_rows = DISCARD_ROWS if sized is None else sized.shape[1]
    arrays = []
    for (name, array), new in zip(given.items(), new_arrays(count, num_rows), strict=True):
        array = new if array is None else array
        shape = new.shape
        if name == "context" and array.shape[1:] == (NUM_CONTEXT + NUM_MEMORY,):
            shape = count, NUM_CONTEXT + NUM_MEMORY
        is_usable = array.flags.c_contiguous and array.flags.writeable and num_rows >= DRAW_ROWS
        if array.shape != shape or array.dtype != new.dtype or not is_usable:
            raise ValueError(
                f"{name} must be a writable, contiguous {new.dtype} array of shape {shape} (with {DRAW_ROWS} "
                f"or {DISCARD_ROWS} rows, as many as actions), not {array.dtype} {array.shape}"
            )
        arrays.append(array)
    return arrays[0], arrays[1], arrays[2]


def check_written(complete: bool) -> None:
    """Raise ValueError if a player has to discard and there were two rows."""
    if not complete:
        raise ValueError(f"a player has to discard: the candidates need {DISCARD_ROWS} rows")


def are_discarding(views: np.ndarray) -> np.ndarray:
    """Return whether each player has to discard, bool (n,); the others have to draw."""
    return views["public"]["phase"] == DISCARD


def draw_and_discard_masks(phases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each player chooses where to draw, and which card to discard: bool (n,) each.

    After two passes there is no choice: the stock is the only place to draw from.
    """
    discarding = phases == DISCARD
    return ~discarding & (phases != STOCK_ONLY), discarding
