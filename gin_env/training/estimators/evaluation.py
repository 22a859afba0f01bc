"""Evaluation of estimators on the same hands: metrics by turn, and calibration.

As in Francis et al. 2021, "Experimental Results", the estimators are used "independently, but simultaneously"
on hands between two identical players. Each turn gives one sample: the estimate of the player whose opponent
has just completed the turn. Turns of both players are counted together (the paper's figures extend past turn
29, ours to about 31). The paper's "games" are read as single hands, as nothing carries over.

Only sums are stored, so that memory does not grow with the number of hands. The figures are Francis et al.
2021's Figures 2 to 6, the log loss and the calibration curve.

Results: docs/results/estimators.md, "All metrics" and docs/results/francis2021.md, "The paper's conclusions".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gin_env import agents, estimators
from gin_env.agents import Agent, AnyAgent
from gin_env.estimators.base import Estimator, advance_slots
from gin_env.estimators.public_history import known_cards
from gin_env.game.rules import MAX_TURNS, Rules
from gin_env.support import plots
from gin_env.support.files import write_csv
from gin_env.training.estimators.metrics import METRICS, measure
from gin_env.training.estimators.positions import HANDS_PER_BATCH, Positions, after_turns, play_hands

BINS = 20


@dataclass(frozen=True)
class Evaluation:
    """Sums over the samples of each turn; see `mean`, `standard_error` and `calibration_error`."""

    names: tuple[str, ...]
    opponent: str
    hands: int
    seed: int
    counts: np.ndarray
    """int64 (turns,): number of samples after each turn; turn 0 has none."""
    sums: np.ndarray
    """float64 (estimators, turns, metrics): sums of the metrics."""
    squares: np.ndarray
    """float64 (estimators, turns, metrics): sums of squares."""
    bins: np.ndarray
    """float64 (estimators, BINS, 3): for each bin of probability, the number of unknown cards in it, the sum
    of their probabilities, and the number of them that the opponent held."""
    seconds: np.ndarray
    """float64 (estimators,): processor time in seconds; the only part that varies between runs."""
    rules: Rules = field(default_factory=Rules)

    def mean(self, metric: str) -> np.ndarray:
        """Return float64 (estimators, turns): the metric's mean after each turn, NaN without samples."""
        with np.errstate(invalid="ignore"):
            return self.sums[:, :, list(METRICS).index(metric)] / self.counts

    def standard_error(self, metric: str) -> np.ndarray:
        """Return float64 (estimators, turns): the standard error of `mean`, NaN below two samples."""
        squares = self.squares[:, :, list(METRICS).index(metric)]
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = (squares / self.counts - self.mean(metric) ** 2) * self.counts / (self.counts - 1)
            return np.sqrt(np.maximum(variance, 0) / self.counts)

    def overall(self, metric: str) -> np.ndarray:
        """Return float64 (estimators,): the mean over all samples."""
        return self.sums[:, :, list(METRICS).index(metric)].sum(axis=1) / self.counts.sum()

    def calibration_error(self) -> np.ndarray:
        """Return float64 (estimators,): the expected calibration error, with bins weighted by their cards."""
        number, predicted, held = np.moveaxis(self.bins, 2, 0)
        return np.abs(predicted - held).sum(axis=1) / number.sum(axis=1)

    def summary(self) -> str:
        """Return a table of metrics, calibration error and time."""
        short = ("squared", "integrity %", "min. top", "top n", "drift", "log loss", "calibration")
        lines = [f"{'':30}" + "".join(f"{title:>12}" for title in (*short, "µs a view"))]
        cost = 1e6 * self.seconds / self.counts.sum()
        columns = [*(self.overall(metric) for metric in METRICS), self.calibration_error(), cost]
        for number, name in enumerate(self.names):
            lines.append(f"{name:30}" + "".join(f"{column[number]:12.4f}" for column in columns))
        lines.append(
            f"{self.counts.sum():,} samples of {self.hands:,} hands, {self.opponent} against itself"
            f"{'' if self.rules == Rules() else f' under {self.rules.text}'}, seed {self.seed}"
        )
        lines.append("less is better, but for top n; integrity: how far the sum is from the cards held")
        return "\n".join(lines)

    def save_csv(self, path: str | Path) -> None:
        """Write a CSV row for each estimator and turn: samples, mean and standard error of each metric."""
        means = {metric: (self.mean(metric), self.standard_error(metric)) for metric in METRICS}
        columns = [f"{metric}{part}" for metric in METRICS for part in ("", "_error")]
        rows, played = [], (self.opponent, self.hands, self.seed)
        for number, name in enumerate(self.names):
            for turn in np.flatnonzero(self.counts).tolist():
                values = [f"{part[number, turn]:.6g}" for metric in METRICS for part in means[metric]]
                rows.append([*played, name, turn, int(self.counts[turn]), *values])
        write_csv(path, ["opponent", "hands", "seed", "estimator", "turn", "samples", *columns], rows)


