"""The numbers that describe a candidate and the context of a decision: their names, and how they are written.

`LAYOUT` names the numbers of a row (one candidate), `CONTEXT` those that all candidates of a decision share.
They are the quantities that the papers use: deadwood, melds, hit count (Truong and Neller 2021, "Hand
macro-features"), the cards near the moved card that the opponent has shown, discarded and declined (Larkin et
al., Francis et al. 2021), and the melds that it could complete (Truong and Neller 2021, "Defensive Score").
They treat the suits alike. `gin_env.observations.candidates` lists the candidates.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from gin_env.game.cards import (
    ACES,
    CARD_VALUES,
    CARDS_UP_TO,
    NUM_CARDS,
    NUM_RANKS,
    card_bit,
    count_cards,
    each_card,
    total_value,
)
from gin_env.game.hands import MELD_MATES, highest_value, meld_completions, unmelded_cards
from gin_env.game.melds import min_deadwood
from gin_env.game.state import OFFER
from gin_env.observations.knowledge import cards_unseen
from gin_env.support.compilation import kernel

_HAND = {
    "deadwood": "deadwood / 50",
    "may_knock": "1 if the player may knock with it",
    "gin": "1 if it is gin",
    "near_least": "1 / (1 + deadwood above that of the best candidate)",
    "outs": "unseen cards that complete a meld and lower the deadwood / 12",
    "knock_outs": "share of the unseen cards after which a knock is possible",
    "gin_outs": "unseen cards that make gin / 6",
    "saving": "points that the next unseen card saves on average / 5",
    "unmelded": "unmelded cards / 10",
    "highest": "points of the highest unmelded card / 10",
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
    "unseen": "that the player has not seen: in the stock or with the opponent",
}
MEANINGS = {
    **{name: f"of the hand: {meaning}" for name, meaning in _HAND.items()},
    **{name: f"of the card that moves: {meaning}" for name, meaning in _CARD.items()},
    **{f"around_{name}": f"around it, cards {meaning}" for name, meaning in _SURROUNDINGS.items()},
    "in_pile": "1 if the card is in the pile",
    "leaves_upcard": "1 if it leaves the upcard",
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
(`write_card`). For each of six groups of cards, five numbers describe the cards around the one that moves:
how many of its rank are in the group (/ 3), and whether the cards 1 below, 1 above, 2 below and 2 above in
its suit are. The last number distinguishes the two rows of a draw. Without it, a network cannot know that a
card from the stock is about to improve the second hand.
"""
NUM_FEATURES = LAYOUT["leaves_upcard"].stop

CONTEXT = {
    "stock_left": "cards left in the stock / 31",
    "turn": "turns completed / 40",
    "shown_by_opponent": "cards that the opponent took from the pile and still holds / 5",
    "opening_offer": "1 if the first upcard is on offer",
    "last_discard": "points of the opponent's latest discard in the pile / 10, 0 without one",
    "second_last_discard": "of the one before / 10",
    "third_last_discard": "of the one before that / 10",
    "unseen_points": "mean points of the unseen cards / 10",
    "own_score": "own score / target score",
    "opponent_score": "opponent's score / target score",
    "knock_limit": "most deadwood for a knock in this hand / 10",
    "points_double": "1 if the points of this hand count double",
    "gin_bonus": "points for gin / 25",
    "undercut_bonus": "points for an undercut / 25",
}
"""The numbers of the context in order, name -> meaning."""
NUM_CONTEXT = len(CONTEXT)


def part(rows: Any, name: str) -> Any:
    """Return a zero-copy view of one part of rows (..., NUM_FEATURES), an array or a tensor.

    Its shape is (...) for a single number, else (..., 13) or (..., 5). Raises ValueError for an unknown name
    or another last dimension.
    """
    if name not in LAYOUT:
        raise ValueError(f"unknown part {name!r}; the parts of a row are {', '.join(LAYOUT)}")
    if rows.shape[-1:] != (NUM_FEATURES,):
        raise ValueError(f"rows must have shape (..., {NUM_FEATURES}), not {tuple(rows.shape)}")
    where = LAYOUT[name]
    return rows[..., where] if where.stop - where.start > 1 else rows[..., where.start]


