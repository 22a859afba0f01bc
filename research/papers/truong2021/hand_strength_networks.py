"""Paper 002's Table 1 with ten networks per row instead of one, controls, and the paper's full schedule.

Data sets, networks and checkpoints after each epoch are stored in the run's folder as soon as they exist.
Networks are selected by their games on the decks of `selection.VALIDATION_SEED`; all numbers in the tables
come from the run's own decks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env.agents.hand_strength.bots import OffensiveBot
from gin_env.agents.hand_strength.weights import load_network, save_network
from gin_env.matches.matches import MatchResult
from gin_env.support.plots import BLUE, GREEN, ORANGE, new_figure, save_figure
from research.papers.truong2021.hand_strength import DATA_TITLES, data_set
from research.recipes.hand_strength import recipes
from research.recipes.hand_strength.data_sets import DataSet
from research.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
    match_row,
    named,
    percent,
    widest,
)

if TYPE_CHECKING:
    from research.recipes.hand_strength.trainer import HandStrengthSettings, HandStrengthTrainer

CONFIDENCE = 0.9
"""The paper's confidence level."""
TABLE = {
    "mlp-simple": (87.4, 87.7, 42.9, 0.8),
    "mlp-i-simple": (90.8, 91.4, 43.6, 0.8),
    "dual-inception-simple": (79.1, 79.8, 45.8, 0.8),
    "mlp-random-16": (159.0, 159.4, 44.0, 0.8),
    "mlp-i-random-16": (149.2, 150.0, 42.3, 0.8),
    "dual-inception-random-16": (83.0, 83.0, 50.1, 0.8),
    "mlp-random-256": (106.1, 107.4, 48.1, 0.8),
    "mlp-i-random-256": (106.4, 107.8, 45.8, 0.7),
    "dual-inception-random-256": (74.8, 75.7, 55.4, 0.8),
    "mlp-simple-all-stages": (153.7, 154.5, 34.3, 0.7),
    "mlp-i-simple-all-stages": (153.5, 155.7, 29.3, 0.6),
    "dual-inception-simple-all-stages": (144.1, 146.5, 19.7, 0.6),
    "dual-inception-random-16-augmented": (181.7, 181.4, 42.8, 0.8),
    "dual-inception-16-random-16-augmented": (132.6, 132.0, 51.2, 0.8),
}
"""Table 1: training loss, validation loss, percentage of games won against Simple, half of its interval."""
NETWORKS = 10
"""Number of networks per recipe."""
GAMES = 10_000


# --- Ten networks ---------------------------------------------------------------------------------------


def trained_networks(
    run: Run, name: str, states: DataSet, settings: Sequence[HandStrengthSettings]
) -> list[tuple[Path, dict[str, Any]]]:
    """Return the file and the metadata of one network for each of the settings.

    Each network is trained and validated once, in the run's folder. ``"validated"`` in the metadata is the
    share of its validation games that the network won.
    """
    from research.recipes.hand_strength.selection import VALIDATION_GAMES, validation_match
    from research.recipes.hand_strength.trainer import train

    found = []
    for one in settings:
        path = run.folder / f"{name}-{one.seed}.safetensors"
        if not path.exists():
            run.say(f"training {name}, seed {one.seed}")
            trainer = train(states, one)
            validated = validation_match(trainer, run.size(VALIDATION_GAMES, 20)).win_rate
            save_network(path, trainer.network, trainer.describe() | {"validated": validated})
        found.append((path, load_network(path)[1]))
    return found


def play_network(
    run: Run, path: Path, label: str, games: int = GAMES, player: type[OffensiveBot] = OffensiveBot
) -> MatchResult:
    """Play a match of a network's player against Simple and return it."""
    kind = "offensive" if player is OffensiveBot else "offensive, unmelded cards only,"
    return run.match(named(player(str(path)), f"{kind} with {label}"), "simple", games)


def network_row(match: MatchResult, **more: Any) -> Row:
    """Return the row of a network's match with an interval at `CONFIDENCE`."""
    low, high = match.confidence_interval(CONFIDENCE)
    return match_row(match, **more) | {"low": percent(low), "high": percent(high)}


def losses_row(training: Mapping[str, Any], by_epoch: bool = False) -> Row:
    """Return the losses after the last epoch in a network's metadata; with `by_epoch`, of every epoch too."""
    keys = ("train_losses", "validation_losses")
    losses = {key: [round(loss, 3) for loss in training[key]] for key in keys}
    last = {key.removesuffix("es"): each[-1] for key, each in losses.items()}
    return last | (losses if by_epoch else {})


