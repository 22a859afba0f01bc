"""Fit the table of `gin_env.estimators.ensemble`: ``python -m research train estimator ensemble``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gin_env import agents, estimators
from gin_env.estimators.ensemble import FORMAT, MEMBERS
from gin_env.estimators.public_history import known_cards
from gin_env.game.rules import MAX_TURNS, Rules
from gin_env.training.estimators.evaluation import estimate_along
from research.recipes import Progress, derived_seed, provenance, rules_option, silent

DEFAULT_GAMES = {"ensemble": 5000}
"""Number of hands that the packaged table was fitted on."""


@dataclass(frozen=True)
class FittedTable:
    """A table of `fit_table` with its metadata."""

    table: dict[str, Any]
    metadata: dict[str, Any]

    def __str__(self) -> str:
        choices = " ".join(MEMBERS[self.table["choice"][turn]] for turn in range(1, 31))
        return f"the choice after turns 1 to 30: {choices}"

    def save(self, path: str | Path) -> None:
        """Write the table as npz."""
        FORMAT.write(path, self.table, self.metadata | {"members": MEMBERS})


def train(
    name: str, games: int, seed: int, opponents: Sequence[str], progress: Progress, rules: Rules | None
) -> FittedTable:
    """Fit a table, for ``python -m research train estimator ensemble``; `opponents` must be one bot."""
    if len(opponents) != 1:
        raise ValueError(f"the ensemble can be fitted to one bot only, not {', '.join(opponents)}")
    options = f"--games {games} --seed {seed} --opponents {opponents[0]}{rules_option(rules)}"
    about = {"games": games, "rules": (rules or Rules()).text, "opponents": list(opponents)}
    metadata = about | provenance(f"estimator ensemble ensemble_simple.npz {options}", seed, opponents)
    return FittedTable(fit_table(games, seed, opponents[0], progress, rules), metadata)


def fit_table(
    hands: int, seed: int, opponent: str = "simple", progress: Progress = silent, rules: Rules | None = None
) -> dict[str, Any]:
    """Return the choice and the weights for each turn, fitted on hands of a bot against itself.

    The choice is the member with the lowest log loss. The weights are those of the linear pool with the
    maximum likelihood (EM). A turn with fewer than 1,000 samples takes those of the previous turn.
    """
    members, bot = [estimators.make(member) for member in MEMBERS], agents.make(opponent, programs=True)
    seed = derived_seed(seed, 0, 1)  # of hands that no round of the members' training plays
    turns, given = [], []
    for positions, _, estimates, _ in estimate_along(members, bot, hands, seed, progress, rules):
        _, unseen, _ = known_cards(positions.view)
        held = positions.truth()[unseen].astype(bool)
        right = [np.where(held, estimate[unseen], 1 - estimate[unseen]) for estimate in estimates]
        given.append(np.clip(np.stack(right, axis=1), 1e-7, 1).astype(np.float32))
        turns.append(np.repeat(positions.view.array["public"]["turn"], unseen.sum(axis=1)))
    return _fit(np.concatenate(turns), np.concatenate(given))


def _fit(turns: np.ndarray, given: np.ndarray) -> dict[str, Any]:
    """Return `fit_table` of the cards' turns (m,) and the members' probabilities of the truth (m, k)."""
    choice = np.zeros(MAX_TURNS + 1, np.int64)
    weights = np.full((MAX_TURNS + 1, given.shape[1]), 1 / given.shape[1])
    for turn in range(1, MAX_TURNS + 1):
        now = given[turns == turn]
        if len(now) < 1000 * 20:  # a late sample has about twenty unknown cards
            choice[turn], weights[turn] = choice[turn - 1], weights[turn - 1]
            continue
        choice[turn] = np.log(now).mean(axis=0).argmax()
        share = weights[turn]
        for _ in range(40):
            responsible = now * share
            share = (responsible / responsible.sum(axis=1, keepdims=True)).mean(axis=0)
        weights[turn] = share
    choice[0], weights[0] = choice[1], weights[1]
    return {"choice": choice, "weights": weights}
