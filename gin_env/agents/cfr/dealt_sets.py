"""The paper's abstraction with the number of cards dealt in place of the three stages.

It has ten times as many information sets for discards and draws as `paper_sets`, and the same sets for
knocks. `research.papers.gallucci2021.stages` makes a table of this abstraction from one with stages. A table
can also be trained on it directly, which shows how much strength the stages cost.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from gin_env.agents.cfr.paper_sets import (
    DEALT_COUNTS,
    DISCARD_SETS_A_STAGE,
    DRAW_SETS_A_STAGE,
    KNOCK_SETS,
    dealt_step,
    discard_number,
    draw_number,
    knock_number,
)
from gin_env.support.compilation import kernel

FIRST_DRAW_SET = DISCARD_SETS_A_STAGE * DEALT_COUNTS
FIRST_KNOCK_SET = FIRST_DRAW_SET + DRAW_SETS_A_STAGE * (DEALT_COUNTS + 1)
NUM_SETS = FIRST_KNOCK_SET + KNOCK_SETS


@kernel
def discard_set(public, hand: int, card: int) -> int:
    """Return the number of the information set for discarding this card or keeping it."""
    return discard_number(hand, card, dealt_step(public), DEALT_COUNTS)


@kernel
def draw_set(public, hand: int) -> int:
    """Return the number of the information set for taking the upcard or not."""
    return FIRST_DRAW_SET + draw_number(public, hand, dealt_step(public), DEALT_COUNTS)


@kernel
def knock_set(public, deadwood: int) -> int:
    """Return the number of the information set for knocking or not with this deadwood left."""
    return FIRST_KNOCK_SET + knock_number(public, deadwood)