def network_rows(run: Run, name: str, networks: Sequence[tuple[Path, dict[str, Any]]]) -> list[Row]:
    """Return a row for each network with its losses, its validation games and its match.

    The network that won the most validation games is `selected`.
    """
    best = max(range(len(networks)), key=lambda number: networks[number][1]["validated"])
    rows = []
    for number, (path, training) in enumerate(networks):
        match = play_network(run, path, f"{name}, seed {training['seed']}")
        rows.append(
            network_row(match, network=name, seed=training["seed"])
            | losses_row(training, by_epoch=True)
            | {"validated": percent(training["validated"]), "selected": number == best}
        )
    return rows


def measure_networks(names: Sequence[str], run: Run) -> list[Row]:
    """Measure ten networks of each recipe."""
    from research.recipes.hand_strength.trainer import HandStrengthSettings, find_schedule

    schedule = find_schedule("fast", 1 if run.quick else None)
    rows = []
    for name in run.some(names, 1):
        recipe = recipes.find_recipe(name)
        states = data_set(run, recipe.data_set, recipe.stages)
        settings = [
            HandStrengthSettings(
                recipe.architecture, schedule, recipe.augmented, run.seed + k, recipe.independently
            )
            for k in range(run.size(NETWORKS, 2))
        ]
        rows += network_rows(run, name, trained_networks(run, name, states, settings))
    return rows


def spread(numbers: Sequence[float]) -> str:
    """Return the median, lowest and highest number as text: ``53.6 (46.1 to 55.2)``."""
    return f"{np.median(numbers):.1f} ({min(numbers):.1f} to {max(numbers):.1f})"


def networks_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each recipe.

    A row has the median and range of its networks, and the network selected by its validation games.
    """
    lines = []
    for name in in_order(rows, "network"):
        mine = [row for row in rows if row["network"] == name]
        (selected,) = (row for row in mine if row["selected"])
        paper = TABLE.get(name)
        lines.append(
            (
                f"`{name}`",
                len(mine),
                f"{np.median([row['train_loss'] for row in mine]):.1f}",
                paper[0] if paper else "",
                spread([row["validation_loss"] for row in mine]),
                paper[1] if paper else "",
                spread([row["won"] for row in mine]),
                f"{paper[2]} ± {paper[3]}" if paper else "",
                interval(selected, 1),
            )
        )
    header = [
        "network and data",
        "networks",
        "train loss: median",
        "paper",
        "validation loss: median (lowest to highest)",
        "paper",
        "games won: median (lowest to highest)",
        "paper (one network)",
        "selected by other games (90 % interval)",
    ]
    return markdown(header, lines)


COLOURS = {"mlp": BLUE, "mlp-i": ORANGE, "dual-inception": GREEN}


def draw_losses(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 4: training and validation loss by epoch, medians of the networks.

    The losses are those of all epochs, or of the epochs in ``after``.
    """
    figure, [axes] = new_figure(4 * len(DATA_TITLES), 3.4, columns=len(DATA_TITLES))
    for panel, (name, title) in zip(axes, DATA_TITLES.items(), strict=True):
        for architecture, colour in COLOURS.items():
            mine = [row for row in rows if row["network"] == f"{architecture}-{name}"]
            for key, dash in (("train_losses", "-"), ("validation_losses", "--")):
                if mine:
                    losses = np.median([row[key] for row in mine], axis=0)
                    label = architecture if dash == "-" else None
                    epochs = mine[0].get("after", range(1, len(losses) + 1))
                    panel.plot(epochs, losses, dash, color=colour, label=label)
        panel.set(xlabel="epoch", ylabel="mean squared error", title=f"{title} (002, Figure 4)")
        if panel.has_data():
            panel.legend(fontsize=8, title="dashed: validation", title_fontsize=8)
    save_figure(figure, path, dpi=150, origin=origin)


CONTROLS = ("dual-inception-random-16", "dual-inception-random-256", *recipes.CONTROLS)
"""The controls, and the networks that they are compared with."""

# --- The paper's schedule ---------------------------------------------------------------------------------

SCHEDULED = (("random-256", 0), ("random-16", 0), ("random-256", 1))
"""Data set and seed, relative to the run's, of each network.

The paper trained one on each data set. Ten networks would take nine hours.
"""
PAPER_OBSERVATIONS = 1_000_000
MEASURED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 33, 40, 48, 64, 80, 96)
"""Epochs after which the network is measured."""


def continued(path: Path, states: DataSet, settings: HandStrengthSettings) -> HandStrengthTrainer:
    """Return the training run resumed from a checkpoint, or a new run if there is no checkpoint."""
    from research.recipes.hand_strength.trainer import HandStrengthTrainer

    return (
        HandStrengthTrainer.resume(path, states, settings)
        if path.exists()
        else HandStrengthTrainer(states, settings)
    )


