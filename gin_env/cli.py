"""The command line: ``gin-rummy --help``."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


BOT_HELP = "A bot's name, with parameters as in `simple:knock_at=4`, or the path of a trained policy (.zip)."
Seed = Annotated[int, typer.Option(help="Names all the decks and ties.")]
Hands = Annotated[bool, typer.Option("--hands", help="Play single hands, not games to 100 points.")]
Confidence = Annotated[float, typer.Option(help="Confidence of the Wilson intervals.")]
Json = Annotated[Path | None, typer.Option(help="Write the result to this file as JSON.")]


@app.callback()
def _gin_rummy() -> None:
    """Gin Rummy for reinforcement learning: bots, matches, tables."""


@app.command()
def bots() -> None:
    """List the bots with their parameters; `name:key=value,key=value` sets some, a list is `1+2+3`."""
    from gin_env import agents
    from gin_env.agents.bot_names import format_value

    width = max(map(len, agents.names()))
    for name in agents.names():
        defaults = agents.parameters(name) or {}
        settings = "  ".join(f"{key}={format_value(value)}" for key, value in defaults.items())
        typer.echo(f"{name:{width}}  {settings}".rstrip())


@app.command(
    epilog="Examples:  \n`gin-rummy match simple random`  \n"
    "`gin-rummy match simple simple --games 20000 --seed 7 --json result.json`  \n"
    "`gin-rummy match simple:knock_at=4 simple --confidence 0.9`  \n"
    "`gin-rummy match runs/ppo_selfplay/model.zip simple`"
)
def match(
    a: Annotated[str, typer.Argument(help=BOT_HELP)],
    b: Annotated[str, typer.Argument(help="Its opponent.")],
    games: Annotated[
        int, typer.Option(help="Number of games, even: each deal is played from both seats.")
    ] = 10_000,
    seed: Seed = 0,
    hands: Hands = False,
    confidence: Confidence = 0.95,
    json: Json = None,
) -> None:
    """Play bot A against bot B: win rate with a Wilson interval, seats and dealers balanced."""
    from gin_env.matches import check_confidence, play_match

    check_confidence(confidence)
    check_outputs(json)
    unit = "hand" if hands else "game"
    with tqdm(total=games, unit=unit, smoothing=0.1) as progress:
        result = play_match(a, b, games, seed, episode=unit, progress=progress.update)
    typer.echo(result.summary(confidence))
    if json is not None:
        result.save(json, confidence)
        typer.echo(f"written to {json}")


@app.command(
    epilog="Examples:  \n`gin-rummy tournament`  \n"
    "`gin-rummy tournament simple simple:knock_at=4 tonic --games 20000 --confidence 0.9`  \n"
    "`gin-rummy tournament --seed 7 --json table.json --csv table.csv --plot table.png`"
)
def tournament(
    bots: Annotated[
        list[str] | None, typer.Argument(help="The bots, as in `gin-rummy match`; default: every bot.")
    ] = None,
    games: Annotated[int, typer.Option(help="Number of games for each pair, even.")] = 2000,
    seed: Seed = 0,
    hands: Hands = False,
    confidence: Confidence = 0.95,
    json: Json = None,
    csv: Annotated[Path | None, typer.Option(help="Write a line for each pair to this file as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the win rates as a heat map (.png).")] = None,
) -> None:
    """Play all pairs of bots: win-rate matrix with Wilson intervals, points per hand, ratings on Elo's scale."""
    from gin_env import agents
    from gin_env.tournaments import draw_heat_map, import_matplotlib, play_tournament

    check_outputs(json, csv, plot)
    if plot is not None:
        import_matplotlib()
    entrants = bots or agents.names()
    unit = "hand" if hands else "game"
    total = games * len(entrants) * (len(entrants) - 1) // 2
    with tqdm(total=total, unit=unit, smoothing=0.1) as progress:
        result = play_tournament(
            entrants, games, seed, episode=unit, confidence=confidence, progress=progress.update
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


train = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
app.add_typer(train, name="train", help="Train what bots play by.")


@train.command(
    "cfr",
    epilog="Examples:  \n`gin-rummy train cfr cfr.npz` (the table of cfr and fitness-cfr)  \n"
    "`gin-rummy train cfr plus.npz --abstraction plus --iterations 220000` (the table of cfr-plus)  \n"
    "`gin-rummy train cfr quick.npz --iterations 50000 --seed 7 --checkpoint quick.checkpoint.npz`  \n"
    "`gin-rummy train cfr longer.npz --iterations 100000 --checkpoint quick.checkpoint.npz --resume`  \n"
    "`gin-rummy match cfr:table=quick.npz simple`",
)
def train_cfr(
    output: Annotated[Path, typer.Argument(help="The strategy table to write (.npz).")],
    iterations: Annotated[int, typer.Option(help="Hands to learn from, with --resume in all.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Names all the deals and choices.")] = 1,
    abstraction: Annotated[str, typer.Option(help="`paper` (bots cfr and fitness-cfr) or `plus`.")] = "paper",
    candidates: Annotated[
        str | None, typer.Option(help="Choose discards from `least` deadwood, `unmelded` or `all` cards.")
    ] = None,
    exploration: Annotated[float, typer.Option(help="Share of random decisions of the learner.")] = 0.1,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Write a checkpoint to this file each minute.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint, with its settings.")
    ] = False,
) -> None:
    """Train strategies for the full game by Monte Carlo CFR+."""
    from gin_env.agents.full_game_cfr.training import train_table

    check_outputs(output, checkpoint)
    with tqdm(total=iterations, unit="hand", smoothing=0.1) as progress:
        table = train_table(
            iterations,
            abstraction=abstraction,
            candidates=candidates,
            seed=seed,
            exploration=exploration,
            checkpoint=checkpoint,
            resume=resume,
            progress=progress.update,
        )
    table.save(output)
    typer.echo(f"{table}\nwritten to {output}")


