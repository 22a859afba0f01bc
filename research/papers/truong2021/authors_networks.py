"""Paper 002's own networks and data, from a checkout of its authors' repository.

The networks count hits by the best arrangement and receive normalised likelihoods (`FEATURES`); the
experiment plays them with these features. They were trained on the deadwood that was scored, after laying
off on the opponent's knock. `research.reproduce.authors_files` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.hand_strength.bots import OffensiveBot, choose_actions
from gin_env.agents.hand_strength.features import HITS, hand_features
from gin_env.agents.hand_strength.networks import HandStrength
from gin_env.agents.hand_strength.weights import find_network, save_network
from gin_env.game import cards
from gin_env.game.cards import NUM_CARDS
from gin_env.observations.views import PlayerView
from research.papers.gallucci2021.dealings import WAYS, explore_keeping
from research.papers.truong2021.hand_strength import data_set
from research.papers.truong2021.hand_strength_figures import (
    FIGURE_6,
    FIGURE_7,
    FIGURE_7_HAND,
    FIGURE_7_NETWORK,
    figure_6_view,
    figure_7_estimate,
)
from research.papers.truong2021.hand_strength_networks import (
    GAMES,
    MEASURED,
    TABLE,
    draw_losses,
    network_row,
    play_network,
)
from research.recipes.hand_strength import recipes
from research.reproduce.authors_files import (
    LOSSES,
    REPOSITORY_002,
    SAMPLE,
    SOURCES,
    Sample,
    authors_network,
    checkout,
    logged_games,
    logged_losses,
    read_sample,
)
from research.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
    percent,
    plain_table,
)
from research.reproduce.tensorflow_checkpoints import read_checkpoint

ESTIMATOR = "bayes-isru:normalised=true"
"""Estimator that provides the inputs of the authors' networks."""
FEATURES = {"hits": "arrangement", "data": {"estimator": ESTIMATOR}}


class AuthorsBot(OffensiveBot):
    """The player of the authors' repository: it never discards a melded card if there is another."""

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        return choose_actions(view, self.values, unmelded_only=True)


def both_players_row(run: Run, path: Path, label: str, **more: Any) -> Row:
    """Return the row of a network's match with our player, and what it wins with the authors' player."""
    row = network_row(play_network(run, path, label), **more)
    theirs = network_row(play_network(run, path, label, player=AuthorsBot))
    figures = [theirs[key] for key in ("won", "low", "high")]
    return row | {"unmelded": figures, "unmelded_deals": theirs["deals"]}


def unmelded(row: Row) -> str:
    """Return the games won with the authors' player and their interval as text; empty if not measured."""
    if "unmelded" not in row:
        return ""
    return interval(dict(zip(("won", "low", "high"), row["unmelded"], strict=True)), 1)


def convert(run: Run, name: str) -> Path:
    """Write one of the authors' networks in our file format to the run's folder and return its path."""
    source, folder = SOURCES[name], checkout(run.authors, REPOSITORY_002, SAMPLE)
    network = authors_network(source.architecture, read_checkpoint(folder / source.checkpoint))
    path = run.folder / f"{name}.safetensors"
    save_network(path, network, {"architecture": source.architecture, **FEATURES})
    return path


def errors(network: HandStrength, sample: Sample, macro: np.ndarray) -> Row:
    """Return the mean squared error and the bias of a network on the authors' rows."""
    import torch

    x, _ = hand_features(sample.hands)
    with torch.inference_mode():
        values = network(*(torch.from_numpy(array) for array in (x, macro, sample.estimates))).numpy()
    residuals = values.astype(np.float64) - sample.scores
    return {"error": round(float((residuals**2).mean()), 2), "bias": round(float(residuals.mean()), 2)}


