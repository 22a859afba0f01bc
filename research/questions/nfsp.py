"""Neural fictitious self-play (NFSP) in a small deck.

Each player of a hand plays a best response with a small probability, and otherwise the average strategy. The
best response is greedy by action values, which are learned off-policy from all decisions. The average
strategy imitates a fair sample of the actions of the best responses. One pair of networks plays both seats.
Both are networks of the PPO learner: the methods differ in how they learn, not in what they can represent.

Source: Heinrich and Silver 2016, "Deep Reinforcement Learning from Self-Play in Imperfect-Information Games",
arXiv 1603.01121, algorithm 1, with the anticipation and the exploration of its experiments in Leduc hold'em.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch.nn.functional import cross_entropy, smooth_l1_loss

from gin_env.agents.policies.candidate_network import CandidateScorer
from gin_env.agents.policies.policy import sample_actions
from gin_env.batch import Games
from gin_env.game.rules import Rules
from gin_env.game.state import STATE

NUM_GAMES = 256
"""Number of hands played at a time. After an action in each of them, both networks learn from a minibatch."""
ANTICIPATION = 0.1
"""Probability of playing the best response in a hand."""
EXPLORATION = 0.06
"""Probability of a random action of the best response; falls with the square root of the updates."""
MINIBATCH, LEARNING_RATE = 256, 1e-3
TRANSITIONS, RESERVOIR = 100_000, 200_000
"""Numbers of decisions kept: the last ones, and a fair sample of those of the best responses."""
TARGET_UPDATES = 300
"""Number of updates between two copies of the action values to their target network."""
POINTS = 10
"""Points of a hand that are worth a reward of 1."""


class FictitiousPlay:
    """The networks, the hands in play, and what is kept of the decisions.

    Attributes
    ----------
    policy : the average strategy.
    decisions : number of decisions so far with more than one legal action.
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        torch.manual_seed(seed)
        self.random, self.seed = np.random.default_rng(seed), seed
        self.policy, self.values = CandidateScorer(), CandidateScorer()
        self.target = copy.deepcopy(self.values)
        learned = [*self.policy.parameters(), *self.values.parameters()]
        self.optimizer = torch.optim.Adam(learned, LEARNING_RATE)
        self.games, self.sampled = Games(NUM_GAMES, rules), Games(MINIBATCH, rules)
        self.started = self.decisions = self.updates = 0
        self.responding = np.zeros((NUM_GAMES, 2), np.bool_)
        self.open = np.zeros((NUM_GAMES, 2), np.bool_)
        """Whether a player's last decision of the hand awaits its outcome."""
        self.last, self.last_action = np.zeros((NUM_GAMES, 2), STATE), np.zeros((NUM_GAMES, 2), np.int64)
        self.before, self.after = np.zeros(TRANSITIONS, STATE), np.zeros(TRANSITIONS, STATE)
        self.actions, self.rewards = np.zeros(TRANSITIONS, np.int64), np.zeros(TRANSITIONS, np.float32)
        self.over, self.num_transitions = np.zeros(TRANSITIONS, np.bool_), 0
        self.imitated, self.imitated_actions = np.zeros(RESERVOIR, STATE), np.zeros(RESERVOIR, np.int64)
        self.num_imitated = 0
        self._begin(self.games.everyone)

    def _begin(self, which: np.ndarray) -> None:
        self.games.start(
            which, episodes=self.started + np.arange(len(which), dtype=np.uint64), seed=self.seed
        )
        self.started += len(which)
        self.responding[which] = self.random.random((len(which), 2)) < ANTICIPATION

    def step(self) -> None:
        """Play one action in each hand, and learn from a minibatch of each kind."""
        games, everyone = self.games, self.games.everyone
        players = games.to_move().astype(np.int64)
        states, masks = games.state.copy(), games.masks(everyone) != 0
        responding = self.responding[everyone, players]
        actions = self._choose(masks, responding)
        deciding = np.flatnonzero(masks.sum(axis=1) > 1)
        self.decisions += len(deciding)
        self._imitate(states, actions, deciding[responding[deciding]])
        followed = deciding[self.open[deciding, players[deciding]]]
        self._keep(followed, players[followed], states[followed], 0.0, False)
        self.last[deciding, players[deciding]] = states[deciding]
        self.last_action[deciding, players[deciding]] = actions[deciding]
        self.open[deciding, players[deciding]] = True
        games.play(everyone, actions)
        ended = np.flatnonzero(games.done)
        for player in (0, 1):
            own = ended[self.open[ended, player]]
            points = (1 - 2 * player) * 100 * games.rewards[own] / POINTS
            self._keep(own, np.full(len(own), player), states[own], points, True)
        self.open[ended] = False
        games.rewards[:] = 0
        self._begin(ended)
        self.learn()

    def _choose(self, masks: np.ndarray, responding: np.ndarray) -> np.ndarray:
        """Return an action in each hand, of the best response where it is `responding`, bool (n,)."""
        inputs = [torch.from_numpy(array) for array in self.games.candidates(self.games.everyone)]
        with torch.inference_mode():
            average, values = (network.action_logits(*inputs)[0] for network in (self.policy, self.values))
        random = self.random.integers(2**64, size=(2, NUM_GAMES), dtype=np.uint64)
        exploring = self.random.random(NUM_GAMES) < EXPLORATION / (1 + self.updates / 1000) ** 0.5
        best = np.where(exploring, sample_actions(masks, random[1]), values.numpy().argmax(axis=1))
        likely = sample_actions(torch.softmax(average, dim=1).numpy(), random[0])
        return np.where(responding, best, likely)

    def _imitate(self, states: np.ndarray, actions: np.ndarray, which: np.ndarray) -> None:
        """Add decisions of best responses to the reservoir."""
        for index in which.tolist():
            place = self.num_imitated
            if place >= RESERVOIR:
                place = int(self.random.integers(self.num_imitated + 1))
            if place < RESERVOIR:
                self.imitated[place], self.imitated_actions[place] = states[index], actions[index]
            self.num_imitated += 1

    def _keep(
        self,
        games: np.ndarray,
        players: np.ndarray,
        after: np.ndarray,
        reward: np.ndarray | float,
        over: bool,
    ) -> None:
        """Keep the open decisions of these players with their outcomes."""
        places = (self.num_transitions + np.arange(len(games))) % TRANSITIONS
        self.before[places], self.after[places] = self.last[games, players], after
        self.actions[places], self.rewards[places] = self.last_action[games, players], reward
        self.over[places] = over
        self.num_transitions += len(games)

    def learn(self) -> None:
        """Update both networks, once there is a minibatch of each kind."""
        filled = min(self.num_transitions, TRANSITIONS), min(self.num_imitated, RESERVOIR)
        if min(filled) < MINIBATCH:
            return
        some, imitated = (self.random.integers(number, size=MINIBATCH) for number in filled)
        logits = self.policy.action_logits(*self._inputs(self.imitated[imitated]))[0]
        chosen = torch.from_numpy(self.imitated_actions[imitated])
        with torch.no_grad():
            best = self.target.action_logits(*self._inputs(self.after[some]))[0].max(dim=1).values
            best[torch.from_numpy(self.over[some])] = 0
        values = self.values.action_logits(*self._inputs(self.before[some]))[0]
        found = values.gather(1, torch.from_numpy(self.actions[some])[:, None])[:, 0]
        loss = smooth_l1_loss(found, torch.from_numpy(self.rewards[some]) + best)
        self.optimizer.zero_grad()
        (loss + cross_entropy(logits, chosen)).backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % TARGET_UPDATES == 0:
            self.target.load_state_dict(self.values.state_dict())

    def _inputs(self, states: np.ndarray) -> list[torch.Tensor]:
        self.sampled.state[:] = states
        return [torch.from_numpy(array) for array in self.sampled.candidates(self.sampled.everyone)]
