"""What may be done now, described for networks: a row of numbers for each candidate, and some for the table.

A *candidate* is a hand of ten cards that the player can reach with her decision, and the card that moves:

- to discard: each card that may go, with the hand that it leaves. The same row serves for discarding and for
  knocking with that card;
- to draw: row 0 takes the upcard (and gives away a card that leaves the least deadwood, the dearest of them),
  row 1 leaves it and keeps the hand as it is.

So one function values draws, discards and knocks: how good the hand is, and what the moved card does for the
opponent. The numbers are those that the papers look at: deadwood, melds, hit count (002, "Hand
macro-features"), what the opponent has shown, discarded and declined around the card (001, 003), the melds
that it could complete (002, "Defensive Score"). They treat the suits alike.

Three arrays hold the candidates of n players to move. `gin_env.batch.Games.candidates` and
`gin_env.observations.views.PlayerView.candidates` write them, into arrays of the caller if she has some; the
environments have them in their observations if they are made with ``candidates=True``, under the names of
`ENTRIES`:

- rows, float32 (n, 11, NUM_FEATURES): `LAYOUT` names the numbers. Rows without an action are 0;
- actions, int64 (n, 11, 2): what each row does (discard, draw or pass) and the same with a knock;
  `NO_ACTION` where it cannot;
- table, float32 (n, NUM_TABLE): what is the same for all rows, named by `TABLE`.

Where nobody has to discard, two rows are enough: rows (n, 2, NUM_FEATURES) and actions (n, 2, 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK
from gin_env.game.cards import (
    ACES,
    CARD_VALUES,
    NUM_CARDS,
    NUM_RANKS,
    card_bit,
    count_cards,
    lowest_card,
    total_value,
)
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import (
    CARDS_UP_TO,
    MELD_MATES,
    decline,
    highest_value,
    meld_completions,
    unmelded_cards,
)
from gin_env.game.melds import deadwood_after_discards, least_deadwood_discards, min_deadwood
from gin_env.game.state import DISCARD, OFFER, OVER, STOCK_ONLY
from gin_env.observations.knowledge import cards_unseen
from gin_env.support.compilation import kernel

VERSION = 1
"""Raised whenever a number of row or table changes its meaning; a saved network carries the version of its
training."""
ROWS_VERSION = 0
"""The same for rows alone, for networks that do not read the table."""

DISCARD_ROWS = 11
DRAW_ROWS = 2
NO_ACTION = -1

ENTRIES = ("candidate_rows", "candidate_actions", "candidate_table")
"""What rows, actions and table are called in the observations of the environments."""

_HAND = {
    "deadwood": "deadwood / 50",
    "may_knock": "1 if she may knock with it",
    "gin": "1 if it is gin",
    "near_least": "1 / (1 + deadwood above that of the best candidate)",
    "outs": "unseen cards that complete a meld and lower the deadwood / 12",
    "knock_outs": "share of the unseen cards after which a knock is possible",
    "gin_outs": "unseen cards that make gin / 6",
    "saving": "points that the next unseen card saves on average / 5",
    "unmelded": "unmelded cards / 10",
    "dearest": "points of the dearest unmelded card / 10",
    "low_cards": "cards of up to five points / 10",
    "completions": "unseen cards that complete a meld with two unmelded cards / 12",
}
_CARD = {
    "rank": "1 at its rank, from the ace",
    "sets_for_opponent": "share of the sets with it that are still possible for the opponent",
    "runs_for_opponent": "share of the runs of three with it that are still possible for the opponent",
}
_SURROUNDINGS = {
    "shown_by_opponent": "that the opponent took from the pile and still holds",
    "discarded_by_opponent": "in the pile, discarded by the opponent",
    "declined_by_opponent": "in the pile that the opponent could have taken and did not",
    "discarded_by_player": "in the pile, discarded by the player",
    "in_hand": "in the hand",
    "unseen": "that she has not seen: in the stock or with the opponent",
}
MEANINGS = {
    **{name: f"of the hand: {meaning}" for name, meaning in _HAND.items()},
    **{name: f"of the card that moves: {meaning}" for name, meaning in _CARD.items()},
    **{f"around_{name}": f"around it, cards {meaning}" for name, meaning in _SURROUNDINGS.items()},
    "in_pile": "1 if the card lies in the pile",
}
"""Name -> meaning of each part of a row, in order."""


def _layout() -> dict[str, slice]:
    sizes = dict.fromkeys(MEANINGS, 1) | {"rank": NUM_RANKS}
    sizes |= {f"around_{name}": 5 for name in _SURROUNDINGS}
    ends = np.cumsum(list(sizes.values())).tolist()
    return {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}


LAYOUT = _layout()
"""The numbers of a row: name -> slice.

