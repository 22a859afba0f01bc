"""Abstractions, and decisions by a table of probabilities, used in training, its rollouts and play.

Abstractions have numbers, so that the same kernels train and play all of them.

In information sets not visited in training the paper decides at random ("a discard would be chosen at
random").

Discards: the paper decides for each card whether to discard or to keep it, and does not say how eleven such
answers determine one discard. Reading: cards are sampled from the candidates with replacement until one is to
be discarded, so each card is chosen with a probability proportional to its entry. Cards without an entry are
ignored if another card has one; if no card has one, the choice is uniform.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env.agents.cfr import paper_sets, plus_sets
from gin_env.game.actions import KNOCK
from gin_env.game.cards import card_bit, each_card, lowest_card, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import draw_upcard_if, keep_best, unmelded_cards
from gin_env.game.melds import least_deadwood_discards, min_deadwood
from gin_env.game.state import DISCARD
from gin_env.game.streams import mix, unit
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
        first_draw = paper_sets.FIRST_DRAW_SETS[int(kind == DEALT)]
        first_knock = paper_sets.FIRST_KNOCK_SETS[int(kind == DEALT)]
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
        for card in each_card(unmelded_cards(hand) & allowed & ~best):
            if min_deadwood(hand & ~card_bit(card)) <= least + NEAR:
                best |= card_bit(card)
    return best


# --- Decisions ------------------------------------------------------------------------------------------


class Strategy(NamedTuple):
    """What the kernels need to decide by a table."""

    probabilities: np.ndarray
    """float64 (number of information sets,): the probability of discarding, taking or knocking; negative for
    sets not visited in training."""
    abstraction: int
    """One of the values of `KINDS`."""
    candidates: int
    """The cards from which discards are chosen, one of the values of `CANDIDATES`."""
    purified: bool
    """Whether to take the most probable alternative instead of sampling one."""


@kernel
def decide(probability: float, random: int, purified: bool) -> bool:
    """Return whether to act, by a probability (negative means 1/2); if purified, the likelier decision."""
    if probability < 0 or (purified and probability == 0.5):
        return unit(random) < 0.5
    return probability > 0.5 if purified else unit(random) < probability


@kernel
def choose_discard(public, private, player, candidates: int, random, strategy) -> int:
    """Return one of the candidates, chosen by the strategy."""
    if not candidates & (candidates - 1):
        return lowest_card(candidates)
    known, best, highest, total = np.int64(0), np.int64(0), -1.0, 0.0
    for card in each_card(candidates):
        probability = strategy.probabilities[
            discard_set_of(strategy.abstraction, public, private, player, card)
        ]
        if probability >= 0:
            known |= card_bit(card)
            total += probability
            best, highest = keep_best(best, highest, card, probability)
    if not known:
        return pick_card(candidates, random)
    if strategy.purified or total <= 0:
        return pick_card(best, random)
    threshold = unit(random) * total
    for card in each_card(known):
        threshold -= strategy.probabilities[
            discard_set_of(strategy.abstraction, public, private, player, card)
        ]
        if threshold < 0:
            break
    return card


@kernel
def choose_draw(public, private, player, random, strategy) -> bool:
    """Return whether to take the upcard by the strategy."""
    probability = strategy.probabilities[draw_set_of(strategy.abstraction, public, private, player)]
    return decide(probability, random, strategy.purified)


@kernel
def choose_knock(public, private, player, rest: int, random, strategy) -> bool:
    """Return whether to knock by the strategy. The deadwood of `rest` must be within the knock limit."""
    probability = strategy.probabilities[knock_set_of(strategy.abstraction, public, private, player, rest)]
    return decide(probability, random, strategy.purified)


@kernel
def draw_by_strategy(public, private, player, random, strategy) -> int:
    """Return the draw that the strategy decides on."""
    return draw_upcard_if(public, choose_draw(public, private, player, random, strategy))


@kernel
def discard_or_knock_by_strategy(public, private, player, card, random, strategy, early_knock: int) -> int:
    """Return the action that discards this card, and knocks with at most `early_knock` or by the strategy."""
    rest = np.int64(private.hand) & ~card_bit(card)
    deadwood = min_deadwood(rest)
    if deadwood > public.knock_limit:
        return card
    knock = deadwood <= early_knock or choose_knock(public, private, player, rest, random, strategy)
    return card + (KNOCK if knock else 0)


@kernel
def strategy_action(public, private, player, random, strategy) -> int:
    """Return the action that the strategy decides on."""
    if public.phase != DISCARD:
        return draw_by_strategy(public, private, player, random, strategy)
    candidates = discard_candidates(public, private, strategy.candidates)
    card = choose_discard(public, private, player, candidates, mix(random, 1), strategy)
    return discard_or_knock_by_strategy(public, private, player, card, mix(random, 2), strategy, -1)
