"""Options that several commands share, and the log by which two of them are resumed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from gin_env.matches.match_log import MatchLog
    from gin_env.support.workers import Workers

BOT_HELP = (
    "A bot's name, with parameters as in `simple:knock_at=4`, or a trained policy's path (.safetensors). "
    "A Stable-Baselines3 .zip is not loaded, since it may hold code: `gin-rummy convert` makes it a policy."
)
Seed = Annotated[int, typer.Option(help="Random seed.")]
SecretSeed = Annotated[
    int | None,
    typer.Option(
        help="Random seed; by default a secret one, told with the result: no bot can guess the decks."
    ),
]
Hands = Annotated[bool, typer.Option("--hands", help="Play single hands, not games to 100 points.")]


def _rules(text: str) -> Any:
    from gin_env.game.rules import Rules

    try:
        return Rules.parse(text)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from None


RulesOption = Annotated[
    Any,
    typer.Option(
        "--rules",
        parser=_rules,
        metavar="NAME|RULE=VALUE,...",
        help="Rules to play by: a preset, such as `oklahoma`, or single rules, such as "
        "`knock_limit=7,oklahoma=true` (docs/rules.md).",
        show_default="eaai",
    ),
]
Confidence = Annotated[float, typer.Option(help="Confidence of the Wilson intervals.")]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on with the same command where it was stopped: matches are kept in OUTPUT.matches, beside "
        "the first output, until all are played.",
    ),
]
Json = Annotated[Path | None, typer.Option(help="Write the result to this file as JSON.")]
Record = Annotated[
    Path | None,
    typer.Option(
        help="Write every game to this file as a line of JSON (docs/records.md); one that is there is gone "
        "on with. `gin-rummy replay` steps through it."
    ),
]
DataEstimator = Annotated[str, typer.Option(help="What estimates the opponent's hand in the data.")]


def _count(text: str | int) -> int | Literal["all"]:
    if text == "all":
        return "all"
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor `all`") from None


WorkerCount = Annotated[
    Any,
    typer.Option(
        "--workers",
        parser=_count,
        metavar="N|all",
        help="Processes that play, `all`: one for each core. The result does not depend on it.",
        show_default="1, with --ray all of the cluster's cores",
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        metavar="[ADDRESS]",
        help="Play on a Ray cluster: the one of this machine, or the one at HOST:PORT. The result does not "
        "depend on it.",
    ),
]
_HERE = "auto-or-local"
"""The address that stands for no address."""


class PlaysAnywhere(TyperCommand):
    """A command with the options `WorkerCount` and `Ray`, which may be given without an address."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Give a bare ``--ray`` the value that stands for it, which Typer does not do."""
        told = list(args)
        for place, word in enumerate(args):
            if word == "--ray" and (place + 1 == len(args) or args[place + 1].startswith("-")):
                told[place] = f"--ray={_HERE}"
        return super().parse_args(ctx, told)


def workers_of(count: int | Literal["all"] | None, ray: str | None) -> Workers:
    """The workers that `WorkerCount` and `Ray` ask for; nothing is started before there is work."""
    from gin_env.support.workers import Workers

    return Workers(count, ray=False if ray is None else True if ray == _HERE else ray)


def is_terminal() -> bool:
    """Whether a screen can be shown: at a terminal, or by Textual's server.

    Textual draws on standard error; whoever directs the output into a file does not mean a screen.
    """
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return "TEXTUAL_DRIVER" in os.environ or all(stream.isatty() for stream in streams)


@contextmanager
def resumable(resume: bool, *outputs: Path | None) -> Iterator[MatchLog | None]:
    """The matches played so far, in OUTPUT.matches beside the first output; None without an output.

    The file is removed when the block has ended, results written; Ctrl-C ends the program with a line that
    names it.
    """
    from gin_env.matches.match_log import MatchLog

    files = [path for path in outputs if path is not None and (path.is_file() or not path.exists())]
    if not files:
        if resume:
            raise ValueError(
                "--resume needs the output files of the command that was stopped, such as --json"
            )
        yield None
        return
    log = MatchLog(files[0].with_name(files[0].name + ".matches"), resume)
    try:
        yield log
    except KeyboardInterrupt:
        if not len(log):
            raise
        typer.echo(
            f"interrupted; {len(log)} matches are kept in {log.path}, --resume goes on with them", err=True
        )
        raise typer.Exit(130) from None
    log.path.unlink(missing_ok=True)
