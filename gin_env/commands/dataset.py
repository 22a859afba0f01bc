"""The command that generates data sets: dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import (
    BOT_HELP,
    PlaysAnywhere,
    Ray,
    RulesOption,
    Seed,
    WorkerCount,
    progress_bar,
    workers_of,
)

app = typer.Typer()


@app.command(
    cls=PlaysAnywhere,
    epilog="Examples:  \n`gin-rummy dataset hands --workers all`  \n"
    "`gin-rummy dataset small --hands 20000 --estimator bayes`  \n"
    "The same command continues an interrupted run; more `--hands` make the data set larger.",
)
def dataset(
    folder: Annotated[Path, typer.Argument(help="Folder of the data set")],
    hands: Annotated[int, typer.Option(help="Number of hands")] = 1_000_000,
    shard_size: Annotated[int, typer.Option(help="Number of hands in each file")] = 10_000,
    bot: Annotated[str, typer.Option(help=f"Bot that plays both seats. {BOT_HELP}")] = "policy",
    estimator: Annotated[
        str, typer.Option(help="Estimator of the opponent's hand")
    ] = "suit-equivariant:weights=policy",
    seed: Seed = 0,
    rules: RulesOption = None,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Write hands of a bot against itself, with beliefs, as Parquet files with a data card."""
    from gin_env.records.dataset import make

    with workers_of(workers, ray) as crew, progress_bar(hands, "hand") as progress:
        paths = make(
            folder,
            hands,
            shard_size,
            seed,
            bot=bot,
            estimator=estimator,
            rules=rules,
            workers=crew,
            progress=progress.update,
        )
    written = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    typer.echo(f"{written} in {folder}; the data card is {folder / 'README.md'}")
