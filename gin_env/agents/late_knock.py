"""``late-knock``: a bot that exploits the Simple player by waiting to undercut it.

Source: Truong and Neller 2021 ("Results and Discussion"): "to exploit the knowledge that SP knocks as early
as possible, we can knock late to gain an undercut bonus and obtain a winning rate of 70.1% ± 0.75% (90% CL)".
The paper gives no further details.

Readings: the bot draws and discards as ``simple`` does, with two differences.

- It knocks only with gin, or in the last turn, when the hand would otherwise be void.
- It does not take an upcard that completes a meld but is not melded in the arrangement of least deadwood
  (``simple`` takes it). Without this rule, the bot wins less often than the paper reports.

Results: docs/results/truong2021.md, "The late knocker" and docs/results/gallucci2021.md, "Control bots".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.base import act_by
from gin_env.agents.simple import simple_action, simple_draw
from gin_env.game.hands import draw_upcard_if, would_be_melded
from gin_env.game.state import DISCARD
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_switch
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject


class LateKnockBot(NamedObject):
    """Waits for gin or for the opponent's knock.

    Parameters
    ----------
    useful_draws : take only upcards that the arrangement of least deadwood melds; with False, draw as
        ``simple`` does.
    """

    name = "late-knock"

    def __init__(self, useful_draws: bool = True) -> None:
        self.useful_draws = check_switch("useful_draws", useful_draws)

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act, view, self.useful_draws)


@kernel
def late_knock_action(public, private, player: int, random: int, useful_draws: bool) -> int:
    """Return the late knocker's action."""
    if public.phase != DISCARD:
        if useful_draws:
            return draw_upcard_if(public, would_be_melded(np.int64(private.hand), public.upcard))
        return simple_draw(public, private)
    last_turn = public.stock_left <= public.rules.stock_floor or public.turn + 1 >= public.rules.max_turns
    knock_at = public.knock_limit if last_turn else 0
    return simple_action(public, private, player, random, knock_at)


@kernel
def _act(views, useful_draws, actions):
    for index, view in enumerate(views):
        actions[index] = late_knock_action(view.public, view.private, view.player, view.random, useful_draws)
