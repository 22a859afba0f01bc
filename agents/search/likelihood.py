"""How likely a policy is to have done what the opponent has done, with the cards of each of many worlds."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.policies.candidate_network import CandidateScorer, QuickLogits
from gin_env.agents.search.dealing import new_decisions, write_past_decisions
from gin_env.game.state import STATE
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS, NO_ACTION
from gin_env.support.compilation import kernel

PART = 64
"""Worlds in one forward pass: what they need fits into the processor's cache."""


class PolicyLikelihood:
    """The opponent taken for a policy that scores candidates, who sometimes does anything.

    Parameters
    ----------
    network : the policy.
    mistakes : share of her decisions that are any of the possible ones: no world is excluded by one act.
    """

    def __init__(self, network: CandidateScorer, mistakes: float) -> None:
        self.mistakes = mistakes
        self._draws, self._discards = QuickLogits(network.draws), QuickLogits(network.discards)

    def __call__(self, view: np.void, past: np.void, held: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """float64 (n,): logarithm of the chance of all that the opponent did, for worlds (n,)."""
        found = np.zeros(len(held))
        game = np.zeros(1, STATE)
        draws_each, discards_each = int(past["draw_decisions"]), int(past["discard_decisions"])
        most = min(len(held), PART)
        all_draws = new_decisions(most * draws_each, DRAW_ROWS)
        all_discards = new_decisions(most * discards_each, DISCARD_ROWS)
        for first in range(0, len(held), PART):
            some = slice(first, first + PART)
            number = len(held[some])
            draws = all_draws.first(number * draws_each)
            discards = all_discards.first(number * discards_each)
            write_past_decisions(view, past, held[some], rest[some], game[0], draws, discards)
            for decisions, scores in ((draws, self._draws), (discards, self._discards)):
                if len(decisions.taken):
                    logits = scores(decisions.rows, decisions.table)
                    _add_chances(logits, decisions.actions, decisions.taken, self.mistakes, found[some])
        return found


@kernel
def _add_chances(
    logits: np.ndarray, actions: np.ndarray, taken: np.ndarray, mistakes: float, found: np.ndarray
) -> None:
    """Add to `found` (n,) the logarithms of the chances of the actions taken, m for each of n worlds."""
    each = len(taken) // len(found)
    for world in range(len(found)):
        for number in range(world * each, (world + 1) * each):
            most = -np.inf
            for row in range(actions.shape[1]):
                for knock in range(2):
                    if actions[number, row, knock] != NO_ACTION:
                        most = max(most, logits[number, row, knock])
            total, share, possible = 0.0, 0.0, 0
            for row in range(actions.shape[1]):
                for knock in range(2):
                    if actions[number, row, knock] != NO_ACTION:
                        weight = np.exp(logits[number, row, knock] - most)
                        total += weight
                        possible += 1
                        if actions[number, row, knock] == taken[number]:
                            share = weight
            found[world] += np.log((1 - mistakes) * share / total + mistakes / possible)