@app.command(
    epilog="Examples:  \n`gin-rummy bench`  \n`gin-rummy bench --only play,vector_1024 --repeats 9 --json speed.json`"
)
def bench(
    only: Annotated[str, typer.Option(help="Measure these only, by the names in the first column.")] = "",
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each measurement; the median counts.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.0, help="About how long one run takes.")] = 0.2,
    core: Annotated[int, typer.Option(help="Processor to run on; -1 for any.")] = -1,
    json: Json = None,
) -> None:
    """Measure how fast gin-env is here, in half a minute.

    The comparison with other libraries is in the repository: `make bench`.
    """
    from gin_env import bench as benchmark

    names = [name.strip() for name in only.split(",") if name.strip()] or list(benchmark.WORKLOADS)
    unknown = [name for name in names if name not in benchmark.WORKLOADS]
    if unknown:
        raise ValueError(f"unknown measurement {unknown[0]!r}; choose from {', '.join(benchmark.WORKLOADS)}")
    if json is not None:
        check_outputs(json)
    benchmark.pin_to_core(core)
    with tqdm(total=len(names) * (repeats + 1), unit="run", smoothing=0.1) as progress:
        rates = benchmark.measure(names, repeats, seconds, progress.update)
    for name, rate in rates.items():
        label, unit = benchmark.WORKLOADS[name][:2]
        typer.echo(f"{name:18} {label:50} {rate:>14,.0f} {unit}/s")
    typer.echo(f"{'':18} {'state of one game':50} {benchmark.STATE.itemsize:>14,} bytes")
    if json is not None:
        figures = {f"{name} {benchmark.WORKLOADS[name].unit}/s": rate for name, rate in rates.items()}
        json.write_text(dumps(figures | {"state bytes": benchmark.STATE.itemsize}, indent=2) + "\n")
        typer.echo(f"written to {json}")


def check_outputs(*paths: Path | None) -> None:
    """Before hours of play: raise FileNotFoundError if the folder of a file to write does not exist."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")


def main() -> None:
    """Run the command line; a mistake of the user's is one line on stderr and exit status 2."""
    try:
        app()
    except (ValueError, TypeError, FileNotFoundError, ImportError) as error:
        typer.echo(f"gin-rummy: {error}", err=True)
        raise SystemExit(2) from error
