"""``marjj``: the heuristic hand evaluation of MARJJ, winner of the EAAI 2021 Gin Rummy challenge.

Source: Ahmed, Leppo, Lesniewski, Patel, Perez and Blum, "A Heuristic Evaluation Function for Hand Strength
Estimation in Gin Rummy" (AAAI-21), abstract and introduction. The discard balances the strength of the
remaining hand against the likelihood that the card is useful to the opponent. The strength depends on the
hand, the cards known to be in the opponent's hand, the discard pile and the stage of the game. The draw is a
heuristic. The strategy for knocking was found by counterfactual regret minimization.

Only the paper's description is used, and one by third parties where it is silent: the pages
``docs/strong-opponents.md`` and ``docs/marjj-parity-plan.md`` of jdh8/gin-rummy-engine (Apache-2.0) describe
a later program of the authors. Nothing is taken from that program, which has no licence.

- The paper's parameters are an initial weight of 20 for the future, a discount of 0.9 per turn and the best
  six cards; the program's are 18, 0.9 and seven.
- Discard: the card with the lowest sum of the deadwood left, the weight ``20 * 0.9 ** (turn - 1)`` times a
  look ahead at the next draw, and the danger of the card. Turns are the bot's own, counted from 1.
- Draw: takes the upcard if it is melded and lowers the deadwood.
- Knock: in its first three turns as soon as it may, later only with gin. It is read as what the authors'
  regret minimization led to. It discards for the least deadwood; the program, which also evaluates this
  discard, misses 7 % of its early chances to knock.

The program and this bot differ in two numbers, whose forms the paper does not give:

- Look ahead: over the six unseen cards that leave the least deadwood, the sum of the chance to draw the card
  times the deadwood left after drawing it and discarding; each unseen card is equally likely. The program
  takes their plain mean (``mean_draws``), which weighs the future three to five times as much.
- Danger: the points that the opponent is expected to save: for each meld of three with the card, the points
  of its two other cards times the chance that the opponent holds both. A card that they took from the pile
  and still hold is certain. Any other unseen card has the same chance, and chances are multiplied. The
  program adds fixed numbers of a matching size (``fixed_danger``, from ``examples/support/strong/marjj.rs``
  of gin-rummy-engine, without a slip of the program at queens).

Each fits its own scale, so they should be changed together. All ties are broken at random.

Results: docs/results/outside.md, "MARJJ".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.base import act_by
from gin_env.game.actions import KNOCK
from gin_env.game.cards import (
    ACES,
    CARD_VALUES,
    NUM_CARDS,
    card_bit,
    count_cards,
    each_card,
    lowest_card,
    pick_card,
)
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import MELD_MATES, draw_upcard_if, keep_best, own_turn, would_be_melded
from gin_env.game.melds import completes_meld, least_deadwood_discards, min_deadwood, run_cards
from gin_env.game.rules import MAX_TURNS
from gin_env.game.state import DISCARD
from gin_env.observations.knowledge import cards_missing, cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number, check_switch
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject

PARAMETERS = np.dtype(
    [
        ("future_weight", np.float64),
        ("discount", np.float64),
        ("danger_weight", np.float64),
        ("best_draws", np.int64),
        ("knock_turns", np.int64),
        ("mean_draws", np.bool_),
        ("fixed_danger", np.bool_),
    ],
    align=True,
)


class MarjjBot(NamedObject):
    """MARJJ.

    Parameters
    ----------
    future_weight : weight of the look ahead in the first turn.
    discount : factor by which that weight falls with each turn.
    best_draws : number of unseen cards in the look ahead.
    danger_weight : weight of the points that the opponent may save with the discard.
    knock_turns : number of turns, from the first, in which the bot knocks without gin.
    mean_draws, fixed_danger : the look ahead and the danger of the authors' later program.
    """

    name = "marjj"

    def __init__(
        self,
        future_weight: float = 20.0,
        discount: float = 0.9,
        best_draws: int = 6,
        danger_weight: float = 1.0,
        knock_turns: int = 3,
        mean_draws: bool = False,
        fixed_danger: bool = False,
    ) -> None:
        parameters = np.zeros(1, PARAMETERS)[0]
        parameters["future_weight"] = check_number("future_weight", future_weight, 0, 1000)
        parameters["discount"] = check_number("discount", discount, 0, 1)
        parameters["best_draws"] = check_integer("best_draws", best_draws, 1, NUM_CARDS)
        parameters["danger_weight"] = check_number("danger_weight", danger_weight, 0, 1000)
        parameters["knock_turns"] = check_integer("knock_turns", knock_turns, 0, MAX_TURNS)
        parameters["mean_draws"] = check_switch("mean_draws", mean_draws)
        parameters["fixed_danger"] = check_switch("fixed_danger", fixed_danger)
        self._parameters = parameters

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act, view, self._parameters)


@kernel
def marjj_draw(public, private) -> int:
    """Return MARJJ's draw: the upcard if it is melded and lowers the deadwood, otherwise decline it."""
    hand = np.int64(private.hand)
    _, least = least_deadwood_discards(hand | card_bit(public.upcard), hand)
    return draw_upcard_if(public, would_be_melded(hand, public.upcard) and least < min_deadwood(hand))


