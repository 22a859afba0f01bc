"""The command that generates data for hand-strength networks: ``python -m research hand-strength data``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import Ray, RulesOption, WorkerCount, progress_bar, workers_of
from gin_env.support.atomic import check_targets

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
DataEstimator = Annotated[str, typer.Option(help="Estimator of the opponent's hand in the data")]


@app.callback()
def _hand_strength() -> None:
    """Data sets for the hand-strength networks."""


@app.command(
    epilog="Examples:  \n`python -m research hand-strength data simple simple.npz`  \n"
    "`python -m research hand-strength data random-256 random-256.npz --workers 2`  \n"
    "`python -m research hand-strength data simple all.npz --stages all --discount 0.9 --seed 7`"
)
def data(
    name: Annotated[str, typer.Argument(help="`simple`, `random-16`, `random-256`, `flat-monte-carlo-256`")],
    output: Annotated[Path, typer.Argument(help="The file to write (.npz)")],
    observations: Annotated[int, typer.Option(help="Number of states to record")] = 1_000_000,
    stages: Annotated[str, typer.Option(help="Discards of each hand to record: `last` or `all`")] = "last",
    discount: Annotated[
        float | None, typer.Option(help="Discount γ of equation 2; default: 1, or 0.9 with all stages")
    ] = None,
    estimator: DataEstimator = "bayes-isru",
    seed: Annotated[int, typer.Option(help="Random seed")] = 0,
    rules: RulesOption = None,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Generate a data set of hands, opponent estimates and scores."""
    from research.recipes.hand_strength.data_sets import generate

    check_targets(output)
    with workers_of(workers, ray) as crew, progress_bar(observations, "state") as progress:
        result = generate(
            name,
            observations,
            stages=stages,
            discount=discount,
            estimator=estimator,
            seed=seed,
            rules=rules,
            workers=crew,
            progress=progress.update,
        )
    result.save(output)
    typer.echo(f"{result}\nwritten to {output}")