def networks_by_epoch(
    run: Run,
    prefix: str,
    label: str,
    states: DataSet,
    settings: HandStrengthSettings,
    epochs: Iterable[int],
) -> Iterator[tuple[int, Path]]:
    """Train to each of `epochs` in ascending order, and yield the epoch and the file of its network.

    Files are in the run's folder, with names that start with `prefix`; existing ones are not made again.
    """
    checkpoint = run.folder / f"{prefix}-checkpoint.safetensors"
    trainer = continued(checkpoint, states, settings)
    for epoch in epochs:
        path = run.folder / f"{prefix}-epoch-{epoch}.safetensors"
        while not path.exists() and trainer.epoch < epoch:
            trainer.run_epoch()
            trainer.save_checkpoint(checkpoint)
            run.say(f"{label}: epoch {trainer.epoch}, error {trainer.validation_losses[-1]:.1f}")
        if not path.exists():
            save_network(path, trainer.network, trainer.describe())
        yield epoch, path


def measure_schedule(run: Run) -> list[Row]:
    """Measure the errors and win rates of Dual Inception trained by the paper's schedule.

    The number of observations is the paper's too.
    """
    from research.recipes.hand_strength.trainer import HandStrengthSettings, find_schedule

    schedule = find_schedule("paper", 3 if run.quick else None)
    rows = []
    for name, number in run.some(SCHEDULED, 2):
        seed = run.seed + number
        states = data_set(run, name, observations=PAPER_OBSERVATIONS)
        settings = HandStrengthSettings("dual-inception", schedule, seed=seed)
        label = f"{name}, seed {seed}"
        epochs = [epoch for epoch in MEASURED if epoch <= schedule.epochs]
        for epoch, path in networks_by_epoch(run, f"{name}-{seed}", label, states, settings, epochs):
            match = play_network(run, path, f"{label}, after epoch {epoch}")
            rows.append(
                match_row(match, data_set=name, seed=seed, epoch=epoch, states=len(states))
                | losses_row(load_network(path)[1])
            )
            run.say(f"{label}: epoch {epoch}, games won {interval(rows[-1])} %")
    return rows


def schedule_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with the validation error and games won by epoch, a column for each network."""
    found = by(rows, "data_set", "seed", "epoch")
    columns = sorted({(row["data_set"], row["seed"]) for row in rows})
    lines = []
    for epoch in sorted(in_order(rows, "epoch")):
        cells = [found[(*column, epoch)] for column in columns]
        lines.append([epoch, *(f"{row['validation_loss']:.1f}; {row['won']:.1f} %" for row in cells)])
    header = [f"{name}, seed {seed}: error; games won" for name, seed in columns]
    return markdown(["epoch", *header], lines, "r") + f"\n\n{widest(rows)}"


def draw_schedule(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the error and the games won by epoch, with a line for each network.

    The learning rate falls after epochs 32 and 64.
    """
    figure, [axes] = new_figure(9, 3.6, columns=2)
    looks = ((BLUE, "-"), (ORANGE, "--"))
    for name, (colour, dash) in zip(in_order(rows, "data_set"), looks, strict=True):
        mine = [row for row in rows if row["data_set"] == name]
        for number, seed in enumerate(in_order(mine, "seed")):
            line = [row for row in mine if row["seed"] == seed]
            epochs = [row["epoch"] for row in line]
            for panel, key in zip(axes, ("validation_loss", "won"), strict=True):
                label = None if number else name
                values = [row[key] for row in line]
                panel.plot(epochs, values, marker=".", color=colour, linestyle=dash, label=label)
    axes[0].set(xscale="log", xlabel="epoch", ylabel="mean squared error of validation")
    axes[1].set(xscale="log", xlabel="epoch", ylabel="games won against simple, %")
    axes[1].axhline(50, color="grey", linewidth=0.8)
    axes[0].legend()
    save_figure(figure, path, dpi=120, origin=origin)


EXPERIMENTS = [
    Experiment(
        "002/table-1",
        "Table 1 of paper 002 with ten networks of each kind, and networks of ours",
        partial(measure_networks, tuple(recipes.TABLE_1)),
        networks_table,
        games=GAMES,
        time="an hour and a half",
        pictures={"hand_strength/figure_4.png": draw_losses},
    ),
    Experiment(
        "002/controls",
        "Dual Inception without neighbouring cards, and augmentation as the paper counts it",
        partial(measure_networks, CONTROLS),
        networks_table,
        games=GAMES,
        time="half an hour",
    ),
    Experiment(
        "002/schedule",
        "Paper 002's full schedule of 96 epochs",
        measure_schedule,
        schedule_table,
        games=GAMES,
        time="an hour",
        pictures={"hand_strength/schedule.png": draw_schedule},
    ),
]
