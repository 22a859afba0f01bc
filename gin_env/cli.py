"""The command line: ``gin-rummy --help``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _gin_rummy() -> None:
    """Gin Rummy for reinforcement learning: bots, matches, tables."""


@app.command()
def bots() -> None:
    """List the bots."""
    from gin_env import agents

    for name in agents.names():
        typer.echo(name)


@app.command(
    epilog="Examples:  \n`gin-rummy match simple random`  \n"
    "`gin-rummy match simple simple --games 20000 --seed 7 --json result.json`  \n"
    "`gin-rummy match runs/ppo_selfplay/model.zip simple`"
)
def match(
    a: Annotated[str, typer.Argument(help="A bot's name, or the path of a trained policy (.zip).")],
    b: Annotated[str, typer.Argument(help="Its opponent.")],
    games: Annotated[
        int, typer.Option(help="Number of games, even: each deal is played from both seats.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Names all the decks and ties.")] = 0,
    hands: Annotated[
        bool, typer.Option("--hands", help="Play single hands, not games to 100 points.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write the result to this file as JSON.")] = None,
) -> None:
    """Play bot A against bot B: win rate with a 95 % Wilson interval, seats and dealers balanced."""
    from gin_env.matches import play_match

    unit = "hand" if hands else "game"
    with tqdm(total=games, unit=unit, smoothing=0.1) as progress:
        result = play_match(a, b, games, seed, episode=unit, progress=progress.update)
    typer.echo(result)
    if json is not None:
        result.save(json)
        typer.echo(f"written to {json}")


def main() -> None:
    """Run the command line; a mistake of the user's is one line on stderr and exit status 2."""
    try:
        app()
    except (ValueError, TypeError, FileNotFoundError, ImportError) as error:
        typer.echo(f"gin-rummy: {error}", err=True)
        raise SystemExit(2) from error
