"""Rollout storage of the PPO learner: decisions, linked in chains, and their advantages."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from gin_env.observations.candidates import NO_ACTION, NUM_FEATURES


class DecisionBuffer:
    """Network inputs and sampled actions of the decisions of one kind, draws or discards.

    The arrays are allocated once, for `capacity` decisions of `num_rows` candidates with `num_features`
    numbers, and reused. The context has `num_context` numbers, with those of the memory. What the network
    reads is copied once to `device` for the rollout and all passes over it; on the CPU it stays where it is.
    """

    def __init__(
        self, capacity: int, num_rows: int, num_context: int, device: str, num_features: int = NUM_FEATURES
    ) -> None:
        # Zeros, because batches are padded with what is there, and NaN spreads in some products in bfloat16.
        zeros = partial(torch.zeros, pin_memory=device.startswith("cuda"))
        self._written = [
            zeros(capacity, num_rows, num_features),
            zeros(capacity, 2 * num_rows, dtype=torch.bool),
            zeros(capacity, num_context),
        ]
        self._read = [each.to(device) for each in self._written]  # on the CPU, the same tensors
        self.rows, self._possible, self.context = (each.numpy() for each in self._written)
        self.actions = np.empty((capacity, num_rows, 2), np.int64)
        self.chosen = np.empty(capacity, np.int64)
        self.log_prob = np.empty(capacity, np.float32)
        self.opponent_type = np.empty(capacity, np.int64)
        """What a network with a memory has to guess: 0 for the learner and its past selves, then the bots."""
        self.count = 0

    def send(self, places: slice) -> list[torch.Tensor]:
        """Copy the inputs of new decisions to the device, and return them as `inputs` does."""
        self._possible[places] = self.actions[places].reshape(-1, self._possible.shape[1]) != NO_ACTION
        for written, read in zip(self._written, self._read, strict=True):
            if read is not written:
                read[places].copy_(written[places], non_blocking=True)
        return [each[places] for each in self._read]

    def inputs(self, places: np.ndarray) -> list[torch.Tensor]:
        """Return the network's inputs for some decisions: rows, mask of possible actions, context."""
        index = torch.from_numpy(places).to(self._read[0].device)
        return [each.index_select(0, index) for each in self._read]


class LearnerBatch:
    """All decisions of a rollout in the order in which they were taken, linked in chains.

    A chain holds the decisions of one player in one hand. The last decision of a chain receives the hand's
    reward. If the rollout ends before the hand, its last decision is not learned, but its value bootstraps.
    """

    def __init__(self, num_envs: int, capacity: int) -> None:
        self.kind = np.empty(capacity, np.int8)
        """0: a draw, 1: a discard."""
        self.slot = np.empty(capacity, np.int64)
        """The action's index among those of all games: step * num_envs + game."""
        self.place = np.empty(capacity, np.int64)
        """The decision's index in the `DecisionBuffer` of its kind."""
        # The additional last entry means "no next decision"; its value and advantage are 0.
        self.value = np.zeros(capacity + 1, np.float32)
        self.advantage = np.zeros(capacity + 1, np.float32)
        self.reward = np.zeros(capacity, np.float32)
        self.next = np.empty(capacity, np.int64)
        self.known = np.empty(capacity, np.bool_)
        """Whether the outcome of the decision (the next decision or the end of the hand) is known."""
        self.last = np.full((num_envs, 2), capacity, np.int64)
        """The last decision of each player in the current hand of each game; `nothing` before the first."""
        self.nothing = capacity
        self.steps: list[slice] = []
        """Slices of decisions taken at the same time, which cannot follow each other."""
        self.count = 0

    def clear(self) -> None:
        """Remove all decisions and end unfinished chains."""
        self.last[:] = self.nothing
        self.steps.clear()
        self.count = 0

    def add(
        self,
        envs: np.ndarray,
        players: np.ndarray,
        kind: int,
        places: slice,
        values: np.ndarray,
        slots: np.ndarray,
    ) -> None:
        """Add one decision in each of these games."""
        step = slice(self.count, self.count + len(envs))
        before = self.last[envs, players]
        follows = before != self.nothing
        indices = np.arange(step.start, step.stop)
        self.next[before[follows]] = indices[follows]
        self.known[before[follows]] = True
        self.last[envs, players] = indices
        self.kind[step], self.value[step], self.slot[step] = kind, values, slots
        self.place[step] = np.arange(places.start, places.stop)
        self.reward[step], self.next[step], self.known[step] = 0, self.nothing, False
        self.steps.append(step)
        self.count = step.stop

    def end_hands(self, envs: np.ndarray, rewards: np.ndarray) -> None:
        """End the hands in these games; player 0 gets `rewards`, and player 1 gets their negatives."""
        for player, sign in ((0, 1), (1, -1)):
            last = self.last[envs, player]
            decided = last != self.nothing
            self.reward[last[decided]] = sign * rewards[decided]
            self.known[last[decided]] = True
        self.last[envs] = self.nothing

    def estimate_advantages(self, gamma: float, gae_lambda: float) -> None:
        """Compute generalized advantage estimates (Schulman et al. 2016) along each chain."""
        for step in reversed(self.steps):
            following = self.next[step]
            delta = self.reward[step] + gamma * self.value[following] - self.value[step]
            advantage = delta + gamma * gae_lambda * self.advantage[following]
            self.advantage[step] = np.where(self.known[step], advantage, 0)
