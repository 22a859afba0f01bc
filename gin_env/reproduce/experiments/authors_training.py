"""Paper 002's networks, trained by its schedule on data with its authors' features.

The features are those that `authors_networks` finds in the authors' code and rows: hits by the best
arrangement, normalised likelihoods, and the deadwood that was scored. The data sets are ours; Random-256 has
three parameters fitted to the authors' rows (`gin_env.training.hand_strength.simulation`). Epochs and
learning rates are the paper's. The paper uses at least a million observations, most of these runs fewer: with
`FEW`, an epoch has less than a third of the paper's steps. The two runs with as many as the paper end after
half of the schedule, because errors hardly change at the lower learning rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gin_env.agents.hand_strength.weights import load_network
from gin_env.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
)
from gin_env.reproduce.experiments.authors_networks import ESTIMATOR, FEATURES, both_players_row, unmelded
from gin_env.reproduce.experiments.hand_strength import data_set
from gin_env.reproduce.experiments.hand_strength_networks import (
    GAMES,
    TABLE,
    draw_losses,
    losses_row,
    network_row,
    networks_by_epoch,
    play_network,
)
from gin_env.training.hand_strength import recipes

FEW, ALL = 300_000, 1_000_000
"""Numbers of observations; the paper has 1.0 to 1.6 million."""
MEASURED = (3, 32, 64)
"""Epochs after which a network plays, as after its last; the learning rate decreases after 32 and 64."""
FITTED = {"random-256": "random-256-fitted"}
TRAININGS = (
    *((f"dual-inception-{name}", FEW, 96) for name in ("simple", "random-16", "random-256")),
    *((f"mlp-{name}", FEW, 96) for name in ("simple", "random-16", "random-256")),
    ("dual-inception-random-16", ALL, 48),
    ("mlp-random-16", ALL, 48),
)
"""(network, number of observations, epochs)."""


def measure(run: Run) -> list[Row]:
    """Measure the error of each network and the games that it wins during the paper's schedule."""
    import torch

    from gin_env.training.hand_strength.trainer import HandStrengthSettings, find_schedule

    torch.set_num_threads(1)
    schedule = find_schedule("paper", 3 if run.quick else None)
    rows = []
    for name, observations, epochs in run.some(TRAININGS, 1):
        recipe = recipes.find_recipe(name)
        data_name = FITTED.get(recipe.data_set, recipe.data_set)
        states = data_set(run, data_name, recipe.stages, observations, ESTIMATOR)
        settings = HandStrengthSettings(
            recipe.architecture,
            schedule,
            seed=run.seed,
            hits=str(FEATURES["hits"]),
            scored_deadwood=True,
        )
        label = name if observations == FEW else f"{name}-{observations}"
        last = min(epochs, schedule.epochs)
        measured = [*(epoch for epoch in MEASURED if epoch < last), last]
        for epoch, path in networks_by_epoch(run, label, label, states, settings, measured):
            more = {
                "network": name,
                "data_set": data_name,
                "observations": run.size(observations, 500),
                "epoch": epoch,
            }
            title = f"{label} by the paper's schedule, after epoch {epoch}"
            if epoch == last:
                row = both_players_row(run, path, title, **more)
            else:
                row = network_row(play_network(run, path, title), **more)
            rows.append(row | losses_row(load_network(path)[1], by_epoch=epoch == last))
            run.say(f"{label}: epoch {epoch}, games won {interval(row)} %")
    return rows


def table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each training: the paper's figures, and ours after some epochs."""
    found = by(rows, "network", "observations", "epoch")
    epochs = sorted(in_order(rows, "epoch"))
    lines = []
    for name, observations in dict.fromkeys((row["network"], row["observations"]) for row in rows):
        mine = [found.get((name, observations, epoch)) for epoch in epochs]
        cells = [f"{row['validation_loss']:.1f}; {interval(row, 1)}" if row else "" for row in mine]
        last = "".join(unmelded(row) for row in mine if row)
        paper = f"{TABLE[name][1]:.1f}; {TABLE[name][2]} ± {TABLE[name][3]}"
        lines.append([f"`{name}`", f"{observations:,}", paper, *cells, last])
    header = ["validation loss; games won, % (90 % interval)", "observations", "paper, epoch 96"]
    header += [f"epoch {epoch}" for epoch in epochs]
    return markdown([*header, "games won in the end with the authors' player"], lines)


def draw_figure_4(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 4: the losses by epoch of the training with the most observations of each network."""
    curves = [row for row in rows if "train_losses" in row]
    most = {row["network"]: row for row in sorted(curves, key=lambda row: row["observations"])}
    draw_losses(list(most.values()), path, origin)


EXPERIMENTS = [
    Experiment(
        "002/authors-features",
        "Paper 002's schedule on data with its authors' features",
        measure,
        table,
        games=GAMES,
        time="an hour",
        pictures={"hand_strength/figure_4_authors_features.png": draw_figure_4},
    ),
]
