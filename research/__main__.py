"""The command line of the laboratory: ``python -m research --help``."""

from __future__ import annotations

import typer

from gin_env.support.exits import command_line
from research.commands import hand_strength, leaderboard, reproduce, train, tune

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure the published results again, and make the shipped tables and networks again.",
)
app.add_typer(reproduce.app)
app.add_typer(leaderboard.app)
app.add_typer(train.app, name="train", help="Make a shipped table or network")
app.add_typer(tune.app, name="tune", help="Tune a bot's parameters")
app.add_typer(hand_strength.app, name="hand-strength")


if __name__ == "__main__":
    command_line("research", app)
