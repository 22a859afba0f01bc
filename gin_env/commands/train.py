"""Commands that train what bots play by: ``gin-rummy train ...``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from gin_env.support.atomic import check_targets

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


@app.command(
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
    abstraction: Annotated[
        str, typer.Option(help="`paper` or `dealt` (bots cfr and fitness-cfr), or `plus`.")
    ] = "paper",
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
    from gin_env.training.cfr.trainer import train_table

    check_targets(output, checkpoint)
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
    "estimator",
    epilog="Examples:  \n`gin-rummy train estimator bayes table.npz`  \n"
    "`gin-rummy train estimator bayes table.npz --games 20000 --opponents simple+tonic --seed 7`  \n"
    "`gin-rummy match safe-discard:estimator=bayes:table=table.npz simple`",
)
def train_estimator(
    name: Annotated[str, typer.Argument(help="An estimator that learns.")],
    output: Annotated[Path, typer.Argument(help="The file to write.")],
    games: Annotated[int | None, typer.Option(help="Games to watch; default: as the packaged one.")] = None,
    seed: Annotated[int, typer.Option(help="Names all the deals and choices.")] = 1,
    opponents: Annotated[
        str, typer.Option(help="Who plays whom: a bot's name, or several joined by +.")
    ] = "simple",
) -> None:
    """Train an opponent-hand estimator on games between bots."""
    from gin_env.training.estimators import by_name

    check_targets(output)
    total = games or by_name.default_games(name)
    with tqdm(total=total, unit="game", smoothing=0.1) as progress:
        trained = by_name.train_estimator(name, games, seed, opponents.split("+"), progress.update)
    trained.save(output)
    typer.echo(f"{trained}\nwritten to {output}")
