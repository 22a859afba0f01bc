"""The command that measures the speed of bots: bot-speed."""

from __future__ import annotations

from typing import Annotated

import typer

from gin_env.commands.options import BOT_HELP, Json, RulesOption, Seed, progress_bar, say, say_written
from gin_env.support.atomic import check_targets
from gin_env.support.files import write_json

app = typer.Typer()


@app.command(
    "bot-speed",
    epilog="Examples:  \n`gin-rummy bot-speed`  \n"
    "`gin-rummy bot-speed tonic simple --repeats 9 --json speed.json`",
)
def bot_speed(
    bots: Annotated[
        list[str] | None, typer.Argument(help=f"{BOT_HELP} Default: every bot without a network")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of runs per bot; the median is reported")] = 5,
    steps: Annotated[int, typer.Option(min=1, help="Number of calls in a run")] = 200,
    tables: Annotated[int, typer.Option(min=1, help="Number of decisions in a call")] = 2048,
    core: Annotated[int, typer.Option(help="Processor core to run on; -1: any")] = -1,
    seed: Seed = 0,
    rules: RulesOption = None,
    json: Json = None,
) -> None:
    """Measure decisions per second of bots, each against itself in a batch on one core."""
    from gin_env import agents
    from gin_env.speed.bot_speed import measure_bots
    from gin_env.speed.timing import pin_to_core

    check_targets(json)
    pin_to_core(core)
    names = bots or agents.names(needs_torch=False)
    with progress_bar(len(names) * (repeats + 1), "run") as progress:
        speeds = measure_bots(
            names, repeats, steps, tables=tables, seed=seed, rules=rules, progress=progress.update
        )
    say("| bot | decisions/s | slowest and fastest run |\n|---|---:|---|", json)
    for speed in speeds:
        say(f"| `{speed.bot}` | {speed.median:,.0f} | {speed.slowest:,.0f} to {speed.fastest:,.0f} |", json)
    if json is not None:
        write_json(json, [speed._asdict() for speed in speeds])
        say_written(json)
