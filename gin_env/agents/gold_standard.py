"""``gold-standard``: the fixed opponent with which arXiv 2607.06854 measures its agents.

Source: Kelidari, Haghi and Salmani, "A Gold-Standard Study of What Makes a Lightweight Game-Playing Agent
Strong" (2026), trained on PettingZoo's ``gin_rummy_v4``. The description is in the authors' repository
Nikelroid/adversarial-coevolution, which has no licence: nothing is taken from its code.

- Draw: the upcard "only if it joins a meld or strictly lowers the best achievable deadwood", otherwise the
  stock.
- Discard: the card that leaves the least deadwood; of several, the one with the most points.
- Knock: with gin whenever possible, otherwise as soon as the deadwood is at most ``knock_at`` = 10.
  ``hold_for_gin`` waits for gin instead.

Readings:

- An upcard joins a meld if some meld of hand + upcard contains it.
- The best achievable deadwood with the upcard is that after the best discard. It is compared with the
  deadwood of the ten cards held.
- The bot is deterministic: of equal cards with equal points it discards the first in the order of card ids.
- The opening offer, which ``gin_rummy_v4`` does not have, is decided like any other draw.

Results: docs/results/outside.md, "The gold standard".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.base import act_by
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK
from gin_env.game.cards import card_bit, lowest_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import decline, least_deadwood_discard
from gin_env.game.melds import completes_meld, least_deadwood_discards, min_deadwood
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_switch
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject


class GoldStandardBot(NamedObject):
    """The gold-standard heuristic.

    Parameters
    ----------
    knock_at : maximum deadwood to knock with.
    hold_for_gin : knock only with gin.
    """

    name = "gold-standard"

    def __init__(self, knock_at: int = 10, hold_for_gin: bool = False) -> None:
        self.knock_at = check_integer("knock_at", knock_at, 0, 100)
        self.hold_for_gin = check_switch("hold_for_gin", hold_for_gin)

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act, view, 0 if self.hold_for_gin else self.knock_at)


@kernel
def gold_standard_draw(public, private) -> int:
    """Return the draw: the upcard if it joins a meld or lowers the deadwood, otherwise decline it."""
    if public.phase == STOCK_ONLY:
        return DRAW_STOCK
    hand = np.int64(private.hand)
    if completes_meld(hand, public.upcard):
        return DRAW_UPCARD
    _, least = least_deadwood_discards(hand | card_bit(public.upcard), hand)
    return DRAW_UPCARD if least < min_deadwood(hand) else decline(public)


@kernel
def gold_standard_action(public, private, knock_at: int) -> int:
    """Return the action of the gold-standard heuristic, which uses no random numbers."""
    if public.phase != DISCARD:
        return gold_standard_draw(public, private)
    discard, least = least_deadwood_discard(np.int64(private.hand), discards_allowed(public, private))
    return lowest_card(discard) + (KNOCK if least <= min(knock_at, public.knock_limit) else 0)


@kernel
def _act(views, knock_at, actions):
    for index, view in enumerate(views):
        actions[index] = gold_standard_action(view.public, view.private, knock_at)