# Where each part begins, by name; numba reads the fields of a named tuple as constants.
_Row = namedtuple("_Row", LAYOUT)  # type: ignore[misc]  # mypy wants a literal
_AT: Any = _Row(*(where.start for where in LAYOUT.values()))
_Context = namedtuple("_Context", CONTEXT)  # type: ignore[misc]
_IN_CONTEXT: Any = _Context(*range(len(CONTEXT)))

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


# Looking up 0, 1, 2 ... divided by a number is faster than dividing.
_PER_3, _PER_6, _PER_10, _PER_12, _PER_50 = (
    (np.arange(128) / whole).astype(np.float32) for whole in (3, 6, 10, 12, 50)
)
_ONE_OVER = (1 / (1 + np.arange(128))).astype(np.float32)


@kernel
def write_hand(
    row: np.ndarray, hand: int, least: int, unseen: int, knock_limit: int, after: np.ndarray
) -> None:
    """Describe a hand of ten: its deadwood, and its possible improvements by the next card.

    `least` is the least deadwood among the candidates, `unseen` the cards that may still come; `after`, int64
    (52, 52), is overwritten.
    """
    for card in each_card(meld_completions(hand) & unseen):
        after[card, 0] = min_deadwood(hand | card_bit(card))
    describe_hand(row, hand, min_deadwood(hand), least, unseen, knock_limit, after, 0)


@kernel
def describe_hand(
    row: np.ndarray,
    hand: int,
    deadwood: int,
    least: int,
    unseen: int,
    knock_limit: int,
    after: np.ndarray,
    column: int,
) -> None:
    """Describe a hand like `write_hand`; `after` has the deadwood with each meld-completing card."""
    loose = unmelded_cards(hand)
    highest = highest_value(loose)  # what a card that fits nowhere replaces
    outs = knock_outs = gin_outs = saved = np.int64(0)
    completions = meld_completions(hand) & unseen
    for card in each_card(completions):
        # The highest of the cards that stay loose goes.
        left = max(after[card, column] - highest_value(loose & ~MELD_MATES[card]), 0)
        outs += left < deadwood
        saved += max(deadwood - left, 0)
        knock_outs += left <= knock_limit
        gin_outs += left == 0
    others = unseen & ~completions
    room = min(max(knock_limit - deadwood + highest, 0), 10)
    knock_outs += count_cards(others & CARDS_UP_TO[room])
    for value in range(1, highest):
        saved += count_cards(others & CARDS_UP_TO[value])
    num_unseen = max(count_cards(unseen), 1)
    row[_AT.deadwood] = _PER_50[deadwood]
    row[_AT.may_knock] = deadwood <= knock_limit
    row[_AT.gin] = deadwood == 0
    row[_AT.near_least] = _ONE_OVER[max(deadwood - least, 0)]
    row[_AT.outs] = _PER_12[outs]
    row[_AT.knock_outs] = knock_outs / np.float32(num_unseen)
    row[_AT.gin_outs] = _PER_6[gin_outs]
    row[_AT.saving] = saved / np.float32(5 * num_unseen)  # the expected saving of the next draw, / 5
    row[_AT.unmelded] = _PER_10[count_cards(loose)]
    row[_AT.highest] = _PER_10[highest]
    row[_AT.low_cards] = _PER_10[count_cards(hand & CARDS_UP_TO[5])]
    row[_AT.completions] = _PER_12[count_cards(meld_completions(loose) & unseen)]


@kernel
def neighbours(card: int, mask: int) -> int:
    """Return which cards 2 and 1 below, 1 and 2 above in the suit are in the mask: bits 0, 1, 3 and 4."""
    return (mask << 2) >> card & _IN_SUIT[card]


