"""The benchmark: `make bench`, or ``python benchmarks/run.py --help``.

It measures gin-env and the other Gin Rummy environments on the same work, on one core, in alternation. See
benchmarks/NOTES.md for what each figure means.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import instructions
import measuring
import peer_environments
import report
import typer
from peer_environments import PEERS
from tqdm import tqdm

from gin_env.support.atomic import check_targets
from gin_env.support.exits import one_line_errors

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
HERE = Path(__file__).parent
SLOW = ("cold", "training", "training_free", "scaling")
"""Workloads that ``--quick`` leaves out."""


def comma_separated(text: str, choices: list[str], what: str) -> list[str]:
    """Return the names in a list like ``a,b``; exits with the choices if one is unknown."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in choices]
    if unknown:
        raise typer.BadParameter(f"unknown {what} {', '.join(unknown)}; choose from {', '.join(choices)}")
    return names


def start_peers(
    names: list[str],
    environments: Path,
    training: bool,
    core: int,
    seconds: float,
    timeout: float,
    skipped: dict[str, str],
) -> list[measuring.Process]:
    """Start a process for each available peer; add the reasons for the others to `skipped`."""
    started = []
    for name in names:
        try:
            python = peer_environments.ensure(name, training, typer.echo, environments)
            script = HERE / "peers" / PEERS[name].script
            started.append(measuring.Process(name, python, script, core, seconds, timeout))
        except (peer_environments.PeerUnavailableError, measuring.ProcessFailedError, OSError) as error:
            skipped[name] = str(error)
            typer.echo(f"skipping {name}: {error}")
    return started


@app.callback(
    invoke_without_command=True,
    epilog="Examples:  \n`python benchmarks/run.py`  \n`python benchmarks/run.py --quick --skip-peers`  \n"
    "`python benchmarks/run.py --peers openspiel,rlcard --repeats 9 --json result.json --plot result.png`",
)
def run(
    context: typer.Context,
    peers: Annotated[str, typer.Option(help="Libraries to compare with")] = ",".join(PEERS),
    skip_peers: Annotated[bool, typer.Option("--skip-peers", help="Measure only gin-env")] = False,
    environments: Annotated[
        Path, typer.Option(help="Folder for their virtual environments")
    ] = peer_environments.ENVIRONMENTS,
    only: Annotated[str, typer.Option(help="Measure only these workloads, for example play,aec")] = "",
    repeats: Annotated[
        int, typer.Option(min=1, help="Number of runs per measurement; the median is reported")
    ] = 7,
    seconds: Annotated[float, typer.Option(min=0.0, help="Approximate length of one run in seconds")] = 0.5,
    quick: Annotated[
        bool, typer.Option("--quick", help="Three short runs, without training, cold cache and scaling")
    ] = False,
    training: Annotated[bool, typer.Option(help="Measure SB3 training (needs torch; takes minutes)")] = True,
    core: Annotated[int, typer.Option(help="Processor core to run on; -1: any")] = 0,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds after which a library that does not answer is skipped")
    ] = measuring.TIMEOUT,
    json: Annotated[Path | None, typer.Option(help="Write everything to this file as JSON")] = None,
    plot: Annotated[Path | None, typer.Option(help="PNG file for a bar chart")] = None,
) -> None:
    """Measure gin-env against its peers: how many times better first, then every figure."""
    if context.invoked_subcommand:
        return
    chosen_peers = [] if skip_peers else comma_separated(peers, list(PEERS), "peer")
    workloads = comma_separated(only, list(report.LABELS), "workload")
    if quick:
        repeats, seconds = min(repeats, 3), min(seconds, 0.05)
    training = training and not quick and (not workloads or "training" in workloads)
    skipped: dict[str, str] = {}
    left_out = dict.fromkeys(SLOW, "--quick") if quick else {}
    if not training:
        left_out |= {"training": "not wanted", "training_free": "not wanted"}
    skipped |= {f"{name} (all)": why for name, why in left_out.items() if not workloads or name in workloads}

    def chosen(process: str, name: str) -> bool:
        return name not in left_out and (not workloads or name in workloads)

    for path in (json, plot):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    check_targets(json, plot)
    machine = report.machine()
    processes = [measuring.Process(report.OURS, sys.executable, HERE / "ours.py", core, seconds, timeout)]
    try:
        processes += start_peers(chosen_peers, environments, training, core, seconds, timeout, skipped)
        once_repeats = 1 if quick else repeats
        steps = measuring.count_steps(processes, chosen, repeats, once_repeats)
        with tqdm(total=steps, unit="run", smoothing=0.05) as bar:

            def progress(what: str) -> None:
                bar.set_description(f"{what:30}")
                bar.update()

            runs, failed = measuring.alternate(processes, chosen, repeats, once_repeats, progress)
    finally:
        for process in processes:
            process.close()
    figures = measuring.medians(runs)
    result = {
        "machine": machine,
        "settings": {"repeats": repeats, "seconds": seconds, "core": core, "quick": quick},
        "versions": {process.name: peer_environments.packages(process.command[0]) for process in processes},
        "ratios": [
            {"figure": figure, "library": library, "better": better}
            for figure, library, better in report.ratios(figures)
        ],
        "share_of_free_training": report.share_of_free_training(figures),
        "figures": figures,
        "spread": {
            name: {figure: report.spread(values) for figure, values in mine.items()}
            for name, mine in runs.items()
        },
        "runs": runs,
        "skipped": skipped | failed,
    }
    typer.echo(report.text(result))
    if json is not None:
        report.write_json(result, json)
        typer.echo(f"written to {json}")
    if plot is not None:
        report.draw(result, plot)
        typer.echo(f"drawn in {plot}")


