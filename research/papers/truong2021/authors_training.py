"""Paper 002's networks, trained by its schedule on data with its authors' features.

The features are those that `authors_networks` finds in the authors' code and rows: hits by the best
arrangement, normalised likelihoods, and the deadwood that was scored. The data sets are ours; Random-256 has
three parameters fitted to the authors' rows (`research.recipes.hand_strength.simulation`). Learning rates are
the paper's. The paper uses at least a million observations and 96 epochs, most of these runs fewer: with
`FEW`, an epoch has less than a third of the paper's steps. Errors hardly change at the lower learning rates,
so the runs with `ALL` end after half of the schedule. `MORE_TRAININGS` and `WIDE_TRAININGS` end before the
rate falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gin_env.agents.hand_strength.weights import load_network
from research.papers.truong2021.authors_networks import ESTIMATOR, FEATURES, both_players_row, unmelded
from research.papers.truong2021.hand_strength import data_set
from research.papers.truong2021.hand_strength_networks import (
    GAMES,
    TABLE,
    draw_losses,
    losses_row,
    network_row,
    networks_by_epoch,
    play_network,
)
from research.recipes.hand_strength import recipes
from research.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
)

FEW, ALL = 300_000, 1_000_000
"""Numbers of observations; the paper has 1.0 to 1.6 million."""
FITTED = {"random-256": "random-256-fitted"}


@dataclass(frozen=True)
class Training:
    """A training run of the paper's schedule, which can end before its last epoch."""

    network: str
    observations: int = FEW
    epochs: int = 96
    measured: tuple[int, ...] = (3, 32, 64)
    """Epochs after which the network plays, as after the last; the learning rate falls after 32 and 64."""
    seed: int = 0
    """Seed of the network, relative to the run's."""

    @property
    def label(self) -> str:
        """The training's name in files and bots."""
        size = "" if self.observations == FEW else f"-{self.observations}"
        return f"{self.network}{size}" + (f"-seed-{self.seed}" if self.seed else "")


TRAININGS = (
    *(Training(f"dual-inception-{name}") for name in ("simple", "random-16", "random-256")),
    *(Training(f"mlp-{name}") for name in ("simple", "random-16", "random-256")),
    Training("dual-inception-random-16", ALL, 48, (3, 32)),
    Training("mlp-random-16", ALL, 48, (3, 32)),
)
MORE_TRAININGS = tuple(
    Training(name, FEW, 16, (), seed)
    for name, seeds in {
        "mlp-random-16": (1, 2, 3, 4),
        "dual-inception-random-16": (1,),
        **{f"mlp-i-{name}": (0,) for name in ("simple", "random-16", "random-256")},
        **{f"{name}-simple-all-stages": (0,) for name in ("mlp", "mlp-i", "dual-inception")},
        "dual-inception-random-16-augmented": (0,),
    }.items()
    for seed in seeds
)
"""The other rows of Table 1 except the one with 16 filters, and other seeds where the first network fails."""
WIDE_TRAININGS = (Training("dual-inception-16-random-16-augmented", FEW, 16, ()),)
"""The row with 16 filters, which takes as long as several others."""


def measure(trainings: Sequence[Training], run: Run) -> list[Row]:
    """Measure the error of each network and the games that it wins during the paper's schedule."""
    from research.recipes.hand_strength.trainer import HandStrengthSettings, find_schedule

    schedule = find_schedule("paper", 3 if run.quick else None)
    rows = []
    for training in run.some(trainings, 1):
        recipe = recipes.find_recipe(training.network)
        data_name = FITTED.get(recipe.data_set, recipe.data_set)
        states = data_set(run, data_name, recipe.stages, training.observations, ESTIMATOR)
        settings = HandStrengthSettings(
            recipe.architecture,
            schedule,
            recipe.augmented,
            seed=run.seed + training.seed,
            hits=str(FEATURES["hits"]),
            scored_deadwood=True,
        )
        label, last = training.label, min(training.epochs, schedule.epochs)
        measured = [*(epoch for epoch in training.measured if epoch < last), last]
        for epoch, path in networks_by_epoch(run, label, label, states, settings, measured):
            more = {
                "network": training.network,
                "data_set": data_name,
                "observations": run.size(training.observations, 500),
                "seed": run.seed + training.seed,
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

    def of(row: Row) -> tuple[str, int, int]:
        return row["network"], row["observations"], row.get("seed", 0)

    epochs = sorted(in_order(rows, "epoch"))
    lines = []
    for training in dict.fromkeys(map(of, rows)):
        mine = by((row for row in rows if of(row) == training), "epoch")
        cells = [
            f"{mine[epoch]['validation_loss']:.1f}; {interval(mine[epoch], 1)}" if epoch in mine else ""
            for epoch in epochs
        ]
        last = "".join(map(unmelded, mine.values()))
        name, observations, seed = training
        paper = f"{TABLE[name][1]:.1f}; {TABLE[name][2]} ± {TABLE[name][3]}"
        lines.append([f"`{name}`", f"{observations:,}", seed, paper, *cells, last])
    header = ["validation loss; games won, % (90 % interval)", "observations", "seed", "paper, epoch 96"]
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
        partial(measure, TRAININGS),
        table,
        games=GAMES,
        time="an hour",
        pictures={"hand_strength/figure_4_authors_features.png": draw_figure_4},
    ),
    Experiment(
        "002/authors-features-more",
        "The other rows of paper 002's Table 1 with its authors' features, and other seeds",
        partial(measure, MORE_TRAININGS),
        table,
        games=GAMES,
        time="half an hour",
    ),
    Experiment(
        "002/authors-features-16",
        "The row with 16 filters of paper 002's Table 1 with its authors' features",
        partial(measure, WIDE_TRAININGS),
        table,
        games=GAMES,
        time="ten minutes",
    ),
]
