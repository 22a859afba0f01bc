"""``tonic``: the heuristic agent Tonic of paper 001.

Source: Larkin, Collicott and Hiebel, "Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent" (2021).
A turn is the bot's own, counted from 1. The paper gives pairs (`hands.pair_partners`), draw (`wants_pair`),
discard (Figure 1, `tonic_discards`), a knock threshold of 10 at first and less from about the sixth turn on,
and an estimator with thresholds 0 and 0.86 whose increment is larger than its decrement
(`gin_env.estimators.logistic`).

Readings where the paper is silent:

- "Would form a meld": the arrangement of least deadwood melds the upcard (not: it completes some meld).
- "Allows a knock": with a discard that leaves at most the threshold of this turn.
- A drawn pair must be narrow, the pairs counted are broad, kept pairs are broad, the limit is: fewer pairs
  than half the unmelded cards, rounded down (which gives the paper's 3 for 9 and 1 for 5).
- Face cards are J, Q and K. The threshold for pairs is 11 in turn 4.
- An eleven-card hand all melded, or with only the taken card unmelded, discards as ``simple``.
- Available are cards neither in the player's hand nor in the pile (Table 1); the opponent may hold them.
- The knock thresholds, increment, decrement and decline are not given. *Nearest to the paper's figures* is
  ``tonic:increment=1.5,decrement=0.75,decline=0.4,knock_at=variable`` (`simple.VARIABLE_KNOCK`). The defaults
  are the best that ``gin-rummy tune tonic`` (`gin_env.training.tonic`; 100 trials, seed 1) found against the
  paper's opponents.

The authors propose `filtered_fallback`, `break_pairs` and `depth_growth`, off by default (see `TonicBot`).
Measured: docs/results/paper-001.md, "Tuning".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gin_env.agents.simple import knock_limits, points_by_turn
from gin_env.estimators.logistic import cards_held
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD
from gin_env.game.cards import (
    ACES,
    CARD_VALUES,
    KINGS,
    NUM_RANKS,
    card_bit,
    count_cards,
    lowest_card,
    pick_card,
)
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import (
    BROAD,
    CARDS_UP_TO,
    FACE_CARDS,
    NARROW,
    available_cards,
    decline,
    discard_or_knock,
    keep_best,
    own_turn,
    pair_partners,
    unmelded_cards,
    would_be_melded,
)
from gin_env.game.melds import best_set_cards, completes_meld, least_deadwood_discards, run_cards
from gin_env.game.rules import MAX_TURNS
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number, check_switch
from gin_env.support.compilation import kernel

TUNED_KNOCK = (10, 10, 10, 10, 5, 0)
"""Knock thresholds by turn, the last one for all later turns: found by ``gin-rummy tune tonic``."""
ALL_PAIRS = 21
"""Above every pair, which has at most 20 points."""
KEEP_PAIRS_BELOW = (ALL_PAIRS, ALL_PAIRS, 12, 11, 10, 0)
"""Points below which a pair is kept in the first, second, ... turn; the last one for all later turns."""

PARAMETERS = np.dtype(
    [
        ("increment", np.float64),
        ("decrement", np.float64),
        ("decline", np.float64),
        ("depth_growth", np.float64),
        ("held_value", np.float64),  # logit of `held`
        ("pair_turns", np.int64),
        ("max_pair_points", np.int64),
        ("keep_pairs_below", np.int64, (MAX_TURNS,)),  # by turn of the player, counted from 1
        ("knock_limits", np.int64, (MAX_TURNS,)),  # the same
        ("filtered_fallback", np.bool_),
        ("break_pairs", np.bool_),
    ],
    align=True,
)


class TonicBot:
    """Tonic.

    Parameters
    ----------
    increment, decrement, decline : changes of the estimator's values, see `gin_env.estimators.logistic`.
    held : the likelihood above which a card is believed to be in the opponent's hand.
    knock_at : the threshold, a sequence of thresholds by turn, or ``"variable"`` for `simple.VARIABLE_KNOCK`.
    pair_turns : number of turns, from the first on, in which the upcard is drawn for a pair.
    max_pair_points : maximum points of a pair for which the upcard is drawn.
    keep_pairs_below : points below which pairs are kept, by turn; the last entry for all later turns.
    filtered_fallback : when the filters leave nothing, the opponent's desired cards are still kept back.
    break_pairs : when some discard allows a knock, the discard with the least deadwood is made, pair or not.
    depth_growth : changes of the estimate grow by this share of themselves with each turn of the hand.
    """

    name = "tonic"

    def __init__(
        self,
        increment: float = 0.1,
        decrement: float = 0.2,
        decline: float = 0.5,
        held: float = 0.86,
        knock_at: int | str | Sequence[int] = TUNED_KNOCK,
        pair_turns: int = 2,
        max_pair_points: int = 18,
        keep_pairs_below: Sequence[int] = KEEP_PAIRS_BELOW,
        filtered_fallback: bool = False,
        break_pairs: bool = False,
        depth_growth: float = 0.0,
    ) -> None:
        parameters = np.zeros(1, PARAMETERS)[0]
        parameters["increment"] = check_number("increment", increment, 0, 100)
        parameters["decrement"] = check_number("decrement", decrement, 0, 100)
        parameters["decline"] = check_number("decline", decline, 0, 100)
        parameters["depth_growth"] = check_number("depth_growth", depth_growth, 0, 10)
        held = check_number("held", held, 0.5, 0.999)
        parameters["held_value"] = math.log(held / (1 - held))
        parameters["pair_turns"] = check_integer("pair_turns", pair_turns, 0, MAX_TURNS)
        parameters["max_pair_points"] = check_integer("max_pair_points", max_pair_points, 0, 20)
        parameters["keep_pairs_below"] = points_by_turn("keep_pairs_below", keep_pairs_below, ALL_PAIRS)
        parameters["knock_limits"] = knock_limits(knock_at)
        parameters["filtered_fallback"] = check_switch("filtered_fallback", filtered_fallback)
        parameters["break_pairs"] = check_switch("break_pairs", break_pairs)
        self._parameters = parameters

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        _act(view.records, self._parameters, actions)
        return actions


# --- Pairs --------------------------------------------------------------------------------------------


@kernel
def count_pairs(unmelded: int, available: int) -> int:
    """Number of broad pairs among the unmelded cards."""
    pairs = 0
    remaining = unmelded
    while remaining:
        card = lowest_card(remaining)
        remaining &= remaining - 1  # so that each pair is counted once, by its lower card
        pairs += count_cards(pair_partners(card, remaining, available, BROAD))
    return pairs


@kernel
def cards_worth_at_most(points: int) -> int:
    """Mask of all cards worth at most `points`; empty for 0 and less."""
    return CARDS_UP_TO[max(0, min(points, 10))]


@kernel
def cheap_partners(card: int, others: int, available: int, needed: int, max_points: int) -> int:
    """`pair_partners` that make a pair of at most `max_points` with the card."""
    cheap = others & cards_worth_at_most(max_points - np.int64(CARD_VALUES[card]))
    return pair_partners(card, cheap, available, needed)


# --- Drawing ------------------------------------------------------------------------------------------


@kernel
def wants_pair(public, private, parameters) -> bool:
    """Whether Tonic draws the upcard to form a pair.

    The paper: in the first two turns, if it forms a pair of at most 18 points with an unmelded card, is no
    face card, and the hand has few pairs: at most three with nine unmelded cards, at most one with five,
    "fewer than approximately half of the unmelded cards".
    """
    upcard = np.int64(public.upcard)
    if own_turn(public) > parameters.pair_turns or card_bit(upcard) & FACE_CARDS:
        return False
    unmelded = unmelded_cards(np.int64(private.hand))
    available = available_cards(public, private)
    if not cheap_partners(upcard, unmelded, available, NARROW, parameters.max_pair_points):
        return False
    return count_pairs(unmelded, available) < count_cards(unmelded) // 2


@kernel
def tonic_draw(public, private, parameters) -> int:
    """Take the upcard for a meld, a knock, or early on for a pair."""
    if public.phase == STOCK_ONLY:
        return DRAW_STOCK
    hand = np.int64(private.hand)
    if would_be_melded(hand, public.upcard) or wants_pair(public, private, parameters):
        return DRAW_UPCARD
    _, least = least_deadwood_discards(hand | card_bit(public.upcard), hand)
    if least <= knock_limit(public, parameters):
        return DRAW_UPCARD
    return decline(public)


# --- Discarding ---------------------------------------------------------------------------------------


@kernel
def kept_pairs(unmelded: int, available: int, below: int) -> int:
    """First filter: the cards that are in a broad pair of less than `below` points."""
    kept = np.int64(0)
    remaining = unmelded
    while remaining:
        card = lowest_card(remaining)
        partners = cheap_partners(card, remaining, available, BROAD, below - 1)
        if partners:
            kept |= card_bit(card) | partners
        remaining &= remaining - 1
    return kept


@kernel
def cards_near_runs(runs: int, unmelded: int, available: int) -> int:
    """Second filter: unmelded cards two ranks beyond an end of a run, if the card between is available."""
    gap_above = ((runs & ~KINGS) << 1) & available
    gap_below = ((runs & ~ACES) >> 1) & available
    return (((gap_above & ~KINGS) << 1) | ((gap_below & ~ACES) >> 1)) & unmelded


@kernel
def cards_believed_held(public, private, player: int, parameters) -> int:
    """Mask of what the logistic estimator with these `PARAMETERS` says that the opponent holds."""
    return cards_held(
        public,
        private,
        player,
        parameters.increment,
        parameters.decrement,
        parameters.decline,
        parameters.depth_growth,
        parameters.held_value,
    )


@kernel
def desired_cards(unmelded: int, held: int) -> int:
    """Third filter: unmelded cards that complete a meld with cards which the opponent is believed to hold."""
    desired = np.int64(0)
    if held & (held - 1):  # at least two
        remaining = unmelded
        while remaining:
            card = lowest_card(remaining)
            if completes_meld(held, card):
                desired |= card_bit(card)
            remaining &= remaining - 1
    return desired


@kernel
def last_choice(candidates: int, unmelded: int, available: int) -> int:
    """Mask of what Tonic discards from: the highest of the face cards in fewest broad pairs, else of all."""
    faces = candidates & FACE_CARDS
    best, highest = np.int64(0), np.int64(-1000)
    remaining = faces if faces else candidates
    while remaining:
        card = lowest_card(remaining)
        rank = card % NUM_RANKS
        pairs = count_cards(pair_partners(card, unmelded, available, BROAD)) if faces else 0
        best, highest = keep_best(best, highest, card, rank - NUM_RANKS * pairs)
        remaining &= remaining - 1
    return best


@kernel
def tonic_discards(public, private, player: int, parameters) -> int:
    """Mask of the cards that Tonic discards from at random.

    The paper's Figure 1: an unmelded card that no filter keeps. The filters keep pairs (all in turns 1 and 2;
    of less than 12 points in turn 3, falling to 10 in turn 5; none later); in turns 1 and 2 cards two ranks
    beyond an end of a run, if the card between may still come; and cards that would complete a meld of the
    cards that the opponent is believed to hold. If nothing or only the card just taken remains, all unmelded
    cards count.
    """
    hand = np.int64(private.hand)
    allowed = discards_allowed(public, private)
    rest = hand & ~best_set_cards(hand)
    runs = run_cards(rest)
    unmelded = rest & ~runs
    if not unmelded & allowed or parameters.break_pairs:
        best, least = least_deadwood_discards(hand, allowed)
        if not unmelded & allowed or least <= knock_limit(public, parameters):
            return best
    available = available_cards(public, private)
    turn = own_turn(public)
    kept = kept_pairs(unmelded, available, parameters.keep_pairs_below[turn])
    if turn <= 2:
        kept |= cards_near_runs(runs, unmelded, available)
    desired = desired_cards(unmelded, cards_believed_held(public, private, player, parameters))
    candidates = unmelded & allowed & ~kept & ~desired
    if not candidates and parameters.filtered_fallback:
        candidates = unmelded & allowed & ~desired
    if not candidates:
        candidates = unmelded & allowed
    return last_choice(candidates, unmelded, available)


# --- Deciding -----------------------------------------------------------------------------------------


@kernel
def knock_limit(public, parameters) -> int:
    """The deadwood with which Tonic knocks in this turn."""
    return min(parameters.knock_limits[own_turn(public)], public.knock_limit)


@kernel
def tonic_action(public, private, player: int, random: int, parameters) -> int:
    """Tonic's decision; `parameters` is a record of dtype `PARAMETERS`."""
    if public.phase != DISCARD:
        return tonic_draw(public, private, parameters)
    card = pick_card(tonic_discards(public, private, player, parameters), random)
    return discard_or_knock(np.int64(private.hand), card, knock_limit(public, parameters))


@kernel
def _act(views, parameters, actions):
    for index in range(len(views)):
        view = views[index]
        actions[index] = tonic_action(view.public, view.private, view.player, view.random, parameters)
