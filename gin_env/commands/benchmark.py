"""The command that rates an agent: benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gin_env.commands.options import (
    BOT_HELP,
    Json,
    Luck,
    Ray,
    Resume,
    SecretSeed,
    WorkerCount,
    resumable,
    say,
    workers_of,
    write_outputs,
)
from gin_env.support.atomic import check_targets, write_text

if TYPE_CHECKING:
    from gin_env.matches.benchmark import BenchmarkResult

app = typer.Typer()


@app.command(
    rich_help_panel="Compare",
    epilog="Examples:  \n`gin-rummy benchmark tonic`  \n"
    "`gin-rummy benchmark runs/ppo/policy.safetensors --workers all --plot mine.png`  \n"
    "`gin-rummy benchmark my_bots:Cautious --games 200 --markdown mine.md`  \n"
    "`gin-rummy benchmark my_bots:Cautious --submit leaderboard/cautious.json --author 'Ada Lovelace'`  \n"
    "`gin-rummy benchmark search --minutes 60 --workers all --json search.json`  \n"
    "`gin-rummy benchmark search --minutes 60 --workers all --json search.json --resume`",
)
def benchmark(
    agent: Annotated[str, typer.Argument(help=BOT_HELP)],
    precision: Annotated[
        float, typer.Option(help="Stop when half of the score's 95 % interval is at most this")
    ] = 1.0,
    games: Annotated[
        int | None, typer.Option(help="Number of games against each opponent, even; instead of a precision")
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after this time at the latest")] = None,
    seed: SecretSeed = None,
    json: Json = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table to this file (.md)")] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture of the win rates to write (.png)")] = None,
    submit: Annotated[
        Path | None, typer.Option(help="Entry for the leaderboard to write (.json), with --author")
    ] = None,
    author: Annotated[str, typer.Option(help="Your name in the leaderboard", show_default=False)] = "",
    luck: Luck = None,
    resume: Resume = False,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Rate an agent against a fixed panel of bots: a score with its interval, a rating and a place.

    The protocol gin-100/1: games to 100 points, each deal from both seats, against eight bots, four of which
    nothing in this package was trained against. The score is the mean of the win rates.
    """
    from gin_env.matches.benchmark import benchmark as rate
    from gin_env.matches.benchmark import draw_benchmark, entry
    from gin_env.support.files import write_json
    from gin_env.support.plots import check_picture

    if (submit is None) != (not author):
        raise ValueError("--submit and --author belong together")
    check_targets(json, markdown, plot, submit)
    if plot is not None:
        check_picture(plot)
    with resumable(resume, json, markdown, plot, submit) as log, workers_of(workers, ray) as crew:
        result = rate(
            agent,
            precision=precision,
            games=games,
            minutes=minutes,
            seed=seed,
            progress=_show_round,
            log=log,
            luck=luck,
            workers=crew,
        )
        say(result, json)
        write_outputs(
            (json, result.save),
            (markdown, lambda file: write_text(file, result.markdown() + "\n")),
            (plot, lambda file: draw_benchmark(result, file)),
            (submit, lambda file: write_json(file, entry(result, agent, author))),
        )


def _show_round(result: BenchmarkResult) -> None:
    """Print the score so far on standard error."""
    games = result.matches[0].games
    typer.echo(f"{games:,} games each: {result.score:.1f} ± {result.precision:.1f}", err=True)
