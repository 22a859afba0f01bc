"""A bot that plays a policy that scores candidates (`gin_env.agents.policies.candidate_network`).

>>> agents.make("policy-1")
>>> agents.make("policy-memory")
>>> agents.make("runs/first/policy.safetensors")
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env.agents.base import are_best
from gin_env.agents.declared_bots import name_of_file
from gin_env.agents.policies.candidate_network import (
    CandidateScorer,
    file_of_policy,
    load_candidate_policy,
    read_vectors,
)
from gin_env.agents.policies.policy import sample_actions, training_of, warn_of_rules
from gin_env.batch import EPISODES, Episode
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.rules import Rules
from gin_env.observations.candidates import (
    CONTEXT,
    DISCARD_ROWS,
    DRAW_ROWS,
    NO_ACTION,
    NUM_FEATURES,
    are_discarding,
)
from gin_env.observations.parts import describe_parts
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice, check_switch
from gin_env.support.specs import NamedObject
from gin_env.support.torch_extra import torch

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

_SCORES = [list(CONTEXT).index(name) for name in ("own_score", "opponent_score")]


def check_training(training: dict[str, Any], memory: bool = False) -> tuple[Rules, Episode]:
    """Return (rules, episode) from what `describe_training` returned for a policy on candidates.

    `memory` says whether the policy reads the memory. Raises ValueError unless this release can play it.
    """
    reads, known = training.get("reads"), describe_parts(*read_vectors(memory))
    if not isinstance(reads, dict) or {vector: reads.get(vector) for vector in known} != known:
        raise ValueError(
            "it does not say that it was trained on the candidates of this release: "
            "set model.gin_env = env.describe_training() where it is trained"
        )
    try:
        return Rules(**training["rules"]), check_choice("episode", training["episode"], EPISODES)
    except (KeyError, TypeError) as error:
        raise ValueError(f"it does not say how it was trained: {error}") from error


class CandidatePolicyBot(NamedObject):
    """Play by a `CandidateScorer`, with one forward pass for all draws of a batch and one for all discards.

    The actions of a deterministic bot depend neither on the batch nor on the number of threads.

    Parameters
    ----------
    network : the network, which is not copied: pass a copy of a network that is still in training.
    rules : the rules used in training, one or several; under others the bot warns. By default it never does.
    deterministic : play the most probable action (default) or sample from the distribution.
    name : the bot's name in results.
    episode : the episodes of training, ``"hand"`` or ``"game"``. A policy trained on hands sees no scores.
    """

    def __init__(
        self,
        network: CandidateScorer,
        rules: Rules | Sequence[Rules] | None = None,
        deterministic: bool = True,
        name: str = "policy",
        episode: Episode = "game",
    ) -> None:
        self.network = network
        self.rules = (rules,) if isinstance(rules, Rules) else tuple(rules or ())
        self.deterministic = check_switch("deterministic", deterministic)
        self._exact = copy.deepcopy(network).double() if deterministic else network
        self.name = name
        self.sees_scores = check_choice("episode", episode, EPISODES) == "game"

    @classmethod
    def shipped_first(cls, deterministic: bool = True) -> CandidatePolicyBot:
        """Return the bot ``policy-1``, which was trained without the feature `leaves_upcard`.

        It was trained under the default rules and plays under any. It takes too many upcards.
        """
        bot = cls.load("policy-1", deterministic)
        bot.name, bot.rules = "policy-1", ()
        return bot

    @classmethod
    def load(cls, path: str | Path, deterministic: bool = True) -> CandidatePolicyBot:
        """Return the policy in a file. Raises as `load_candidate_policy` does."""
        network, rules, episode = load_candidate_policy(path)
        bot = cls(network, rules, deterministic, name_of_file(path), episode)
        bot.files = (file_of_policy(path),)
        return bot

    @classmethod
    def snapshot(
        cls, model: MaskablePPO, deterministic: bool = False, name: str = "snapshot"
    ) -> CandidatePolicyBot:
        """Return a frozen copy of a model, which must have a policy of the class `SB3CandidatePolicy`.

        Raises ValueError for other policies.
        """
        network = getattr(model.policy.mlp_extractor, "network", None)
        if not isinstance(network, CandidateScorer):
            raise ValueError(
                f"{name} is a {type(model.policy).__name__}, which scores no candidates: "
                "PolicyBot.snapshot takes other policies than SB3CandidatePolicy"
            )
        rules, episode = check_training(training_of(model), network.reads_memory)
        return cls(copy.deepcopy(network).cpu().eval(), rules, deterministic, name, episode)

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`. Warns under rules other than those used in training."""
        self._check_rules(view)
        chosen = np.empty(len(view), np.int64)
        discarding = are_discarding(view.array)
        for num_rows, group in ((DRAW_ROWS, ~discarding), (DISCARD_ROWS, discarding)):
            index = np.flatnonzero(group)
            if not len(index):
                continue
            rows, actions, context = self._candidates(view[index], num_rows)
            actions = actions.reshape(len(index), -1)
            if self.deterministic:
                chosen[index] = self._best(rows, actions, context)
            else:
                chances = torch.softmax(_logits(self.network, rows, actions, context), dim=1).numpy()
                best = sample_actions(chances, view.array["random"][index])
                chosen[index] = actions[np.arange(len(index)), best]
        return chosen

    def action_chances(self, view: PlayerView, exact: bool = False) -> np.ndarray:
        """Return the probability of each action, float64 (n, 107). Warns as `act` does.

        They are computed in single precision, or, by a deterministic bot, in double precision if `exact`.
        """
        self._check_rules(view)
        rows, actions, table = self._candidates(view, DISCARD_ROWS)
        network = self._exact if exact else self.network
        dtype = network.draws.outputs.weight.dtype
        with torch.inference_mode():
            logits, _ = network.action_logits(
                torch.from_numpy(rows).to(dtype), torch.from_numpy(actions), torch.from_numpy(table).to(dtype)
            )
            return torch.softmax(logits.double(), dim=1).numpy()

    def _check_rules(self, view: PlayerView) -> None:
        if self.rules:
            warn_of_rules(self.name, self.rules, view)

    def _candidates(self, view: PlayerView, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the first `number` rows of `PlayerView.candidates`, with scores of 0 if it sees none."""
        rows, actions, table = view.candidates(
            rows=np.empty((len(view), number, NUM_FEATURES), np.float32),
            context=np.empty((len(view), self.network.num_context), np.float32),
        )
        if not self.sees_scores:
            table[:, _SCORES] = 0
        return rows, actions, table

    def _best(self, rows: np.ndarray, actions: np.ndarray, table: np.ndarray) -> np.ndarray:
        """Return the most probable action of each player; ties go to the lowest action, as in SB3."""
        logits = _logits(self.network, rows, actions, table).numpy()
        best = are_best(
            logits, lambda some: _logits(self._exact, rows[some], actions[some], table[some]).numpy()
        )
        return np.where(best, actions, NUM_ACTIONS).min(axis=1)


def _logits(
    network: CandidateScorer, rows: np.ndarray, actions: np.ndarray, table: np.ndarray
) -> torch.Tensor:
    """Return the logits (n, 2 * k) of `actions`, (n, 2 * k), in the network's precision."""
    dtype = network.draws.outputs.weight.dtype
    with torch.inference_mode():
        possible = torch.from_numpy(actions != NO_ACTION)
        return network(torch.from_numpy(rows).to(dtype), possible, torch.from_numpy(table).to(dtype))[0]
