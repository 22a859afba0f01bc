"""``random``: chooses uniformly among the legal actions."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.base import act_by
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import count_cards, nth_card
from gin_env.game.engine import discards_allowed, knocks_allowed
from gin_env.game.state import DISCARD, OFFER, STOCK_ONLY
from gin_env.game.streams import below
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject


class RandomBot(NamedObject):
    """Chooses among all legal actions, including knocks, with equal probability."""

    name = "random"

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act, view)


@kernel
def random_action(public, private, random: int) -> int:
    """Return a uniformly random legal action."""
    if public.phase == OFFER:
        return DRAW_UPCARD if below(random, 2) else PASS
    if public.phase == STOCK_ONLY:
        return DRAW_STOCK
    if public.phase != DISCARD:
        return DRAW_STOCK + below(random, 2)
    discards = discards_allowed(public, private)
    knocks = knocks_allowed(public, private)
    number = below(random, count_cards(discards) + count_cards(knocks))
    if number < count_cards(discards):
        return nth_card(discards, number)
    return KNOCK + nth_card(knocks, number - count_cards(discards))


@kernel
def _act(views, actions):
    for index, view in enumerate(views):
        actions[index] = random_action(view.public, view.private, view.random)
