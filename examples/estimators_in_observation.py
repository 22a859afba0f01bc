"""Gain of a masked-PPO learner from an estimator in its observation: same budget, several seeds.

    python examples/estimators_in_observation.py                         # about 20 minutes on one core
    python examples/estimators_in_observation.py --decisions 50000 --seeds 1 2 --games 1000
    python examples/estimators_in_observation.py --estimators uniform bayes --csv gain.csv --plot gain.png

Every run learns against `simple` from scratch; all that differs is the ``estimate`` plane of the observation.
The policies are measured against `simple` on the same decks. Needs ``pip install "gin-env[train]"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro
from sb3_contrib import MaskablePPO
from tqdm import tqdm

from gin_env import play_match
from gin_env.agents.policies.policy import PolicyBot
from gin_env.support.atomic import check_targets
from gin_env.support.exits import one_line_errors
from gin_env.support.files import write_csv
from gin_env.support.plots import BLUE, ORANGE, new_figure, origin_line, save_figure
from gin_env.wrappers import CardPolicy, GinRummyVecEnv


@dataclass
class Settings:
    """The comparison; the defaults are those of the published table."""

    estimators: tuple[str, ...] = ("uniform", "bayes", "suit-equivariant")
    """What fills the estimate plane; the first is what the others are compared with."""
    seeds: tuple[int, ...] = (1, 2, 3)
    """Seeds; each estimator has one run per seed."""
    decisions: int = 400_000
    """Number of decisions per run."""
    games: int = 10_000
    """Number of games in the match of each policy."""
    csv: Path | None = None
    """Write a line for each run to this file."""
    plot: Path | None = None
    """Draw the runs to this file (.png)."""


def main(settings: Settings) -> None:
    """Train, measure, print, save."""
    check_targets(settings.csv, settings.plot)
    torch.set_num_threads(1)
    rows: list[dict[str, float | str]] = []
    print("estimator            seed  games won against simple, % (95 % interval)", flush=True)
    for seed in settings.seeds:
        for estimator in settings.estimators:
            bot = learn(estimator, settings.decisions, seed)
            result = play_match(bot, "simple", settings.games, seed=0)
            low, high = (100 * limit for limit in result.interval)
            won = 100 * result.win_rate
            rows.append({"estimator": estimator, "seed": seed, "won": won, "low": low, "high": high})
            tqdm.write(f"{estimator:20} {seed:4}  {won:.2f} ({low:.2f} to {high:.2f})")
            if settings.csv is not None:
                write_csv(settings.csv, rows[0].keys(), [row.values() for row in rows])
    print(
        "\nestimator            mean    gain, "
        "mean over the seeds of the difference to the first (each seed's)"
    )
    for estimator in settings.estimators:
        gains = [
            won_by(rows, estimator, seed) - won_by(rows, settings.estimators[0], seed)
            for seed in settings.seeds
        ]
        mean = sum(won_by(rows, estimator, seed) for seed in settings.seeds) / len(settings.seeds)
        each = ", ".join(f"{gain:+.2f}" for gain in gains)
        print(f"{estimator:20} {mean:.2f}   {sum(gains) / len(gains):+.2f} ({each})")
    if settings.plot is not None:
        origin = origin_line(f"{settings.games:,} games a point", 0)
        draw(rows, settings.estimators, settings.plot, origin)


def learn(estimator: str, decisions: int, seed: int) -> PolicyBot:
    """Return the policy after this many decisions against `simple`."""
    games = GinRummyVecEnv(128, "simple", seed=seed, estimator=estimator)
    model = MaskablePPO(
        CardPolicy,
        games,
        n_steps=64,
        batch_size=1024,
        n_epochs=2,
        learning_rate=1e-3,
        gamma=1.0,
        seed=seed,
        policy_kwargs={"net_arch": [256, 256]},
        device="cpu",
    )
    model.gin_env = games.describe_training()  # type: ignore[attr-defined]  # stored with the policy
    model.learn(decisions, progress_bar=False)
    return PolicyBot.snapshot(model, deterministic=True, name=f"{estimator}, seed {seed}")


def won_by(rows: Sequence[dict[str, float | str]], estimator: str, seed: int) -> float:
    """Return the win rate of one run in per cent."""
    return next(float(row["won"]) for row in rows if row["estimator"] == estimator and row["seed"] == seed)


def draw(rows: Sequence[dict[str, float | str]], estimators: Sequence[str], path: Path, origin: str) -> None:
    """Draw a point for each run and a bar for the mean of each estimator; `origin` is the footer."""
    figure, [[axes]] = new_figure(6, 4)
    for place, estimator in enumerate(estimators):
        won = [float(row["won"]) for row in rows if row["estimator"] == estimator]
        axes.plot([place] * len(won), won, "o", color=BLUE)
        axes.hlines(sum(won) / len(won), place - 0.2, place + 0.2, color=ORANGE)
    axes.set_xticks(range(len(estimators)), estimators)
    axes.set(ylabel="games won against simple, %", title="The estimator in the observation of a PPO learner")
    save_figure(figure, path, dpi=120, origin=origin)


if __name__ == "__main__":
    with one_line_errors("estimators_in_observation.py"):
        main(tyro.cli(Settings, description=__doc__))
