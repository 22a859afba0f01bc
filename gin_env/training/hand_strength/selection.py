"""Which of several networks to keep: the one that wins most validation games.

They are trained on last hands and play with all hands. What a network makes of the many hands of a kind that
its data lacks is chance: networks that are equal but for their seed differ by ten points in their validation
games. And it goes wrong with much training, which lowers the error on last hands to the end (see
`gin_env.agents.hand_strength`). So training is short, several networks are trained, and their games decide,
on decks that no other match of this package uses.

Measured: docs/results/paper-002.md, "Table 1".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gin_env.agents.hand_strength.bots import OffensiveBot
from gin_env.agents.hand_strength.weights import save_network
from gin_env.matches.matches import play_match
from gin_env.support.checks import check_integer
from gin_env.training.hand_strength.data_sets import DataSet
from gin_env.training.hand_strength.trainer import HandStrengthSettings, HandStrengthTrainer, train

VALIDATION_GAMES = 3000
VALIDATION_SEED = 20_201_202


@dataclass(frozen=True)
class Contestant:
    """One of the networks that were compared."""

    seed: int
    validation_loss: float
    win_rate: float
    """Share of its validation games won against the Simple player."""


def train_best(
    data: DataSet,
    settings: HandStrengthSettings,
    candidates: int,
    games: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[HandStrengthTrainer, list[Contestant]]:
    """Train `candidates` networks, with seeds from that of the settings on; return the best and all results.

    The best wins most of its validation `games`. `progress` is called with numbers of states, as in
    `trainer.train`.
    """
    candidates = check_integer("candidates", candidates, 1, 1000)
    trainers, found = [], []
    for seed in range(settings.seed, settings.seed + candidates):
        trainer = train(data, replace(settings, seed=seed), progress=progress)
        trainers.append(trainer)
        rate = validation_win_rate(trainer, games)
        found.append(Contestant(seed, trainer.validation_losses[-1], rate))
    best = max(range(candidates), key=lambda number: found[number].win_rate)
    return trainers[best], found


def validation_win_rate(trainer: HandStrengthTrainer, games: int | None = None) -> float:
    """Share of the validation games against the Simple player that the trained network wins.

    By default `VALIDATION_GAMES` are played.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.safetensors"
        save_network(path, trainer.network, trainer.describe())
        return play_match(
            OffensiveBot(str(path)), "simple", games or VALIDATION_GAMES, VALIDATION_SEED
        ).win_rate