The first twelve describe the hand that the candidate leaves (`write_hand`), the others the card that moves
(`write_card`): its rank as one of 13, the share of the sets and of the runs with it that are still possible
for the opponent, whether it lies in the pile, and for each of six groups of cards five numbers around it: how
many of its rank are there (/ 3), and whether the cards 1 below, 1 above, 2 below and 2 above in its suit are.
"""
NUM_FEATURES = LAYOUT["in_pile"].stop

TABLE = {
    "stock_left": "cards left in the stock / 31",
    "turn": "turns completed / 40",
    "shown_by_opponent": "cards that the opponent took from the pile and still holds / 5",
    "opening_offer": "1 if the first upcard is on offer",
    "last_discard": "points of the opponent's latest discard in the pile / 10, 0 without one",
    "second_last_discard": "of the one before / 10",
    "third_last_discard": "and of the one before that / 10",
    "unseen_points": "mean points of the unseen cards / 10",
    "own_score": "own score / 100",
    "opponent_score": "opponent's score / 100",
}
"""The numbers of the table in order, name -> meaning."""
NUM_TABLE = len(TABLE)


def part(rows: Any, name: str) -> Any:
    """Zero-copy view of one part of rows (..., NUM_FEATURES), an array or a tensor.

    Its shape is (...) for a single number, else (..., 13) or (..., 5). Raises ValueError for an unknown name
    or another last dimension.
    """
    if name not in LAYOUT:
        raise ValueError(f"no part {name!r} in a row; the parts are {', '.join(LAYOUT)}")
    if rows.shape[-1:] != (NUM_FEATURES,):
        raise ValueError(f"a row has {NUM_FEATURES} numbers, not shape {tuple(rows.shape)}")
    where = LAYOUT[name]
    return rows[..., where] if where.stop - where.start > 1 else rows[..., where.start]


def layout_table() -> str:
    """Rows and table as a Markdown table (docs/observation.md holds this one)."""
    lines = ["| part | of | where | value |", "|---|---|---|---|"]
    for name, where in LAYOUT.items():
        single = where.stop - where.start == 1
        place = where.start if single else f"{where.start}:{where.stop}"
        lines.append(f"| `{name}` | row | {place} | {MEANINGS[name]} |")
    for index, (name, meaning) in enumerate(TABLE.items()):
        lines.append(f"| `{name}` | table | {index} | {meaning} |")
    return "\n".join(lines)


_RANK = LAYOUT["rank"].start
_SETS, _RUNS = LAYOUT["sets_for_opponent"].start, LAYOUT["runs_for_opponent"].start
_AROUND = LAYOUT["around_shown_by_opponent"].start
_IN_PILE = LAYOUT["in_pile"].start


_NEAR_RANKS = (-1, 1, -2, 2)
_OTHERS_OF_RANK = np.array([ACES << card % NUM_RANKS & ~(1 << card) for card in range(NUM_CARDS)], np.int64)
"""int64 (52,): for each card the others of its rank."""
_IN_SUIT = np.array(
    [
        sum(1 << 2 + step for step in _NEAR_RANKS if 0 <= card % NUM_RANKS + step < NUM_RANKS)
        for card in range(NUM_CARDS)
    ],
    np.int64,
)
"""int64 (52,): for each card which of the cards from 2 below to 2 above are in its suit, as bits 0 to 4."""
_NEIGHBOURS = np.array([[bits >> 2 + step & 1 for step in _NEAR_RANKS] for bits in range(32)], np.float32)
"""float32 (32, 4): those bits as the numbers of a row."""


def _shares(whole: int) -> np.ndarray:
    """float32 (128,): 0, 1, 2 ... divided by `whole`; looking them up is faster than dividing."""
    return (np.arange(128) / whole).astype(np.float32)


_PER_3, _PER_6, _PER_10, _PER_12, _PER_50 = (_shares(whole) for whole in (3, 6, 10, 12, 50))
_ONE_OVER = (1 / (1 + np.arange(128))).astype(np.float32)


@kernel
def write_hand(
    row: np.ndarray, hand: int, least: int, unseen: int, knock_limit: int, after: np.ndarray
) -> None:
    """Describe a hand of ten: its deadwood, and what the next card may make of it.

    `least` is the least deadwood among the candidates, `unseen` the cards that may still come; `after`, int64
    (52, 52), is overwritten.
    """
    remaining = meld_completions(hand) & unseen
    while remaining:
        bit = remaining & -remaining
        after[lowest_card(bit), 0] = min_deadwood(hand | bit)
        remaining ^= bit
    _write_hand(row, hand, min_deadwood(hand), least, unseen, knock_limit, after, 0)


@kernel
def _write_hand(
    row: np.ndarray,
    hand: int,
    deadwood: int,
    least: int,
    unseen: int,
    knock_limit: int,
    after: np.ndarray,
    column: int,
) -> None:
    """`write_hand`, where after[card, column] is the deadwood with each card that completes a meld."""
    loose = unmelded_cards(hand)
    dearest = highest_value(loose)  # what a card that fits nowhere replaces
    outs = knock_outs = gin_outs = saved = np.int64(0)
    completions = meld_completions(hand) & unseen
    remaining = completions
    while remaining:
        bit = remaining & -remaining
        card = lowest_card(bit)
        # The dearest of the cards that stay loose goes.
        left = max(after[card, column] - highest_value(loose & ~MELD_MATES[card]), 0)
        outs += left < deadwood
        saved += max(deadwood - left, 0)
        knock_outs += left <= knock_limit
        gin_outs += left == 0
        remaining ^= bit
    others = unseen & ~completions
    room = min(max(knock_limit - deadwood + dearest, 0), 10)
    knock_outs += count_cards(others & CARDS_UP_TO[room])
    for value in range(1, dearest):
        saved += count_cards(others & CARDS_UP_TO[value])
    number = max(count_cards(unseen), 1)
    row[0] = _PER_50[deadwood]
    row[1] = deadwood <= knock_limit
    row[2] = deadwood == 0
    row[3] = _ONE_OVER[max(deadwood - least, 0)]
    row[4] = _PER_12[outs]
    row[5] = knock_outs / np.float32(number)
    row[6] = _PER_6[gin_outs]
    row[7] = saved / np.float32(5 * number)  # the expected saving of the next draw, / 5
    row[8] = _PER_10[count_cards(loose)]
    row[9] = _PER_10[dearest]
    row[10] = _PER_10[count_cards(hand & CARDS_UP_TO[5])]
    row[11] = _PER_12[count_cards(meld_completions(loose) & unseen)]


@kernel
def neighbours(card: int, mask: int) -> int:
    """Which of the cards 2 and 1 below, 1 and 2 above in the suit are in the mask: bits 0, 1, 3 and 4."""
    return (mask << 2) >> card & _IN_SUIT[card]


@kernel
def write_surroundings(row: np.ndarray, start: int, card: int, mask: int) -> None:
    """How many of the card's rank, and which of its four nearest in the suit, are in the mask."""
    near = neighbours(card, mask)
    row[start] = _PER_3[count_cards(_OTHERS_OF_RANK[card] & mask)]
    row[start + 1] = _NEIGHBOURS[near, 0]
    row[start + 2] = _NEIGHBOURS[near, 1]
    row[start + 3] = _NEIGHBOURS[near, 2]
    row[start + 4] = _NEIGHBOURS[near, 3]


