"""The opponents of the PPO learner: itself, bots and its past selves."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from gin_env import agents
from gin_env.agents.policies.candidate_network import CandidateScorer
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.training.checkpoints import Tensors, by_prefix, prefixed
from gin_env.training.ranks import Ranks

SELF = -1
"""Opponent index of the learner itself; all other opponents are indices of `League.members`."""
MEMORY = 0.95
"""Factor by which earlier results are multiplied after each rollout."""


class League:
    """Bots and past selves, with the results of the learner's recent hands against them.

    Parameters
    ----------
    bots : names of bots.
    bots_share : share of the hands against bots; bots that win more hands are sampled more often.
    max_share : maximum share of one bot.
    past_share : share of the hands against past selves; the remaining hands are against the learner itself.
    past_size : maximum number of past selves; when it is reached, a new one replaces a random one.
    preference : exponent of the share of lost hands in a member's weight.
    """

    def __init__(
        self,
        bots: tuple[str, ...],
        bots_share: float,
        max_share: float,
        past_share: float,
        past_size: int,
        preference: float,
    ) -> None:
        self.num_bots, self.past_size, self.preference = len(bots), past_size, preference
        self.bots_share, self.max_share, self.past_share = bots_share, max_share, past_share
        self.members: list[Any] = [agents.make(name, programs=True) for name in bots]
        self.names = bots
        self.results = np.zeros((1 + len(bots) + past_size, 3))
        """Hands, hands lost and points won in earlier rollouts, by opponent (the learner itself first)."""
        self.new_results = np.zeros_like(self.results)
        """The same counts for the current rollout."""

    def draw(self, random: np.ndarray) -> np.ndarray:
        """Return an opponent for each random number in [0, 1): `SELF` or an index of `members`."""
        hands, lost = self.results[1 : 1 + len(self.members), :2].T
        weights = ((lost + 50) / (hands + 100)) ** self.preference  # prior: 50 of 100 hands lost
        shares = np.empty(len(self.members))
        bots, past = slice(self.num_bots), slice(self.num_bots, None)
        for group, share in ((bots, self.bots_share), (past, self.past_share)):
            shares[group] = share * weights[group] / weights[group].sum()
        shares[bots] = np.minimum(shares[bots], self.max_share)
        ends = np.cumsum([1 - shares.sum(), *shares])
        return np.minimum(np.searchsorted(ends, random, side="right"), len(shares)) - 1

    def record(self, opponents: np.ndarray, points: np.ndarray) -> None:
        """Count hands against these opponents; positive `points` are won by the learner."""
        hands = np.stack([np.ones_like(points), points < 0, points], axis=1)
        np.add.at(self.new_results, 1 + opponents, hands)

    def end_rollout(self, ranks: Ranks) -> None:
        """Add the results of all ranks to the earlier ones, which are multiplied by `MEMORY`."""
        self.results = MEMORY * self.results + ranks.sum(self.new_results)
        self.new_results[:] = 0

    def add_past_self(self, network: CandidateScorer, random: np.random.Generator) -> None:
        """Add a copy of the network as a past self; in a full league it replaces a random one."""
        bot = _past_self(copy.deepcopy(network).cpu())
        if len(self.members) < self.num_bots + self.past_size:
            self.members.append(bot)
        else:
            replaced = self.num_bots + random.integers(self.past_size)
            self.members[replaced] = bot
            self.results[1 + replaced] = 0

    def log(self) -> dict[str, float]:
        """Return points per hand and the share of hands lost for each bot."""
        log = {}
        for name, (hands, lost, points) in zip(self.names, self.results[1:], strict=False):
            if hands:
                log[f"points_per_hand/{name.replace(':', ' ')}"] = points / hands
                log[f"hands_lost/{name.replace(':', ' ')}"] = lost / hands
        return log

    def past_tensors(self) -> Tensors:
        """Return the weights of the past selves under names like ``0.draws.outputs.bias``."""
        tensors: Tensors = {}
        for index, bot in enumerate(self.members[self.num_bots :]):
            tensors |= prefixed(str(index), bot.network.state_dict())
        return tensors

    def restore_past(self, tensors: Tensors, hidden: int) -> None:
        """Restore the past selves from the tensors of `past_tensors`."""
        for _, weights in sorted((int(index), weights) for index, weights in by_prefix(tensors).items()):
            network = CandidateScorer(hidden)
            network.load_state_dict(weights)
            self.members.append(_past_self(network))


def _past_self(network: CandidateScorer) -> CandidatePolicyBot:
    """Return a bot that samples its actions from the network's probabilities."""
    return CandidatePolicyBot(network.eval(), deterministic=False, name="past")
