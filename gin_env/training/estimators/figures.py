"""Figures of an evaluation: paper 003's Figures 2 to 6, the log loss and the calibration curve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gin_env.support.plots import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    new_figure,
    origin_line,
    save_figure,
)
from gin_env.training.estimators.evaluation import Evaluation
from gin_env.training.estimators.metrics import METRICS

FIGURES = {
    "squared_difference": "figure_2_squared_difference.png",
    "integrity_loss": "figure_3_integrity_loss.png",
    "minimum_top_largest": "figure_4_minimum_top_largest.png",
    "top_cards": "figure_5_top_cards.png",
    "drift_area": "figure_6_drift_area.png",
    "log_loss": "log_loss.png",
}
"""Metric -> file name, with the paper's figure numbers."""

COLOURS = {
    "nn": RED,
    "bayes": BLUE,
    "shankar-cnn": GREEN,
    "uniform": GREY,
    "omniscient": "0.75",
}
"""Red, blue and green as in the paper; other estimators take `_OTHERS`."""
_OTHERS = [
    {"color": colour, "linestyle": dash} for dash in ("-.", ":", "-") for colour in (ORANGE, PURPLE, SKY)
]


def draw_all(evaluation: Evaluation, folder: str | Path) -> list[Path]:
    """Draw every figure into a folder, which is created if necessary, and return the files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for metric, name in FIGURES.items():
        draw_metric(evaluation, metric, folder / name)
        files.append(folder / name)
    draw_calibration(evaluation, folder / "calibration.png")
    return [*files, folder / "calibration.png"]


def draw_metric(evaluation: Evaluation, metric: str, path: str | Path, origin: str | None = None) -> None:
    """Draw one metric by turn: the mean, the shaded standard error and the number of samples of each turn.

    `origin` is the line at the foot; by default hands, seed and release.
    """
    figure, [[axes]] = new_figure(10, 5.5)
    turns = np.flatnonzero(evaluation.counts >= 2)
    mean, error = evaluation.mean(metric), evaluation.standard_error(metric)
    for number, (name, style) in enumerate(_styles(evaluation).items()):
        values, half = mean[number, turns], error[number, turns]
        axes.plot(turns, values, label=name, **style)
        axes.fill_between(turns, values - half, values + half, color=style["color"], alpha=0.25, linewidth=0)
    labels = [f"{turn}\n" + "\n" * (turn % 2) + f"{evaluation.counts[turn]:,}" for turn in turns]
    axes.set_xticks(turns, labels, fontsize=6)  # in two rows, so that neighbouring labels do not overlap
    axes.set_xlabel("turns completed (both players); below: samples")
    axes.set_ylabel(METRICS[metric])
    axes.set_title(
        f"{evaluation.hands:,} hands, {evaluation.opponent} against itself; shaded: standard error",
        fontsize=9,
    )
    axes.legend(fontsize=8)
    save_figure(figure, path, dpi=120, origin=origin or _origin(evaluation))


def draw_calibration(evaluation: Evaluation, path: str | Path, origin: str | None = None) -> None:
    """Draw the calibration curve: how often unknown cards were held, by their estimated probability.

    `origin` as for `draw_metric`.
    """
    figure, [[axes]] = new_figure(6.5, 6)
    axes.plot([0, 1], [0, 1], color="0.8", linestyle="-", linewidth=1)
    for number, (name, style) in enumerate(_styles(evaluation).items()):
        cards, predicted, held = evaluation.bins[number].T
        enough = cards >= 100
        if name != "omniscient" and enough.any():
            axes.plot(
                predicted[enough] / cards[enough],
                held[enough] / cards[enough],
                marker=".",
                label=name,
                **style,
            )
    axes.set_xlabel("mean probability given to cards of unknown place, in bins of 0.05")
    axes.set_ylabel("share of them that the opponent held")
    axes.set_title(f"{evaluation.hands:,} hands, {evaluation.opponent} against itself", fontsize=9)
    axes.legend(fontsize=8)
    save_figure(figure, path, dpi=120, origin=origin or _origin(evaluation))


def _origin(evaluation: Evaluation) -> str:
    return origin_line(f"{evaluation.hands:,} hands", evaluation.seed)


def _styles(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """Return the line style of each estimator, in the evaluation's order."""
    free = [name for name in evaluation.names if name not in COLOURS]
    styles = {name: _OTHERS[number % len(_OTHERS)] for number, name in enumerate(free)}
    for name, colour in COLOURS.items():
        styles[name] = {"color": colour, "linestyle": "--" if name in ("uniform", "omniscient") else "-"}
    return {name: {"linewidth": 1.4} | styles[name] for name in evaluation.names}
