"""The command that reproduces published tables and figures: reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import flag
from gin_env.support.atomic import check_folder

app = typer.Typer()


@app.command(
    epilog="Examples:  \n`gin-rummy reproduce --list` or `--list 002` (one paper)  \n"
    "`gin-rummy reproduce 001/claims --quick` (seconds: tries the command, the figures mean nothing)  \n"
    "`gin-rummy reproduce 001/claims 000/claims`  \n"
    "`gin-rummy reproduce 002/table-1 --out results` then `gin-rummy reproduce --pages`, in a checkout: "
    "the published result, and the pages that show it  \n"
    "`gin-rummy reproduce leaderboard --out results --pages` (all that it is made of, and its page)"
)
def reproduce(
    experiments: Annotated[
        list[str] | None, typer.Argument(help="Ids of experiments; with --list, prefixes of ids")
    ] = None,
    list_all: Annotated[bool, flag("--list", "List the experiments by paper")] = False,
    quick: Annotated[
        bool,
        flag(
            "--quick",
            "Try the command at the smallest size; writes ID.quick.json, whose figures mean nothing",
        ),
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Random seed, instead of the published one")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results (ID.json)")] = Path("runs/results"),
    work: Annotated[
        Path, typer.Option(help="Folder for the matches and networks of interrupted runs")
    ] = Path("runs/reproduce"),
    authors: Annotated[
        Path | None,
        typer.Option(help="A checkout of the authors' repository, for experiments that read their files"),
    ] = None,
    check: Annotated[
        bool, flag("--check", "List the results in a checkout that no longer match its bots")
    ] = False,
    pages: Annotated[
        bool, flag("--pages", "Rebuild the pages and pictures of the results in a checkout")
    ] = False,
) -> None:
    """Measure published results again, or rebuild the pages that show them.

    The same command continues an interrupted run. To use two cores, run two experiments at the same time.
    """
    from gin_env.reproduce import listing
    from gin_env.reproduce.experiment import Run
    from gin_env.reproduce.pages import RESULTS, rewrite
    from gin_env.reproduce.registry import EXPERIMENTS, find
    from gin_env.reproduce.results import measure, stale_results

    if list_all:
        shown = listing.chosen(EXPERIMENTS.values(), experiments or [])
        typer.echo(listing.listing(shown, Path(RESULTS)))
        return
    if check:
        stale = stale_results(Path(RESULTS), EXPERIMENTS, lambda name: typer.echo(name, err=True))
        for name, lines in stale.items():
            typer.echo("\n  ".join([name, *lines]))
        typer.echo(f"{len(stale)} results are stale" if stale else "no result is stale")
        raise typer.Exit(int(bool(stale)))
    named = [find(name) for name in experiments or []]
    chosen = [find(part) for experiment in named for part in experiment.parts or (experiment.id,)]
    if not (chosen or pages):
        raise ValueError("name an experiment, or give --list, --check or --pages")
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
        title = f"QUICK RUN, the figures mean nothing: {experiment.title}" if quick else experiment.title
        typer.echo(f"{title}\n\n{experiment.table(result.rows)}\n\nwritten to {path}")
    if pages:
        changed = rewrite(Path(), EXPERIMENTS)
        typer.echo("\n".join(f"written to {path}" for path in changed) or "pages and pictures are up to date")
