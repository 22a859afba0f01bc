"""``safe-discard``: Simple with safer discards, based on an estimate of the opponent's hand.

Source: Francis et al. 2021, "Hand Estimation Application" and "Future Work"; the rule itself is missing from
the text ("a modified Simple Player, which played with a modified discard rule:").

The paper reports "a statistical win-rate advantage of 5 %" over the Simple player, without the number of
games. As future work it names estimates in the draw and knock decisions, and the value of the extremes of
estimation: knowing nothing and knowing everything.

The rules of this bot:

- Discard: the card that minimises the deadwood left + ``caution`` * the discard risk, with ties broken at
  random. The risk is equation 5 of Truong and Neller 2021 (`gin_env.estimators.risk`), the expected number of
  melds of three that the opponent can make with the card. With ``caution`` = 0 the discard is Simple's. Like
  Simple, the bot does not repeat a {drawn, discarded} pair unless it has no other discard. A discard that
  ends the hand carries no risk, so it is Simple's.
- ``draw``: the bot also takes an upcard that leaves more than ``draw_margin`` points less deadwood than the
  expected deadwood after a draw from the stock. An unseen card is in the stock with probability 1 - its
  estimate.
- ``knock``: Simple knocks immediately. With this switch, the bot knocks only if the expected gain is at least
  ``knock_above`` points. The expectation is the mean over 32 hands of the opponent sampled from the estimate,
  including lay-offs and undercuts. With gin the bot always knocks.

Results: docs/results/estimators.md, "In play".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env import estimators
from gin_env.agents.base import act_by
from gin_env.agents.simple import repeated_discards, simple_draw
from gin_env.estimators.base import Estimator, NeedsHands
from gin_env.estimators.risk import discard_risk
from gin_env.game.actions import DRAW_UPCARD, KNOCK
from gin_env.game.cards import NUM_CARDS, card_bit, each_card, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.melds import (
    best_set_cards,
    deadwood_after_discards,
    defender_deadwood,
    least_deadwood_discards,
    run_cards,
)
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.game.streams import mix, unit
from gin_env.observations.knowledge import cards_missing, cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number, check_switch
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject, files_of

SAMPLED_HANDS = 32
"""Number of opponent hands sampled for a knock decision."""


class SafeDiscardBot(NamedObject):
    """Simple with an estimator of the opponent's hand.

    Parameters
    ----------
    estimator : a name from `gin_env.estimators`, or an estimator object. Within a bot's name, the estimator
        can have at most one parameter, as in ``safe-discard:estimator=nn:weights=simple``.
    caution : deadwood points per unit of discard risk; with 0 the bot discards as Simple does.
    draw, knock : whether the draw and knock decisions also use the estimates.
    draw_margin : points by which an upcard that completes no meld must be better than the stock.
    knock_above : minimum expected points of a knock.

    Raises ValueError if the estimator is ``omniscient``, which needs the opponent's hand.
    """

    name = "safe-discard"

    def __init__(
        self,
        estimator: str | Estimator = "bayes",
        caution: float = 3.0,
        draw: bool = False,
        knock: bool = False,
        draw_margin: float = 2.0,
        knock_above: float = 10.0,
    ) -> None:
        self.estimator = estimators.resolve(estimator)
        if isinstance(self.estimator, NeedsHands):
            raise ValueError(
                f"a bot does not see the opponent's hand, so it cannot use the estimator "
                f"{self.estimator.name!r}"
            )
        self.files = files_of(self.estimator)
        self.caution = check_number("caution", caution, 0, 1000)
        self.draw = check_switch("draw", draw)
        self.knock = check_switch("knock", knock)
        self.draw_margin = check_number("draw_margin", draw_margin, -100, 100)
        self.knock_above = check_number("knock_above", knock_above, -1000, 1000)

    def act(self, view: PlayerView) -> np.ndarray:
        phase = view.array["public"]["phase"]
        discards_by_estimate = (phase == DISCARD) & (self.caution > 0 or self.knock)
        needed = np.flatnonzero(phase != STOCK_ONLY if self.draw else discards_by_estimate)
        estimates = np.zeros((len(view), NUM_CARDS), np.float32)
        if len(needed):
            estimates[needed] = self.estimator.estimate(view[needed])
        return self.decide(view, estimates)

    def decide(self, view: PlayerView, estimates: np.ndarray) -> np.ndarray:
        """Return the actions, int64 (n,), for estimates float32 (n, 52)."""
        draw_margin = self.draw_margin if self.draw else np.inf
        knock_above = self.knock_above if self.knock else -np.inf
        return act_by(_act, view, estimates, (self.caution, draw_margin, knock_above))


# --- Drawing --------------------------------------------------------------------------------------------


@kernel
def deadwood_after_stock_draw(hand: int, unseen: int, estimate) -> float:
    """Return the expected least deadwood after a draw from the stock and a discard."""
    total = 0.0
    weight = 0.0
    for card in each_card(unseen):
        in_stock = 1.0 - estimate[card]
        with_card = hand | card_bit(card)
        _, least = least_deadwood_discards(with_card, with_card)
        total += in_stock * least
        weight += in_stock
    return total / weight if weight > 0 else 0.0


@kernel
def safe_draw(public, private, player: int, estimate, margin: float) -> int:
    """Return Simple's draw, or take an upcard that is better than the stock by more than `margin` points."""
    action = simple_draw(public, private)
    if public.phase == STOCK_ONLY or action == DRAW_UPCARD or margin == np.inf:
        return action
    hand = np.int64(private.hand)
    _, with_upcard = least_deadwood_discards(hand | card_bit(public.upcard), hand)
    unseen = cards_unseen(public, private, player)
    if with_upcard + margin < deadwood_after_stock_draw(hand, unseen, estimate):
        return DRAW_UPCARD
    return action


