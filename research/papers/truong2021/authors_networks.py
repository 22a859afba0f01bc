"""Truong and Neller 2021's own networks and data, from a checkout of its authors, and networks trained like
them.

The networks count hits by the best arrangement and receive normalised likelihoods (`FEATURES`); the
experiment plays them with these features. They were trained on the deadwood that was scored, after laying
off on the opponent's knock. `research.papers.truong2021.authors_files` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats

from gin_env.agents.hand_strength.bots import FORMAT, OffensiveBot, choose_actions, find_network, load_network
from gin_env.agents.hand_strength.features import HITS, hand_features
from gin_env.agents.hand_strength.networks import HandStrength
from gin_env.observations.views import PlayerView
from research.papers.truong2021 import authors_files, hand_strength_figures
from research.papers.truong2021.authors_files import LOSSES, SAMPLE, SOURCES, Sample, logged_losses
from research.papers.truong2021.dealings import WAYS, explore_keeping
from research.papers.truong2021.hand_strength_networks import (
    MEASURED,
    data_set,
    draw_losses,
    losses_row,
    network_row,
    networks_by_epoch,
    play_network,
    settings_of,
)
from research.papers.truong2021.tensorflow_checkpoints import read_checkpoint
from research.recipes.hand_strength import recipes
from research.recipes.hand_strength.trainer import predict
from research.reproduce.experiment import Run, percent
from research.reproduce.tables import Row, interval

ESTIMATOR = "bayes-isru:normalised=true"
"""Estimator that provides the inputs of the authors' networks."""
FEATURES = {"hits": "arrangement", "data": {"estimator": ESTIMATOR}}


class AuthorsBot(OffensiveBot):
    """The player of the authors' repository: it never discards a melded card if there is another."""

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        return choose_actions(view, self.values, unmelded_only=True)


def unmelded_row(run: Run, path: Path, label: str) -> Row:
    """Return the part of a network's row about its match with the authors' player."""
    theirs = network_row(play_network(run, path, label, player=AuthorsBot))
    figures = [theirs[key] for key in ("won", "low", "high")]
    return {"unmelded": figures, "unmelded_deals": theirs["deals"]}


def network(row: Row) -> str:
    """Return the name of a network; our packaged one has played no games here."""
    return f"`{row['network']}`" if "won" in row else "our `dual-inception-random-256`"


def checkout(run: Run) -> Path:
    """Return the folder of a user's checkout of the authors' repository."""
    return run.checkout(authors_files.REPOSITORY_002, SAMPLE)


def convert(run: Run, name: str) -> Path:
    """Write one of the authors' networks in our file format to the run's folder and return its path."""
    source, folder = SOURCES[name], checkout(run)
    network = authors_files.authors_network(source.architecture, read_checkpoint(folder / source.checkpoint))
    path = run.folder / f"{name}.safetensors"
    FORMAT.write(path, network, {"architecture": source.architecture, **FEATURES})
    return path


def errors(network: HandStrength, sample: Sample, macro: np.ndarray) -> Row:
    """Return the mean squared error and the bias of a network on the authors' rows."""
    x, _ = hand_features(sample.hands)
    with torch.inference_mode():
        values = network(*(torch.from_numpy(array) for array in (x, macro, sample.estimates))).numpy()
    return error_and_bias(values, sample.scores)


def error_and_bias(values: np.ndarray, scores: np.ndarray) -> Row:
    """Return the mean squared error and the bias of values."""
    residuals = values.astype(np.float64) - scores
    return {"error": round(float((residuals**2).mean()), 2), "bias": round(float(residuals.mean()), 2)}


