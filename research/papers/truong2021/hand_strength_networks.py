"""Truong and Neller 2021's Table 1 with ten networks per row instead of one, controls, and the paper's full
schedule.

Data sets, networks and checkpoints after each epoch are stored in the run's folder as soon as they exist.
Networks are selected by their games on the decks of `selection.VALIDATION_SEED`; all numbers in the tables
come from the run's own decks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.hand_strength.bots import FORMAT, OffensiveBot, load_network
from gin_env.matches.matches import MatchResult
from gin_env.support.plots import BLUE, GREEN, ORANGE, new_figure, save_figure
from research.recipes.hand_strength import recipes
from research.recipes.hand_strength.data_sets import DataSet
from research.recipes.hand_strength.exploring import explore
from research.recipes.hand_strength.selection import VALIDATION_GAMES, validation_match
from research.recipes.hand_strength.trainer import (
    HandStrengthSettings,
    HandStrengthTrainer,
    Schedule,
    find_schedule,
    train,
)
from research.reproduce.experiment import Run, match_row, named, percent
from research.reproduce.tables import Over, Row, cell_text, interval

CONFIDENCE = 0.9
"""The paper's confidence level."""
NETWORKS = 10
"""Number of networks per recipe."""
GAMES = 10_000


DATA_TITLES = {"simple": "Simple", "random-16": "Random-16", "random-256": "Random-256"}


def data_set(
    run: Run,
    name: str,
    stages: str = "last",
    observations: int = recipes.OBSERVATIONS,
    estimator: str = recipes.ESTIMATOR,
) -> DataSet:
    """Return a data set by name, generated once in the run's folder; 500 observations in a quick run."""
    observations = run.size(observations, 500)
    run.say(f"data {name}, {observations:,} states")
    run.used(*(("random-discard", "simple") if name.startswith("random") else ("simple",)))
    run.estimators += [estimator] * (estimator not in run.estimators)
    return recipes.load_or_generate(
        run.folder / "data", name, stages, estimator=estimator, observations=observations, seed=run.seed
    )


# --- Ten networks ---------------------------------------------------------------------------------------


def settings_of(run: Run, architecture: str, schedule: str = "fast", **more: Any) -> HandStrengthSettings:
    """Return the settings of a training; `more` are other fields of them.

    A quick run has one epoch, or three of the paper's schedule.
    """
    epochs = {"fast": 1, "paper": 3}[schedule] if run.quick else None
    return HandStrengthSettings(architecture, find_schedule(schedule, epochs), **more)


def play_network(run: Run, path: Path, label: str, player: type[OffensiveBot] = OffensiveBot) -> MatchResult:
    """Play a match of a network's player against Simple and return it."""
    kind = "offensive" if player is OffensiveBot else "offensive, unmelded cards only,"
    return run.match(named(player(str(path)), f"{kind} with {label}"), "simple", GAMES)


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


def network_file(run: Run, name: str, seed: int) -> Path:
    """Return the file of a network in the run's folder."""
    return run.folder / f"{name.replace(' ', '-')}-{seed}.safetensors"


def network_rows(run: Run, name: str, states: DataSet, settings: HandStrengthSettings) -> list[Row]:
    """Train and validate ten networks, once in the run's folder, and play a match of each.

    Their seeds are consecutive. The network that won the most validation games is `selected`.
    """
    rows = []
    for seed in range(run.seed, run.seed + run.size(NETWORKS, 2)):
        path, label = network_file(run, name, seed), f"{name}, seed {seed}"
        if not path.exists():
            run.say(f"training {label}")
            trainer = train(states, replace(settings, seed=seed))
            validated = validation_match(trainer, run.size(VALIDATION_GAMES, 20)).win_rate
            FORMAT.write(path, trainer.network, trainer.describe() | {"validated": validated})
        training = load_network(path)[1]
        row = network_row(play_network(run, path, label), network=name, seed=seed)
        rows.append(row | losses_row(training, by_epoch=True) | {"validated": percent(training["validated"])})
    best = max(rows, key=lambda row: row["validated"])
    return [row | {"selected": row is best} for row in rows]


def measure_networks(run: Run, names: Sequence[str] = tuple(recipes.TABLE_1)) -> list[Row]:
    """Measure ten networks of each recipe."""
    rows = []
    for name in run.some(names, 1):
        recipe = recipes.find_recipe(name)
        states = data_set(run, recipe.data_set, recipe.stages)
        settings = settings_of(
            run, recipe.architecture, augmented=recipe.augmented, independently=recipe.independently
        )
        rows += network_rows(run, name, states, settings)
    return rows


@Over
def selected(rows: Sequence[Row]) -> str:
    """Return the games won by the network that was selected by its validation games."""
    (one,) = (row for row in rows if row["selected"])
    return interval(one, ".1f")


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
        panel.set(xlabel="epoch", ylabel="mean squared error", title=f"{title} (Figure 4)")
        if panel.has_data():
            panel.legend(fontsize=8, title="dashed: validation", title_fontsize=8)
    save_figure(figure, path, dpi=150, origin=origin)


# --- The paper's schedule ---------------------------------------------------------------------------------

SCHEDULED = (("random-256", 0), ("random-16", 0), ("random-256", 1))
"""Data set and seed, relative to the run's, of each network.

The paper trained one on each data set. Ten networks would take nine hours.
"""
PAPER_OBSERVATIONS = 1_000_000
MEASURED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 33, 40, 48, 64, 80, 96)
"""Epochs after which the network is measured."""


