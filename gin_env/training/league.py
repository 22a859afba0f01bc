"""The opponents of the PPO learner: itself, bots and its past selves."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from gin_env import agents
from gin_env.agents.policies.candidate_network import IMPOSSIBLE, NUM_TYPES, CandidateScorer, CandidateScores
from gin_env.agents.policies.policy import sample_actions
from gin_env.agents.turns import play_turns
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.observations.candidates import (
    DISCARD_ROWS,
    DRAW_ROWS,
    NO_ACTION,
    NUM_FEATURES,
    draw_and_discard_masks,
)
from gin_env.training.checkpoints import Tensors, by_prefix
from gin_env.training.ranks import Ranks
from gin_env.training.settings import PPOSettings

SELF = -1
"""Opponent index of the learner itself; the next indices are the bots', and then the past selves'."""
DECAY = 0.95
"""Factor by which earlier results are multiplied after each rollout."""


class PastLogits:
    """The logits of all past selves, of their draws or of their discards, in one batched product.

    Each has few games at a time, so that one product for each takes longer. Those with a memory take turns.
    """

    def __init__(self, scores: Sequence[CandidateScores]) -> None:
        self._each = scores
        stacked, _ = torch.func.stack_module_state(list(scores))
        self._weights = {name: tensor.detach() for name, tensor in stacked.items()}

    def __call__(self, rows: np.ndarray, table: np.ndarray, past: np.ndarray) -> np.ndarray:
        """Return the logits of both actions of each row, float32 (n, k, 2).

        `rows` and `table` are as for `CandidateScores`; `past` are the ascending indices of the past selves.
        """
        counts = np.bincount(past, minlength=len(self._each))
        starts = counts.cumsum() - counts
        if self._each[0].memory is not None:
            both = [np.split(each, starts[1:]) for each in (rows, table)]
            parts = zip(self._each, *both, strict=True)
            return np.concatenate([_logits(*part) for part in parts if len(part[1])])
        where = past, np.arange(len(past)) - starts[past]
        padded_rows = np.zeros((len(counts), counts.max(), *rows.shape[1:]), np.float32)
        padded_table = np.zeros((len(counts), counts.max(), table.shape[1]), np.float32)
        padded_rows[where], padded_table[where] = rows, table
        with torch.inference_mode():
            hidden = self._multiply("row_first", torch.from_numpy(padded_rows).flatten(1, 2))
            context = torch.from_numpy(padded_table) @ self._weights["table_first.weight"].mT
            hidden.unflatten(1, padded_rows.shape[1:3]).add_(context[:, :, None])
            hidden = self._multiply("row_second", hidden.relu_()).relu_()
            outputs = self._multiply("outputs", hidden).unflatten(1, padded_rows.shape[1:3])
            return outputs[..., :2].numpy()[where]

    def _multiply(self, layer: str, inputs: torch.Tensor) -> torch.Tensor:
        bias, weight = self._weights[f"{layer}.bias"], self._weights[f"{layer}.weight"]
        return torch.baddbmm(bias[:, None], inputs, weight.mT)


@torch.inference_mode()
def _logits(scores: CandidateScores, rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    return scores.outputs_of(torch.from_numpy(rows), torch.from_numpy(table))[..., :2].numpy()


class League:
    """Bots and past selves of a run, with the results of the learner's recent hands against them."""

    def __init__(self, settings: PPOSettings) -> None:
        self.settings, bots = settings, settings.bots
        self.num_bots, past_size = len(bots), settings.past_size
        self.bots: list[Any] = [agents.make(name, programs=True) for name in bots]
        self.past: list[CandidateScorer] = []
        self._past_logits: list[PastLogits] = []
        firsts = [min(1 + bots.index(name), NUM_TYPES - 1) for name in bots]
        self.types = np.array([0, *firsts, *[0] * past_size])
        """The type of each opponent for a network with a memory: 0 for the learner itself and past selves."""
        self.results = np.zeros((1 + len(bots) + past_size, 3))
        """Hands, hands lost and points won in earlier rollouts, by opponent (the learner itself first)."""
        self.new_results = np.zeros_like(self.results)
        """The same counts for the current rollout."""

    def draw(self, random: np.ndarray) -> np.ndarray:
        """Return the index of an opponent for each random number in [0, 1)."""
        num_opponents = self.num_bots + len(self.past)
        hands, lost = self.results[1 : 1 + num_opponents, :2].T
        weights = ((lost + 50) / (hands + 100)) ** self.settings.preference  # prior: 50 of 100 hands lost
        shares = np.empty(num_opponents)
        bots, past = slice(self.num_bots), slice(self.num_bots, None)
        for group, share in ((bots, self.settings.bots_share), (past, self.settings.past_share)):
            shares[group] = share * weights[group] / weights[group].sum()
        shares[bots] = np.minimum(shares[bots], self.settings.max_share)
        ends = np.cumsum([1 - shares.sum(), *shares])
        return np.minimum(np.searchsorted(ends, random, side="right"), len(shares)) - 1

    def play(self, games: Games, envs: np.ndarray, opponents: np.ndarray, random: np.ndarray) -> None:
        """Let bots play a turn, and past selves an action, in each of these games, where they are to move.

        `opponents` is an index and `random` a uint64 random number for each game.
        """
        for index in range(self.num_bots):
            own = envs[opponents == index]
            if len(own):
                play_turns(games, self.bots[index], own)
        order = np.argsort(opponents, kind="stable")[np.count_nonzero(opponents < self.num_bots) :]
        if len(order):
            self._play_past(games, envs[order], opponents[order] - self.num_bots, random[order])

    def _play_past(self, games: Games, envs: np.ndarray, past: np.ndarray, random: np.ndarray) -> None:
        """Let the past selves with these ascending indices sample an action in each of these games."""
        phase = games.state["public"]["phase"][envs]
        chosen = np.full(len(envs), DRAW_STOCK)  # the only legal action after two passes
        for kind, mask in enumerate(draw_and_discard_masks(phase)):
            places = np.flatnonzero(mask)
            if not len(places):
                continue
            rows, actions, context = games.candidates(
                envs[places],
                rows=np.empty((len(places), (DRAW_ROWS, DISCARD_ROWS)[kind], NUM_FEATURES), np.float32),
                context=np.empty((len(places), self.past[0].num_context), np.float32),
            )
            logits = self._past_logits[kind](rows, context, past[places])
            logits[actions == NO_ACTION] = IMPOSSIBLE
            chances = torch.softmax(torch.from_numpy(logits).flatten(1), dim=1).numpy()
            best = sample_actions(chances, random[places])
            chosen[places] = actions.reshape(chances.shape)[np.arange(len(places)), best]
        games.play(envs, chosen)

    def record(self, opponents: np.ndarray, points: np.ndarray) -> None:
        """Count hands against these opponents; positive `points` are won by the learner."""
        hands = np.stack([np.ones_like(points), points < 0, points], axis=1)
        np.add.at(self.new_results, 1 + opponents, hands)

    def end_rollout(self, ranks: Ranks) -> None:
        """Add the results of all ranks to the earlier ones, which are multiplied by `DECAY`."""
        self.results = DECAY * self.results + ranks.sum(self.new_results)
        self.new_results[:] = 0

    def add_past_self(self, network: CandidateScorer, random: np.random.Generator) -> None:
        """Add a copy of the network as a past self; in a full league it replaces a random one."""
        past = copy.deepcopy(network).cpu()
        past.draws.use_bfloat16 = past.discards.use_bfloat16 = False
        if len(self.past) < self.settings.past_size:
            self.past.append(past)
        else:
            replaced = random.integers(self.settings.past_size)
            self.past[replaced] = past
            self.results[1 + self.num_bots + replaced] = 0
        self._stack_past()

    def _stack_past(self) -> None:
        """Stack the weights of all past selves."""
        draws, discards = [past.draws for past in self.past], [past.discards for past in self.past]
        self._past_logits = [PastLogits(each) for each in (draws, discards) if each]

    def log(self) -> dict[str, float]:
        """Return points per hand and the share of hands lost for each bot."""
        log = {}
        for name, (hands, lost, points) in zip(self.settings.bots, self.results[1:], strict=False):
            if hands:
                log[f"points_per_hand/{name.replace(':', ' ')}"] = points / hands
                log[f"hands_lost/{name.replace(':', ' ')}"] = lost / hands
        return log

    def past_tensors(self) -> Tensors:
        """Return the weights of the past selves under names like ``0.draws.outputs.bias``."""
        return torch.nn.ModuleList(self.past).state_dict()

    def restore_past(self, tensors: Tensors, hidden: int, memory: bool = False) -> None:
        """Restore the past selves from the tensors of `past_tensors`."""
        self.past = [CandidateScorer(hidden, memory) for _ in by_prefix(tensors)]
        torch.nn.ModuleList(self.past).load_state_dict(tensors)
        self._stack_past()
