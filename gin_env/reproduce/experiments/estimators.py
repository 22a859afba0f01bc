"""Paper 003: a comparison of the estimators of the opponent's hand, also against stronger players."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from gin_env import agents, estimators
from gin_env.game.cards import card_columns
from gin_env.reproduce.experiment import Experiment, Row, Run, by, in_order, markdown
from gin_env.support.plots import BLUE, ORANGE, new_figure, save_figure
from gin_env.training.estimators import figures
from gin_env.training.estimators.evaluation import Evaluation, estimate_along, evaluate_estimators
from gin_env.training.estimators.metrics import METRICS

ENSEMBLES = tuple(f"ensemble:switching={switching}" for switching in ("paper", "fitted", "adaptive"))
TITLES = {
    "squared_difference": "squared difference",
    "integrity_loss": "integrity loss %",
    "minimum_top_largest": "minimum top",
    "top_cards": "top n",
    "drift_area": "drift area",
    "log_loss": "log loss",
    "calibration_error": "calibration error",
    "microseconds": "µs a view",
}


def every_estimator() -> list[str]:
    """Return every estimator: the ensemble in its three kinds, and `bayes` also as the paper words it."""
    return [
        *(name for name in estimators.names() if name != "ensemble"),
        *ENSEMBLES,
        "bayes:likelihood=paper",
    ]


def measure_metrics(run: Run) -> list[Row]:
    """Measure a row for each estimator over all samples (turn None), and one for each estimator and turn."""
    members = run.some(every_estimator(), 4)
    run.estimators += members
    run.used("simple")
    result = evaluate_estimators(members, run.size(50_000, 200), run.seed, "simple")
    rows = [
        {"estimator": name, "turn": None, "hands": result.hands, "samples": int(result.counts.sum())}
        | {metric: round(float(result.overall(metric)[number]), 6) for metric in METRICS}
        | {
            "calibration_error": round(float(result.calibration_error()[number]), 6),
            "microseconds": round(float(1e6 * result.seconds[number] / result.counts.sum()), 4),
            "bins": result.bins[number].round(3).tolist(),
        }
        for number, name in enumerate(result.names)
    ]
    return rows + turn_rows(result)


def turn_rows(result: Evaluation) -> list[Row]:
    """Return rows with the mean and standard error of each metric after each turn."""
    means = {metric: (result.mean(metric), result.standard_error(metric)) for metric in METRICS}
    rows: list[Row] = []
    for number, name in enumerate(result.names):
        for turn in np.flatnonzero(result.counts).tolist():
            row: Row = {"estimator": name, "turn": turn, "samples": int(result.counts[turn])}
            for metric, (mean, error) in means.items():
                row[metric] = float(f"{mean[number, turn]:.6g}")
                few = np.isnan(error[number, turn])
                row[f"{metric}_error"] = None if few else float(f"{error[number, turn]:.6g}")
            rows.append(row)
    return rows


def metrics_table(rows: Sequence[Row]) -> str:
    """Return the table of the metrics over all samples."""
    lines = [
        [f"`{row['estimator']}`", *(f"{row[key]:.4f}" for key in TITLES)]
        for row in rows
        if row["turn"] is None
    ]
    return markdown(["estimator", *TITLES.values()], lines)


def evaluation_of(rows: Sequence[Row]) -> Evaluation:
    """Return the evaluation with these rows, for pictures; its times are zero."""
    overall = [row for row in rows if row["turn"] is None]
    names = [row["estimator"] for row in overall]
    found = by((row for row in rows if row["turn"] is not None), "estimator", "turn")
    turns = 1 + max(turn for _, turn in found)
    counts = np.zeros(turns, np.int64)
    sums = np.zeros((len(names), turns, len(METRICS)))
    squares = np.zeros_like(sums)
    for (name, turn), row in found.items():
        n = counts[turn] = row["samples"]
        for column, metric in enumerate(METRICS):
            mean, error = row[metric], row[f"{metric}_error"] or 0.0
            sums[names.index(name), turn, column] = n * mean
            squares[names.index(name), turn, column] = n * (mean**2 + error**2 * (n - 1))
    bins = np.array([row["bins"] for row in overall])
    hands = overall[0]["hands"]
    return Evaluation(tuple(names), "simple", hands, 0, counts, sums, squares, bins, np.zeros(len(names)))


def draw_turns(metric: str, rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw a metric after each turn."""
    figures.draw_metric(evaluation_of(rows), metric, path, origin)


