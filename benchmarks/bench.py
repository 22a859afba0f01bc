"""Speed of gin-env's own workloads, in half a minute; ``make bench`` also measures other libraries.

python benchmarks/bench.py
python benchmarks/bench.py --only play,vector_1024 --repeats 9 --json speed.json
"""

from __future__ import annotations

from typing import Annotated

import typer
from timing import measure, pin_to_core
from workloads import WORKLOADS

from gin_env.commands.options import Json, progress_bar, say, write_outputs
from gin_env.game.state import STATE
from gin_env.support.atomic import check_targets
from gin_env.support.exits import command_line
from gin_env.support.files import write_json


def bench(
    only: Annotated[str, typer.Option(help="Measure only these, by their names in the first column")] = "",
    repeats: Annotated[
        int, typer.Option(min=1, help="Number of runs per measurement; the median is reported")
    ] = 5,
    seconds: Annotated[float, typer.Option(min=0.0, help="Approximate length of one run in seconds")] = 0.2,
    core: Annotated[int, typer.Option(help="Processor core to run on; -1: any")] = -1,
    json: Json = None,
) -> None:
    """Measure how fast gin-env is here, in half a minute."""

    names = [name.strip() for name in only.split(",") if name.strip()] or list(WORKLOADS)
    unknown = [name for name in names if name not in WORKLOADS]
    if unknown:
        raise ValueError(f"unknown measurement {unknown[0]!r}; choose from {', '.join(WORKLOADS)}")
    check_targets(json)
    pin_to_core(core)
    with progress_bar(len(names) * (repeats + 1), "run") as progress:
        rates = measure(names, repeats, seconds, progress.update)
    for name, rate in rates.items():
        label, unit = WORKLOADS[name][:2]
        say(f"{name:18} {label:50} {rate:>14,.0f} {unit}/s", json)
    say(f"{'':18} {'state of one game':50} {STATE.itemsize:>14,} bytes", json)
    figures = {f"{name} {WORKLOADS[name].unit}/s": rate for name, rate in rates.items()}
    write_outputs((json, lambda file: write_json(file, figures | {"state bytes": STATE.itemsize})))


if __name__ == "__main__":
    command_line("bench.py", lambda: typer.run(bench))
