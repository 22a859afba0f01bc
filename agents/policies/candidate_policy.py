"""A bot that plays a policy that scores candidates (`gin_env.agents.policies.candidate_network`).

>>> agents.make("policy")
>>> agents.make("policy-variants")
>>> agents.make("policy-memory")
>>> agents.make("runs/first/policy.safetensors")
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env.agents.policies.candidate_network import (
    CandidateScorer,
    find_candidate_policy,
    load_candidate_policy,
    read_vectors,
)
from gin_env.agents.policies.policy import sample_actions, training_of, warn_of_rules
from gin_env.agents.registry import name_of_file
from gin_env.agents.ties import are_best
from gin_env.batch import EPISODES, Episode
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, NUM_ACTIONS
from gin_env.game.rules import Rules
from gin_env.game.state import DRAW
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
from gin_env.support.checks import check_choice, check_number, check_switch

try:
    import torch
except ImportError as error:  # pragma: no cover - the tests have torch
    raise ImportError('trained policies need torch: pip install "gin-env[train]"') from error

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

STOCK_ABOVE = 0.001
"""Limit of `prefer_stock` in the packaged bots, chosen on other deals than those of the results."""
CLOSE = 1e-3
"""Probabilities whose ratio differs from 1 by less may be in another order in single precision."""
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


class CandidatePolicyBot:
    """Play by a `CandidateScorer`, with one forward pass for all draws of a batch and one for all discards.

    The actions of a deterministic bot depend neither on the batch nor on the number of threads.

    Parameters
    ----------
    network : the network, which is not copied: pass a copy of a network that is still in training.
    rules : the rules used in training, one or several; under others the bot warns. By default it never does.
    deterministic : play the most probable action (default) or sample from the distribution.
    name : the bot's name in results.
    episode : the episodes of training, ``"hand"`` or ``"game"``. A policy trained on hands sees no scores.
    stock_above : for a deterministic bot, see `prefer_stock`; 1 to play as the network says.
    """

    def __init__(
        self,
        network: CandidateScorer,
        rules: Rules | Sequence[Rules] | None = None,
        deterministic: bool = True,
        name: str = "policy",
        episode: Episode = "game",
        stock_above: float = 1.0,
    ) -> None:
        self.network = network
        self.rules = (rules,) if isinstance(rules, Rules) else tuple(rules or ())
        self.deterministic = check_switch("deterministic", deterministic)
        self._exact = copy.deepcopy(network).double() if deterministic else network
        self.name = name
        self.sees_scores = check_choice("episode", episode, EPISODES) == "game"
        self.stock_above = check_number("stock_above", stock_above, 0, 1)

    @classmethod
    def shipped(cls, deterministic: bool = True) -> CandidatePolicyBot:
        """Return the bot ``policy``, which was trained under the default rules and plays under any."""
        return cls._packaged("policy", deterministic)

    @classmethod
    def shipped_for_variants(cls, deterministic: bool = True) -> CandidatePolicyBot:
        """Return the bot ``policy-variants``: ``policy``, trained further under five presets and others."""
        return cls._packaged("policy-variants", deterministic)

    @classmethod
    def shipped_with_memory(
        cls, deterministic: bool = True, stock_above: float = STOCK_ABOVE
    ) -> CandidatePolicyBot:
        """Return the bot ``policy-memory``: ``policy``, trained further with the memory of earlier hands.

        `stock_above` : see `prefer_stock`.
        """
        return cls._packaged("policy-memory", deterministic, stock_above)

    @classmethod
    def _packaged(cls, name: str, deterministic: bool, stock_above: float = 1.0) -> CandidatePolicyBot:
        """Return the bot of a name in `PACKAGED`, which does not warn under other rules."""
        network, _, episode = find_candidate_policy(name)
        return cls(network, None, deterministic, name, episode, stock_above)

    @classmethod
    def load(cls, path: str | Path, deterministic: bool = True) -> CandidatePolicyBot:
        """Return the policy in a file. Raises as `load_candidate_policy` does."""
        network, rules, episode = load_candidate_policy(path)
        return cls(network, rules, deterministic, name_of_file(path), episode)

    @classmethod
    def snapshot(
        cls, model: MaskablePPO, deterministic: bool = False, name: str = "snapshot"
    ) -> CandidatePolicyBot:
        """Return a frozen copy of a model, which must have a policy of the class `SB3CandidatePolicy`.

        Set ``model.gin_env = env.describe_training()`` first. Raises ValueError for other policies.
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
        discarding = are_discarding(view.records)
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
                best = sample_actions(chances, view.records["random"][index])
                chosen[index] = actions[np.arange(len(index)), best]
        if self.deterministic:
            self.prefer_stock(view, chosen, self.stock_above)
        return chosen

    def prefer_stock(self, view: PlayerView, chosen: np.ndarray, stock_above: float) -> None:
        """Change the actions `chosen`, int64 (n,), of players who would take the upcard in a close call.

        They draw from the stock instead if the network gives that a probability above `stock_above`: on
        average, our networks take too many upcards. The first upcard, which can be declined, is left to them.
        With 1, nothing changes.
        """
        if stock_above == 1:
            return
        taking = np.flatnonzero((chosen == DRAW_UPCARD) & (view.records["public"]["phase"] == DRAW))
        if not len(taking):
            return
        chances = self.action_chances(view[taking])[:, DRAW_STOCK]
        close = np.flatnonzero(np.abs(chances - stock_above) <= CLOSE * stock_above)
        if len(close):
            chances[close] = self.action_chances(view[taking[close]], exact=True)[:, DRAW_STOCK]
        chosen[taking[chances > stock_above]] = DRAW_STOCK

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
                torch.from_numpy(rows).to(dtype),
                torch.from_numpy(actions),
                torch.from_numpy(table).to(dtype),
            )
            return torch.softmax(logits.double(), dim=1).numpy()

    def _check_rules(self, view: PlayerView) -> None:
        if self.rules:
            warn_of_rules(self.name, self.rules, view.rules)

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
