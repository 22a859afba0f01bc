"""Model selection: train several networks and keep the one that wins the most validation games.

The networks are trained on last hands but play with all hands. How a network generalises to hands that its
data lacks varies with the seed: networks with different seeds differ by ten points in validation games. Long
training makes it worse, although the error on last hands keeps falling (see `gin_env.agents.hand_strength`).
Training is therefore short, and validation games choose between several networks, on decks that no other
match of this package uses.

Results: docs/results/truong2021.md, "Table 1".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gin_env.agents.hand_strength.bots import FORMAT, OffensiveBot
from gin_env.game.rules import Rules
from gin_env.matches.matches import MatchResult, play_match
from gin_env.support.checks import check_integer
from research.recipes import Progress, silent
from research.recipes.hand_strength.data_sets import DataSet
from research.recipes.hand_strength.trainer import HandStrengthSettings, HandStrengthTrainer, train

VALIDATION_GAMES = 3000
VALIDATION_SEED = 20_201_202


@dataclass(frozen=True)
class Contestant:
    """Validation results of one of the compared networks."""

    seed: int
    validation_loss: float
    win_rate: float
    """Share of the validation games against the Simple player that it wins."""


def train_best(
    data: DataSet,
    settings: HandStrengthSettings,
    candidates: int,
    games: int = VALIDATION_GAMES,
    progress: Progress = silent,
) -> tuple[HandStrengthTrainer, list[Contestant]]:
    """Train `candidates` networks, and return the best of them and the results of all.

    Their seeds are consecutive, beginning with the seed of the settings. The best network is the one that
    wins the most of its validation `games`. `progress` is called with numbers of states, as in
    `trainer.train`.
    """
    candidates = check_integer("candidates", candidates, 1, 1000)
    trainers, found = [], []
    for seed in range(settings.seed, settings.seed + candidates):
        trainer = train(data, replace(settings, seed=seed), progress=progress)
        trainers.append(trainer)
        match = validation_match(trainer, games)
        found.append(Contestant(seed, trainer.validation_losses[-1], match.win_rate))
    best = max(range(candidates), key=lambda number: found[number].win_rate)
    return trainers[best], found


def validation_match(trainer: HandStrengthTrainer, games: int = VALIDATION_GAMES) -> MatchResult:
    """Play validation games of the trained network against Simple, by the rules of the training data."""
    rules = Rules.parse(trainer.data.metadata.get("rules", "eaai"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.safetensors"
        FORMAT.write(path, trainer.network, trainer.describe())
        return play_match(OffensiveBot(str(path)), "simple", games, VALIDATION_SEED, rules=rules)
