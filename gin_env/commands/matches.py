"""The commands for matches between bots: benchmark, match, tournament."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from gin_env.batch import Episode
from gin_env.commands.options import (
    BOT_HELP,
    Confidence,
    Hands,
    Json,
    Luck,
    Ray,
    Record,
    Resume,
    RulesOption,
    SecretSeed,
    WorkerCount,
    flag,
    progress_bar,
    resumable,
    say,
    workers_of,
    write_outputs,
)
from gin_env.support.atomic import check_targets, write_text

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
            progress=lambda now: typer.echo(
                f"{now.matches[0].games:,} games each: {now.score:.1f} ± {now.precision:.1f}", err=True
            ),
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


@app.command(
    rich_help_panel="Compare",
    epilog="Examples:  \n`gin-rummy match simple random`  \n"
    "`gin-rummy match simple simple --games 20000 --seed 7 --json result.json`  \n"
    "`gin-rummy match simple:knock_at=4 simple --confidence 0.9`  \n"
    "`gin-rummy match tonic simple --seed 7 --json result.json --deals`  \n"
    "`gin-rummy match tonic simple --games 20 --seed 7 --record games.jsonl`  \n"
    "`gin-rummy match runs/ppo_selfplay/policy.safetensors simple`  \n"
    "`gin-rummy match search policy --games 200 --luck`  \n"
    "`gin-rummy match chat:qwen3@http://localhost:8000/v1 simple --games 20 --hands`  \n"
    "`gin-rummy match offensive simple --games 100000 --workers all`  \n"
    "`gin-rummy match offensive simple --games 1000000 --ray 10.0.0.1:6379`",
)
def match(
    a: Annotated[str, typer.Argument(help=BOT_HELP)],
    b: Annotated[str, typer.Argument(help="Its opponent")],
    games: Annotated[
        int, typer.Option(help="Number of games, even: each deal is played from both seats")
    ] = 2000,
    seed: SecretSeed = None,
    hands: Hands = False,
    rules: RulesOption = None,
    confidence: Confidence = 0.95,
    json: Json = None,
    deals: Annotated[
        bool, flag("--deals", "Add the result of each deal to the JSON (wins, points, hands)")
    ] = False,
    record: Record = None,
    luck: Luck = None,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Play bot A against bot B: win rate with a Wilson interval, deals paired, seats and dealers balanced."""
    from gin_env import agents
    from gin_env.matches.matches import check_confidence, play_match

    check_confidence(confidence)
    if deals and json is None:
        raise ValueError("--deals adds to the JSON, so it needs --json")
    check_targets(json, record)
    unit: Episode = "hand" if hands else "game"
    # A language model answers several questions in parallel, and one object counts all of its answers.
    players: list[agents.AnyAgent] = [
        agents.make(bot, programs=True) if bot.startswith(agents.CHAT) else bot for bot in (a, b)
    ]
    with workers_of(workers if players == [a, b] else 1, ray) as crew:
        result = play_match(
            players[0],
            players[1],
            games,
            seed,
            rules=rules,
            episode=unit,
            progress=sys.stderr.isatty(),
            record=record,
            luck=luck,
            workers=crew,
        )
    say(result.summary(confidence), json)
    for name, bot in zip((a, b), players, strict=True):
        if usage := getattr(bot, "usage", None):
            say(f"{name}: {usage}", json)
    if record is not None:
        say(f"recorded in {record}; next: gin-rummy replay {record}", json)
    write_outputs((json, lambda file: result.save(file, confidence, deals)))


@app.command(
    rich_help_panel="Compare",
    epilog="Examples:  \n`gin-rummy tournament`  \n"
    "`gin-rummy tournament simple simple:knock_at=4 tonic --games 20000 --confidence 0.9`  \n"
    "`gin-rummy tournament --seed 7 --json table.json --csv table.csv --plot table.png`  \n"
    "`gin-rummy tournament simple tonic medium --games 20 --record games.jsonl`  \n"
    "`gin-rummy tournament --seed 7 --json table.json --csv table.csv --plot table.png --resume`  \n"
    "`gin-rummy tournament --games 20000 --workers all`  \n"
    "`gin-rummy tournament --games 20000 --ray auto`",
)
def tournament(
    bots: Annotated[
        list[str] | None,
        typer.Argument(help="Bots, as in `match`; default: all but `search` and the other trained policies"),
    ] = None,
    games: Annotated[int, typer.Option(help="Number of games for each pair, even")] = 2000,
    seed: SecretSeed = None,
    hands: Hands = False,
    rules: RulesOption = None,
    confidence: Confidence = 0.95,
    json: Json = None,
    csv: Annotated[Path | None, typer.Option(help="CSV file to write, with a line for each pair")] = None,
    plot: Annotated[Path | None, typer.Option(help="Heat map of the win rates to write (.png)")] = None,
    record: Record = None,
    resume: Resume = False,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Play all pairs of bots: win rates with Wilson intervals, points per hand, ratings on Elo's scale."""
    from gin_env import agents
    from gin_env.matches.tournaments import draw_heat_map, play_tournament
    from gin_env.records import Recorder
    from gin_env.support.plots import check_picture

    check_targets(json, csv, plot, record)
    if plot is not None:
        check_picture(plot)
    entrants = bots or agents.quick_names()
    unit: Episode = "hand" if hands else "game"
    total = games * len(entrants) * (len(entrants) - 1) // 2
    with ExitStack() as open_files:
        log = open_files.enter_context(resumable(resume, json, csv, plot))
        recorder = None if record is None else open_files.enter_context(Recorder(record))
        with workers_of(workers, ray) as crew, progress_bar(total, unit) as progress:
            result = play_tournament(
                entrants,
                games,
                seed,
                episode=unit,
                rules=rules,
                confidence=confidence,
                progress=progress.update,
                log=log,
                record=recorder,
                workers=crew,
            )
        say(result, json)
        write_outputs(
            (json, result.save), (csv, result.save_csv), (plot, lambda file: draw_heat_map(result, file))
        )
