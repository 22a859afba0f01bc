"""The command that compiles all kernels: compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from gin_env.commands.options import flag

app = typer.Typer()


@app.command(
    rich_help_panel="Files",
    epilog="Examples:  \n`gin-rummy compile`  \n"
    "`GIN_ENV_CACHE=/opt/gin-env gin-rummy compile --for-everyone` (when a container is built)",
)
def compile(
    for_everyone: Annotated[
        bool, flag("--for-everyone", "Let all users of this machine read the cache")
    ] = False,
) -> None:
    """Compile the environments, bots and estimators now, in about a minute: later runs start immediately.

    The cache is in ~/.cache/gin-env, or in the folder GIN_ENV_CACHE. Installations of the same release on
    machines with the same kind of processor can share it.
    """
    from gin_env.support.kernel_cache import cache_folder, open_to_readers

    with tqdm(list(parts()), unit="part", delay=0.5) as bar:  # after the message that kernels are compiled
        for name, use in bar:
            bar.set_description(f"{name:24}")
            use()
    folder = cache_folder()
    if folder is None:
        raise OSError("the folder of the cache is not writable; set GIN_ENV_CACHE to one that is")
    if for_everyone:
        open_to_readers(folder)
    typer.echo(f"compiled; cached in {folder}")


def parts() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each part (environments, bots, estimators) and a function that uses it.

    Bots and estimators that need torch are left out if it is not installed.
    """
    from gin_env import agents, estimators
    from gin_env.matches.matches import play_match

    yield "environments", _environments
    for name in [*agents.names(), *agents.paper_names()]:
        yield name, partial(_without_torch, partial(play_match, name, "simple", 2, episode="hand"))
    for name in estimators.names():
        if name != "omniscient":  # no kernels, and its estimate needs both hands
            yield name, partial(_without_torch, partial(_estimate, name))


def _environments() -> None:
    from gin_env.envs.gin_rummy_v0 import raw_env
    from gin_env.envs.vector_env import GinRummyVectorEnv

    env = raw_env(candidates=True)
    env.reset(seed=1)
    for _ in range(40):
        if env.terminations[env.agent_selection]:
            break
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    vector = GinRummyVectorEnv(2, candidates=True)
    observations, _ = vector.reset(seed=1)
    for _ in range(20):
        observations, *_ = vector.step(observations["action_mask"].argmax(axis=1))


def _estimate(name: str) -> None:
    from gin_env import estimators
    from gin_env.batch import Games

    games = Games(2)
    games.start(games.everyone, np.zeros(2, np.uint64), np.arange(2, dtype=np.uint64))
    estimator = estimators.resolve(name)
    for _ in range(6):
        views = games.views(games.everyone)
        estimator.estimate(views)
        games.play(games.everyone, views.masks().argmax(axis=1))


def _without_torch(use: Callable[[], object]) -> None:
    try:
        use()
    except ImportError as error:
        if "torch" not in str(error):
            raise
