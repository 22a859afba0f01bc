"""The command that makes published tables and figures again: reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.support.atomic import check_folder

app = typer.Typer()


@app.command(
    epilog="Examples:  \n`gin-rummy reproduce --list`  \n"
    "`gin-rummy reproduce 001/claims --quick` (seconds: tries the command, the figures mean nothing)  \n"
    "`gin-rummy reproduce 001/claims 000/claims`  \n"
    "`gin-rummy reproduce 002/table-1 --out results` then `gin-rummy reproduce --pages`, in a checkout: "
    "the published result, and the pages that show it  \n"
    "`gin-rummy reproduce leaderboard --out results --pages` (all that it is made of, and its page)"
)
def reproduce(
    experiments: Annotated[list[str] | None, typer.Argument(help="Ids of experiments; see --list.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="At the smallest size, within a minute or two.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Another random seed than the published one.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results, ID.json each.")] = Path("runs/results"),
    work: Annotated[
        Path, typer.Option(help="Folder for what a run that was stopped uses again: matches, networks.")
    ] = Path("runs/reproduce"),
    authors: Annotated[
        Path | None,
        typer.Option(help="A checkout of the authors' repository, for experiments that read their files."),
    ] = None,
    pages: Annotated[
        bool, typer.Option("--pages", help="In a checkout: make the pages and pictures of its results anew.")
    ] = False,
) -> None:
    """Run experiments of the published results, or make the pages that show them.

    The same command goes on where it was stopped. For two cores run two experiments at a time.
    """
    from gin_env.reproduce.experiment import Run
    from gin_env.reproduce.pages import rewrite
    from gin_env.reproduce.registry import EXPERIMENTS, find
    from gin_env.reproduce.results import measure

    named = [find(name) for name in experiments or []]
    chosen = [find(part) for experiment in named for part in experiment.parts or (experiment.id,)]
    if not (chosen or list_all or pages):
        raise ValueError("name an experiment, or give --list or --pages")
    if list_all:
        width = max(map(len, EXPERIMENTS))
        for experiment in EXPERIMENTS.values():
            how = f"by `{experiment.program}`" if experiment.program else f"about {experiment.time}"
            typer.echo(f"{experiment.id:{width}}  {experiment.title} ({how})")
    if chosen:
        check_folder(out)
        check_folder(work)
    for experiment in chosen:
        seeded = experiment.seed if seed is None else seed
        folder = work / experiment.id / f"seed-{seeded}{'-quick' if quick else ''}"
        run = Run(seeded, quick, folder, lambda line: typer.echo(line, err=True), authors)
        result = measure(experiment, run)
        path = result.save(out)
        run.finish()
        typer.echo(f"{experiment.title}\n\n{experiment.table(result.rows)}\n\nwritten to {path}")
    if pages:
        changed = rewrite(Path(), EXPERIMENTS)
        typer.echo("\n".join(f"written to {path}" for path in changed) or "pages and pictures are up to date")
