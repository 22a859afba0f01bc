"""Paper 002's networks, trained by its schedule on data with its authors' features.

The features are those that `authors_networks` finds in the authors' code and rows: hits by the best
arrangement, normalised likelihoods, and the deadwood that was scored. The data sets are ours; Random-256 has
three parameters fitted to the authors' rows (`gin_env.training.hand_strength.simulation`). Epochs and
learning rates are the paper's. The paper uses at least a million observations, this experiment fewer
(`OBSERVATIONS`).
"""

from __future__ import annotations

from collections.abc import Sequence

from gin_env.agents.hand_strength.weights import load_network
from gin_env.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
    match_row,
    percent,
)
from gin_env.reproduce.experiments.authors_networks import ESTIMATOR, FEATURES
from gin_env.reproduce.experiments.hand_strength import data_set
from gin_env.reproduce.experiments.hand_strength_networks import (
    CONFIDENCE,
    GAMES,
    TABLE,
    networks_by_epoch,
    play_network,
)
from gin_env.training.hand_strength import recipes

OBSERVATIONS = 300_000
"""Number of observations; the paper has 1.0 to 1.6 million."""
MEASURED = (3, 32, 64, 96)
"""Epochs after which a network plays; the learning rate decreases after epochs 32 and 64."""
FITTED = {"random-256": "random-256-fitted"}
NETWORKS = (
    "dual-inception-random-256",
    "dual-inception-random-16",
    "dual-inception-simple",
    "mlp-random-256",
    "mlp-random-16",
    "mlp-simple",
)


def measure(run: Run) -> list[Row]:
    """Measure the error of each network and the games that it wins during the paper's schedule."""
    import torch

    from gin_env.training.hand_strength.trainer import HandStrengthSettings, find_schedule

    torch.set_num_threads(1)
    schedule = find_schedule("paper", 3 if run.quick else None)
    rows = []
    for name in run.some(NETWORKS, 1):
        recipe = recipes.find_recipe(name)
        data_name = FITTED.get(recipe.data_set, recipe.data_set)
        states = data_set(run, data_name, recipe.stages, OBSERVATIONS, ESTIMATOR)
        settings = HandStrengthSettings(
            recipe.architecture,
            schedule,
            seed=run.seed,
            hits=str(FEATURES["hits"]),
            scored_deadwood=True,
        )
        epochs = [epoch for epoch in MEASURED if epoch <= schedule.epochs]
        for epoch, path in networks_by_epoch(run, name, name, states, settings, epochs):
            match = play_network(run, path, f"{name} by the paper's schedule, after epoch {epoch}")
            low, high = match.confidence_interval(CONFIDENCE)
            training = load_network(path)[1]
            rows.append(
                match_row(match, network=name, data_set=data_name, epoch=epoch, states=len(states))
                | {
                    "low": percent(low),
                    "high": percent(high),
                    "train_loss": round(training["train_losses"][-1], 3),
                    "validation_loss": round(training["validation_losses"][-1], 3),
                }
            )
            run.say(f"{name}: epoch {epoch}, games won {interval(rows[-1])} %")
    return rows


def table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each network: the paper's figures, and ours after each measured epoch."""
    found = by(rows, "network", "epoch")
    epochs = sorted(in_order(rows, "epoch"))
    lines = []
    for name in in_order(rows, "network"):
        mine = [found.get((name, epoch)) for epoch in epochs]
        cells = [f"{row['validation_loss']:.1f}; {interval(row, 1)}" if row else "" for row in mine]
        lines.append([f"`{name}`", f"{TABLE[name][1]:.1f}; {TABLE[name][2]} ± {TABLE[name][3]}", *cells])
    header = ["validation loss; games won, % (90 % interval)", "paper, epoch 96"]
    return markdown([*header, *(f"epoch {epoch}" for epoch in epochs)], lines)


EXPERIMENTS = [
    Experiment(
        "002/authors-features",
        "Paper 002's schedule on data with its authors' features",
        measure,
        table,
        games=GAMES,
        time="an hour",
    ),
]