def evaluate_estimators(
    members: Sequence[str | Estimator],
    hands: int = 50_000,
    seed: int = 0,
    opponent: AnyAgent = "simple",
    progress: Callable[[int], object] | None = None,
    rules: Rules | None = None,
) -> Evaluation:
    """Evaluate estimators on hands of `opponent` against itself.

    `members` are names, with or without parameters, or objects; ``omniscient`` is given the true hands.
    `progress` is called with numbers of hands that have ended. Raises ValueError for unknown names.
    """
    resolved = [estimators.resolve(member, programs=True) for member in members]
    if not resolved:
        raise ValueError("at least one estimator is needed")
    names = tuple(member.name for member in resolved)
    if len(set(names)) < len(names):
        raise ValueError(f"the estimators must have different names, not {', '.join(names)}")
    bot = agents.resolve(opponent, programs=True)
    counts = np.zeros(MAX_TURNS + 1, np.int64)
    sums = np.zeros((len(resolved), len(counts), len(METRICS)))
    squares = np.zeros_like(sums)
    bins = np.zeros((len(resolved), BINS, 3))
    seconds = np.zeros(len(resolved))
    for positions, _, every_estimate, times in estimate_along(resolved, bot, hands, seed, progress, rules):
        seconds += times
        turns = positions.view.array["public"]["turn"]
        np.add.at(counts, turns, 1)
        for number, estimates in enumerate(every_estimate):
            values = measure(estimates, positions)
            np.add.at(sums[number], turns, values)
            np.add.at(squares[number], turns, values**2)
            _add_to_bins(bins[number], estimates, positions)
    reached = np.flatnonzero(counts).max(initial=0) + 1
    by_turn = counts[:reached], sums[:, :reached], squares[:, :reached]
    return Evaluation(names, bot.name, hands, seed, *by_turn, bins, seconds, rules or Rules())


def estimate_along(
    members: Sequence[Estimator],
    bot: Agent,
    hands: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
    rules: Rules | None = None,
) -> Iterator[tuple[Positions, np.ndarray, list[np.ndarray], list[float]]]:
    """Play hands of `bot` against itself, and yield positions, estimates and times after each turn.

    The memory of each member continues from hand to hand in the same slot, as in a game.

    Yields
    ------
    positions : Positions of the players that have observed the turn.
    numbers : int64 (n,), the number of each position's hand, from 0 on.
    estimates : list of float32 arrays (n, 52), one for each of `members`.
    times : list of float, the processor time of each member in seconds.
    """
    memories = [member.new_memory(2 * HANDS_PER_BATCH) for member in members]
    table, begun, ended = None, 0, 0
    for games, waiting in play_hands([bot], hands, seed, rules):
        if games is not table:  # the next hands
            table, begun = games, begun + len(games)
        now = waiting[after_turns(games, waiting)]
        if len(now):
            observers = games.to_move()[now].astype(np.int64)
            positions = Positions(games.views(now), games.state["private"]["hand"][now, 1 - observers])
            slots = 2 * now + observers
            estimates, times = [], []
            for member, memory in zip(members, memories, strict=True):
                start = time.process_time()
                estimates.append(advance_slots(member, positions.view, positions.hands, memory, slots))
                times.append(time.process_time() - start)
            yield positions, begun - len(games) + now, estimates, times
        if progress is not None and begun - len(waiting) > ended:
            progress(begun - len(waiting) - ended)
            ended = begun - len(waiting)
    if progress is not None:
        progress(hands - ended)