@kernel
def write_card(row: np.ndarray, card: int, hand: int, unseen: int, public, player: int) -> None:
    """Describe the card that moves: what it could complete for the opponent, and who did what around it."""
    opponent = 1 - player
    row[_RANK : _RANK + NUM_RANKS] = 0
    row[_RANK + card % NUM_RANKS] = 1
    shown = np.int64(public.shown[opponent])
    reachable = unseen | shown
    same_rank = count_cards(_OTHERS_OF_RANK[card] & reachable)
    row[_SETS] = _PER_6[same_rank * (same_rank - 1)]  # of three possible pairs of its rank
    near = neighbours(card, reachable)
    row[_RUNS] = _PER_3[(near >> 1 & near >> 3 & 1) + (near & near >> 1 & 1) + (near >> 3 & near >> 4 & 1)]
    write_surroundings(row, _AROUND, card, shown)
    write_surroundings(row, _AROUND + 5, card, np.int64(public.discarded[opponent]))
    write_surroundings(row, _AROUND + 10, card, np.int64(public.declined[opponent]))
    write_surroundings(row, _AROUND + 15, card, np.int64(public.discarded[player]))
    write_surroundings(row, _AROUND + 20, card, hand)
    write_surroundings(row, _AROUND + 25, card, unseen)
    row[_IN_PILE] = np.int64(public.pile) >> card & 1


