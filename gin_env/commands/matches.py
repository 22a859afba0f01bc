"""Commands that play: bots, match, tournament."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

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
    resumable,
    workers_of,
)
from gin_env.support.atomic import check_targets

app = typer.Typer()


@app.command()
def bots() -> None:
    """List the bots with their parameters; `name:key=value,key=value` sets some, a list is `1+2+3`.

    `NAME-paper` is the reading nearest to a paper, which never changes.
    """
    from gin_env import agents
    from gin_env.support.specs import format_value

    names = [*agents.names(), *agents.paper_names()]
    width = max(map(len, names))
    for name in names:
        try:
            defaults = agents.parameters(name) or {}
            settings = "  ".join(f"{key}={format_value(value)}" for key, value in defaults.items())
        except ImportError as error:
            settings = f"({error})"
        typer.echo(f"{name:{width}}  {settings}".rstrip())


@app.command(
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
    b: Annotated[str, typer.Argument(help="Its opponent.")],
    games: Annotated[
        int, typer.Option(help="Number of games, even: each deal is played from both seats.")
    ] = 10_000,
    seed: SecretSeed = None,
    hands: Hands = False,
    rules: RulesOption = None,
    confidence: Confidence = 0.95,
    json: Json = None,
    deals: Annotated[
        bool, typer.Option("--deals", help="Add to the JSON what each deal came to (wins, points, hands).")
    ] = False,
    record: Record = None,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Play bot A against bot B: win rate with a Wilson interval, deals paired, seats and dealers balanced."""
    from gin_env.matches.matches import check_confidence, play_match

    check_confidence(confidence)
    if deals and json is None:
        raise ValueError("--deals adds to the JSON: name its file with --json")
    check_targets(json, record)
    unit: Episode = "hand" if hands else "game"
    with workers_of(workers, ray) as crew, tqdm(total=games, unit=unit, smoothing=0.1) as progress:
        result = play_match(
            a,
            b,
            games,
            seed,
            rules=rules,
            episode=unit,
            progress=progress.update,
            record=record,
            workers=crew,
        )
    typer.echo(result.summary(confidence))
    if record is not None:
        typer.echo(f"recorded in {record}; next: gin-rummy replay {record}")
    if json is not None:
        result.save(json, confidence, deals)
        typer.echo(f"written to {json}")


@app.command(
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
        typer.Argument(help="The bots, as in `gin-rummy match`; default: all but `search`, which is slow."),
    ] = None,
    games: Annotated[int, typer.Option(help="Number of games for each pair, even.")] = 2000,
    seed: SecretSeed = None,
    hands: Hands = False,
    rules: RulesOption = None,
    confidence: Confidence = 0.95,
    json: Json = None,
    csv: Annotated[Path | None, typer.Option(help="Write a line for each pair to this file as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the win rates as a heat map (.png).")] = None,
    record: Record = None,
    resume: Resume = False,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Play all pairs of bots: win rates with Wilson intervals, points per hand, ratings on Elo's scale."""
    from gin_env import agents
    from gin_env.matches.tournaments import draw_heat_map, play_tournament
    from gin_env.records import Recorder
    from gin_env.support.plots import import_matplotlib

    check_targets(json, csv, plot, record)
    if plot is not None:
        import_matplotlib()
    entrants = bots or agents.quick_names()
    unit: Episode = "hand" if hands else "game"
    total = games * len(entrants) * (len(entrants) - 1) // 2
    with ExitStack() as open_files:
        log = open_files.enter_context(resumable(resume, json, csv, plot))
        recorder = None if record is None else open_files.enter_context(Recorder(record))
        with workers_of(workers, ray) as crew, tqdm(total=total, unit=unit, smoothing=0.1) as progress:
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
        typer.echo(result)
        for path, write in (
            (json, result.save),
            (csv, result.save_csv),
            (plot, lambda file: draw_heat_map(result, file)),
        ):
            if path is not None:
                write(path)
                typer.echo(f"written to {path}")