# --- Discarding -----------------------------------------------------------------------------------------


@kernel
def safest_discards(hand: int, allowed: int, estimate, caution: float) -> int:
    """Return the mask of the allowed discards with the least deadwood + caution * risk."""
    after = np.empty(NUM_CARDS, np.uint8)
    deadwood_after_discards(hand, after)
    best = np.int64(0)
    least = np.inf
    for card in each_card(allowed):
        cost = after[card] + caution * discard_risk(estimate, card)
        if cost < least - 1e-6:
            best, least = np.int64(0), cost
        if cost <= least + 1e-6:
            best |= card_bit(card)
    return best


# --- Knocking -------------------------------------------------------------------------------------------


@kernel
def sample_hand(unseen: int, missing: int, estimate, random: int) -> int:
    """Return the mask of `missing` cards, sampled without replacement in proportion to the estimate's odds.

    Each card gets an exponential waiting time whose rate is its odds, and the cards with the shortest times
    are taken (Efraimidis and Spirakis, 2006).
    """
    times = np.full(NUM_CARDS, np.inf)
    for card in each_card(unseen):
        odds = estimate[card] / max(1.0 - estimate[card], 1e-9)
        times[card] = -np.log(1.0 - unit(mix(random, card))) / max(odds, 1e-9)
    hand = np.int64(0)
    for _ in range(missing):
        card = times.argmin()
        hand |= card_bit(card)
        times[card] = np.inf
    return hand


@kernel
def expected_knock_points(
    public, private, player: int, hand: int, deadwood: int, estimate, random: int
) -> float:
    """Return the mean points won by a knock with these ten cards, over hands sampled from the estimate."""
    sets = best_set_cards(hand)
    runs = run_cards(hand & ~sets)
    unseen = cards_unseen(public, private, player)
    missing = cards_missing(public, player)
    known = np.int64(public.shown[1 - player])
    total = 0.0
    for number in range(SAMPLED_HANDS):
        defence = known | sample_hand(unseen, missing, estimate, mix(random, number))
        left = defender_deadwood(runs, sets, defence)
        is_undercut = left < deadwood or (left == deadwood and public.rules.undercut_on_tie)
        points = left - deadwood - (public.rules.undercut_bonus if is_undercut else 0)
        if public.points_double:
            points *= 2
        if public.rules.immediate_boxes:
            points += -public.rules.box_bonus if is_undercut else public.rules.box_bonus
        total += points
    return total / SAMPLED_HANDS


# --- Deciding -------------------------------------------------------------------------------------------


@kernel
def safe_discard_action(public, private, player: int, random: int, estimate, parameters) -> int:
    """Return the bot's action; `estimate` holds a probability for each card, shape (52,).

    `parameters` are `caution`, `draw_margin` and `knock_above`, infinite for decisions without estimates.
    """
    caution, draw_margin, knock_above = parameters
    if public.phase != DISCARD:
        return safe_draw(public, private, player, estimate, draw_margin)
    hand = np.int64(private.hand)
    allowed = discards_allowed(public, private)
    fresh = allowed & ~repeated_discards(public, private, player)
    if not fresh:
        fresh = allowed
    best, least = least_deadwood_discards(hand, fresh)
    if least <= public.knock_limit:  # a knock ends the hand, so its discard carries no risk
        card = pick_card(best, random)
        if least == 0 or knock_above == -np.inf:
            return card + KNOCK
        rest = hand & ~card_bit(card)
        if expected_knock_points(public, private, player, rest, least, estimate, random) >= knock_above:
            return card + KNOCK
    if caution > 0:
        best = safest_discards(hand, fresh, estimate, caution)
    return np.int64(pick_card(best, random))


@kernel
def _act(views, estimates, parameters, actions):
    for index, view in enumerate(views):
        actions[index] = safe_discard_action(
            view.public, view.private, view.player, view.random, estimates[index], parameters
        )
