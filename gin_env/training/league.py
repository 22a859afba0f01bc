"""The opponents of the PPO learner: itself, bots, and its own past selves."""

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
"""The opponent is the learner itself; all others are indices of `League.members`."""
MEMORY = 0.95
"""Weight of earlier results after each rollout."""


class League:
    """Bots and past selves, with how the learner's recent hands against them ended.

    Parameters
    ----------
    bots : names of bots.
    bots_share : share of the hands against bots; those that win more hands are met more often ...
    max_share : ... but each in at most this share.
    past_share : share of the hands against past selves; the rest is against the learner itself.
    past_size : number of past selves; a new one replaces a random one.
    preference : the share of a member grows with the share of hands lost to it, to this power.
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
        """By opponent, the learner itself first: hands, hands lost and points won in earlier rollouts ..."""
        self.new_results = np.zeros_like(self.results)
        """... and in this one."""

    def draw(self, random: np.ndarray) -> np.ndarray:
        """Opponents by random numbers from [0, 1), one for each hand: `SELF`, or indices of `members`."""
        hands, lost = self.results[1 : 1 + len(self.members), :2].T
        weights = ((lost + 50) / (hands + 100)) ** self.preference  # as if 50 of 100 were lost before
        shares = np.empty(len(self.members))
        bots, past = slice(self.num_bots), slice(self.num_bots, None)
        for group, share in ((bots, self.bots_share), (past, self.past_share)):
            shares[group] = share * weights[group] / weights[group].sum()
        shares[bots] = np.minimum(shares[bots], self.max_share)
        ends = np.cumsum([1 - shares.sum(), *shares])
        return np.minimum(np.searchsorted(ends, random, side="right"), len(shares)) - 1

    def record(self, opponents: np.ndarray, points: np.ndarray) -> None:
        """Count hands against these opponents; `points` are positive where the learner won."""
        hands = np.stack([np.ones_like(points), points < 0, points], axis=1)
        np.add.at(self.new_results, 1 + opponents, hands)

    def end_rollout(self, ranks: Ranks) -> None:
        """Add the results of all ranks to the earlier ones, which get less weight."""
        self.results = MEMORY * self.results + ranks.sum(self.new_results)
        self.new_results[:] = 0

    def add_past_self(self, network: CandidateScorer, random: np.random.Generator) -> None:
        """Add a copy of the network; in a full league it replaces a random past self."""
        bot = _past_self(copy.deepcopy(network).cpu())
        if len(self.members) < self.num_bots + self.past_size:
            self.members.append(bot)
        else:
            replaced = self.num_bots + random.integers(self.past_size)
            self.members[replaced] = bot
            self.results[1 + replaced] = 0

    def log(self) -> dict[str, float]:
        """Points per hand and share of hands lost, for each bot."""
        log = {}
        for name, (hands, lost, points) in zip(self.names, self.results[1:], strict=False):
            if hands:
                log[f"points_per_hand/{name.replace(':', ' ')}"] = points / hands
                log[f"hands_lost/{name.replace(':', ' ')}"] = lost / hands
        return log

    def past_tensors(self) -> Tensors:
        """The weights of the past selves under names like ``0.draws.outputs.bias``, for a checkpoint."""
        tensors: Tensors = {}
        for index, bot in enumerate(self.members[self.num_bots :]):
            tensors |= prefixed(str(index), bot.network.state_dict())
        return tensors

    def restore_past(self, tensors: Tensors, hidden: int) -> None:
        """Restore what `past_tensors` returned."""
        for _, weights in sorted((int(index), weights) for index, weights in by_prefix(tensors).items()):
            network = CandidateScorer(hidden)
            network.load_state_dict(weights)
            self.members.append(_past_self(network))


def _past_self(network: CandidateScorer) -> CandidatePolicyBot:
    """A bot that samples its actions from the network's probabilities."""
    return CandidatePolicyBot(network.eval(), deterministic=False, name="past")