def measure(run: Run, steps: Sequence[Sequence[Any]]) -> list[Row]:
    """Measure games, logs and errors of each network, features and dealing of the rows, Figures 6 and 7.

    `steps` are features of our data, step by step closer to the authors': label, estimator, hits, scored
    deadwood.
    """
    folder = checkout(run)
    sample = authors_files.read_sample(folder / SAMPLE)
    features = {hits: hand_features(sample.hands, hits)[1] for hits in HITS}
    rows: list[Row] = []
    for name in run.some(list(SOURCES)):
        source = SOURCES[name]
        path = convert(run, name)
        label = f"the authors' {name}"
        row = network_row(play_network(run, path, label), network=name, of="networks")
        row |= unmelded_row(run, path, label)
        train, validation = logged_losses(folder / "results", LOSSES[name])
        row |= {"train_loss": train[-1], "validation_loss": validation[-1], "epochs": len(train)}
        row["logged"] = list(authors_files.logged_games(folder / source.games)) if source.games else None
        rows.append(row | errors(find_network(path)[0], sample, sample.macro))
    packaged, _ = find_network("dual-inception-random-256")
    rows.append({"of": "networks", "network": "ours"} | errors(packaged, sample, features["any-meld"]))
    different = {f"hits, {hits}": macro[:, 3] != sample.macro[:, 3] for hits, macro in features.items()}
    for column, name in enumerate(("deadwood", "sets", "runs")):
        different[name] = features["any-meld"][:, column] != sample.macro[:, column]
    rows += [
        {"of": "features", "feature": name, "rows": len(each), "different": int(each.sum())}
        for name, each in different.items()
    ]
    return rows + data_rows(run, sample, steps) + figure_rows(run)


STATES = 20_000
"""Number of states of each data set on which the networks are evaluated."""
DEALT = ("random-256", "random-256-fitted")


def data_rows(run: Run, sample: Sample, steps: Sequence[Sequence[Any]]) -> list[Row]:
    """Return rows with the errors of the authors' networks on our data sets, by the features of the data.

    Further rows compare our data with the authors' 779 rows.
    """
    rows: list[Row] = []
    for name in run.some(list(SOURCES)):
        network, _ = find_network(convert(run, name))
        recipe = recipes.find_recipe(name)
        for label, estimator, hits, scored in steps:
            states = data_set(run, recipe.data_set, recipe.stages, STATES, estimator)
            values = predict(network, states, np.arange(len(states)), hits, scored)
            row = {"of": "data", "network": name, "features": label}
            rows.append(row | error_and_bias(values, states.scores))
    rows.append(dealing_row("the authors' 779 rows", sample.scores, sample.hands, sample.scores))
    for name in DEALT:
        states = data_set(run, name, "last", STATES, ESTIMATOR)
        rows.append(dealing_row(f"`{name}`", states.scores, states.hands, sample.scores))
    for way, kept in WAYS.items():
        run.say(f"dealing, {way}")
        hands, scores = explore_keeping(kept, run.size(STATES, 50), 256, run.seed)
        rows.append(dealing_row(f"`random-256`, but {way}", scores, hands, sample.scores))
    return rows


def dealing_row(label: str, scores: np.ndarray, hands: np.ndarray, theirs: np.ndarray) -> Row:
    """Return the statistics in which ways of dealing differ; the Kolmogorov-Smirnov test is with `theirs`."""
    deadwood = hand_features(hands)[1][:, 0]
    gin = deadwood == 0
    return {
        "of": "dealing",
        "data": label,
        "states": len(scores),
        "mean": round(float(scores.mean()), 2),
        "deviation": round(float(scores.std()), 2),
        "gin": percent(gin.mean()),
        "mean_without_gin": round(float(scores[~gin].mean()), 2) if not gin.all() else None,
        "negative": percent((scores < 0).mean()),
        "over_10": percent((deadwood > 10).mean()),
        "p": None if scores is theirs else round(float(stats.ks_2samp(theirs, scores).pvalue), 4),
    }


def figure_rows(run: Run) -> list[Row]:
    """Return the rows of Figures 6 and 7 with the authors' networks."""
    figures = hand_strength_figures
    rows: list[Row] = [
        {"of": "figure 6", "network": name, "paper": theirs}
        | {"measured": figures.figure_6_discard(str(convert(run, name)))}
        for name, theirs in figures.FIGURE_6.items()
        if name in SOURCES
    ]
    values = figures.figure_7_values(str(convert(run, figures.FIGURE_7_NETWORK)))
    return rows + [
        {"of": "figure 7", "card": card, "paper": value, "measured": round(float(ours), 2)}
        for (card, (_, value)), ours in zip(figures.FIGURE_7.items(), values, strict=True)
    ]


