"""Francis et al. 2021: a comparison of the estimators of the opponent's hand, also against stronger
players."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from gin_env import agents, estimators
from gin_env.estimators.base import Estimator
from gin_env.game.cards import card_columns
from gin_env.training.estimators import evaluation
from gin_env.training.estimators.evaluation import Evaluation, estimate_along, evaluate_estimators
from gin_env.training.estimators.metrics import METRICS, measure
from gin_env.training.estimators.positions import Positions, play_hands
from research.reproduce.experiment import Run, ratio_row
from research.reproduce.tables import Row, by


def measure_metrics(run: Run) -> list[Row]:
    """Measure a row for each estimator over all samples (turn None), and one for each estimator and turn."""
    members = run.some(estimators.readings(), 4)
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


def without_omniscient(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of all estimators but the one without an error, which would set the scale."""
    return [row for row in rows if row["estimator"] != "omniscient"]


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
    evaluation.draw_metric(evaluation_of(rows), metric, path, origin)


def draw_calibration(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw frequencies against estimated probabilities."""
    evaluation.draw_calibration(evaluation_of(rows), path, origin)


# --- Sums over the turns of a hand, which are not independent --------------------------------------------


def sums_by_hand(
    run: Run,
    names: Sequence[str],
    bot: str,
    hands: int,
    values_of: Callable[[np.ndarray, Positions], np.ndarray] = measure,
    width: int = len(METRICS),
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums over the samples of each hand of `bot` against itself, and the number of samples.

    `values_of` returns `width` values for each sample of one estimator, shape (n, width), from its estimates
    and the positions. The sums are float64 (estimators, hands, width), the numbers float64 (hands,).
    """
    run.estimators += [name for name in names if name not in run.estimators]
    run.used(bot)
    members = [estimators.make(name) for name in names]
    counts, sums = np.zeros(hands), np.zeros((len(names), hands, width))
    for positions, numbers, each, _ in estimate_along(members, agents.make(bot), hands, run.seed):
        np.add.at(counts, numbers, 1)
        for index, estimates in enumerate(each):
            np.add.at(sums[index], numbers, values_of(estimates, positions))
    return sums, counts


# --- Stronger players -----------------------------------------------------------------------------------

BOTS = ("simple", "tonic-paper", "tonic")
NETWORKS = tuple(
    f"{name}:weights={watched}" for name in ("nn", "shankar-cnn") for watched in ("simple", "tonic")
)
"""Networks trained on hands of weak and of strong players: the weights ``tonic`` on today's `tonic-paper`."""


def measure_stronger(run: Run) -> list[Row]:
    """Measure the reduction of the uniform log loss by networks, on hands of each bot against itself."""
    rows: list[Row] = []
    for bot in run.some(BOTS, 2):
        run.say(f"hands of {bot}")
        sums, _ = sums_by_hand(run, ["uniform", *NETWORKS], bot, run.size(3000, 40))
        uniform, *losses = sums[:, :, list(METRICS).index("log_loss")]
        rows += [
            {"bot": bot, "estimator": name} | ratio_row(100 * (uniform - loss), uniform)
            for name, loss in zip(NETWORKS, losses, strict=True)
        ]
    return rows


# --- Readings of P(B | A) in `bayes` --------------------------------------------------------------------

READINGS = ("uniform", "bayes:likelihood=paper", "bayes")


def measure_readings(run: Run) -> list[Row]:
    """Measure each reading of P(B | A) by four metrics."""
    sums, counts = sums_by_hand(run, READINGS, "simple", run.size(50_000, 200))
    return [
        {"estimator": name, "metric": metric, "samples": int(counts.sum())}
        | ratio_row(of_name[:, list(METRICS).index(metric)], counts)
        for name, of_name in zip(READINGS, sums, strict=True)
        for metric in ("log_loss", "squared_difference", "integrity_loss", "top_cards")
    ]


def with_metrics(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with their values by the name of the metric too."""
    return [row | {row["metric"]: row["value"]} for row in rows]


# --- The drift area as the paper prints it --------------------------------------------------------------


def drift_areas(estimates: np.ndarray, hands: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the drift areas with our weight and with the printed weight, float64 (n, 2).

    `estimates` have shape (n, 52); `hands` are the opponents' ten cards, masks uint64 (n,). If i is the
    smallest number of most probable cards that include k held ones, the drift area of
    `gin_env.training.estimators.metrics` adds (11 - k)(i - k), and the one that the paper prints adds
    (11 - i)(i - k). Equal probabilities are ordered at random.
    """
    order = np.lexsort((rng.random(estimates.shape), -estimates), axis=1)
    held = np.take_along_axis(card_columns(hands), order, axis=1)
    places = 1 + np.nonzero(held)[1].reshape(len(estimates), -1)
    k = np.arange(1, places.shape[1] + 1)
    late = places - k
    return np.stack([((11 - k) * late).sum(axis=1), ((11 - places) * late).sum(axis=1)], axis=1).astype(float)


WEIGHTINGS = ("ours", "printed")
"""Columns of `drift_areas`."""


def measure_drift(run: Run) -> list[Row]:
    """Measure both readings of the drift area for every estimator."""
    names, rng = run.some(estimators.readings(), 4), np.random.default_rng(run.seed)

    def areas(estimates: np.ndarray, positions: Positions) -> np.ndarray:
        return drift_areas(estimates, positions.hands, rng)

    sums, counts = sums_by_hand(run, names, "simple", run.size(5000, 200), areas, len(WEIGHTINGS))
    return [
        {"estimator": name, "weight": weight, "samples": int(counts.sum())}
        | ratio_row(of_name[:, column], counts, 3)
        for name, of_name in zip(names, sums, strict=True)
        for column, weight in enumerate(WEIGHTINGS)
    ]


# --- Time of one estimate: CPU time per view in batches, over every decision of complete hands --------------

TIMED_HANDS, ROUNDS = 1000, 5


def measure_time(run: Run, measured: Sequence[str]) -> list[Row]:
    """Measure the microseconds of each estimator with a memory and from scratch, as medians of rounds."""
    names = run.some(measured)
    run.estimators += names
    run.used("simple")
    members = [estimators.make(name) for name in names]
    rounds = []
    for number in range(run.size(ROUNDS, 1) + 1):  # the first compiles and is not counted
        run.say(f"round {number}")
        rounds.append(times_along(members, run.size(TIMED_HANDS), run.seed))
    with_memory, from_scratch = 1e6 * np.median(rounds[1:], axis=0)
    return [
        {
            "estimator": name,
            "with_memory": round(float(memory), 4) if member.new_memory(1).dtype.itemsize else None,
            "from_scratch": round(float(scratch), 4),
        }
        for name, member, memory, scratch in zip(names, members, with_memory, from_scratch, strict=True)
    ]


def times_along(members: Sequence[Estimator], hands: int, seed: int) -> np.ndarray:
    """Return the seconds of one estimate in hands of Simple, float64 (2, num_estimators).

    The first row is with a memory, the second from scratch.
    """
    memories = [member.new_memory(2 * hands) for member in members]
    views, seconds = 0, np.zeros((2, len(members)))
    for games, waiting in play_hands(["simple"], hands, seed):
        view = games.views(waiting)
        slots = 2 * waiting + games.to_move()[waiting]
        views += len(view)
        for number, (member, memory) in enumerate(zip(members, memories, strict=True)):
            own = memory[slots]
            begun = time.process_time()
            member.advance(view, own)
            advanced = time.process_time()
            member.estimate(view)
            seconds[:, number] += advanced - begun, time.process_time() - advanced
            memory[slots] = own
    return seconds / views


def with_memory(row: Row) -> str:
    """Return the time with a memory."""
    return "none needed" if row["with_memory"] is None else f"{row['with_memory']:.2g}"
