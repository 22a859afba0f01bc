"""``utility``: the utility AI of Keats 2017, which scores every card with a set of rules.

Source: J. Keats, "Artificial Opponents - Gin Rummy - Code Report" (2017), "Algorithms Used".
`draw_score` scores the upcard, and `discard_score` scores each possible discard.

Readings:

- The bot takes the upcard if its score is above ``draw_above`` = 2. The *late game* begins when at most
  ``late_stock`` = 20 cards are left in the stock. So the bot takes a six that completes nothing (score 3,
  late score 2) early, but not in the late game. This agrees with the paper's description of its rules: "the
  AI only draws from the discard pile when it would complete a meld, or if it sees a useful card within the
  first few turns". With a limit of 0 it would also take sevens and eights, even in the late game.
- A card "might be in the deck" if the bot has not seen it discarded and does not know it to be in the
  opponent's hand (the paper's FuzzyCardCollection removes a card from the deck's possible cards once its
  location is known).
- The "number of cards in the deck" is the number of cards in the stock, or 1 if the stock is empty.
- "In a pair": the player holds exactly one other card of the rank outside melds.
- The opponent's last discard counts even if the bot has just taken it.
- If both neighbours are unmelded (because the run's cards are in sets), both sides are examined.
- The paper says nothing about knocking. The bot knocks as soon as the rules allow it (``knock_at`` = 10).
- Ties are broken at random. If all cards are melded, the bot discards as ``simple`` does.

The paper gives no win rate, only "2-3 times the total end score" of a dummy. Its rules keep high pairs to the
end of the hand and ignore the cards that the opponent took.
Results: docs/results/gallucci2021.md, "Control bots".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.base import act_by
from gin_env.game.cards import ACES, CARD_VALUES, NUM_RANKS, card_bit, count_cards, each_card, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import (
    cards_above,
    cards_below,
    discard_or_knock,
    draw_upcard_if,
    keep_best,
    opponents_last_discard,
    unmelded_cards,
)
from gin_env.game.melds import completes_meld, least_deadwood_discards
from gin_env.game.state import DISCARD, NO_CARD
from gin_env.observations.knowledge import cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject


class UtilityBot(NamedObject):
    """The utility AI.

    Parameters
    ----------
    draw_above : score above which the bot takes the upcard.
    late_stock : number of cards left in the stock at which the late game begins.
    knock_at : maximum deadwood to knock with.
    """

    name = "utility"

    def __init__(self, draw_above: int = 2, late_stock: int = 20, knock_at: int = 10) -> None:
        self.draw_above = check_integer("draw_above", draw_above, -1000, 1000)
        self.late_stock = check_integer("late_stock", late_stock, 0, 52)
        self.knock_at = check_integer("knock_at", knock_at, 0, 100)

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act, view, (self.draw_above, self.late_stock, self.knock_at))


@kernel
def discard_score(card: int, loose: int, possible: int, stock_left: int, last_discard: int) -> float:
    """Return the discard score of an unmelded card; the bot discards the card with the highest score.

    `loose` is the mask of the unmelded cards in the hand, `possible` the mask of the cards that might be in
    the deck. In the paper, melds are removed from the hand, and the score of a card of value v is the sum of

    1. v,
    2. if the card is in a pair of equal ranks: - v / 2 if both other cards of the rank might still come, - v
       divided by half the number of cards in the deck if one might, + v / 2 if neither can,
    3. if the hand also holds the card one rank higher or lower in its suit: - v / 3 if a card that completes
       the run might still come, + 3 v / 4 otherwise,
    4. + 3 v / 4 if the opponent has just discarded a card of the same rank,
    5. + v if the opponent has just discarded a card one rank higher or lower *of a different suit* (as the
       paper says; it might mean the same suit, which would make more sense).
    """
    value = np.float64(CARD_VALUES[card])
    score = value
    same_rank = (np.int64(ACES) << (card % NUM_RANKS)) & ~card_bit(card)
    if count_cards(same_rank & loose) == 1:
        missing = count_cards(same_rank & possible)
        if missing == 2:
            score -= value / 2
        elif missing == 1:
            score -= value / (max(stock_left, 1) / 2)
        else:
            score += value / 2
    below, above = cards_below(card, 1), cards_above(card, 1)
    completing = np.int64(0)
    if loose & below:
        completing |= cards_below(card, 2) | above
    if loose & above:
        completing |= cards_above(card, 2) | below
    if loose & (below | above):
        score += -value / 3 if possible & completing else 0.75 * value
    if last_discard != NO_CARD and card_bit(last_discard) & ~card_bit(card):
        distance = abs(last_discard % NUM_RANKS - card % NUM_RANKS)
        if distance == 0:
            score += 0.75 * value
        elif distance == 1 and last_discard // NUM_RANKS != card // NUM_RANKS:
            score += value
    return score


@kernel
def best_discards(loose: int, allowed: int, possible: int, stock_left: int, last_discard: int) -> int:
    """Return the mask of the allowed unmelded cards with the highest discard score."""
    best, highest = np.int64(0), -1e9
    for card in each_card(loose & allowed):
        score = discard_score(card, loose, possible, stock_left, last_discard)
        best, highest = keep_best(best, highest, card, score)
    return best


@kernel
def draw_score(public, hand: int, possible: int, late_stock: int) -> int:
    """Return the score of the upcard.

    In the paper, the score is 20 if the card completes a meld, plus 9 if its rank is 6 to 9, minus its
    deadwood points, minus 1 in the late game, minus 1000 if the discard rule would immediately discard it.
    """
    upcard = np.int64(public.upcard)
    score = -np.int64(CARD_VALUES[upcard])
    if completes_meld(hand, upcard):
        score += 20
    if 5 <= upcard % NUM_RANKS <= 8:  # a 6, 7, 8 or 9
        score += 9
    if public.stock_left <= late_stock:
        score -= 1
    loose = unmelded_cards(hand | card_bit(upcard))
    last_discard = opponents_last_discard(public)
    thrown = best_discards(loose, loose, possible, np.int64(public.stock_left), last_discard)
    return score - 1000 if thrown & card_bit(upcard) else score


@kernel
def utility_action(
    public, private, player: int, random: int, draw_above: int, late_stock: int, knock_at: int
) -> int:
    """Return the utility AI's action."""
    hand = np.int64(private.hand)
    possible = cards_unseen(public, private, player)
    if public.phase != DISCARD:
        return draw_upcard_if(public, draw_score(public, hand, possible, late_stock) > draw_above)
    allowed = discards_allowed(public, private)
    last_discard = opponents_last_discard(public)
    stock_left = np.int64(public.stock_left)
    choices = best_discards(unmelded_cards(hand), allowed, possible, stock_left, last_discard)
    if not choices:
        choices, _ = least_deadwood_discards(hand, allowed)
    card = pick_card(choices, random)
    return discard_or_knock(hand, card, min(knock_at, public.knock_limit))


@kernel
def _act(views, parameters, actions):
    for index, view in enumerate(views):
        actions[index] = utility_action(view.public, view.private, view.player, view.random, *parameters)
