"""The command that lists and compares estimators: estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.lists import show
from gin_env.commands.options import BOT_HELP, RulesOption, Seed, progress_bar
from gin_env.support.atomic import check_folder, check_targets

app = typer.Typer()


@app.command(
    rich_help_panel="Compare",
    epilog="Examples:  \n`gin-rummy estimators` (lists them)  \n`gin-rummy estimators all`  \n"
    "`gin-rummy estimators uniform bayes shankar-cnn --games 10000 --opponent tonic`  \n"
    "`gin-rummy estimators all --seed 7 --csv estimators.csv --plot-folder figures`",
)
def estimators(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Estimators to compare, with parameters as in `nn:weights=simple`, or `all`"),
    ] = None,
    games: Annotated[int, typer.Option("--hands", "--games", min=1, help="Number of hands to play")] = 50_000,
    seed: Seed = 0,
    opponent: Annotated[str, typer.Option(help=f"Bot that plays against itself. {BOT_HELP}")] = "simple",
    rules: RulesOption = None,
    csv: Annotated[
        Path | None, typer.Option(help="CSV file to write, with a line for each estimator and turn")
    ] = None,
    plot_folder: Annotated[
        Path | None, typer.Option(help="Folder for pictures: the metrics by turn, and calibration")
    ] = None,
) -> None:
    """List the estimators, or compare some by log loss and the metrics of Francis et al. 2021."""
    from gin_env import estimators as known
    from gin_env.estimators.registry import ESTIMATORS

    if not names:
        found = ESTIMATORS.declarations.items()
        show([{"name": name, "summary": one.summary} for name, one in found])
        return
    from gin_env.support.plots import import_matplotlib
    from gin_env.training.estimators.evaluation import draw_all, evaluate_estimators

    check_targets(csv)
    if plot_folder is not None:
        check_folder(plot_folder)
        import_matplotlib()
    chosen = known.readings() if names == ["all"] else names
    with progress_bar(games, "hand") as progress:
        result = evaluate_estimators(chosen, games, seed, opponent, progress.update, rules)
    typer.echo(result.summary())
    if csv is not None:
        result.save_csv(csv)
        typer.echo(f"written to {csv}")
    if plot_folder is not None:
        for path in draw_all(result, plot_folder):
            typer.echo(f"written to {path}")
