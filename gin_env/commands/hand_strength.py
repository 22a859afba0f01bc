"""Commands around hand-strength networks: ``gin-rummy hand-strength data``, ``gin-rummy train hand-strength``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from gin_env.commands.train import app as train_app
from gin_env.support.atomic import check_folder, check_targets

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

Estimator = Annotated[str, typer.Option(help="What estimates the opponent's hand in the data.")]
Workers = Annotated[int, typer.Option(min=1, help="Threads that play; the data do not depend on it.")]


@app.callback()
def _hand_strength() -> None:
    """Data sets for the hand-strength networks."""


@app.command(
    epilog="Examples:  \n`gin-rummy hand-strength data simple simple.npz`  \n"
    "`gin-rummy hand-strength data random-256 random-256.npz --workers 2`  \n"
    "`gin-rummy hand-strength data simple all.npz --stages all --discount 0.9 --seed 7`"
)
def data(
    name: Annotated[
        str, typer.Argument(help="`simple`, `random-16`, `random-256` or `flat-monte-carlo-256`.")
    ],
    output: Annotated[Path, typer.Argument(help="The file to write (.npz).")],
    observations: Annotated[int, typer.Option(help="States to record.")] = 1_000_000,
    stages: Annotated[str, typer.Option(help="`last` discard of each hand, or `all`.")] = "last",
    discount: Annotated[
        float | None, typer.Option(help="γ of equation 2; default 1, with all stages 0.9.")
    ] = None,
    estimator: Estimator = "bayes-isru",
    seed: Annotated[int, typer.Option(help="Names all the deals and choices.")] = 0,
    workers: Workers = 1,
) -> None:
    """Play a data set of hands, opponent estimates and scores."""
    from gin_env.training.hand_strength.data_sets import generate

    check_targets(output)
    with tqdm(total=observations, unit="state", smoothing=0.1) as progress:
        result = generate(
            name,
            observations,
            stages=stages,
            discount=discount,
            estimator=estimator,
            seed=seed,
            workers=workers,
            progress=progress.update,
        )
    result.save(output)
    typer.echo(f"{result}\nwritten to {output}")


@train_app.command(
    "hand-strength",
    epilog="Examples:  \n`gin-rummy train hand-strength dual-inception-random-256 network.safetensors --candidates 5`  \n"
    "`gin-rummy train hand-strength mlp-simple quick.safetensors --observations 100000 --epochs 3`  \n"
    "`gin-rummy train hand-strength mlp-random-16 paper.safetensors --observations 1000000 --schedule paper --checkpoint run.safetensors`  \n"
    "`gin-rummy train hand-strength mlp-random-16 paper.safetensors --observations 1000000 --schedule paper --checkpoint run.safetensors --resume`  \n"
    "`gin-rummy match offensive:network=network.safetensors simple`",
)
def train_hand_strength(
    name: Annotated[str, typer.Argument(help="Architecture and data, such as `dual-inception-random-256`.")],
    output: Annotated[Path, typer.Argument(help="The network to write (.safetensors).")],
    data: Annotated[
        Path, typer.Option(help="Folder of data sets; what is missing there is generated.")
    ] = Path("runs/hand_strength"),
    observations: Annotated[int, typer.Option(help="States of the data set.")] = 200_000,
    estimator: Estimator = "bayes-isru",
    data_seed: Annotated[int, typer.Option(help="Names all the deals and choices of the data.")] = 0,
    schedule: Annotated[
        str, typer.Option(help="`fast`, or the `paper`'s: 96 epochs, half an hour to hours.")
    ] = "fast",
    epochs: Annotated[int | None, typer.Option(help="Another number of epochs.")] = None,
    seed: Annotated[int, typer.Option(help="Names first weights, split and order of the states.")] = 0,
    candidates: Annotated[
        int, typer.Option(min=1, help="Train so many and keep the one that wins most games against `simple`.")
    ] = 1,
    workers: Workers = 1,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Write a checkpoint to this file after each epoch.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint.")] = False,
) -> None:
    """Train a hand-strength network, the data included."""
    from gin_env.agents.hand_strength.weights import save_network
    from gin_env.training.hand_strength import recipes
    from gin_env.training.hand_strength.selection import Candidate, train_best, validation_win_rate
    from gin_env.training.hand_strength.trainer import Settings, find_schedule, train

    check_targets(output, checkpoint)
    check_folder(data)
    if candidates > 1 and checkpoint is not None:
        raise ValueError("a checkpoint is of one network: leave out --checkpoint, or --candidates")
    recipe = recipes.find_recipe(name)
    plan = find_schedule(schedule, epochs)
    settings = Settings(recipe.architecture, plan, recipe.augmented, seed)
    with tqdm(total=observations, unit="state", desc="data", smoothing=0.1) as progress:
        states = recipes.load_or_generate(
            data,
            recipe.data_set,
            recipe.stages,
            estimator=estimator,
            observations=observations,
            seed=data_seed,
            workers=workers,
            progress=progress.update,
        )
        progress.update(observations - progress.n)
    typer.echo(states)
    with tqdm(unit="state", desc="training", smoothing=0.1) as progress:
        if checkpoint is None:
            trainer, compared = train_best(states, settings, candidates, progress=progress.update)
        else:
            trainer = train(states, settings, checkpoint=checkpoint, resume=resume, progress=progress.update)
            compared = [Candidate(seed, trainer.validation_losses[-1], validation_win_rate(trainer))]
    save_network(output, trainer.network, recipes.provenance(name, trainer, schedule, epochs, compared))
    for each in compared:
        typer.echo(
            f"seed {each.seed}: mean squared error {each.validation_loss:.1f} in validation, "
            f"{100 * each.win_rate:.1f} % of the validation games against simple won"
        )
    typer.echo(f"written to {output}")
