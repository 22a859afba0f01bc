"""``policy``: a policy trained by PPO, whose discards a second network improves.

A network that scores candidates (`gin_env.agents.policies.candidate_network`) proposes all decisions. Where
it has to discard, a second network (`gin_env.agents.policies.gain_network`) predicts what its most probable
actions gain in games of the first network against itself. The action with the highest gain is played, if it
is better than the first network's choice by a margin. This is one step of policy improvement.
`research.recipes.action_values` describes how gains are measured.

Results: docs/results/learning.md, "The bot policy".
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gin_env.agents.policies.candidate_network import PACKAGED as POLICIES
from gin_env.agents.policies.candidate_network import CandidateScorer, load_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.gain_network import PACKAGED, GainPredictor, Tried, are_close
from gin_env.agents.ties import are_best
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.candidates import NO_ACTION, are_discarding
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number
from gin_env.support.specs import NamedObject


class ImprovedPolicyBot(NamedObject):
    """Plays a policy that scores candidates, and the discards that a second network prefers by a margin.

    Parameters
    ----------
    margin : percentage points of the chance to win by which an action must be better than the policy's
        choice; None to play the policy as it is, which takes a third of the time.
    weights : the policy: a file of a policy that scores candidates, or the name of a bundled one. A file's
        policy warns under rules other than those used in training.
    gains : a file of ``python -m research train gains``; None for the packaged network, which is made for
    the bundled
        ``policy``.

    Raises ValueError or TypeError for an impossible margin, and otherwise as `load_candidate_policy` and
    `gin_env.agents.policies.gain_network.load_gain_network` do.
    """

    def __init__(self, margin: float | None = 0.3, weights: str = "policy", gains: str | None = None) -> None:
        network, rules, episode = load_candidate_policy(weights)
        self.name = "policy"
        self.policy = CandidatePolicyBot(network, None if weights in POLICIES else rules, episode=episode)
        self.margin = None if margin is None else check_number("margin", margin, 0, 100)
        self.predictor = None if margin is None else GainPredictor(PACKAGED if gains is None else gains)

    @classmethod
    def with_memory(cls, margin: float | None = 0.2) -> ImprovedPolicyBot:
        """Return the bot ``policy-memory``, whose first network also reads the memory of earlier hands."""
        bot = cls(margin, "policy-memory")
        bot.name = "policy-memory"
        return bot

    @property
    def network(self) -> CandidateScorer:
        """The first network, which scores candidates."""
        return self.policy.network

    def act(self, view: PlayerView) -> np.ndarray:
        if self.predictor is None:
            return self.policy.act(view)
        chosen = np.empty(len(view), np.int64)
        discarding = are_discarding(view.records)
        for group, decide in (
            (~discarding, self.policy.act),
            (discarding, partial(self._discard, self.predictor)),
        ):
            index = np.flatnonzero(group)
            if len(index):
                chosen[index] = decide(view[index])
        return chosen

    def action_chances(self, view: PlayerView) -> np.ndarray:
        """Return the probability of each action by the policy, before its discards are improved.

        It is float64 (n, 107).
        """
        return self.policy.action_chances(view)

    def tried(self, view: PlayerView) -> Tried:
        """Return the policy's most probable actions; close calls are decided in double precision."""
        chances = self.policy.action_chances(view)
        close = np.flatnonzero(are_close(chances))
        if len(close):
            chances[close] = self.policy.action_chances(view[close], exact=True)
        return Tried.of(chances)

    def _discard(self, predictor: GainPredictor, view: PlayerView) -> np.ndarray:
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
            return predictor(view[some], again, exact=True) + advantage[some]

        best = are_best(predictor(view, tried) + advantage, exact)
        chosen[several] = np.where(best, tried.actions, NUM_ACTIONS).min(axis=1)
        return chosen
