"""``tonic``: the heuristic agent Tonic of Larkin et al. 2021.

Source: Larkin, Collicott and Hiebel, "Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent" (2021).
The paper defines pairs (`hands.pair_partners`), the draw (`wants_pair`) and the discard (Figure 1,
`tonic_discards`). Its knock threshold is 10 at first and lower from about the sixth turn on. Its estimator
has the thresholds 0 and 0.86 and an increment larger than its decrement (`gin_env.estimators.logistic`).
Turns are the bot's own turns, counted from 1.

Readings where the paper is silent:

- "Would form a meld": the upcard is melded in the arrangement of least deadwood. Completing some other meld
  is not enough.
- "Allows a knock": some discard leaves at most this turn's threshold.
- A drawn pair must be narrow. The pairs that are counted, and the pairs that are kept, are broad. The limit
  is fewer pairs than half the number of unmelded cards, rounded down. This gives the paper's 3 for 9 cards
  and 1 for 5.
- Face cards are J, Q and K. The threshold for pairs is 11 in turn 4.
- If all eleven cards are melded, or all but the card just taken, the bot discards as ``simple`` does.
- A card is available if it is neither in the player's hand nor in the pile (Table 1). The opponent might hold
  it.
- The knock thresholds, increment, decrement and decline are not given. The values closest to the paper's
  figures are ``tonic:increment=1.5,decrement=0.75,decline=0.4,knock_at=variable`` (`simple.VARIABLE_KNOCK`).
  The defaults are the best values found by ``python -m research tune tonic`` (`research.recipes.tonic`; 100
  trials, seed 1) against the paper's opponents.

The authors also propose `filtered_fallback`, `break_pairs` and `depth_growth`. They are off by default; see
`TonicBot`.
Results: docs/results/larkin2021.md, "Tuning".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gin_env.agents.base import act_by
from gin_env.agents.simple import knock_limits, points_by_turn
from gin_env.estimators.logistic import cards_held
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD
from gin_env.game.cards import (
    ACES,
    CARD_VALUES,
    CARDS_UP_TO,
    KINGS,
    NUM_RANKS,
    card_bit,
    count_cards,
    each_card,
    pick_card,
)
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import (
    BROAD,
    FACE_CARDS,
    NARROW,
    available_cards,
    decline,
    discard_or_knock,
    keep_best,
    meld_completions,
    own_turn,
    pair_partners,
    unmelded_cards,
    would_be_melded,
)
from gin_env.game.melds import best_set_cards, least_deadwood_discards, run_cards
from gin_env.game.rules import MAX_TURNS
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number, check_switch
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject

TUNED_KNOCK = (10, 10, 10, 10, 5, 0)
"""Knock thresholds by turn, by ``python -m research tune tonic``; the last holds for all later turns."""
ALL_PAIRS = 21
"""Higher than the points of any pair, which has at most 20."""
KEEP_PAIRS_BELOW = (ALL_PAIRS, ALL_PAIRS, 12, 11, 10, 0)
"""Points below which a pair is kept, by turn from the first; the last value holds for all later turns."""

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


class TonicBot(NamedObject):
    """Tonic.

    Parameters
    ----------
    increment, decrement, decline : step sizes of the estimator, see `gin_env.estimators.logistic`.
    held : likelihood above which a card is believed to be in the opponent's hand.
    knock_at : knock threshold, a sequence of thresholds by turn, or ``"variable"`` for
        `simple.VARIABLE_KNOCK`.
    pair_turns : number of turns, from the first, in which the bot may draw the upcard for a pair.
    max_pair_points : maximum points of a pair for which the bot draws the upcard.
    keep_pairs_below : points below which pairs are kept, by turn; the last entry holds for all later turns.
    filtered_fallback : if the filters leave no card, still keep the cards that the opponent desires.
    break_pairs : if a discard allows a knock, discard for the least deadwood, even from a pair.
    depth_growth : relative increase of the estimator's steps with each turn of the hand.
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
        return act_by(_act, view, self._parameters)


# --- Pairs --------------------------------------------------------------------------------------------


@kernel
def count_pairs(unmelded: int, available: int) -> int:
    """Return the number of broad pairs among the unmelded cards."""
    pairs = 0
    for card in each_card(unmelded):
        pairs += count_cards(pair_partners(card, unmelded, available, BROAD))
    return pairs // 2  # each is counted at both of its cards