# --- Figure 4 -------------------------------------------------------------------------------------------


def measure_losses(run: Run) -> list[Row]:
    """Return the losses of each network after the epochs in `MEASURED`, from the authors' logs.

    With ``folder_loss``, the last one in the log that is next to the network's checkpoint.
    """
    folder = checkout(run)
    rows: list[Row] = []
    for name, columns in LOSSES.items():
        losses = logged_losses(folder / "results", columns)
        row: Row = {"network": name, "after": list(MEASURED)}
        for key, each in zip(("train_losses", "validation_losses"), losses, strict=True):
            row[key] = [round(each[epoch - 1], 2) for epoch in MEASURED]
        if name in SOURCES and (training := SOURCES[name].training):
            row["folder_loss"] = round(authors_files.last_loss(folder / training), 2)
        rows.append(row)
    return rows


# --- Training by the paper's schedule with the authors' features ----------------------------------------

# The features are those that `measure` finds in the authors' code and rows: hits by the best arrangement,
# normalised likelihoods, and the deadwood that was scored. The data sets are ours; Random-256 has three
# parameters fitted to the authors' rows (`research.recipes.hand_strength.simulation`). Learning rates are the
# paper's. The paper uses 1.0 to 1.6 million observations and 96 epochs, most of these runs fewer: with `FEW`,
# an epoch has less than a third of the paper's steps. Errors hardly change at the lower learning rates, so
# the runs with a million end after half of the schedule; those with 16 epochs end before the rate falls.

FEW = 300_000
"""Number of observations of most trainings."""
FITTED = {"random-256": "random-256-fitted"}


@dataclass(frozen=True)
class Training:
    """A training run of the paper's schedule, which can end before its last epoch."""

    network: str
    observations: int = FEW
    epochs: int = 96
    measured: Sequence[int] = (3, 32, 64)
    """Epochs after which the network plays, as after the last; the learning rate falls after 32 and 64."""
    seed: int = 0
    """Seed of the network, relative to the run's."""

    @property
    def label(self) -> str:
        """The training's name in files and bots."""
        size = "" if self.observations == FEW else f"-{self.observations}"
        return f"{self.network}{size}" + (f"-seed-{self.seed}" if self.seed else "")


def measure_trainings(run: Run, trainings: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Measure the error of each network and the games that it wins during the paper's schedule.

    `trainings` are the fields of each `Training`.
    """
    rows = []
    for training in [Training(**one) for one in run.some(trainings, 1)]:
        recipe = recipes.find_recipe(training.network)
        data_name = FITTED.get(recipe.data_set, recipe.data_set)
        states = data_set(run, data_name, recipe.stages, training.observations, ESTIMATOR)
        seed = run.seed + training.seed
        features = {"augmented": recipe.augmented, "hits": FEATURES["hits"], "scored_deadwood": True}
        settings = settings_of(run, recipe.architecture, "paper", seed=seed, **features)
        about: Row = {"network": training.network, "data_set": data_name, "seed": seed}
        about["observations"] = run.size(training.observations, 500)
        label, last = training.label, min(training.epochs, settings.schedule.epochs)
        measured = [*(epoch for epoch in training.measured if epoch < last), last]
        for epoch, path in networks_by_epoch(run, label, states, settings, measured):
            title = f"{label} by the paper's schedule, after epoch {epoch}"
            row = network_row(play_network(run, path, title), **about, epoch=epoch)
            if epoch == last:
                row |= unmelded_row(run, path, title)
            rows.append(row | losses_row(load_network(path)[1], by_epoch=epoch == last))
            run.say(f"{label}: epoch {epoch}, games won {interval(row)} %")
    return rows


def draw_figure_4(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 4: the losses by epoch of the training with the most observations of each network."""
    curves = [row for row in rows if "train_losses" in row]
    most = {row["network"]: row for row in sorted(curves, key=lambda row: row["observations"])}
    draw_losses(list(most.values()), path, origin)
