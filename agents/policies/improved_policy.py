"""``policy-improved``: the bot ``policy-2`` with better discards.

Where `policy-2` has to discard, a second network (`gin_env.agents.policies.gain_network`) predicts what its
most probable actions gain in games of `policy-2` against itself. The action with the highest gain is played,
if it is better than the choice of `policy-2` by a margin. This is one step of policy improvement.
`gin_env.training.action_values` describes how gains are measured.

Results: docs/results/learning.md, "Better discards".
"""

from __future__ import annotations

import numpy as np

from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.gain_network import PACKAGED, GainPredictor, Tried, are_close
from gin_env.agents.ties import are_best
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.candidates import NO_ACTION, are_discarding
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number


class ImprovedPolicyBot:
    """Plays `policy-2`, and the discards that a network prefers by a margin.

    Parameters
    ----------
    margin : percentage points of the chance to win by which an action must be better than the choice of
        `policy-2`.
    network : a file of ``gin-rummy train gains``; None for the packaged network.
    """

    def __init__(self, margin: float = 0.3, network: str | None = None) -> None:
        self.name = "policy-improved"
        self.policy = CandidatePolicyBot.shipped_second()
        self.margin = check_number("margin", margin, 0, 100)
        self.predictor = GainPredictor(PACKAGED if network is None else network)

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        chosen = np.empty(len(view), np.int64)
        discarding = are_discarding(view.records)
        for group, decide in ((~discarding, self.policy.act), (discarding, self._discard)):
            index = np.flatnonzero(group)
            if len(index):
                chosen[index] = decide(view[index])
        return chosen

    def tried(self, view: PlayerView) -> Tried:
        """Return the most probable actions of `policy-2`; close calls are decided in double precision."""
        chances = self.policy.action_chances(view)
        close = np.flatnonzero(are_close(chances))
        if len(close):
            chances[close] = self.policy.action_chances(view[close], exact=True)
        return Tried.of(chances)

    def _discard(self, view: PlayerView) -> np.ndarray:
        """Return the actions of players who have to discard."""
        tried = self.tried(view)
        chosen = tried.actions[:, 0].copy()
        several = np.flatnonzero((tried.actions != NO_ACTION).sum(axis=1) > 1)
        if not len(several):
            return chosen
        view, tried = view[several], tried.at(several)
        advantage = self.margin * (tried.actions == chosen[several, None])

        def exact(some: np.ndarray) -> np.ndarray:
            again = Tried.of(self.policy.action_chances(view[some], exact=True))
            return self.predictor(view[some], again, exact=True) + advantage[some]

        best = are_best(self.predictor(view, tried) + advantage, exact)
        chosen[several] = np.where(best, tried.actions, NUM_ACTIONS).min(axis=1)
        return chosen