@kernel
def write_discards(
    public, private, player: int, rows: np.ndarray, actions: np.ndarray, after: np.ndarray
) -> None:
    """Rows (11, NUM_FEATURES) and actions (11, 2), discard and knock, of a player who has to discard.

    `after`, int64 (52, 52), is overwritten. The eleven hands differ in one card: what each card that may come
    makes of them all is worked out at once.
    """
    actions[:] = NO_ACTION
    hand = np.int64(private.hand)
    unseen = cards_unseen(public, private, player)
    limit = np.int64(public.knock_limit)
    completions = meld_completions(hand) & unseen
    while completions:
        bit = completions & -completions
        deadwood_after_discards(hand | bit, after[lowest_card(bit)])
        completions ^= bit
    allowed = discards_allowed(public, private)
    # The card that is discarded never comes, so its line of `after` is free for the hands as they are.
    deadwood = after[lowest_card(hand)]
    deadwood_after_discards(hand, deadwood)
    least = np.int64(127)
    remaining = allowed
    while remaining:
        least = min(least, deadwood[lowest_card(remaining)])
        remaining &= remaining - 1
    index = 0
    remaining = allowed
    while remaining:
        bit = remaining & -remaining
        card = lowest_card(bit)
        _write_hand(rows[index], hand ^ bit, deadwood[card], least, unseen, limit, after, card)
        write_card(rows[index], card, hand ^ bit, unseen, public, player)
        actions[index, 0] = card
        if deadwood[card] <= limit:
            actions[index, 1] = KNOCK + card
        remaining ^= bit
        index += 1
    rows[index:] = 0


@kernel
def write_draws(
    public, private, player: int, rows: np.ndarray, actions: np.ndarray, after: np.ndarray
) -> None:
    """Rows and actions (2 or more) of a player who has to draw: take the upcard, leave it.

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
    gone, left = _least_and_dearest(hand | card_bit(upcard), hand)
    least = min(left, min_deadwood(hand))
    taken = (hand | card_bit(upcard)) ^ gone
    write_hand(rows[0], taken, least, unseen, limit, after)
    write_card(rows[0], upcard, taken, unseen, public, player)
    actions[0, 0] = DRAW_UPCARD
    write_hand(rows[1], hand, least, unseen, limit, after)
    write_card(rows[1], upcard, hand, unseen, public, player)
    actions[1, 0] = decline(public)
    rows[DRAW_ROWS:] = 0


@kernel
def write_table(public, private, player: int, row: np.ndarray) -> None:
    """The numbers of the table, float32 (NUM_TABLE,), as the player sees it."""
    opponent = 1 - player
    row[0] = public.stock_left / np.float32(31)
    row[1] = public.turn / np.float32(40)
    row[2] = count_cards(np.int64(public.shown[opponent])) / np.float32(5)
    row[3] = public.phase == OFFER
    write_latest_discards(public, opponent, row, 4)
    unseen = cards_unseen(public, private, player)
    row[7] = total_value(unseen) / np.float32(10 * max(count_cards(unseen), 1))
    row[8] = public.scores[player] / np.float32(100)
    row[9] = public.scores[opponent] / np.float32(100)


@kernel
def write_latest_discards(public, player: int, row: np.ndarray, start: int) -> None:
    """Points / 10 of a player's three latest discards that still lie in the pile, the latest first."""
    turns = (np.int64(-1), np.int64(-1), np.int64(-1))  # of the three, in falling order
    row[start : start + 3] = 0
    remaining = np.int64(public.discarded[player])
    while remaining:
        card = lowest_card(remaining)
        remaining &= remaining - 1
        turn = np.int64(public.discard_turn[card])
        points = _PER_10[CARD_VALUES[card]]
        if turn > turns[0]:
            turns = (turn, turns[0], turns[1])
            row[start + 2], row[start + 1], row[start] = row[start + 1], row[start], points
        elif turn > turns[1]:
            turns = (turns[0], turn, turns[1])
            row[start + 2], row[start + 1] = row[start + 1], points
        elif turn > turns[2]:
            turns = (turns[0], turns[1], turn)
            row[start + 2] = points