@kernel
def next_deadwood(hand: int, unseen: int, best_draws: int, mean: bool) -> float:
    """Return the chance-weighted deadwood of a hand of ten after its best draws.

    This is the sum, over the `best_draws` unseen cards that leave the least deadwood after the best discard,
    of that deadwood divided by the number of unseen cards, or with `mean` by that of draws; 0 without any.
    """
    counts = np.zeros(128, np.int64)  # by the deadwood left
    by_value = np.full(11, -1, np.int64)  # the deadwood left by a card outside melds depends on its points
    for card in each_card(unseen):
        value = np.int64(CARD_VALUES[card])
        melds = completes_meld(hand, card)
        if melds or by_value[value] < 0:
            drawn = hand | card_bit(card)
            _, least = least_deadwood_discards(drawn, drawn)
            if not melds:
                by_value[value] = least
        else:
            least = by_value[value]
        counts[least] += 1
    left, total = np.int64(best_draws), np.int64(0)
    for deadwood in range(len(counts)):
        taken = min(left, counts[deadwood])
        total += taken * deadwood
        left -= taken
    cards = count_cards(unseen)
    return total / max(min(np.int64(best_draws), cards) if mean else cards, 1)


@kernel
def saved_points(card: int, shown: int, unseen: int, chance: float) -> float:
    """Return the points that the opponent is expected to save by melding the card with two of theirs.

    `chance` is the probability that they hold any one of the `unseen` cards; they hold the `shown` ones.
    """
    points = 0.0
    possible = MELD_MATES[card] & (shown | unseen)
    remaining = possible
    while remaining:  # written out, because nested generators are slower
        first = lowest_card(remaining)
        remaining &= remaining - 1
        others = remaining
        while others:
            second = lowest_card(others)
            others &= others - 1
            pair = card_bit(first) | card_bit(second)
            same_rank = first % 13 == card % 13 and second % 13 == card % 13
            if same_rank or run_cards(pair | card_bit(card)):
                held = 1.0 if shown & card_bit(first) else chance
                held *= 1.0 if shown & card_bit(second) else chance
                points += held * (np.int64(CARD_VALUES[first]) + np.int64(CARD_VALUES[second]))
    return points


@kernel
def fixed_danger_of(card: int, shown: int, unseen: int) -> float:
    """Return the danger of a discard in the program's fixed numbers.

    The opponent holds the `shown` cards and may hold the `unseen` ones; all others are gone.
    """
    held, gone = np.int64(0), np.int64(0)  # bits: the cards of the suit two below, below, above, two above
    for place in range(4):
        step = place - 2 + np.int64(place > 1)
        bit = card_bit(card + step) if 0 <= card % 13 + step < 13 else np.int64(0)
        held |= np.int64(shown & bit != 0) << place
        gone |= np.int64((shown | unseen) & bit == 0) << place
    of_rank = np.int64(ACES << (card % 13)) & ~card_bit(card)
    mates_held, mates_gone = count_cards(of_rank & shown), count_cards(of_rank & ~(shown | unseen))
    danger = for_run(held, 20.0) - for_run(gone, 10.0)
    danger += 20.0 if mates_held >= 2 else 4.0 * np.float64(mates_gone == 0)
    return danger - (10.0 if mates_gone >= 2 else 4.0 * mates_gone)


@kernel
def for_run(cards: int, run: float) -> float:
    """Return `run` if the cards next to a discard make a run with it, else 5 and 3 for each, by distance.

    As in the program, one below and one two above count as a run, and two on one side do not.
    """
    if (cards & 4 and cards & 3) or (cards & 2 and cards & 12):
        return run
    return 5.0 * count_cards(cards & 6) + 3.0 * count_cards(cards & 9)


@kernel
def marjj_discards(public, private, player: int, parameters) -> int:
    """Return the mask of the cards that MARJJ discards from at random, unless it knocks."""
    hand = np.int64(private.hand)
    shown = np.int64(public.shown[1 - player])
    unseen = cards_unseen(public, private, player)
    chance = cards_missing(public, player) / max(count_cards(unseen), 1)
    weight = parameters.future_weight * parameters.discount ** (own_turn(public) - 1)
    fixed = parameters.fixed_danger
    best, highest = np.int64(0), -np.inf
    for card in each_card(discards_allowed(public, private)):
        rest = hand & ~card_bit(card)
        ahead = next_deadwood(rest, unseen, parameters.best_draws, parameters.mean_draws)
        danger = fixed_danger_of(card, shown, unseen) if fixed else saved_points(card, shown, unseen, chance)
        score = min_deadwood(rest) + weight * ahead + parameters.danger_weight * danger
        best, highest = keep_best(best, highest, card, -np.round(score * 1e9))  # equal cards tie exactly
    return best


@kernel
def marjj_action(public, private, player: int, random: int, parameters) -> int:
    """Return MARJJ's action; `parameters` is a record of dtype `PARAMETERS`."""
    if public.phase != DISCARD:
        return marjj_draw(public, private)
    cards, least = least_deadwood_discards(np.int64(private.hand), discards_allowed(public, private))
    limit = np.int64(public.knock_limit) if own_turn(public) <= parameters.knock_turns else np.int64(0)
    if least <= limit:
        return pick_card(cards, random) + KNOCK
    return pick_card(marjj_discards(public, private, player, parameters), random)


@kernel
def _act(views, parameters, actions):
    for index, view in enumerate(views):
        actions[index] = marjj_action(view.public, view.private, view.player, view.random, parameters)
