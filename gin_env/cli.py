"""The command line: ``gin-rummy --help``. The commands are in `gin_env.commands`."""

from __future__ import annotations

from typing import Annotated

import typer

from gin_env.commands import explain, files, lists, matches, play, puzzle, replay, train
from gin_env.support.exits import command_line
from gin_env.support.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gin-env {__version__}")
        raise typer.Exit


@app.callback()
def _gin_rummy(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version", metavar="", is_eager=True, callback=_version),
    ] = False,
) -> None:
    """Gin Rummy for reinforcement learning: bots, matches, training and play."""


app.add_typer(play.app)
app.add_typer(puzzle.app)
app.add_typer(matches.app)
app.add_typer(replay.app)
app.add_typer(explain.app)
app.add_typer(train.app)
app.add_typer(lists.app)
app.add_typer(files.app)


def _run() -> None:
    """Run the command line. Mistakes in the command itself get one line too, like those in its values."""
    try:
        status = app(prog_name="gin-rummy", standalone_mode=False)
    except typer.Abort:
        typer.echo("gin-rummy: aborted", err=True)
        raise SystemExit(1) from None
    except Exception as error:
        context = getattr(error, "ctx", None)
        if context is None or not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if not message:  # without arguments, the help is printed already
            raise SystemExit(2) from None
        message = message[:1].lower() + message[1:].rstrip(".").replace("Value error, ", "")
        raise ValueError(f"{message} (see {context.command_path} --help)") from None
    raise SystemExit(status or 0)


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and status 2."""
    command_line("gin-rummy", _run)
