"""The likelihood of the opponent's actions in many worlds, under a policy as the model of the opponent."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.policies.candidate_network import CandidateScorer, QuickLogits, check_no_memory
from gin_env.agents.search.dealing import new_decisions, write_past_decisions
from gin_env.game.state import STATE
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS, NO_ACTION
from gin_env.support.compilation import kernel

BATCH_SIZE = 64
"""Worlds in one forward pass, whose arrays fit into the processor's cache."""


class PolicyLikelihood:
    """Models the opponent as a policy that scores candidates and errs at random.

    Parameters
    ----------
    network : the policy.
    mistakes : the probability of a random action, so that no single action excludes a world.
    """

    def __init__(self, network: CandidateScorer, mistakes: float) -> None:
        self.mistakes = mistakes
        check_no_memory(network)
        self._draws, self._discards = QuickLogits(network.draws), QuickLogits(network.discards)

    def __call__(self, view: np.void, past: np.void, held: np.ndarray, stock: np.ndarray) -> np.ndarray:
        """Return the log likelihood of the opponent's actions in each of these worlds: float64 (n,)."""
        likelihoods = np.zeros(len(held))
        game = np.zeros(1, STATE)
        num_draws, num_discards = int(past["draw_decisions"]), int(past["discard_decisions"])
        max_worlds = min(len(held), BATCH_SIZE)
        all_draws = new_decisions(max_worlds * num_draws, DRAW_ROWS)
        all_discards = new_decisions(max_worlds * num_discards, DISCARD_ROWS)
        for first in range(0, len(held), BATCH_SIZE):
            batch = slice(first, first + BATCH_SIZE)
            num_worlds = len(held[batch])
            draws = all_draws.first(num_worlds * num_draws)
            discards = all_discards.first(num_worlds * num_discards)
            write_past_decisions(view, past, held[batch], stock[batch], game[0], draws, discards)
            for decisions, scores in ((draws, self._draws), (discards, self._discards)):
                if len(decisions.taken):
                    logits = scores(decisions.rows, decisions.context)
                    _add_chances(
                        logits, decisions.actions, decisions.taken, self.mistakes, likelihoods[batch]
                    )
        return likelihoods


@kernel
def _add_chances(
    logits: np.ndarray, actions: np.ndarray, taken: np.ndarray, mistakes: float, likelihoods: np.ndarray
) -> None:
    """Add to `likelihoods` (n,) the logarithms of the probabilities of the actions taken, m in each world."""
    each = len(taken) // len(likelihoods)
    for world in range(len(likelihoods)):
        for index in range(world * each, (world + 1) * each):
            highest = -np.inf
            for row in range(actions.shape[1]):
                for knock in range(2):
                    if actions[index, row, knock] != NO_ACTION:
                        highest = max(highest, logits[index, row, knock])
            total, share, possible = 0.0, 0.0, 0
            for row in range(actions.shape[1]):
                for knock in range(2):
                    if actions[index, row, knock] != NO_ACTION:
                        weight = np.exp(logits[index, row, knock] - highest)
                        total += weight
                        possible += 1
                        if actions[index, row, knock] == taken[index]:
                            share = weight
            likelihoods[world] += np.log((1 - mistakes) * share / total + mistakes / possible)
