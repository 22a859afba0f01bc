"""Speed of the PPO learner with many processes and on a GPU: ``python -m research run ppo/scale``.

It is meaningful only with a core for each process. On a GPU, the processes share it: each computes its own
games' network there.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from gin_env.support.allocator import keep_freed_memory
from gin_env.support.threads import usable_cores
from gin_env.training.learner import Learner
from gin_env.training.ranks import Ranks, launch
from gin_env.training.settings import PPOSettings

SIZES = {
    "cpu": ((1, 1024), (2, 1024), (4, 1024), (8, 1024), (16, 1024)),
    "cuda": ((1, 1024), (1, 4096), (4, 1024), (16, 1024)),
}
"""Numbers of ranks and of games in each, by device. The minibatches grow with the games."""
UPDATES = 4
"""Number of updates in a measurement."""


class TimedLearner(Learner):
    """A learner that counts the seconds of its methods in `seconds`.

    The network is the rest of `decide`, the games are the rest of `collect`.
    """

    def __init__(self, settings: PPOSettings, ranks: Ranks) -> None:
        super().__init__(settings, ranks)
        self.seconds: dict[str, float] = defaultdict(float)
        timed = {"collect": self, "decide": self, "observe": self, "update": self, "play": self.league}
        for method, owner in timed.items():
            setattr(owner, method, partial(self.timed, method, getattr(owner, method)))

    def timed(self, name: str, work: Callable[..., object], *arguments: object) -> object:
        """Call a method and count its seconds."""
        begun = time.perf_counter()
        result = work(*arguments)
        self.seconds[name] += time.perf_counter() - begun
        return result

    def shares(self) -> dict[str, float]:
        """Return the share of each part in the time, in percent."""
        seconds = self.seconds
        parts = {
            "candidates": seconds["observe"],
            "network": seconds["decide"] - seconds["observe"],
            "opponents": seconds["play"],
            "play": seconds["collect"] - seconds["decide"] - seconds["play"],
            "learning": seconds["update"],
        }
        total = sum(parts.values())
        return {name: round(100 * part / total, 1) for name, part in parts.items()}


def warm_up(learner: Learner) -> None:
    """Begin the games and take three updates, each followed by a past self."""
    torch.set_num_threads(1)
    keep_freed_memory()
    learner.begin()
    for _ in range(3):
        learner.collect()
        learner.update(1.0)
        learner.add_past_self()


def learn(settings: PPOSettings, ranks: Ranks) -> dict[str, Any]:
    """Return the decisions learned per second by all ranks and where rank 0 spends its time."""
    learner = TimedLearner(settings, ranks)
    warm_up(learner)
    ranks.sum(np.zeros(1))  # wait for all
    learner.seconds.clear()
    begun, learned = time.perf_counter(), 0
    for _ in range(UPDATES):
        learner.collect()
        learned += learner.update(1.0)[0]
    rate = round(learned / (time.perf_counter() - begun))
    size = {"device": settings.device, "ranks": ranks.size, "games": settings.num_envs // ranks.size}
    return size | {"learned": rate} | learner.shares()


def measure(num_sizes: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield `learn` of the first `num_sizes` of `SIZES` (default: all) that have a core for each rank.

    The network is on the CPU and, if there is one, on the GPU.
    """
    for device in ["cpu", *["cuda"] * torch.cuda.is_available()]:
        for ranks, games in SIZES[device][:num_sizes]:
            if ranks <= usable_cores():
                # Not the default, so that other machines can be compared with the stored rows.
                settings = PPOSettings(num_envs=ranks * games, num_minibatches=32, device=device)
                yield launch(learn, settings, ranks, device)
