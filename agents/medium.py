"""``medium``: the intermediate control bot of paper 000.

Source: Gallucci, Bowser, Kettell and Overton, "Estimating Card Fitness for Discard in Gin Rummy" (2021),
paper 000, "Other Agents Used in Evaluation". It gives no win rate of this bot, only that V4 wins 3 % more
games against it than V2 does; so the bot must be between ``simple`` and those ("intermediate").

Readings:

- Draw: "considers if the face up card would produce a minimum drop in deadwood after a card is discarded".
  Takes the upcard if its best discard then leaves at least ``minimum_drop`` = 3 points less than the hand has
  now.
- Discard, first step: "determines which cards cannot be made into a meld with the known cards in the deck".
  These are the cards that no meld of the bot's hand and of cards whose place it does not know can contain;
  cards in the discard pile and cards that it saw the opponent take are out. If there are such cards, one of
  them goes; "if all cards can be made into a meld", the cards whose discard leaves the least deadwood remain.
- Second step: "least likely to help the opponent by giving them a card for a meld they are creating". Of the
  cards that the opponent took and still holds, count those that share a meld with the candidate (equal rank,
  or two ranks away at most in its suit); the candidates with the fewest remain. Then the highest value goes,
  at random among equals.
- Knock: "when it has a total of seven or nine deadwood in its hand or has gin". ``exact=true``, the frozen
  reading ``medium-literal-paper``, is the letter: with exactly 9, 7 or 0. Without it the bot knocks with at
  most 9; with at most 7 from the moment the opponent holds a card taken from the pile, that is, shows a meld
  and may undercut ("relate to whether the bot is likely to undercut the opponent").

Measured: docs/results/paper-000.md, "Control bots".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD
from gin_env.game.cards import CARD_VALUES, card_bit, count_cards, lowest_card, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import MELD_MATES, decline, discard_or_knock, keep_best
from gin_env.game.melds import completes_meld, least_deadwood_discards, min_deadwood
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.observations.knowledge import cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_switch
from gin_env.support.compilation import kernel


class MediumBot:
    """The intermediate bot.

    Parameters
    ----------
    minimum_drop : takes the upcard if it lowers the deadwood by at least this.
    knock_at : knocks with deadwood of at most this while the opponent holds no card from the pile.
    cautious_knock_at : the same once the opponent holds one.
    exact : knocks with exactly one of these two or with gin, and with nothing else.
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
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        limits = self.minimum_drop, self.knock_at, self.cautious_knock_at
        _act(view.records, *limits, self.exact, actions)
        return actions


@kernel
def medium_draw(public, private, minimum_drop: int) -> int:
    """Take the upcard if that lowers the deadwood enough."""
    if public.phase == STOCK_ONLY:
        return DRAW_STOCK
    hand = np.int64(private.hand)
    _, least = least_deadwood_discards(hand | card_bit(public.upcard), hand)
    if min_deadwood(hand) - least >= minimum_drop:
        return DRAW_UPCARD
    return decline(public)


@kernel
def hopeless_cards(hand: int, unseen: int) -> int:
    """Cards of the hand that are in no meld of the hand and the unseen cards."""
    hopeless = np.int64(0)
    remaining = hand
    while remaining:
        card = lowest_card(remaining)
        if not completes_meld(hand | unseen, card):
            hopeless |= card_bit(card)
        remaining &= remaining - 1
    return hopeless


@kernel
def safest_then_highest(candidates: int, shown: int) -> int:
    """Mask of the candidates that go with the fewest shown cards; of these, those with the highest value."""
    best, highest = np.int64(0), np.int64(-1000)
    remaining = candidates
    while remaining:
        card = lowest_card(remaining)
        helps = count_cards(MELD_MATES[card] & shown)
        best, highest = keep_best(
            best, highest, card, np.int64(CARD_VALUES[card]) - 11 * helps
        )  # values: 1 to 10
        remaining &= remaining - 1
    return best


@kernel
def medium_action(
    public,
    private,
    player: int,
    random: int,
    minimum_drop: int,
    knock_at: int,
    cautious_knock_at: int,
    exact: bool,
) -> int:
    """The intermediate bot's decision."""
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
def _act(views, minimum_drop, knock_at, cautious_knock_at, exact, actions):
    for index in range(len(views)):
        view = views[index]
        actions[index] = medium_action(
            view.public,
            view.private,
            view.player,
            view.random,
            minimum_drop,
            knock_at,
            cautious_knock_at,
            exact,
        )