def networks_by_epoch(
    run: Run, label: str, states: DataSet, settings: HandStrengthSettings, epochs: Iterable[int]
) -> Iterator[tuple[int, Path]]:
    """Train to each of `epochs` in ascending order, and yield the epoch and the file of its network.

    Files are in the run's folder, with names that start with `label`; existing ones are not made again.
    """
    checkpoint = run.folder / f"{label}, checkpoint.safetensors"
    begin = partial(HandStrengthTrainer.resume, checkpoint) if checkpoint.exists() else HandStrengthTrainer
    trainer = begin(states, settings)
    for epoch in epochs:
        path = run.folder / f"{label}, epoch {epoch}.safetensors"
        while not path.exists() and trainer.epoch < epoch:
            trainer.run_epoch()
            trainer.save_checkpoint(checkpoint)
            run.say(f"{label}: epoch {trainer.epoch}, error {trainer.validation_losses[-1]:.1f}")
        if not path.exists():
            FORMAT.write(path, trainer.network, trainer.describe())
        yield epoch, path


def measure_schedule(run: Run) -> list[Row]:
    """Measure the errors and win rates of Dual Inception trained by the paper's schedule.

    The number of observations is the paper's too.
    """
    rows = []
    for name, number in run.some(SCHEDULED, 2):
        seed = run.seed + number
        label = f"{name}, seed {seed}"
        states = data_set(run, name, observations=PAPER_OBSERVATIONS)
        settings = settings_of(run, "dual-inception", "paper", seed=seed)
        epochs = [epoch for epoch in MEASURED if epoch <= settings.schedule.epochs]
        for epoch, path in networks_by_epoch(run, label, states, settings, epochs):
            about = {"data_set": name, "seed": seed, "epoch": epoch, "states": len(states)}
            match = play_network(run, path, f"{label}, after epoch {epoch}")
            rows.append(match_row(match, **about) | losses_row(load_network(path)[1]))
            run.say(f"{label}: epoch {epoch}, games won {interval(rows[-1])} %")
    return rows


# --- Length of training ---------------------------------------------------------------------------------

LONGEST = 3_200_000


def measure_training_length(run: Run) -> list[Row]:
    """Measure error and win rate of Dual Inception during training at a constant learning rate.

    The number of states seen grows by a factor of about 1.5 between measurements.
    """
    constant = Schedule(epochs=1000, batch_size=64, learning_rate=1e-3, decay=1.0, decay_every=1000)
    rows: list[Row] = []
    for name in run.some(["random-16", "random-256"], 1):
        states = data_set(run, name)
        for seed in range(run.seed, run.seed + run.size(2, 1)):
            trainer = HandStrengthTrainer(states, HandStrengthSettings("dual-inception", constant, seed=seed))
            seen, following, longest = 0, 0.0, run.size(LONGEST, 1000)
            while seen < longest:
                trainer.run_epoch()
                seen = trainer.epoch * len(trainer.training)
                if seen >= min(following, longest):
                    following = 1.5 * seen
                    run.say(f"{name}, seed {seed}: {seen:,} states")
                    about = {"data_set": name, "seed": seed, "states_seen": seen}
                    about["validation_loss"] = round(trainer.validation_losses[-1], 2)
                    rows.append(match_row(validation_match(trainer, run.size(2000, 20)), **about))
    return rows


# --- The loop, read literally ---------------------------------------------------------------------------
#
# "The training cycle could be repeated" ("Conclusions and Future Work"). Generation 1 learns from
# Random-16, explored by the random-discard player. Generation n learns from the same deals and samples,
# explored by the network of generation n - 1. Dual Inception is trained from scratch in each generation. Of
# its ten networks, the network that wins the most validation games explores the next data set.
# (`gin_env.training.generations` is another loop, with another network.)

GENERATIONS = 3
SAMPLES = 16


def explored_data(run: Run, explorer: Path, generation: int) -> DataSet:
    """Return Random-N with a network's discards, generated once in the run's folder."""
    path = run.folder / "data" / f"generation-{generation}.npz"
    if path.exists():
        return DataSet.load(path)
    observations = run.size(recipes.OBSERVATIONS, 500)
    run.say(f"data of generation {generation}, {observations:,} observations")
    bot = named(OffensiveBot(str(explorer)), f"offensive with generation {generation - 1}")
    data = explore(bot, SAMPLES, observations, estimator=recipes.ESTIMATOR, seed=run.seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    data.save(path)
    return data


def measure_loop(run: Run) -> list[Row]:
    """Measure each generation's networks against Simple, and describe their training data."""
    rows: list[Row] = []
    settings, states = settings_of(run, "dual-inception"), data_set(run, f"random-{SAMPLES}")
    for generation in range(1, run.size(GENERATIONS, 2) + 1):
        name, scores = f"generation {generation}", states.scores
        described = {"generation": generation, "explorer": states.metadata["explorer"], "states": len(states)}
        described["mean_score"] = round(float(scores.mean()), 2)
        described["score_deviation"] = round(float(scores.std()), 2)
        mine = [row | described for row in network_rows(run, name, states, settings)]
        rows += mine
        run.say(cell_text(f"{name}: games won {{won:range .1f}} %", mine))
        if generation < run.size(GENERATIONS, 2):
            (seed,) = (row["seed"] for row in mine if row["selected"])
            states = explored_data(run, network_file(run, name, seed), generation + 1)
    return rows
