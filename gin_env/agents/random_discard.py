"""``random-discard``: the Random Player (RP) of Truong and Neller 2021, Simple with random discards.

Source: Truong and Neller 2021 ("Data"), whose data sets come from games between this player and the Simple
player: "the only difference between the RP and the SP is that the RP randomly discards an unmelded card".

Readings:

- *Unmelded* cards are those outside the melds of the engine's arrangement of least deadwood. If no unmelded
  card can be discarded, the bot discards as ``simple`` does.
- Like ``simple``, it does not repeat a {drawn, discarded} pair while it can discard another unmelded card.
- It knocks whenever the deadwood after its random discard allows it ("knock as soon as possible").

The paper gives no win rate. Results: docs/results/gallucci2021.md, "Control bots".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.base import act_by
from gin_env.agents.simple import repeated_discards, simple_draw
from gin_env.game.cards import pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import discard_or_knock, unmelded_cards
from gin_env.game.melds import least_deadwood_discards
from gin_env.game.state import DISCARD
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject


class RandomDiscardBot(NamedObject):
    """Draws and knocks like the Simple player and discards an unmelded card uniformly at random."""

    name = "random-discard"

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act, view)


@kernel
def random_discard_action(public, private, player: int, random: int) -> int:
    """Return the Random Player's action."""
    if public.phase != DISCARD:
        return simple_draw(public, private)
    hand = np.int64(private.hand)
    allowed = discards_allowed(public, private)
    choices = unmelded_cards(hand) & allowed
    fresh = choices & ~repeated_discards(public, private, player)
    if fresh:
        choices = fresh
    elif not choices:
        choices, _ = least_deadwood_discards(hand, allowed)
    return discard_or_knock(hand, pick_card(choices, random), public.knock_limit)


@kernel
def _act(views, actions):
    for index, view in enumerate(views):
        actions[index] = random_discard_action(view.public, view.private, view.player, view.random)
