"""The abstraction of ``cfr-plus``: what a card is worth in this hand, rather than which card it is.

Ours; it answers what paper 000 leaves as future work ("if there are more heuristical approaches that, when
combined with CFR ..., could perform better"). Suits are alike and neighbouring numbers nearly so; instead of
the card's name its uses count. The discard is chosen among the unmelded cards that leave at most 4 points
more than the least (``candidates="near"``).

- Discard: how much more than the least deadwood it leaves (0, 1 to 2, 3 to 4); *outs*, the unseen cards that
  would meld it (0 to 4 and more); *danger*, what the opponent can do with it (`danger_of`); its points (1 to
  3, 4 to 6, 7 to 9, 10); the own turn (1 to 2, 3 to 4, 5 to 7, later); the least deadwood (to 10, 20, 35,
  more).
- Draw: turn, the opening offer apart; whether the upcard is melded; the deadwood it saves; its outs (to 1, 2,
  more); the deadwood after taking it (0, to 5, 10, 20, 35, more).
- Knock: deadwood; own turn (1 to 10 and more); how many cards from the pile the opponent holds (0 to 3 and
  more); unseen cards that give gin (0, 1 to 2, more).
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.cards import CARD_VALUES, card_bit, count_cards, lowest_card
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

DISCARD_SETS = 3 * OUTS * DANGERS * 4 * TURNS * 4
DRAW_SETS = (TURNS + 1) * 2 * (MAX_SAVED + 2) * 3 * 6
KNOCK_SETS = 11 * 10 * 4 * 3
FIRST_DRAW_SET = DISCARD_SETS
FIRST_KNOCK_SET = DISCARD_SETS + DRAW_SETS
NUM_SETS = DISCARD_SETS + DRAW_SETS + KNOCK_SETS


@kernel
def turn_of(public) -> int:
    """The own turn as a step: 0 to `TURNS` - 1."""
    turn = own_turn(public)
    return 0 if turn <= 2 else (1 if turn <= 4 else (2 if turn <= 7 else 3))


@kernel
def outs_of(card: int, others: int, unseen: int) -> int:
    """How many of the unseen cards would make a meld of this card and some of the others."""
    outs = 0
    remaining = MELD_MATES[card] & unseen
    while remaining:
        bit = remaining & -remaining
        if completes_meld(others | bit, card):
            outs += 1
        remaining ^= bit
    return outs


@kernel
def danger_of(card: int, shown: int, unseen: int, discarded: int) -> int:
    """How useful a card is to the opponent, by the cards they took from the pile and those they discarded.

    0 useless: every meld with it needs a card that is gone; 1 little: they discarded a card that goes with it
    and took none; 2 unknown; 3 they hold a card from the pile that goes with it; 4 they hold cards that meld
    it for sure.
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
    """Number of the information set in which the player decides whether to discard the card."""
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
    """Number of the information set in which the player decides whether to take the upcard."""
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
def gin_outs(rest: int, unseen: int) -> int:
    """How many of the unseen cards, drawn to these ten, would allow gin by melding an unmelded card.

    A card that extends another meld, so that a single unmelded card may go, is not counted: the packaged
    table was trained without it.
    """
    loose = unmelded_cards(rest)
    useful = np.int64(0)
    remaining = loose
    while remaining:
        useful |= MELD_MATES[lowest_card(remaining)]
        remaining &= remaining - 1
    outs = 0
    remaining = useful & unseen
    while remaining:
        bit = remaining & -remaining
        if count_cards(unmelded_cards(rest | bit)) <= 1:
            outs += 1
        remaining ^= bit
    return outs


@kernel
def knock_set(public, private, player: int, rest: int) -> int:
    """Number of the information set of knocking or not with these cards left."""
    turn = min(np.int64(own_turn(public)), np.int64(10)) - 1
    taken = min(count_cards(np.int64(public.shown[1 - player])), 3)
    outs = gin_outs(rest, available_cards(public, private))
    gin = 0 if outs == 0 else (1 if outs <= 2 else 2)
    return FIRST_KNOCK_SET + ((min(min_deadwood(rest), 10) * 10 + turn) * 4 + taken) * 3 + gin
