"""``policy-improved``: the bot ``policy`` with better discards and fewer upcards.

Where `policy` has to discard, a second network (`gin_env.agents.policies.gain_network`) predicts what its
most probable actions gain in games of `policy` against itself. The action with the highest gain is played, if
it is better than the choice of `policy` by a margin. This is one step of policy improvement.
`gin_env.training.action_values` describes how gains are measured.

In close calls, it draws from the stock where `policy` would take the upcard
(`CandidatePolicyBot.prefer_stock`).

Results: docs/results/learning.md, "Better discards".
"""

from __future__ import annotations

import numpy as np

from gin_env.agents.policies.candidate_policy import STOCK_ABOVE, CandidatePolicyBot
from gin_env.agents.policies.gain_network import PACKAGED, GainPredictor, Tried, are_close
from gin_env.agents.ties import are_best
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.candidates import NO_ACTION, are_discarding
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number


class ImprovedPolicyBot:
    """Plays `policy`, the discards that a network prefers by a margin, and the stock in close calls.

    Parameters
    ----------
    margin : percentage points of the chance to win by which an action must be better than the choice of
        `policy`.
    network : a file of ``gin-rummy train gains``; None for the packaged network.
    stock_above : see `CandidatePolicyBot.prefer_stock`; 1 to draw as `policy` does.
    """

    def __init__(
        self, margin: float = 0.3, network: str | None = None, stock_above: float = STOCK_ABOVE
    ) -> None:
        self.name = "policy-improved"
        self.policy = CandidatePolicyBot.shipped()
        self.margin = check_number("margin", margin, 0, 100)
        self.predictor = GainPredictor(PACKAGED if network is None else network)
        self.stock_above = check_number("stock_above", stock_above, 0, 1)

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        chosen = self.policy.act(view)
        discarding = np.flatnonzero(are_discarding(view.records))
        if len(discarding):
            chosen[discarding] = self._improved(view[discarding], chosen[discarding])
        self.policy.prefer_stock(view, chosen, self.stock_above)
        return chosen

    def tried(self, view: PlayerView) -> Tried:
        """Return the most probable actions of `policy`; close calls are decided in double precision."""
        chances = self.policy.action_chances(view)
        close = np.flatnonzero(are_close(chances))
        if len(close):
            chances[close] = self.policy.action_chances(view[close], exact=True)
        return Tried.of(chances)

    def _improved(self, view: PlayerView, chosen: np.ndarray) -> np.ndarray:
        """Return the actions of players who have to discard, where `policy` chooses `chosen`."""
        tried = self.tried(view)
        several = np.flatnonzero((tried.actions != NO_ACTION).sum(axis=1) > 1)
        if not len(several):
            return chosen
        view, tried = view[several], tried.at(several)
        advantage = self.margin * (tried.actions == chosen[several, None])

        def exact(some: np.ndarray) -> np.ndarray:
            again = Tried.of(self.policy.action_chances(view[some], exact=True))
            return self.predictor(view[some], again, exact=True) + advantage[some]

        best = are_best(self.predictor(view, tried) + advantage, exact)
        improved = chosen.copy()
        improved[several] = np.where(best, tried.actions, NUM_ACTIONS).min(axis=1)
        return improved
