"""Paper 003's open question: do hand estimators, the CNN above all, gain more against stronger players?

"We predict that with a stronger player, the CNN hand estimation especially could be more effective, as it
trains its estimation model from a better play" (Future Work). Each network has one set of weights that
watched ``simple`` and one that watched ``tonic``; both are measured on hands of either bot against itself.
The gain is what they save of the uniform estimate's log loss. The weights come with the package; each file
says how it was trained.

    python examples/estimators_and_stronger_bots.py --hands 10000 --csv gains.csv --plot gains.png

Measured: yes for the CNN, undecided for ``nn``: docs/results.md, "Stronger players".
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from gin_env.support.atomic import check_targets, save_figure, write_csv
from gin_env.support.exits import one_line_errors
from gin_env.support.plots import import_matplotlib
from gin_env.training.estimators.evaluation import Evaluation, evaluate_estimators

BOTS = ("simple", "tonic")
NETWORKS = ("nn", "shankar-cnn")


def main(
    hands: Annotated[int, typer.Option(help="Hands of each bot against itself.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write the table to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the gains (.png).")] = None,
) -> None:
    """Measure networks trained on simple and on tonic against both."""
    check_targets(csv_file, plot)
    members = [f"{network}:weights={bot}" for network in NETWORKS for bot in BOTS]
    rows = []
    for opponent in BOTS:
        with tqdm(total=hands, unit="hand", desc=opponent, smoothing=0.1) as progress:
            result = evaluate_estimators(["uniform", *members], hands, seed, opponent, progress.update)
        rows += gains(result)
    for opponent, member, saved, error in rows:
        typer.echo(f"{opponent:8} {member:28} saves {100 * saved:5.2f} ± {100 * error:.2f} %")
    if csv_file is not None:
        header = ["opponent", "estimator", "share_of_uniform_log_loss_saved", "standard_error"]
        write_csv(csv_file, header, [[*row[:2], f"{row[2]:.6f}", f"{row[3]:.6f}"] for row in rows])
    if plot is not None:
        draw(rows, plot)


def gains(result: Evaluation) -> list[tuple[str, str, float, float]]:
    """(opponent, estimator, share of uniform's log loss that it saves, standard error) for the networks.

    The errors treat the turns' means as independent and uniform's as exact, which it nearly is.
    """
    loss = result.overall("log_loss")
    share = result.counts / result.counts.sum()
    errors = np.sqrt(np.nansum((share * result.standard_error("log_loss")) ** 2, axis=1))
    return [
        (result.opponent, name, float(1 - loss[number] / loss[0]), float(errors[number] / loss[0]))
        for number, name in enumerate(result.names)
        if number
    ]


def draw(rows: list[tuple[str, str, float, float]], path: Path) -> None:
    """Bars of the gains: one group for each network and opponent, a bar for each set of weights."""
    figure_class, _ = import_matplotlib()
    figure = figure_class(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    groups = [(network, bot) for network in NETWORKS for bot in BOTS]
    for offset, watched, colour in ((-0.2, "simple", "tab:blue"), (0.2, "tonic", "tab:orange")):
        found = {(row[1], row[0]): row for row in rows}
        chosen = [found[f"{network}:weights={watched}", bot] for network, bot in groups]
        places = np.arange(len(groups)) + offset
        bars = axes.bar(
            places,
            [100 * row[2] for row in chosen],
            0.38,
            yerr=[196 * row[3] for row in chosen],
            color=colour,
            label=f"trained on {watched}",
        )
        axes.bar_label(bars, fmt="%.1f", fontsize=8, padding=2)
    axes.set_xticks(range(len(groups)), [f"{network}\nagainst {bot}" for network, bot in groups])
    axes.set_ylabel("log loss of the uniform estimate saved (%)")
    axes.legend(fontsize=8)
    save_figure(figure, path, dpi=120)


if __name__ == "__main__":
    with one_line_errors("estimators_and_stronger_bots.py"):
        typer.run(main)