@kernel
def write_surroundings(row: np.ndarray, start: int, card: int, mask: int) -> None:
    """Write how many cards of the rank, and which of the four nearest in the suit, are in the mask."""
    near = neighbours(card, mask)
    row[start] = _PER_3[count_cards(_OTHERS_OF_RANK[card] & mask)]
    row[start + 1] = _NEIGHBOURS[near, 0]
    row[start + 2] = _NEIGHBOURS[near, 1]
    row[start + 3] = _NEIGHBOURS[near, 2]
    row[start + 4] = _NEIGHBOURS[near, 3]


@kernel
def write_card(
    row: np.ndarray, card: int, hand: int, unseen: int, public, player: int, leaves_upcard: bool
) -> None:
    """Describe the card that moves: the opponent's possible melds with it, and the actions around it."""
    opponent = 1 - player
    row[_AT.rank : _AT.rank + NUM_RANKS] = 0
    row[_AT.rank + card % NUM_RANKS] = 1
    shown = np.int64(public.shown[opponent])
    reachable = unseen | shown
    same_rank = count_cards(_OTHERS_OF_RANK[card] & reachable)
    row[_AT.sets_for_opponent] = _PER_6[same_rank * (same_rank - 1)]  # of three possible pairs of its rank
    near = neighbours(card, reachable)
    row[_AT.runs_for_opponent] = _PER_3[
        (near >> 1 & near >> 3 & 1) + (near & near >> 1 & 1) + (near >> 3 & near >> 4 & 1)
    ]
    write_surroundings(row, _AT.around_shown_by_opponent, card, shown)
    write_surroundings(row, _AT.around_discarded_by_opponent, card, np.int64(public.discarded[opponent]))
    write_surroundings(row, _AT.around_declined_by_opponent, card, np.int64(public.declined[opponent]))
    write_surroundings(row, _AT.around_discarded_by_player, card, np.int64(public.discarded[player]))
    write_surroundings(row, _AT.around_in_hand, card, hand)
    write_surroundings(row, _AT.around_unseen, card, unseen)
    row[_AT.in_pile] = np.int64(public.pile) >> card & 1
    row[_AT.leaves_upcard] = leaves_upcard


@kernel
def write_context(public, private, player: int, row: np.ndarray) -> None:
    """Write the context of the player's decision into float32 (NUM_CONTEXT,)."""
    opponent = 1 - player
    row[_IN_CONTEXT.stock_left] = public.stock_left / np.float32(31)
    row[_IN_CONTEXT.turn] = public.turn / np.float32(40)
    row[_IN_CONTEXT.shown_by_opponent] = count_cards(np.int64(public.shown[opponent])) / np.float32(5)
    row[_IN_CONTEXT.opening_offer] = public.phase == OFFER
    write_latest_discards(public, opponent, row, _IN_CONTEXT.last_discard)
    unseen = cards_unseen(public, private, player)
    row[_IN_CONTEXT.unseen_points] = total_value(unseen) / np.float32(10 * max(count_cards(unseen), 1))
    rules = public.rules
    row[_IN_CONTEXT.own_score] = public.scores[player] / np.float32(rules.target_score)
    row[_IN_CONTEXT.opponent_score] = public.scores[opponent] / np.float32(rules.target_score)
    row[_IN_CONTEXT.knock_limit] = public.knock_limit / np.float32(10)
    row[_IN_CONTEXT.points_double] = public.points_double
    row[_IN_CONTEXT.gin_bonus] = rules.gin_bonus / np.float32(25)
    row[_IN_CONTEXT.undercut_bonus] = rules.undercut_bonus / np.float32(25)


@kernel
def write_latest_discards(public, player: int, row: np.ndarray, start: int) -> None:
    """Write the points / 10 of a player's last three discards that are still in the pile, latest first."""
    turns = (np.int64(-1), np.int64(-1), np.int64(-1))  # of the three, in falling order
    row[start : start + 3] = 0
    for card in each_card(np.int64(public.discarded[player])):
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
