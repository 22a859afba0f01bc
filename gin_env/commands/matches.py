"""The commands for matches between bots: match, tournament."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gin_env.batch import Episode
from gin_env.commands.options import (
    BOT_HELP,
    Confidence,
    Hands,
    Json,
    PlaysAnywhere,
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
    say_written,
    workers_of,
)
from gin_env.support.atomic import check_targets
from gin_env.ui.explanation_text import table

if TYPE_CHECKING:
    from gin_env.matches.matches import MatchResult

app = typer.Typer()


@app.command(
    rich_help_panel="Compare",
    cls=PlaysAnywhere,
    epilog="Examples:  \n`gin-rummy match simple random`  \n"
    "`gin-rummy match simple simple --games 20000 --seed 7 --json result.json`  \n"
    "`gin-rummy match simple:knock_at=4 simple --confidence 0.9`  \n"
    "`gin-rummy match tonic simple --seed 7 --json result.json --deals`  \n"
    "`gin-rummy match tonic simple --games 20 --seed 7 --record games.jsonl`  \n"
    "`gin-rummy match runs/ppo_selfplay/policy.safetensors simple`  \n"
    "`gin-rummy match offensive simple --games 100000 --workers all`  \n"
    "`gin-rummy match offensive simple --games 1000000 --ray 10.0.0.1:6379` (docs/scale.md)",
)
def match(
    a: Annotated[str, typer.Argument(help=BOT_HELP)],
    b: Annotated[str, typer.Argument(help="Its opponent")],
    games: Annotated[
        int, typer.Option(help="Number of games, even: each deal is played from both seats")
    ] = 10_000,
    seed: SecretSeed = None,
    hands: Hands = False,
    rules: RulesOption = None,
    confidence: Confidence = 0.95,
    json: Json = None,
    deals: Annotated[
        bool, flag("--deals", "Add the result of each deal to the JSON (wins, points, hands)")
    ] = False,
    record: Record = None,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Play bot A against bot B: win rate with a Wilson interval, deals paired, seats and dealers balanced."""
    from gin_env.matches.matches import check_confidence, play_match

    check_confidence(confidence)
    if deals and json is None:
        raise ValueError("--deals adds to the JSON, so it needs --json")
    check_targets(json, record)
    unit: Episode = "hand" if hands else "game"
    with workers_of(workers, ray) as crew:
        result = play_match(
            a,
            b,
            games,
            seed,
            rules=rules,
            episode=unit,
            progress=sys.stderr.isatty(),
            record=record,
            workers=crew,
        )
    say(match_text(result, confidence), json)
    if record is not None:
        say(f"recorded in {record}; next: gin-rummy replay {record}", json)
    if json is not None:
        result.save(json, confidence, deals)
        say_written(json)


def match_text(result: MatchResult, confidence: float) -> str:
    """Return the result of a match as a headline and a table."""
    names, unit = result.bots, result.episode
    low, high = result.confidence_interval(confidence)
    best = 0 if result.win_rate >= 0.5 else 1
    rates = (result.win_rate, 1 - result.win_rate)
    low, high = (low, high) if best == 0 else (1 - high, 1 - low)
    headline = result.summary(confidence).splitlines()[0]  # if nothing was decided, it says so
    if sum(result.wins):
        headline = (
            f"{names[best]} won {100 * rates[best]:.2f} % of {sum(result.wins):,} decided {unit}s against "
            f"{names[1 - best]} ({100 * confidence:g} % interval {100 * low:.2f} to {100 * high:.2f})"
        )
    rows = [
        [f"{unit}s won", *(f"{wins:,}" for wins in result.wins)],
        ["points per hand", *(f"{points:.2f}" for points in result.points_per_hand)],
        ["gin, % of hands", *(f"{100 * count / result.hands:.2f}" for count in result.gins)],
        ["undercut, % of hands", *(f"{100 * count / result.hands:.2f}" for count in result.undercuts)],
    ]
    about = (
        f"{result.hands:,} hands of {result.turns / result.hands:.1f} turns on average, "
        f"{100 * result.voids / result.hands:.2f} % void; seed {result.seed}"
    )
    seen = ["clairvoyant: a bot saw its opponent's hand"] * result.clairvoyant
    return "\n".join([headline, "", table(["", *names], rows, left=(0,)), "", about, *seen])


@app.command(
    rich_help_panel="Compare",
    cls=PlaysAnywhere,
    epilog="Examples:  \n`gin-rummy tournament`  \n"
    "`gin-rummy tournament simple simple:knock_at=4 tonic --games 20000 --confidence 0.9`  \n"
    "`gin-rummy tournament --seed 7 --json table.json --csv table.csv --plot table.png`  \n"
    "`gin-rummy tournament simple tonic medium --games 20 --record games.jsonl`  \n"
    "`gin-rummy tournament --seed 7 --json table.json --csv table.csv --plot table.png --resume`  \n"
    "`gin-rummy tournament --games 20000 --workers all`  \n"
    "`gin-rummy tournament --games 20000 --ray`",
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
        for path, write in (
            (json, result.save),
            (csv, result.save_csv),
            (plot, lambda file: draw_heat_map(result, file)),
        ):
            if path is not None:
                write(path)
        say_written(json, csv, plot)
