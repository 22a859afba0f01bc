"""The command that serves a bot to other programs."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from gin_env.commands.options import BOT_HELP

app = typer.Typer()


@app.command(
    rich_help_panel="Files",
    name="serve-bot",
    epilog="Examples:  \n`gin-rummy serve-bot tonic`  \n"
    '`gin-rummy match simple "process:gin-rummy serve-bot tonic" --games 100`',
)
def serve_bot(bot: Annotated[str, typer.Argument(help=BOT_HELP)]) -> None:
    """Answer for a bot on standard input and output, one JSON object per line, until the input ends.

    An invalid line is answered with an error and changes nothing.
    """
    from gin_env import agents
    from gin_env.matches.serving import serve

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    serve(agents.make(bot, programs=True), sys.stdin, sys.stdout)