def measure(run: Run) -> list[Row]:
    """Measure games, logs and errors of each network, features and dealing of the rows, Figures 6 and 7."""
    folder = checkout(run.authors, REPOSITORY_002, SAMPLE)
    sample = read_sample(folder / SAMPLE)
    features = {hits: hand_features(sample.hands, hits)[1] for hits in HITS}
    rows: list[Row] = []
    for name in run.some(list(SOURCES)):
        source = SOURCES[name]
        path = convert(run, name)
        row = both_players_row(run, path, f"the authors' {name}", network=name) | {"of": "networks"}
        train, validation = logged_losses(folder / "results", LOSSES[name])
        row |= {"train_loss": train[-1], "validation_loss": validation[-1], "epochs": len(train)}
        row |= {"logged": list(logged_games(folder / source.games)) if source.games else None}
        rows.append(row | errors(find_network(path)[0], sample, sample.macro))
    packaged, _ = find_network("dual-inception-random-256")
    rows.append({"of": "networks", "network": "ours"} | errors(packaged, sample, features["any-meld"]))
    rows += [
        {
            "of": "features",
            "feature": f"hits, {hits}",
            "rows": len(sample.scores),
            "different": int((macro[:, 3] != sample.macro[:, 3]).sum()),
        }
        for hits, macro in features.items()
    ]
    different = features["any-meld"][:, :3] != sample.macro[:, :3]
    rows += [
        {"of": "features", "feature": text, "rows": len(sample.scores), "different": int(count)}
        for text, count in zip(("deadwood", "sets", "runs"), different.sum(axis=0), strict=True)
    ]
    return rows + data_rows(run, sample) + figure_rows(run)


STATES = 20_000
"""Number of states of each data set on which the networks are evaluated."""
STEPS = (
    ("as the paper's text", recipes.ESTIMATOR, HITS[0], False),
    ("hits by arrangement", recipes.ESTIMATOR, "arrangement", False),
    ("and normalised likelihoods", ESTIMATOR, "arrangement", False),
    ("and scored deadwood", ESTIMATOR, "arrangement", True),
)
"""Features of our data, step by step closer to the authors': (label, estimator, hits, scored deadwood)."""
DEALT = ("random-256", "random-256-fitted")


def data_rows(run: Run, sample: Sample) -> list[Row]:
    """Return rows with the errors of the authors' networks on our data sets, by the features of the data.

    Further rows compare our data with the authors' 779 rows.
    """
    from research.recipes.hand_strength.trainer import predict

    rows: list[Row] = []
    for name in run.some(list(SOURCES)):
        network, _ = find_network(convert(run, name))
        recipe = recipes.find_recipe(name)
        for label, estimator, hits, scored in STEPS:
            states = data_set(run, recipe.data_set, recipe.stages, STATES, estimator)
            values = predict(network, states, np.arange(len(states)), hits, scored).astype(np.float64)
            residuals = values - states.scores
            error, bias = round(float((residuals**2).mean()), 2), round(float(residuals.mean()), 2)
            rows.append({"of": "data", "network": name, "features": label, "error": error, "bias": bias})
    rows.append(dealing_row("their 779 rows", sample.scores, sample.hands, sample.scores))
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
    from scipy import stats

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
    rows: list[Row] = []
    for name, theirs in FIGURE_6.items():
        if name in SOURCES:
            action = int(OffensiveBot(str(convert(run, name))).act(figure_6_view())[0])
            discard = cards.card_text(action % NUM_CARDS)
            rows.append({"of": "figure 6", "network": name, "paper": theirs, "measured": discard})
    hand = cards.parse(FIGURE_7_HAND)
    ids = [cards.card_id(text) for text in FIGURE_7]
    left = np.array([hand & ~(1 << card) for card in ids], np.uint64)
    bot = OffensiveBot(str(convert(run, FIGURE_7_NETWORK)))
    values = bot.hand_values(figure_7_estimate(), np.zeros(len(ids), np.int64), left)
    return rows + [
        {"of": "figure 7", "card": card, "paper": value, "measured": round(float(ours), 2)}
        for (card, (_, value)), ours in zip(FIGURE_7.items(), values, strict=True)
    ]


