"""Use of every compiled part of the engine, which fills the compilation cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from gin_env import agents, estimators
from gin_env.batch import Games
from gin_env.envs.gin_rummy_v0 import raw_env
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.matches.matches import play_match


def parts() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each part (environments, bots, estimators) and a function that uses it.

    Bots and estimators that need torch are left out if it is not installed.
    """
    yield "environments", _environments
    for name in [*agents.names(), *agents.paper_names()]:
        yield name, partial(_without_torch, partial(play_match, name, "simple", 2, episode="hand"))
    for name in estimators.names():
        if name != "omniscient":  # no kernels, and its estimate needs both hands
            yield name, partial(_without_torch, partial(_estimate, name))


def _environments() -> None:
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
