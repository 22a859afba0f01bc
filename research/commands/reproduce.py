"""The commands that measure published results: list, run, check and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import flag
from gin_env.support.atomic import check_folder

app = typer.Typer()


@app.command(
    "list",
    epilog="Examples:  \n`python -m research list`  \n`python -m research list truong2021` (one paper)",
)
def list_experiments(
    prefixes: Annotated[list[str] | None, typer.Argument(help="Beginnings of ids; default: all")] = None,
) -> None:
    """List the experiments by paper, with the time they take and what they need."""
    from research.reproduce import listing
    from research.reproduce.by_id import EXPERIMENTS
    from research.reproduce.pages import RESULTS

    typer.echo(listing.listing(listing.chosen(EXPERIMENTS.values(), prefixes or []), RESULTS))


@app.command(
    epilog="Examples:  \n"
    "`python -m research run larkin2021/claims --quick` (seconds: its figures mean nothing)  \n"
    "`python -m research run larkin2021/claims gallucci2021/claims`  \n"
    "`python -m research run truong2021/table-1 --out research/results` then `python -m research pages`: "
    "the published result, and the pages that show it  \n"
    "`python -m research run leaderboard --out research/results` (all that it is made of)"
)
def run(
    experiments: Annotated[list[str], typer.Argument(help="Ids of experiments")],
    quick: Annotated[
        bool,
        flag("--quick", "Try the command at the smallest size: ID.quick.json, whose figures mean nothing"),
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Random seed, instead of the published one")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results (ID.json)")] = Path("runs/results"),
    work: Annotated[
        Path, typer.Option(help="Folder for the matches and networks of interrupted runs")
    ] = Path("runs/reproduce"),
    authors: Annotated[
        Path | None, typer.Option(help="A checkout of the authors' repository, for experiments that read it")
    ] = None,
) -> None:
    """Measure published results again.

    The same command continues an interrupted run. To use two cores, run two experiments at the same time.
    """
    from research.reproduce.by_id import find
    from research.reproduce.experiment import Run
    from research.reproduce.results import measure

    chosen = [find(part) for one in map(find, experiments) for part in one.parts or (one.id,)]
    check_folder(out)
    check_folder(work)
    for experiment in chosen:
        seeded = experiment.seed if seed is None else seed
        folder = work / experiment.id / f"seed-{seeded}{'-quick' if quick else ''}"
        started = Run(seeded, quick, folder, lambda line: typer.echo(line, err=True), authors)
        result = measure(experiment, started)
        path = result.save(out)
        started.finish()
        title = f"QUICK RUN, the figures mean nothing: {experiment.title}" if quick else experiment.title
        typer.echo(f"{title}\n\n{experiment.table(result.rows)}\n\nwritten to {path}")


@app.command(
    epilog="Examples:  \n`python -m research check`  \n`python -m research check policy` (one result: faster)"
)
def check(
    prefixes: Annotated[list[str] | None, typer.Argument(help="Beginnings of ids; default: all")] = None,
) -> None:
    """List the stored results that no longer match the bots, and what cannot be compared.

    The exit status is 1 if a result no longer matches.
    """
    from research.reproduce import listing
    from research.reproduce.by_id import EXPERIMENTS
    from research.reproduce.pages import RESULTS
    from research.reproduce.results import load, stale_results, stored

    chosen = {one.id: one for one in listing.chosen(EXPERIMENTS.values(), prefixes or [])}
    stale = stale_results(RESULTS, chosen, lambda name: typer.echo(name, err=True))
    for name, lines in stale.items():
        typer.echo("\n  ".join([name, *lines]))
    for name in stored(RESULTS):
        hidden = load(RESULTS, name).not_compared(chosen[name]) if name in chosen else []
        if hidden:
            typer.echo(f"{name}: not compared: {'; '.join(hidden)}")
    typer.echo(f"{len(stale)} results are stale" if stale else "no result is stale")
    raise typer.Exit(int(bool(stale)))


@app.command(epilog="Example: `python -m research pages`")
def pages() -> None:
    """Write the pages and pictures of the stored results again."""
    from research.reproduce.by_id import EXPERIMENTS
    from research.reproduce.pages import rewrite

    changed = rewrite(Path(), EXPERIMENTS)
    typer.echo("\n".join(f"written to {path}" for path in changed) or "pages and pictures are up to date")
