"""The abstraction of ``cfr-plus``, which describes a card by its uses in the hand instead of its name.

It is ours, and addresses the future work that Gallucci et al. 2021 names ("if there are more heuristical
approaches that, when combined with CFR ..., could perform better"). Suits are interchangeable and
neighbouring ranks are similar, so a card is described by its uses. The discard is chosen from the cards that
leave the least deadwood and the unmelded cards that leave at most 4 points more (``candidates="near"``).

- Discard: the deadwood that it leaves above the least possible (0, 1 to 2, 3 to 4); *outs*, the number of
  unseen cards that would meld it (0, 1, 2, 3, 4 or more); *danger*, its use to the opponent (`danger_of`);
  its points (1 to 3, 4 to 6, 7 to 9, 10); the player's turn (1 to 2, 3 to 4, 5 to 7, later); the least
  deadwood (up to 10, 20, 35, more).
- Draw: turn, with the opening offer separate; whether the upcard is melded; the deadwood it saves; its outs
  (up to 1, 2, more); the deadwood after taking it (0, up to 5, 10, 20, 35, more).
- Knock: deadwood; the player's turn (1 to 9, 10 or more); the number of cards from the pile that the opponent
  holds (0, 1, 2, 3 or more); the number of cards, neither in the hand nor in the pile, that give gin (0, 1 to
  2, more).
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.cards import CARD_VALUES, card_bit, count_cards, each_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import MELD_MATES, available_cards, own_turn, unmelded_cards
from gin_env.game.melds import completes_meld, least_deadwood_discards, min_deadwood
from gin_env.game.state import OFFER
from gin_env.observations.knowledge import cards_unseen
from gin_env.support.compilation import kernel

DANGERS = 5
OUTS = 5
TURNS = 4
MAX_SAVED = 20

FIRST_DRAW_SET = 3 * OUTS * DANGERS * 4 * TURNS * 4
FIRST_KNOCK_SET = FIRST_DRAW_SET + (TURNS + 1) * 2 * (MAX_SAVED + 2) * 3 * 6
NUM_SETS = FIRST_KNOCK_SET + 11 * 10 * 4 * 3


@kernel
def turn_of(public) -> int:
    """Return the player's turn as a step, 0 to `TURNS` - 1."""
    turn = own_turn(public)
    return 0 if turn <= 2 else (1 if turn <= 4 else (2 if turn <= 7 else 3))


@kernel
def outs_of(card: int, others: int, unseen: int) -> int:
    """Return the number of unseen cards that would meld this card with some of the others."""
    outs = 0
    for mate in each_card(MELD_MATES[card] & unseen):
        outs += completes_meld(others | card_bit(mate), card)
    return outs


@kernel
def danger_of(card: int, shown: int, unseen: int, discarded: int) -> int:
    """Return how useful a card is to the opponent, judged by the cards they took and discarded.

    - 0: useless, since every meld with the card needs another that the opponent cannot have;
    - 1: of little use, since the opponent discarded a card that could be in a meld with it, and took none;
    - 2: unknown;
    - 3: the opponent holds a card from the pile that could be in a meld with it;
    - 4: the opponent holds cards from the pile that make a meld with it.
    """
    if completes_meld(shown, card):
        return 4
    if MELD_MATES[card] & shown:
        return 3 if completes_meld(shown | unseen, card) else 0
    if not completes_meld(unseen, card):
        return 0
    return 1 if MELD_MATES[card] & discarded else 2


@kernel
def discard_set(public, private, player: int, card: int) -> int:
    """Return the number of the information set for discarding this card or keeping it."""
    hand = np.int64(private.hand)
    shown = np.int64(public.shown[1 - player])
    unseen = cards_unseen(public, private, player)
    rest = hand & ~card_bit(card)
    _, least = least_deadwood_discards(hand, discards_allowed(public, private))
    extra = (min_deadwood(rest) - least + 1) // 2
    outs = min(outs_of(card, rest, unseen), OUTS - 1)
    danger = danger_of(card, shown, unseen, np.int64(public.discarded[1 - player]))
    value = min((np.int64(CARD_VALUES[card]) - 1) // 3, 3)
    deadwood = 0 if least <= 10 else (1 if least <= 20 else (2 if least <= 35 else 3))
    number = (min(extra, 2) * OUTS + outs) * DANGERS + danger
    return ((number * 4 + value) * TURNS + turn_of(public)) * 4 + deadwood


@kernel
def draw_set(public, private, player: int) -> int:
    """Return the number of the information set for taking the upcard or not."""
    hand = np.int64(private.hand)
    unseen = cards_unseen(public, private, player)
    upcard = np.int64(public.upcard)
    bit = card_bit(upcard)
    turn = TURNS if public.phase == OFFER else turn_of(public)
    _, least = least_deadwood_discards(hand | bit, hand)
    saved = min(max(min_deadwood(hand) - least, -1), MAX_SAVED) + 1
    melds = 0 if unmelded_cards(hand | bit) & bit else 1
    outs = min(max(outs_of(upcard, hand, unseen) - 1, 0), 2)
    after = 0
    for limit in (0, 5, 10, 20, 35):
        after += least > limit
    return FIRST_DRAW_SET + (((turn * 2 + melds) * (MAX_SAVED + 2) + saved) * 3 + outs) * 6 + after


@kernel
def gin_outs(hand: int, available: int) -> int:
    """Return the number of available cards that would allow gin, if drawn, by melding an unmelded card.

    `hand` is a mask of ten cards; cards that the opponent is known to hold count as available. A card that
    extends another meld, so that the last unmelded card can be discarded, does not count: the packaged table
    was trained without it.
    """
    useful = np.int64(0)
    for card in each_card(unmelded_cards(hand)):
        useful |= MELD_MATES[card]
    outs = 0
    for card in each_card(useful & available):
        outs += count_cards(unmelded_cards(hand | card_bit(card))) <= 1
    return outs


@kernel
def knock_set(public, private, player: int, hand: int) -> int:
    """Return the number of the information set for knocking or not with the cards in the mask `hand`."""
    turn = min(np.int64(own_turn(public)), np.int64(10)) - 1
    taken = min(count_cards(np.int64(public.shown[1 - player])), 3)
    outs = gin_outs(hand, available_cards(public, private))
    gin = 0 if outs == 0 else (1 if outs <= 2 else 2)
    return FIRST_KNOCK_SET + ((min(min_deadwood(hand), 10) * 10 + turn) * 4 + taken) * 3 + gin