def _add_to_bins(bins: np.ndarray, estimates: np.ndarray, positions: Positions) -> None:
    """Add the unknown cards to `Evaluation.bins` of one estimator."""
    _, unseen, _ = known_cards(positions.view)
    predicted, held = estimates[unseen].astype(np.float64), positions.truth()[unseen]
    where = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
    for column, weights in enumerate((None, predicted, held)):
        bins[:, column] += np.bincount(where, weights, BINS)


# --- Figures ------------------------------------------------------------------------------------------


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
    "nn": plots.RED,
    "bayes": plots.BLUE,
    "shankar-cnn": plots.GREEN,
    "uniform": plots.GREY,
    "omniscient": "0.75",
}
"""Red, blue and green as in the paper; other estimators take `_OTHERS`."""
_OTHERS = [
    {"color": colour, "linestyle": dash}
    for dash in ("-.", ":", "-")
    for colour in (plots.ORANGE, plots.PURPLE, plots.SKY)
]


def draw_all(evaluation: Evaluation, folder: str | Path) -> list[Path]:
    """Draw every figure into a folder, which is created if necessary, and return the files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for metric, name in FIGURES.items():
        draw_metric(evaluation, metric, folder / name)
    draw_calibration(evaluation, folder / "calibration.png")
    return [folder / name for name in (*FIGURES.values(), "calibration.png")]


def draw_metric(evaluation: Evaluation, metric: str, path: str | Path, origin: str | None = None) -> None:
    """Draw one metric by turn: the mean, the shaded standard error and the number of samples of each turn.

    `origin` is the line at the foot; by default hands, seed and release.
    """
    figure, [[axes]] = plots.new_figure(10, 5.5)
    turns = np.flatnonzero(evaluation.counts >= 2)
    mean, error = evaluation.mean(metric), evaluation.standard_error(metric)
    for number, (name, style) in enumerate(_styles(evaluation).items()):
        values, half = mean[number, turns], error[number, turns]
        axes.plot(turns, values, label=name, **style)
        axes.fill_between(turns, values - half, values + half, color=style["color"], alpha=0.25, linewidth=0)
    labels = [f"{turn}\n" + "\n" * (turn % 2) + f"{evaluation.counts[turn]:,}" for turn in turns]
    axes.set_xticks(turns, labels, fontsize=6)  # in two rows, so that neighbouring labels do not overlap
    axes.set(xlabel="turns completed (both players); below: samples", ylabel=METRICS[metric])
    played = f"{evaluation.hands:,} hands, {evaluation.opponent} against itself"
    axes.set_title(f"{played}; shaded: standard error", fontsize=9)
    axes.legend(fontsize=8)
    plots.save_figure(figure, path, dpi=120, origin=origin or _origin(evaluation))


def draw_calibration(evaluation: Evaluation, path: str | Path, origin: str | None = None) -> None:
    """Draw the calibration curve: how often unknown cards were held, by their estimated probability.

    `origin` as for `draw_metric`.
    """
    figure, [[axes]] = plots.new_figure(6.5, 6)
    axes.plot([0, 1], [0, 1], color="0.8", linestyle="-", linewidth=1)
    for number, (name, style) in enumerate(_styles(evaluation).items()):
        cards, predicted, held = evaluation.bins[number].T
        enough = cards >= 100
        if name != "omniscient" and enough.any():
            shares = predicted[enough] / cards[enough], held[enough] / cards[enough]
            axes.plot(*shares, marker=".", label=name, **style)
    axes.set_xlabel("mean probability given to cards of unknown place, in bins of 0.05")
    axes.set_ylabel("share of them that the opponent held")
    axes.set_title(f"{evaluation.hands:,} hands, {evaluation.opponent} against itself", fontsize=9)
    axes.legend(fontsize=8)
    plots.save_figure(figure, path, dpi=120, origin=origin or _origin(evaluation))


def _origin(evaluation: Evaluation) -> str:
    return plots.origin_line(f"{evaluation.hands:,} hands", evaluation.seed)


def _styles(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """Return the line style of each estimator, in the evaluation's order."""
    free = [name for name in evaluation.names if name not in COLOURS]
    styles = {name: _OTHERS[number % len(_OTHERS)] for number, name in enumerate(free)}
    for name, colour in COLOURS.items():
        styles[name] = {"color": colour, "linestyle": "--" if name in ("uniform", "omniscient") else "-"}
    return {name: {"linewidth": 1.4} | styles[name] for name in evaluation.names}
