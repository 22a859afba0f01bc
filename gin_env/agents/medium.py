"""``medium``: the intermediate control bot of Gallucci et al. 2021.

Source: Gallucci, Bowser, Kettell and Overton, "Estimating Card Fitness for Discard in Gin Rummy" (2021),
"Other Agents Used in Evaluation". The paper gives no win rate for this bot. It only
says that V4 wins 3 % more games against it than V2 does, and describes it as "intermediate", so the bot must
be stronger than ``simple`` and weaker than V2 and V4.

Readings:

- Draw: "considers if the face up card would produce a minimum drop in deadwood after a card is discarded".
  The bot takes the upcard if its deadwood after the best discard is then at least ``minimum_drop`` = 3 points
  lower than now.
- Discard, first step: "determines which cards cannot be made into a meld with the known cards in the deck". A
  card is unmeldable if no meld of the bot's hand and the unseen cards contains it. Cards in the discard pile
  and cards that the opponent took from it are seen. If there are unmeldable cards, they are the candidates;
  "if all cards can be made into a meld", the candidates are the cards whose discard leaves the least
  deadwood.
- Second step: "least likely to help the opponent by giving them a card for a meld they are creating". For
  each candidate, the bot counts the cards taken from the pile and still held by the opponent that can share a
  meld with it (same rank, or at most two ranks away in its suit). Of the candidates with the lowest count, it
  discards the one with the highest value, with ties broken at random.
- Knock: "when it has a total of seven or nine deadwood in its hand or has gin". ``exact=true``, the frozen
  reading ``medium-literal-paper``, takes this literally: the bot knocks with exactly 9, 7 or 0. Otherwise it
  knocks with at most 9, or with at most 7 while the opponent holds a card taken from the pile, because the
  opponent then shows a meld and might undercut ("relate to whether the bot is likely to undercut the
  opponent").

Results: docs/results/gallucci2021.md, "Control bots".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.base import act_by
from gin_env.game.cards import ACES, CARD_VALUES, card_bit, count_cards, each_card, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import MELD_MATES, discard_or_knock, draw_upcard_if, keep_best
from gin_env.game.melds import least_deadwood_discards, min_deadwood, ranks_held_thrice, run_cards
from gin_env.game.state import DISCARD
from gin_env.observations.knowledge import cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_switch
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject


class MediumBot(NamedObject):
    """The intermediate bot.

    Parameters
    ----------
    minimum_drop : minimum reduction in deadwood for which the bot takes the upcard.
    knock_at : maximum deadwood to knock with while the opponent holds no card from the pile.
    cautious_knock_at : maximum deadwood to knock with while the opponent holds a card from the pile.
    exact : knock only with gin or with a deadwood of exactly `knock_at` or `cautious_knock_at`.
    """

    name = "medium"

    def __init__(
        self, minimum_drop: int = 3, knock_at: int = 9, cautious_knock_at: int = 7, exact: bool = False
    ) -> None:
        self.minimum_drop = check_integer("minimum_drop", minimum_drop, 1, 100)
        self.knock_at = check_integer("knock_at", knock_at, 0, 100)
        self.cautious_knock_at = check_integer("cautious_knock_at", cautious_knock_at, 0, 100)
        self.exact = check_switch("exact", exact)

    def act(self, view: PlayerView) -> np.ndarray:
        parameters = self.minimum_drop, self.knock_at, self.cautious_knock_at, self.exact
        return act_by(_act, view, parameters)


@kernel
def medium_draw(public, private, minimum_drop: int) -> int:
    """Return the draw: the upcard if it lowers the deadwood by `minimum_drop`, otherwise decline it."""
    hand = np.int64(private.hand)
    _, least = least_deadwood_discards(hand | card_bit(public.upcard), hand)
    return draw_upcard_if(public, min_deadwood(hand) - least >= minimum_drop)


@kernel
def hopeless_cards(hand: int, unseen: int) -> int:
    """Return the mask of the cards that cannot be in a meld of the hand and the unseen cards."""
    possible = hand | unseen
    return hand & ~(run_cards(possible) | ranks_held_thrice(possible) * ACES)


@kernel
def safest_then_highest(candidates: int, shown: int) -> int:
    """Return the mask of the candidates that share melds with the fewest shown cards.

    Of several such candidates, only those with the highest value remain.
    """
    best, highest = np.int64(0), np.int64(-1000)
    for card in each_card(candidates):
        helps = count_cards(MELD_MATES[card] & shown)
        score = np.int64(CARD_VALUES[card]) - 11 * helps  # values: 1 to 10
        best, highest = keep_best(best, highest, card, score)
    return best


@kernel
def medium_action(public, private, player: int, random: int, parameters) -> int:
    """Return the intermediate bot's action; `parameters` are those of `MediumBot`, in order."""
    minimum_drop, knock_at, cautious_knock_at, exact = parameters
    if public.phase != DISCARD:
        return medium_draw(public, private, minimum_drop)
    hand = np.int64(private.hand)
    shown = np.int64(public.shown[1 - player])
    allowed = discards_allowed(public, private)
    candidates = hopeless_cards(hand, cards_unseen(public, private, player)) & allowed
    if not candidates:
        candidates, _ = least_deadwood_discards(hand, allowed)
    card = pick_card(safest_then_highest(candidates, shown), random)
    limit = np.int64(cautious_knock_at if shown else knock_at)
    if exact:
        left = min_deadwood(hand & ~card_bit(card))
        limit = left if left in (0, knock_at, cautious_knock_at) else np.int64(-1)
    return discard_or_knock(hand, card, min(limit, np.int64(public.knock_limit)))


@kernel
def _act(views, parameters, actions):
    for index, view in enumerate(views):
        actions[index] = medium_action(view.public, view.private, view.player, view.random, parameters)
