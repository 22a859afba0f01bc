"""Numbers of the abstractions, so that the same kernels train and play all of them."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.cfr import paper_sets, plus_sets
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import unmelded_cards
from gin_env.game.melds import least_deadwood_discards, min_deadwood
from gin_env.support.compilation import kernel

PAPER = 0
PLUS = 1
DEALT = 2
KINDS = {"paper": PAPER, "plus": PLUS, "dealt": DEALT}
"""``"paper"`` and ``"dealt"``: `paper_sets`; ``"plus"``: `plus_sets`."""
DEFAULT_CANDIDATES = {"paper": "least", "plus": "near", "dealt": "least"}
"""The default set of candidate discards for each abstraction, one of `CANDIDATES`."""

# The cards from which a discard is chosen.
LEAST_DEADWOOD, NEAR_LEAST, UNMELDED, ALL_CARDS = 0, 1, 2, 3
NEAR = 4
"""Maximum extra deadwood, in points, of the candidates with `NEAR_LEAST`."""
CANDIDATES = {"least": LEAST_DEADWOOD, "near": NEAR_LEAST, "unmelded": UNMELDED, "all": ALL_CARDS}
"""``"least"``: cards whose discard leaves the least deadwood; ``"near"``: also unmelded cards that leave at
most `NEAR` points more; ``"unmelded"``: cards outside the best melds; ``"all"``: all allowed discards."""


def decision_slices(kind: int) -> tuple[slice, slice, slice]:
    """Return the slices of the information sets for discards, draws and knocks."""
    first_draw, first_knock, end = plus_sets.FIRST_DRAW_SET, plus_sets.FIRST_KNOCK_SET, plus_sets.NUM_SETS
    if kind != PLUS:
        first_draw = paper_sets.first_draw_set(stages_of(kind))
        first_knock = paper_sets.first_knock_set(stages_of(kind))
        end = first_knock + paper_sets.KNOCK_SETS
    return slice(0, first_draw), slice(first_draw, first_knock), slice(first_knock, end)


def number_of_sets(kind: int) -> int:
    """Return the number of information sets of an abstraction."""
    return decision_slices(kind)[2].stop


@kernel
def stages_of(kind: int) -> int:
    """Return the number of stages of a hand that ``"paper"`` or ``"dealt"`` distinguishes."""
    return paper_sets.DEALT_COUNTS if kind == DEALT else paper_sets.STAGES


@kernel
def discard_set_of(kind: int, public, private, player: int, card: int) -> int:
    """Return the number of the information set for discarding this card."""
    if kind == PLUS:
        return plus_sets.discard_set(public, private, player, card)
    return paper_sets.discard_set(public, np.int64(private.hand), card, stages_of(kind))


@kernel
def draw_set_of(kind: int, public, private, player: int) -> int:
    """Return the number of the information set for taking the upcard."""
    if kind == PLUS:
        return plus_sets.draw_set(public, private, player)
    return paper_sets.draw_set(public, np.int64(private.hand), stages_of(kind))


@kernel
def knock_set_of(kind: int, public, private, player: int, rest: int) -> int:
    """Return the number of the information set for knocking with the cards in the mask `rest`."""
    if kind == PLUS:
        return plus_sets.knock_set(public, private, player, rest)
    return paper_sets.knock_set(public, min_deadwood(rest), stages_of(kind))


@kernel
def discard_candidates(public, private, which: int) -> int:
    """Return a mask of the candidate discards, never empty. `which` is a value of `CANDIDATES`."""
    hand = np.int64(private.hand)
    allowed = discards_allowed(public, private)
    if which == ALL_CARDS:
        return allowed
    if which == UNMELDED:
        loose = unmelded_cards(hand) & allowed
        if loose:
            return loose
    best, least = least_deadwood_discards(hand, allowed)
    if which != LEAST_DEADWOOD:
        remaining = unmelded_cards(hand) & allowed & ~best
        while remaining:
            bit = remaining & -remaining
            if min_deadwood(hand ^ bit) <= least + NEAR:
                best |= bit
            remaining ^= bit
    return best
