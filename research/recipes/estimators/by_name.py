"""Training of estimators by name, for ``python -m research train estimator NAME``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from gin_env.game.rules import Rules
from gin_env.support.checks import check_choice, check_integer
from research.recipes import Progress, silent

MODULES = {
    "bayes": "counting",
    "bayes-isru": "counting",
    "nn": "network_trainer",
    "shankar-cnn": "network_trainer",
    "suit-equivariant": "network_trainer",
    "ensemble": "ensemble",
}
"""The module of this folder that trains each estimator.

Each module has ``DEFAULT_GAMES``, a dict by name, and a function ``train(name, games, seed, opponents,
progress, rules)`` that returns a `TrainedEstimator`.
"""


class TrainedEstimator(Protocol):
    """A trained estimator; ``str()`` summarises its training."""

    def save(self, path: str | Path) -> None:
        """Write the file that the estimator's parameter (``table=``, ``weights=``) reads."""
        ...


def default_games(name: str) -> int:
    """Return the number of games that this estimator's packaged file was trained on.

    Raises ValueError for an unknown name.
    """
    return _trainer(name).DEFAULT_GAMES[name]


def train_estimator(
    name: str,
    games: int | None = None,
    seed: int = 1,
    opponents: Sequence[str] = ("simple",),
    progress: Progress = silent,
    rules: Rules | None = None,
) -> TrainedEstimator:
    """Train an estimator on games of `opponents` against each other.

    `games` is `default_games` by default, `rules` is `Rules()`. `progress` is called with the number of games
    played since the last call. Raises ValueError for unknown names, or TypeError or ValueError for a number
    of games that is not a positive integer.
    """
    trainer = _trainer(name)
    games = check_integer("games", trainer.DEFAULT_GAMES[name] if games is None else games, 1, 1 << 40)
    return trainer.train(name, games, seed, opponents, progress, rules)


def _trainer(name: str) -> Any:
    module = MODULES[check_choice("trainable estimator", name, MODULES)]
    return import_module(f"research.recipes.estimators.{module}")