@kernel
def write_candidates(
    public, private, player: int, rows: np.ndarray, actions: np.ndarray, table: np.ndarray, after: np.ndarray
) -> bool:
    """All three parts for a player; False if she has to discard and there are too few rows.

    `after`, int64 (52, 52), is overwritten. Who is not to move has no action.
    """
    write_table(public, private, player, table)
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


@kernel
def _least_and_dearest(hand: int, allowed: int):
    """(the dearest of the discards that leave the least deadwood, as a mask; that deadwood)."""
    best, least = least_deadwood_discards(hand, allowed)
    dearest, points = np.int64(0), np.int64(-1)
    while best:
        bit = best & -best
        value = np.int64(CARD_VALUES[lowest_card(bit)])
        if value > points:
            dearest, points = bit, value
        best ^= bit
    return dearest, least


@kernel
def _write_all_discards(views, rows, actions):
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    for index in range(len(views)):
        view = views[index]
        write_discards(view.public, view.private, view.player, rows[index], actions[index], after)


@kernel
def _write_all_draws(views, rows, actions):
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    for index in range(len(views)):
        view = views[index]
        write_draws(view.public, view.private, view.player, rows[index], actions[index], after)


def new_arrays(number: int, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays of any content for the candidates of `number` players: rows, actions, table."""
    return (
        np.empty((number, rows, NUM_FEATURES), np.float32),
        np.empty((number, rows, 2), np.int64),
        np.empty((number, NUM_TABLE), np.float32),
    )


def check_arrays(
    number: int, rows: np.ndarray | None, actions: np.ndarray | None, table: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays to write `number` candidates into: the caller's, or new ones of 11 rows.

    Raises ValueError for arrays of another shape, dtype or memory layout.
    """
    given = actions if rows is None else rows
    most = DISCARD_ROWS if given is None else given.shape[1]
    arrays = []
    for name, array, shape, dtype in (
        ("rows", rows, (number, most, NUM_FEATURES), np.float32),
        ("actions", actions, (number, most, 2), np.int64),
        ("table", table, (number, NUM_TABLE), np.float32),
    ):
        if array is None:
            array = np.empty(shape, dtype)
        if array.shape != shape or array.dtype != dtype or not array.flags.c_contiguous or most < DRAW_ROWS:
            raise ValueError(
                f"{name} must be a contiguous {np.dtype(dtype)} array of shape {shape} (with {DRAW_ROWS} or "
                f"{DISCARD_ROWS} rows, as many as actions), not {array.dtype} {array.shape}"
            )
        arrays.append(array)
    return arrays[0], arrays[1], arrays[2]


def check_written(complete: bool) -> None:
    """Raise ValueError if somebody has to discard and there were two rows."""
    if not complete:
        raise ValueError(f"a player has to discard: her candidates need {DISCARD_ROWS} rows")


def candidate_rows(views: np.ndarray, discarding: bool) -> tuple[np.ndarray, np.ndarray]:
    """Candidates of `VIEW` records (n,) whose players all discard, or all draw.

    Returns rows float32 (n, 11 or 2, NUM_FEATURES) and their actions int64 (n, 11 or 2, 2): discard or draw,
    and knock; `NO_ACTION` where there is none.
    """
    number = DISCARD_ROWS if discarding else DRAW_ROWS
    rows = np.empty((len(views), number, NUM_FEATURES), np.float32)
    actions = np.empty((len(views), number, 2), np.int64)
    (_write_all_discards if discarding else _write_all_draws)(views, rows, actions)
    return rows, actions


def are_discarding(views: np.ndarray) -> np.ndarray:
    """bool (n,): who of these players has to discard (the others have to draw)."""
    return views["public"]["phase"] == DISCARD