@app.command(epilog="Example:  \n`python benchmarks/run.py plot result.json result.png`")
def plot(
    result: Annotated[Path, typer.Argument(help="JSON file written by --json")],
    picture: Annotated[Path, typer.Argument(help="PNG file to write")],
) -> None:
    """Draw the chart of an earlier result."""
    import json

    report.draw(json.loads(result.read_text()), picture)
    typer.echo(f"drawn in {picture}")


Baseline = Annotated[Path, typer.Option(help="File of the baseline counts")]
Only = Annotated[str, typer.Option(help="Count only these workloads, for example play,aec")]


def count_or_exit(only: str) -> dict:
    """Return the counts of the chosen workloads (default: all); exit with 2 if they cannot be counted."""
    chosen = comma_separated(only, instructions.names(), "workload") or instructions.names()
    try:
        return instructions.count(chosen)
    except instructions.CannotCountError as error:
        typer.echo(f"cannot count instructions: {error}", err=True)
        raise typer.Exit(2) from error


@app.command(epilog="Example:  \n`python benchmarks/run.py count --write benchmarks/baseline.json`")
def count(
    only: Only = "", write: Annotated[Path | None, typer.Option(help="Write the counts to this file")] = None
) -> None:
    """Count the machine instructions of fixed work with callgrind (a few minutes)."""
    check_targets(write)
    counts = count_or_exit(only)
    for name, value in counts["instructions"].items():
        typer.echo(f"{name:20} {value:>12,.1f}")
    if write is not None:
        instructions.write(counts, write)
        typer.echo(f"written to {write}")


@app.command(epilog="Example:  \n`python benchmarks/run.py compare --only play,deadwood --tolerance 0.01`")
def compare(
    baseline: Baseline = instructions.BASELINE,
    measured: Annotated[
        Path | None, typer.Option(help="Counts written by `count --write`, instead of counting now")
    ] = None,
    only: Only = "",
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="Relative increase that is tolerated")
    ] = instructions.TOLERANCE,
) -> None:
    """Compare instruction counts with the baseline; exit status 1 if any grew by more than the tolerance."""
    counts = count_or_exit(only) if measured is None else instructions.read(measured)
    table, worse = instructions.compare(counts, instructions.read(baseline), tolerance)
    typer.echo(table)
    if worse:
        raise typer.Exit(1)


if __name__ == "__main__":
    with one_line_errors("benchmarks/run.py"):
        app()
