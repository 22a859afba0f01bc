"""The information sets of the CFR strategies in Gallucci et al. 2021, for draws, discards and knocks.

Source: Gallucci et al. 2021, "Ranking the Fitness of a Card in a Game State". The paper describes only the
abstraction for discards: for each card a decision to discard or to keep it, based on the card, the stage of
the game (20 to 30 cards dealt, 31 to 40, 41 to 50) and the current deadwood. Its draw and knock strategies
are "pre-trained Monte Carlo CFR strategies" without a description. For knocks it only says that an
information set "may include factors such as the number of deadwood in a hand or the number of turns taken".
Readings:

- *Cards dealt* are the cards that have left the stock: 21 after the deal (the upcard counts), 50 when a hand
  becomes void.
- *Current deadwood* is the least deadwood of the player's current cards: eleven before a discard, ten before
  a draw.
- Draw (take the upcard or not): stage, with the opening offer as a separate stage; whether the best
  arrangement with the upcard melds it; the deadwood that taking it saves after the best discard (negative, 0,
  ..., 20 or more); current deadwood in steps of five.
- Knock (or continue): deadwood after the discard (0 to 10) and cards dealt, as a measure of the turn.

All three kinds are in one array: discards, draws, knocks. An entry is the probability of discarding, taking
or knocking.

``"dealt"`` is the same abstraction with the number of cards dealt in place of the three stages. It has ten
times as many information sets for discards and draws, and the same for knocks.
`research.papers.gallucci2021.stages` makes a table of it from one with stages. A table can also be trained on
it directly, which shows how much strength the stages cost.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.cards import card_bit
from gin_env.game.hands import unmelded_cards
from gin_env.game.melds import least_deadwood_discards, min_deadwood
from gin_env.game.rules import cards_in_deck
from gin_env.game.state import OFFER
from gin_env.support.compilation import kernel

STAGES = 3
MAX_DEADWOOD = 100
"""Higher deadwood counts as this much."""
MAX_SAVED = 20
DEADWOOD_STEP = 5
FIRST_DEALT = 20
DEALT_COUNTS = 31
KNOCK_DEADWOODS = 11

DISCARD_SETS_A_STAGE = 52 * (MAX_DEADWOOD + 1)
DRAW_SETS_A_STAGE = 2 * (MAX_SAVED + 2) * (MAX_DEADWOOD // DEADWOOD_STEP + 1)
KNOCK_SETS = KNOCK_DEADWOODS * DEALT_COUNTS
FIRST_DRAW_SETS = tuple(DISCARD_SETS_A_STAGE * stages for stages in (STAGES, DEALT_COUNTS))
FIRST_KNOCK_SETS = tuple(
    first + DRAW_SETS_A_STAGE * (stages + 1)
    for first, stages in zip(FIRST_DRAW_SETS, (STAGES, DEALT_COUNTS), strict=True)
)
"""The first information sets for draws and for knocks: with `STAGES` stages, and with `DEALT_COUNTS`."""


@kernel
def cards_dealt(public) -> int:
    """Return the number of cards that have left the stock: 21 after the deal in standard rules."""
    return cards_in_deck(public.rules) - np.int64(public.stock_left)


@kernel
def dealt_step(public) -> int:
    """Return the number of cards dealt as a step, 0 to `DEALT_COUNTS` - 1."""
    return min(max(cards_dealt(public) - FIRST_DEALT, 0), DEALT_COUNTS - 1)


@kernel
def stage_of(public, stages: int) -> int:
    """Return the stage: 0 early (up to 30 cards dealt), 1 middle (up to 40), 2 late, or the `dealt_step`."""
    if stages != STAGES:
        return dealt_step(public)
    dealt = cards_dealt(public)
    return 0 if dealt <= 30 else (1 if dealt <= 40 else 2)


@kernel
def discard_set(public, hand: int, card: int, stages: int) -> int:
    """Return the number of the information set for discarding this card or keeping it."""
    deadwood = min(min_deadwood(hand), MAX_DEADWOOD)
    return (card * stages + stage_of(public, stages)) * (MAX_DEADWOOD + 1) + deadwood


@kernel
def draw_set(public, hand: int, stages: int) -> int:
    """Return the number of the information set for taking the upcard or not."""
    stage = stages if public.phase == OFFER else stage_of(public, stages)
    bit = card_bit(public.upcard)
    deadwood = min_deadwood(hand)
    _, least = least_deadwood_discards(hand | bit, hand)
    saved = min(max(deadwood - least, -1), MAX_SAVED) + 1
    melds = 0 if unmelded_cards(hand | bit) & bit else 1
    steps = MAX_DEADWOOD // DEADWOOD_STEP + 1
    number = ((stage * 2 + melds) * (MAX_SAVED + 2) + saved) * steps
    return (
        FIRST_DRAW_SETS[int(stages != STAGES)] + number + deadwood // DEADWOOD_STEP
    )  # ten cards have at most 98 points


@kernel
def knock_set(public, deadwood: int, stages: int) -> int:
    """Return the number of the information set for knocking or not with this deadwood left."""
    number = min(deadwood, KNOCK_DEADWOODS - 1) * DEALT_COUNTS + dealt_step(public)
    return FIRST_KNOCK_SETS[int(stages != STAGES)] + number
