"""Options and output shared by several commands, and the log from which commands are resumed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from tqdm import tqdm

if TYPE_CHECKING:
    from gin_env.matches.match_log import MatchLog
    from gin_env.support.workers import Workers

BOT_HELP = (
    "Name of a bot, with parameters as in `simple:knock_at=4`, path of a trained policy (.safetensors, or "
    ".zip of Stable-Baselines3), or class of your own as `module:Class`. Also a program as "
    "`process:COMMAND`, or a language model as `chat:MODEL@URL`."
)
STANDARD_OUTPUT = Path("/dev/stdout")


def flag(name: str, help: str) -> Any:
    """Return an option without a value."""
    return typer.Option(name, help=help, metavar="")


def given_options(context: typer.Context, *parameters: str) -> list[str]:
    """Return those of these parameters of the command that the user has set."""
    sources = {name: context.get_parameter_source(name) for name in parameters}
    return [name for name, source in sources.items() if source is not None and source.name != "DEFAULT"]


def refuse_options(context: typer.Context, reason: str, *parameters: str) -> None:
    """Raise ValueError with the reason if the user has set any of these parameters of the command."""
    used = given_options(context, *parameters)
    names = [option.opts[0] for option in context.command.params if option.name in used]
    if names:
        raise ValueError(f"{reason}: omit {', '.join(names)}")


def _output(text: str | Path) -> Path:
    return STANDARD_OUTPUT if str(text) == "-" else Path(text)


Seed = Annotated[int, typer.Option(help="Random seed")]
SecretSeed = Annotated[
    int | None,
    typer.Option(
        help="Random seed; default: a random one, printed with the result, so that no bot can predict the "
        "decks"
    ),
]
Hands = Annotated[bool, flag("--hands", "Play single hands instead of games to 100 points")]


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
        "`knock_limit=7,oklahoma=true`; `gin-rummy rules` lists them",
        show_default="eaai",
    ),
]
Confidence = Annotated[float, typer.Option(help="Confidence level of the Wilson intervals")]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        metavar="",
        help="Continue an interrupted run of the same command; until all matches are played, they are kept "
        "in OUTPUT.matches next to the first output",
    ),
]
Json = Annotated[
    Path | None,
    typer.Option(
        parser=_output, metavar="FILE", help="Write the result to this file as JSON; `-`: standard output"
    ),
]
Record = Annotated[
    Path | None, typer.Option(help="Append every game to this file as a line of JSON, for `gin-rummy replay`")
]
Luck = Annotated[
    bool | None,
    typer.Option(
        "--luck/--no-luck",
        show_default=False,
        help="Also show the result without the luck of the cards, which fewer games tell; "
        "default: for slow bots",
    ),
]


Estimator = Annotated[str, typer.Option(help="Estimator of the opponent's hand (key b)")]
Host = Annotated[str, typer.Option(help="With --web: address to serve at; the default is this computer only")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="With --web: port to serve at")]


def _count(text: str | int) -> int | Literal["all"]:
    if text == "all":
        return "all"
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"must be a number or `all`, not {text!r}") from None


WorkerCount = Annotated[
    Any,
    typer.Option(
        "--workers",
        parser=_count,
        metavar="N|all",
        help="Number of processes that play, or `all` for one per core; the result does not depend on it",
        show_default="1; with --ray all cores of the cluster",
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        metavar="auto|ADDRESS",
        help="Play on a Ray cluster: this machine's (`auto`), or the one at HOST:PORT; same result",
    ),
]


def workers_of(count: int | Literal["all"] | None, ray: str | None) -> Workers:
    """Return the workers requested by `WorkerCount` and `Ray`; they start when there is work."""
    from gin_env.support.workers import Workers

    return Workers(count, ray=False if ray is None else True if ray == "auto" else ray)


def is_terminal() -> bool:
    """Return whether a screen can be shown: on a terminal, or with a Textual driver from the environment."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return "TEXTUAL_DRIVER" in os.environ or all(stream.isatty() for stream in streams)


@contextmanager
def resumable(resume: bool, *outputs: Path | None) -> Iterator[MatchLog | None]:
    """Yield the log of matches played so far, OUTPUT.matches next to the first output; None without outputs.

    The file is removed at the end of the block, when the results have been written. Ctrl-C ends the program
    with a line that names the file.
    """
    from gin_env.matches.match_log import MatchLog

    files = [
        path
        for path in outputs
        if path not in (None, STANDARD_OUTPUT) and (path.is_file() or not path.exists())
    ]
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
            f"interrupted; {len(log)} matches are kept in {log.path}, --resume continues with them", err=True
        )
        raise typer.Exit(130) from None
    log.path.unlink(missing_ok=True)


def progress_bar(total: int | None, unit: str, desc: str | None = None) -> tqdm[Any]:
    """Return a progress bar, shown on a terminal after half a second (not for early errors or short runs)."""
    return tqdm(total=total, unit=unit, desc=desc, smoothing=0.1, delay=0.5, disable=None)


def say(text: object, json: Path | None = None) -> None:
    """Print a result, to standard error if standard output is used for JSON."""
    typer.echo(text, err=json == STANDARD_OUTPUT)


def write_outputs(*outputs: tuple[Path | None, Callable[[Path], object] | None]) -> None:
    """Write each output whose file was named (None: it is already written), and print the files' names."""
    for path, write in outputs:
        if path is not None and write is not None:
            write(path)
    paths = [path for path, _ in outputs if path is not None]
    for path in paths:
        if path != STANDARD_OUTPUT:
            typer.echo(f"written to {path}", err=STANDARD_OUTPUT in paths)
