"""The commands that train strategies, estimators and networks: ``gin-rummy train ...``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from gin_env.commands.options import Ray, RulesOption, WorkerCount, flag, progress_bar, workers_of
from gin_env.support.atomic import check_folder, check_targets
from research.commands.hand_strength import DataEstimator

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


@app.command(
    "cfr",
    epilog="Examples:  \n`python -m research train cfr cfr.npz`  \n"
    "`python -m research train cfr plus.npz --abstraction plus --iterations 220000`  \n"
    "`python -m research train cfr quick.npz --iterations 50000 --checkpoint c.npz`  \n"
    "`python -m research train cfr more.npz --iterations 100000 --checkpoint c.npz --resume`  \n"
    "`gin-rummy match cfr:table=quick.npz simple`",
)
def train_cfr(
    output: Annotated[Path, typer.Argument(help="Strategy table to write (.npz)")],
    iterations: Annotated[int, typer.Option(help="Number of hands; with --resume, the total")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Random seed")] = 1,
    abstraction: Annotated[
        str, typer.Option(help="`paper` or `dealt` (bots cfr and fitness-cfr), or `plus`")
    ] = "paper",
    candidates: Annotated[
        str | None, typer.Option(help="Choose discards from `least` deadwood, `unmelded` or `all` cards")
    ] = None,
    exploration: Annotated[float, typer.Option(help="Share of the learner's decisions made at random")] = 0.1,
    rules: RulesOption = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Checkpoint file, written every minute")] = None,
    resume: Annotated[bool, flag("--resume", "Continue from the checkpoint, with its settings")] = False,
) -> None:
    """Train strategies for the full game by Monte Carlo CFR+.

    Every hand uses what the earlier hands have taught, so a run has one process. Start runs with different
    seeds to use more cores.
    """
    from research.recipes.cfr.trainer import CFRSettings, train_table

    check_targets(output, checkpoint)
    settings = CFRSettings(abstraction, candidates, seed, exploration, rules.text if rules else "eaai")
    with progress_bar(iterations, "hand") as progress:
        table = train_table(
            iterations, settings, checkpoint=checkpoint, resume=resume, progress=progress.update
        )
    table.save(output)
    typer.echo(f"{table}\nwritten to {output}")


@app.command(
    "estimator",
    epilog="Examples:  \n`python -m research train estimator bayes table.npz`  \n"
    "`python -m research train estimator bayes table.npz --games 20000 --opponents simple+tonic --seed 7`  \n"
    "`gin-rummy match safe-discard:estimator=bayes:table=table.npz simple`",
)
def train_estimator(
    name: Annotated[str, typer.Argument(help="Estimator to train")],
    output: Annotated[Path, typer.Argument(help="File to write")],
    games: Annotated[
        int | None, typer.Option(min=1, help="Number of games; default: as for the packaged file")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed")] = 1,
    opponents: Annotated[str, typer.Option(help="Bots that play: a name, or several joined by +")] = "simple",
    rules: RulesOption = None,
) -> None:
    """Train an opponent-hand estimator on games between bots."""
    from research.recipes.estimators import by_name

    check_targets(output)
    total = by_name.default_games(name) if games is None else games
    with progress_bar(total, "game") as progress:
        trained = by_name.train_estimator(name, games, seed, opponents.split("+"), progress.update, rules)
    trained.save(output)
    typer.echo(f"{trained}\nwritten to {output}")


@app.command("puzzles", epilog="Example: `python -m research train puzzles puzzles.json --count 60`")
def train_puzzles(
    output: Annotated[Path, typer.Argument(help="Output file (.json)")],
    count: Annotated[int, typer.Option(min=1, help="Number of puzzles")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the hands")] = 1,
) -> None:
    """Find the positions of `gin-rummy puzzle`: bots differ, and rollouts decide."""
    from research.recipes.puzzles import find_puzzles

    check_targets(output)
    with progress_bar(count, "puzzle") as progress:
        found = find_puzzles(count, seed, progress.update)
    output.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    typer.echo(f"{count} puzzles written to {output}")


@app.command("open-value", epilog="Example: `python -m research train open-value open-value.safetensors`")
def train_open_value(
    output: Annotated[Path, typer.Argument(help="Network to write (.safetensors)")],
    hands: Annotated[int, typer.Option(min=1, help="Number of hands of a pair of bots")] = 60_000,
    steps: Annotated[int, typer.Option(min=100, help="Number of batches to learn from")] = 6_000,
    seed: Annotated[int, typer.Option(help="Random seed")] = 1,
) -> None:
    """Train the value of hands with open cards, which takes luck out of results; half an hour."""
    from research.recipes.open_value import PAIRS, train_value

    check_targets(output)
    with progress_bar(hands * sum(share for _, _, share in PAIRS) + steps, "hand or step") as progress:
        trained = train_value(hands, steps, seed, progress.update)
    trained.save(output)
    typer.echo(f"{trained}\nwritten to {output}")


@app.command("opponents", epilog="Example: `python -m research train opponents opponents.safetensors`")
def train_opponents(
    output: Annotated[Path, typer.Argument(help="Network to write (.safetensors)")],
    games: Annotated[int, typer.Option(min=10, help="Number of games of `policy` against each bot")] = 8000,
    seed: Annotated[int, typer.Option(help="Random seed")] = 1,
) -> None:
    """Train the networks of `search:opponent=unknown`: of its opponent, and of the hands of each model."""
    from gin_env.agents.search.small_networks import MODELS
    from research.recipes.search_networks import train_opponents

    check_targets(output)
    with progress_bar(games * len(MODELS), "game") as progress:
        trained = train_opponents(games, seed, progress.update)
    trained.save(output)
    typer.echo(f"{trained}\nwritten to {output}")


@app.command(
    "gains",
    epilog="Examples:  \n"
    "`python -m research train gains gains.safetensors --blocks 80` (the second network of policy)  \n"
    "`python -m research train gains quick.safetensors --blocks 4 --data runs/quick`  \n"
    "`gin-rummy match policy:gains=quick.safetensors policy-1`",
)
def train_gains(
    output: Annotated[Path, typer.Argument(help="Network to write (.safetensors)")],
    blocks: Annotated[
        int, typer.Option(help="Number of blocks of 100,000 discards to learn from; each takes half a minute")
    ] = 240,
    data: Annotated[Path, typer.Option(help="Folder of the blocks; missing ones are made")] = Path(
        "runs/gains"
    ),
    policy: Annotated[
        str, typer.Option(help="Policy to improve: a bundled one, or a file of `examples/ppo.py`")
    ] = "policy",
    seed: Annotated[int, typer.Option(help="Random seed")] = 1,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Train the second network of `policy`: what discards gain in the policy's own games, by default rules.

    If the command is stopped, the same command continues with the blocks that are in the folder.
    """
    from research.recipes.gains import EPOCHS, train_gains

    check_targets(output)
    with workers_of(workers, ray) as pool, progress_bar((1 + EPOCHS) * blocks, "block") as progress:
        trained = train_gains(data, blocks, policy, seed, pool, progress.update)
    trained.save(output)
    typer.echo(f"{trained}\nwritten to {output}")


