"""The command line: ``gin-rummy --help``. The commands are in `gin_env.commands`."""

from __future__ import annotations

import signal
import warnings
from typing import Annotated

import typer

from gin_env.commands import (
    arena,
    bench,
    bot_speed,
    compile,
    convert,
    dataset,
    estimators,
    explain,
    exploit,
    gif,
    hand_strength,
    matches,
    play,
    replay,
    reproduce,
    serve,
    train,
    tune,
)
from gin_env.support.exits import one_line_errors
from gin_env.support.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gin-env {__version__}")
        raise typer.Exit


@app.callback()
def _gin_rummy(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version", metavar="", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Gin Rummy for reinforcement learning: bots, matches, training and play."""


app.add_typer(play.app)
app.add_typer(matches.app)
app.add_typer(arena.app)
app.add_typer(replay.app)
app.add_typer(explain.app)
app.add_typer(exploit.app)
app.add_typer(train.app, name="train", help="Train tables and networks for bots")
app.add_typer(tune.app, name="tune", help="Tune a bot's parameters")
app.add_typer(hand_strength.app, name="hand-strength")
app.add_typer(estimators.app)
app.add_typer(reproduce.app)
app.add_typer(compile.app)
app.add_typer(convert.app)
app.add_typer(dataset.app)
app.add_typer(gif.app)
app.add_typer(serve.app)
app.add_typer(bench.app)
app.add_typer(bot_speed.app)


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and status 2, see `one_line_errors`."""
    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"
    # End as by Ctrl-C: save the state of a training, and stop the programs of bots.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with one_line_errors("gin-rummy"):
        app()