@kernel
def cheap_partners(card: int, others: int, available: int, needed: int, max_points: int) -> int:
    """Return the mask of the `pair_partners` that make a pair of at most `max_points` with the card."""
    points = min(max_points - np.int64(CARD_VALUES[card]), np.int64(10))
    return pair_partners(card, others & CARDS_UP_TO[max(points, np.int64(0))], available, needed)


# --- Drawing ------------------------------------------------------------------------------------------


@kernel
def wants_pair(public, private, parameters) -> bool:
    """Return whether Tonic draws the upcard to form a pair.

    In the paper, it does so in the first two turns, if the upcard is not a face card and forms a pair of at
    most 18 points with an unmelded card, and if the hand has few pairs: at most three with nine unmelded
    cards, at most one with five, "fewer than approximately half of the unmelded cards".
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
    """Return Tonic's draw: the upcard for a meld, a knock or, in early turns, a pair."""
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
    """First filter: return the mask of the cards in a broad pair of less than `below` points."""
    kept = np.int64(0)
    for card in each_card(unmelded):
        if cheap_partners(card, unmelded, available, BROAD, below - 1):
            kept |= card_bit(card)
    return kept


@kernel
def cards_near_runs(runs: int, unmelded: int, available: int) -> int:
    """Second filter: return the mask of the unmelded cards one gap away from a run.

    Such a card is two ranks beyond an end of the run, and the card in the gap is available.
    """
    gap_above = ((runs & ~KINGS) << 1) & available
    gap_below = ((runs & ~ACES) >> 1) & available
    return (((gap_above & ~KINGS) << 1) | ((gap_below & ~ACES) >> 1)) & unmelded


@kernel
def desired_cards(unmelded: int, held: int) -> int:
    """Third filter: return the mask of the unmelded cards that complete a meld with the cards in `held`."""
    return unmelded & meld_completions(held)


@kernel
def last_choice(candidates: int, unmelded: int, available: int) -> int:
    """Return the mask of the cards that Tonic discards from at random.

    If there are face cards among the candidates, these are the ones in the fewest broad pairs and, of those,
    the highest. Otherwise these are the highest candidates.
    """
    faces = candidates & FACE_CARDS
    best, highest = np.int64(0), np.int64(-1000)
    for card in each_card(faces if faces else candidates):
        rank = card % NUM_RANKS
        pairs = count_cards(pair_partners(card, unmelded, available, BROAD)) if faces else 0
        best, highest = keep_best(best, highest, card, rank - NUM_RANKS * pairs)
    return best


@kernel
def tonic_discards(public, private, player: int, parameters) -> int:
    """Return the mask of the cards that Tonic discards from at random, as in the paper's Figure 1.

    Tonic discards an unmelded card that no filter keeps. The filters keep

    1. pairs: all in turns 1 and 2, those of less than 12 points in turn 3, falling to 10 in turn 5, and none
       later,
    2. in turns 1 and 2, cards two ranks beyond an end of a run, if the card between is still available,
    3. cards that would complete a meld of cards that the opponent is believed to hold.

    If no card remains, or only the card just taken, Tonic chooses among all unmelded cards.
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
    held = cards_held(public, private, player, parameters, parameters.held_value)
    desired = desired_cards(unmelded, held)
    candidates = unmelded & allowed & ~kept & ~desired
    if not candidates and parameters.filtered_fallback:
        candidates = unmelded & allowed & ~desired
    if not candidates:
        candidates = unmelded & allowed
    return last_choice(candidates, unmelded, available)


# --- Deciding -----------------------------------------------------------------------------------------


@kernel
def knock_limit(public, parameters) -> int:
    """Return the maximum deadwood with which Tonic knocks in this turn."""
    return min(parameters.knock_limits[own_turn(public)], public.knock_limit)


@kernel
def tonic_action(public, private, player: int, random: int, parameters) -> int:
    """Return Tonic's action; `parameters` is a record of dtype `PARAMETERS`."""
    if public.phase != DISCARD:
        return tonic_draw(public, private, parameters)
    card = pick_card(tonic_discards(public, private, player, parameters), random)
    return discard_or_knock(np.int64(private.hand), card, knock_limit(public, parameters))


@kernel
def _act(views, parameters, actions):
    for index, view in enumerate(views):
        actions[index] = tonic_action(view.public, view.private, view.player, view.random, parameters)