@app.command(
    "hand-strength",
    epilog="Examples:  \n"
    "`python -m research train hand-strength dual-inception-random-256 net.safetensors --candidates 5`  \n"
    "`python -m research train hand-strength mlp-simple q.safetensors --observations 100000 --epochs 3`  \n"
    "`python -m research train hand-strength mlp-random-16 paper.safetensors --schedule paper "
    "--observations 1000000 --checkpoint run.safetensors`  \n"
    "`python -m research train hand-strength mlp-random-16 paper.safetensors --schedule paper "
    "--observations 1000000 --checkpoint run.safetensors --resume`  \n"
    "`gin-rummy match offensive:network=net.safetensors simple`",
)
def train_hand_strength(
    name: Annotated[str, typer.Argument(help="Architecture and data, such as `dual-inception-random-256`")],
    output: Annotated[Path, typer.Argument(help="Network to write (.safetensors)")],
    data: Annotated[Path, typer.Option(help="Folder of data sets; missing ones are generated")] = Path(
        "runs/hand_strength"
    ),
    observations: Annotated[int, typer.Option(help="Number of states in the data set")] = 200_000,
    estimator: DataEstimator = "bayes-isru",
    data_seed: Annotated[int, typer.Option(help="Random seed of the data")] = 0,
    rules: RulesOption = None,
    schedule: Annotated[
        str, typer.Option(help="`fast`, or `paper`: 96 epochs, half an hour to several hours")
    ] = "fast",
    epochs: Annotated[int | None, typer.Option(help="Number of epochs, instead of the schedule's")] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the weights, split and order of the states")] = 0,
    candidates: Annotated[
        int, typer.Option(min=1, help="Number of networks; the one that wins most against `simple` is kept")
    ] = 1,
    workers: WorkerCount = None,
    ray: Ray = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Checkpoint file, written after each epoch")] = None,
    resume: Annotated[bool, flag("--resume", "Continue from the checkpoint")] = False,
) -> None:
    """Train a hand-strength network, on data that is generated first if it is missing."""
    if resume and checkpoint is None:
        raise ValueError("--resume needs --checkpoint, the file to continue from")
    from gin_env.agents.hand_strength.bots import FORMAT
    from research.recipes.hand_strength import recipes
    from research.recipes.hand_strength.selection import Contestant, train_best, validation_match
    from research.recipes.hand_strength.trainer import HandStrengthSettings, find_schedule, train

    check_targets(output, checkpoint)
    check_folder(data)
    if candidates > 1 and checkpoint is not None:
        raise ValueError("a checkpoint is for one network: omit --checkpoint or --candidates")
    recipe = recipes.find_recipe(name)
    plan = find_schedule(schedule, epochs)
    settings = HandStrengthSettings(recipe.architecture, plan, recipe.augmented, seed, recipe.independently)
    with workers_of(workers, ray) as crew, progress_bar(observations, "state", desc="data") as progress:
        states = recipes.load_or_generate(
            data,
            recipe.data_set,
            recipe.stages,
            estimator=estimator,
            observations=observations,
            seed=data_seed,
            rules=rules,
            workers=crew,
            progress=progress.update,
        )
        progress.update(observations - progress.n)
    typer.echo(states)
    with tqdm(unit="state", desc="training", smoothing=0.1) as progress:
        if checkpoint is None:
            trainer, compared = train_best(states, settings, candidates, progress=progress.update)
        else:
            trainer = train(states, settings, checkpoint=checkpoint, resume=resume, progress=progress.update)
            won = validation_match(trainer).win_rate
            compared = [Contestant(seed, trainer.validation_losses[-1], won)]
    FORMAT.write(output, trainer.network, recipes.provenance(name, trainer, schedule, epochs, compared))
    for each in compared:
        typer.echo(
            f"seed {each.seed}: mean squared error {each.validation_loss:.1f} in validation, "
            f"{100 * each.win_rate:.1f} % of the validation games against simple won"
        )
    typer.echo(f"written to {output}")