def table(rows: Sequence[Row]) -> str:
    """Return tables of Table 1, Figures 6 and 7, the features, the errors on our data, and the dealing."""
    kinds = {kind: [row for row in rows if row["of"] == kind] for kind in by(rows, "of")}
    networks = []
    for row in kinds["networks"]:
        paper = TABLE.get(row["network"])
        won, games = row.get("logged") or (None, None)
        networks.append(
            (
                f"`{row['network']}`" if paper else "our `dual-inception-random-256`",
                f"{paper[2]} ± {paper[3]}" if paper else "",
                interval(row, 1) if paper else "",
                unmelded(row) if paper else "",
                f"{won:,} of {games:,}" if won is not None else "",
                f"{paper[1]:.1f}" if paper else "",
                f"{row['validation_loss']:.1f}" if paper else "",
                f"{row['error']:.1f} ({row['bias']:+.1f})",
            )
        )
    header = [
        "network",
        "paper: games won",
        "games won here (90 % interval)",
        "with their player",
        "games won in their log",
        "paper: validation loss",
        "their log, last epoch",
        "error on their 779 rows (bias)",
    ]
    tables = [markdown(header, networks)]
    figure_6 = [(f"`{row['network']}`", row["paper"], row["measured"]) for row in kinds["figure 6"]]
    tables.append(markdown(["Figure 6", "paper", "here"], figure_6))
    figure_7 = [(row["card"], f"{row['paper']:.1f}", f"{row['measured']:.1f}") for row in kinds["figure 7"]]
    tables.append(markdown(["Figure 7", "paper", "here"], figure_7, "lrr"))
    lines = [(row["feature"], f"{row['different']} of {row['rows']}") for row in kinds["features"]]
    tables.append(markdown(["feature", "rows with a different value here"], lines))
    found = by(kinds["data"], "network", "features")
    labels = [label for label, *_ in STEPS]
    rows_of_data = []
    for name in in_order(kinds["data"], "network"):
        mine = [found[name, label] for label in labels]
        cells = [f"{row['error']:.1f} ({row['bias']:+.1f})" for row in mine]
        rows_of_data.append((f"`{name}`", f"{TABLE[name][1]:.1f}", *cells))
    header = ["network; error (bias) on our data", "paper: validation loss", *labels]
    tables.append(markdown(header, rows_of_data))
    keys = ("data", "states", "mean", "deviation", "gin", "mean_without_gin", "negative", "over_10", "p")
    header = [
        "data",
        "states",
        "mean score",
        "deviation",
        "gin, %",
        "mean without gin",
        "negative, %",
        "deadwood over 10, %",
        "p (Kolmogorov-Smirnov)",
    ]
    tables.append(plain_table(header, keys, kinds["dealing"]))
    return "\n\n".join(tables)


# --- Figure 4 -------------------------------------------------------------------------------------------

SHOWN = (1, 3, 8, 32, 64, 96)
"""Epochs in the table of Figure 4."""


def measure_losses(run: Run) -> list[Row]:
    """Return the losses of each network after the epochs in `MEASURED`, from the authors' logs."""
    folder = checkout(run.authors, REPOSITORY_002, SAMPLE) / "results"
    rows: list[Row] = []
    for name, columns in LOSSES.items():
        losses = [
            [round(each[epoch - 1], 2) for epoch in MEASURED] for each in logged_losses(folder, columns)
        ]
        keys = ("train_losses", "validation_losses")
        rows.append({"network": name, "after": list(MEASURED)} | dict(zip(keys, losses, strict=True)))
    return rows


def losses_table(rows: Sequence[Row]) -> str:
    """Return a table of the validation losses after some epochs, compared with those of Table 1."""
    lines = []
    for row in rows:
        losses = dict(zip(row["after"], row["validation_losses"], strict=True))
        shown = [f"{losses[epoch]:.1f}" for epoch in SHOWN]
        lines.append((f"`{row['network']}`", *shown, f"{TABLE[row['network']][1]:.1f}"))
    return markdown(["validation loss after epoch", *map(str, SHOWN), "Table 1"], lines, "lrrrrrrr")


EXPERIMENTS = [
    Experiment(
        "002/authors-losses",
        "Figure 4 of paper 002 from its authors' logs",
        measure_losses,
        losses_table,
        games=0,
        time="a second",
        authors=REPOSITORY_002,
        pictures={"hand_strength/figure_4_authors_logs.png": draw_losses},
    ),
    Experiment(
        "002/authors-networks",
        "Paper 002's own networks: Table 1, Figures 6 and 7",
        measure,
        table,
        games=GAMES,
        time="five minutes",
        authors=REPOSITORY_002,
    ),
]
