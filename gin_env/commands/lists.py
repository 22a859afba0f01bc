"""The commands that list bots, rules and estimators; `estimators` compares estimators too."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from gin_env.commands.options import (
    BOT_HELP,
    STANDARD_OUTPUT,
    Json,
    RulesOption,
    Seed,
    progress_bar,
    write_outputs,
)
from gin_env.support.atomic import check_folder, check_targets

app = typer.Typer()
_RULES = {
    "eaai": "The EAAI 2021 challenge, to 100 points; the default",
    "bicycle": "Other bonuses; boxes, a game bonus and one for a shutout; the winner deals",
    "oklahoma": "As bicycle, to 150 points: the upcard limits the knock, and spades double",
    "straight": "Gin only, no knock",
    "palace": "Boxes that count immediately, a smaller undercut bonus; the winner deals",
    "openspiel": "A tie after a knock is no undercut, as in OpenSpiel",
    "gin_rummy_v4": "The last cards of the stock are played, as in PettingZoo's gin_rummy_v4",
}


@app.command(
    rich_help_panel="Compare",
    epilog="Examples:  \n`gin-rummy bots`  \n`gin-rummy bots tonic policy` (with parameters)",
)
def bots(
    names: Annotated[list[str] | None, typer.Argument(help="Show the parameters of these bots")] = None,
    json: Json = None,
) -> None:
    """List the bots with their strength and speed, or some of them with their parameters.

    The score is that of `gin-rummy benchmark`, and µs are microseconds per decision in a batch. Set
    parameters as `name:key=value,key=value`, lists as `1+2+3`. `NAME-paper` is the reading closest to a
    paper, and never changes.
    """
    from gin_env import agents
    from gin_env.matches.benchmark import PROTOCOLS, stored_results
    from gin_env.support.files import write_json

    scores = stored_results(next(iter(PROTOCOLS)))
    every = names or [*agents.names(), *agents.paper_names()]
    listed = [_describe_bot(name) | scores.get(name, {}) for name in every]
    if json != STANDARD_OUTPUT:
        show(listed, with_parameters=bool(names))
    write_outputs((json, lambda file: write_json(file, listed)))


def _describe_bot(name: str) -> dict[str, Any]:
    from gin_env import agents
    from gin_env.agents.declared_bots import BOTS
    from gin_env.agents.paper import PAPER_BOTS

    reading = PAPER_BOTS.get(name)
    try:
        defaults, missing = agents.parameters(name) or {}, None
    except ImportError as error:
        defaults, missing = {}, str(error)
    closest = reading and f"The reading of {reading.bot} closest to {reading.paper}; never changes"
    summary = closest or BOTS.declarations[name].summary
    return {"name": name, "summary": summary, "parameters": defaults, "missing": missing}


def show(listed: list[dict[str, Any]], with_parameters: bool = False) -> None:
    """Print names with their summaries, and on demand with their parameters and defaults."""
    from gin_env.support.specs import format_value

    width = max(len(one["name"]) for one in listed)
    if scored := any("score" in one for one in listed):
        typer.echo(f"{'':{width}}  score      µs")
    for one in listed:
        figures = f"  {one['score']:5.1f} {one['microseconds']:7.2f}" if "score" in one else " " * 15 * scored
        missing = f" ({one['missing']})" if one.get("missing") else ""
        typer.echo(f"{one['name']:{width}}{figures}  {one['summary']}{missing}")
        for key, value in one["parameters"].items() if with_parameters else ():
            typer.echo(f"{'':{width}}    {key}={format_value(value)}")


@app.command(
    rich_help_panel="Compare",
    epilog="Examples:  \n`gin-rummy rules oklahoma`  \n`gin-rummy match tonic simple --rules oklahoma`",
)
def rules(
    text: Annotated[
        str | None, typer.Argument(help="A preset, single rules, or both, as in `--rules`")
    ] = None,
) -> None:
    """List the presets of rules, or all rules of one, with a mark where they differ from the default."""
    from gin_env.game.rules import Rules

    if text is None:
        typer.echo("\n".join(f"{name:14} {_RULES[name]}" for name in Rules.presets()))
        return
    for field in fields(Rules):
        value = getattr(Rules.parse(text), field.name)
        typer.echo(f"{field.name:18} {str(value).lower()}{' *' * (value != field.default)}")


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
    from gin_env.estimators.declared_estimators import ESTIMATORS

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
    write_outputs((csv, result.save_csv))
    if plot_folder is not None:
        for path in draw_all(result, plot_folder):
            typer.echo(f"written to {path}")