def draw_calibration(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw frequencies against estimated probabilities."""
    figures.draw_calibration(evaluation_of(rows), path, origin)


# --- Stronger players -----------------------------------------------------------------------------------

BOTS = ("simple", "tonic-paper", "tonic")
NETWORKS = ("nn", "shankar-cnn")
WEIGHTS = ("simple", "tonic")


def measure_stronger(run: Run) -> list[Row]:
    """Measure the reduction of the uniform log loss by networks, on hands of each bot against itself."""
    members = ["uniform", *(f"{network}:weights={watched}" for network in NETWORKS for watched in WEIGHTS)]
    run.estimators += members
    run.used(*BOTS)
    rows: list[Row] = []
    for bot in run.some(BOTS, 2):
        run.say(f"hands of {bot}")
        result = evaluate_estimators(members, run.size(3000, 40), run.seed, bot)
        loss = result.overall("log_loss")
        share = result.counts / result.counts.sum()
        errors = np.sqrt(np.nansum((share * result.standard_error("log_loss")) ** 2, axis=1))
        rows += [
            {
                "bot": bot,
                "estimator": name,
                "saved": round(float(100 * (1 - loss[number] / loss[0])), 4),
                "standard_error": round(float(100 * errors[number] / loss[0]), 4),
            }
            for number, name in enumerate(result.names)
            if number
        ]
    return rows


def stronger_table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each set of weights and a column for each bot, ± 1.96 standard errors."""
    found = by(rows, "estimator", "bot")
    bots = in_order(rows, "bot")

    def cell(row: Row) -> str:
        return f"{row['saved']:.1f} ± {1.96 * row['standard_error']:.2f}"

    lines = [
        [f"`{name}`", *(cell(found[name, bot]) for bot in bots)]
        for name in sorted(in_order(rows, "estimator"), reverse=True)
    ]
    return markdown(["weights", *(f"on `{bot}` (%)" for bot in bots)], lines)


def draw_stronger(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw a group of bars for each network and bot, with a bar for each set of weights."""
    figure, [[axes]] = new_figure(8, 4.5)
    found = by(rows, "estimator", "bot")
    groups = [(network, bot) for network in NETWORKS for bot in in_order(rows, "bot")]
    for offset, watched, colour in ((-0.2, "simple", BLUE), (0.2, "tonic", ORANGE)):
        chosen = [found[f"{network}:weights={watched}", bot] for network, bot in groups]
        bars = axes.bar(
            np.arange(len(groups)) + offset,
            [row["saved"] for row in chosen],
            0.38,
            yerr=[1.96 * row["standard_error"] for row in chosen],
            color=colour,
            label="trained on " + {"simple": "simple", "tonic": "tonic-paper"}[watched],
        )
        axes.bar_label(bars, fmt="%.1f", fontsize=8, padding=2)
    axes.set_xticks(range(len(groups)), [f"{network}\nagainst {bot}" for network, bot in groups])
    axes.set_ylabel("log loss of the uniform estimate saved (%)")
    axes.legend(fontsize=8)
    save_figure(figure, path, dpi=120, origin=origin)


# --- Readings of P(B | A) in `bayes` --------------------------------------------------------------------

READINGS = {
    "uniform": "not used: all unknown cards equally likely (`uniform`)",
    "bayes:likelihood=paper": "the paper's formula: frequency of the turn while a card of the rank is held",
    "bayes": "odds after the turn divided by odds before it (`bayes`)",
}


def measure_readings(run: Run) -> list[Row]:
    """Measure each reading of P(B | A) by four metrics, with standard errors."""
    run.estimators += list(READINGS)
    run.used("simple")
    result = evaluate_estimators(list(READINGS), run.size(50_000, 200), run.seed, "simple")
    share = result.counts / result.counts.sum()
    rows: list[Row] = []
    for number, name in enumerate(result.names):
        row: Row = {"estimator": name, "hands": result.hands, "samples": int(result.counts.sum())}
        for metric in ("log_loss", "squared_difference", "integrity_loss", "top_cards"):
            errors = result.standard_error(metric)[number]
            row[metric] = round(float(result.overall(metric)[number]), 6)
            row[f"{metric}_error"] = round(float(np.sqrt(np.nansum((share * errors) ** 2))), 6)
        rows.append(row)
    return rows


def readings_table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each reading; log losses have ± 1.96 standard errors."""
    lines = [
        (
            READINGS[row["estimator"]],
            f"{row['log_loss']:.4f} ± {1.96 * row['log_loss_error']:.4f}",
            f"{row['squared_difference']:.4f}",
            f"{row['integrity_loss']:.1f}",
            f"{row['top_cards']:.2f}",
        )
        for row in rows
    ]
    return markdown(["P(B \\| A) is", "log loss", "squared difference", "integrity loss %", "top n"], lines)


# --- The drift area as paper 003 prints it --------------------------------------------------------------


def drift_areas(estimates: np.ndarray, hands: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the drift areas with our weight and with the printed weight, float64 (n, 2).

    `estimates` have shape (n, 52); `hands` are the opponents' ten cards, masks uint64 (n,). If i is the
    smallest number of most probable cards that include k held ones, the drift area of
    `gin_env.training.estimators.metrics` adds (11 - k)(i - k), and the one that paper 003 prints adds
    (11 - i)(i - k). Equal probabilities are ordered at random.
    """
    order = np.lexsort((rng.random(estimates.shape), -estimates), axis=1)
    held = np.take_along_axis(card_columns(hands), order, axis=1)
    places = 1 + np.nonzero(held)[1].reshape(len(estimates), -1)
    k = np.arange(1, places.shape[1] + 1)
    late = places - k
    return np.stack([((11 - k) * late).sum(axis=1), ((11 - places) * late).sum(axis=1)], axis=1).astype(float)


def measure_drift(run: Run) -> list[Row]:
    """Measure both readings of the drift area for every estimator."""
    names = run.some(every_estimator(), 4)
    run.estimators += names
    run.used("simple")
    members = [estimators.make(name) for name in names]
    sums, squares, samples = np.zeros((len(names), 2)), np.zeros((len(names), 2)), 0
    rng = np.random.default_rng(run.seed)
    bot = agents.make("simple")
    for positions, each, _ in estimate_along(members, bot, run.size(5000, 200), run.seed):
        samples += len(positions)
        for number, estimates in enumerate(each):
            areas = drift_areas(estimates, positions.hands, rng)
            sums[number] += areas.sum(axis=0)
            squares[number] += (areas**2).sum(axis=0)
    means = sums / samples
    errors = np.sqrt((squares / samples - means**2) / samples)
    return [
        {
            "estimator": name,
            "samples": samples,
            "ours": round(float(means[number, 0]), 3),
            "ours_error": round(float(errors[number, 0]), 3),
            "printed": round(float(means[number, 1]), 3),
            "printed_error": round(float(errors[number, 1]), 3),
        }
        for number, name in enumerate(names)
    ]


def drift_table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each estimator, ± 1.96 standard errors as if samples were independent."""
    lines = [
        (
            f"`{row['estimator']}`",
            f"{row['ours']:.1f} ± {1.96 * row['ours_error']:.1f}",
            f"{row['printed']:.1f} ± {1.96 * row['printed_error']:.1f}",
        )
        for row in rows
    ]
    return markdown(["estimator", "weight 11 - k (ours)", "weight 11 - i (as printed)"], lines, "lrr")


EXPERIMENTS = [
    Experiment(
        "003/drift-area",
        "The drift area as printed in paper 003, and ours",
        measure_drift,
        drift_table,
        games=0,
        time="a minute",
    ),
    Experiment(
        "003/bayes-readings",
        "Readings of P(B | A) in bayes",
        measure_readings,
        readings_table,
        games=0,
        time="a minute",
    ),
    Experiment(
        "003/metrics",
        "All estimators by the metrics of paper 003, Figures 2 to 6",
        measure_metrics,
        metrics_table,
        games=0,
        time="two minutes",
        pictures={
            **{f"estimators/{name}": partial(draw_turns, metric) for metric, name in figures.FIGURES.items()},
            "estimators/calibration.png": draw_calibration,
        },
    ),
    Experiment(
        "003/stronger-players",
        "Networks against stronger players",
        measure_stronger,
        stronger_table,
        games=0,
        time="a minute",
        pictures={"estimators/stronger_bots.png": draw_stronger},
    ),
]
