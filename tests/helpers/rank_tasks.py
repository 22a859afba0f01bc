"""Functions that ranks run in the tests, imported by name."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import torch
from numba.core.caching import NullCache
from torch import distributed

from gin_env.game import rules
from gin_env.game.rules import Rules
from gin_env.training.learner import Learner
from gin_env.training.ppo import PPORun
from gin_env.training.ranks import Ranks
from gin_env.training.settings import PPOSettings

KILLED_AT = 3


def compile_a_kernel(name: str, ranks: Ranks) -> None:
    """Compile a kernel of gin-env again, in every rank."""
    kernel = getattr(rules, name)
    kernel._cache = NullCache()
    kernel(Rules().record())


def parameters_of_updates(settings: PPOSettings, ranks: Ranks) -> list[tuple[int, torch.Tensor]]:
    """(decisions learned from, all parameters) after each of some updates."""
    torch.set_num_threads(1)
    learner = Learner(settings, ranks)
    learner.begin()
    updates = []
    for index in range(4):
        learner.collect()
        num_decisions, _ = learner.update(1.0)
        if index % 2:
            learner.add_past_self()
        updates.append((num_decisions, torch.cat([each.detach().flatten() for each in learner.parameters])))
    return updates


def train(settings: PPOSettings, ranks: Ranks) -> dict[str, torch.Tensor]:
    """Train a whole run and return its tensors."""
    with PPORun(settings, ranks) as run:
        while run.share < 1:
            run.end_update(run.learn())
        run.finish()
    return run.learner.tensors()


def train_and_lose_a_rank(settings: PPOSettings, ranks: Ranks) -> None:
    """Train, with rank 1 killed after some updates."""
    with PPORun(settings, ranks) as run:
        while run.share < 1:
            run.end_update(run.learn())
            if ranks.rank == 1 and run.progress.updates == KILLED_AT:
                os.kill(os.getpid(), signal.SIGKILL)


def join_without_secret(path: str, answer: bytes) -> None:
    """Take the place of rank 1 of two, and give this answer to rank 0."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    distributed.init_process_group("gloo", store=distributed.FileStore(path, 2), rank=1, world_size=2)
    answers = torch.frombuffer(bytearray(2 * answer), dtype=torch.uint8)
    distributed.all_to_all_single(torch.empty_like(answers), answers)


def end_after(seconds: float) -> None:
    """End this process after this time."""
    time.sleep(seconds)
    os._exit(1)


def sum_of_a_late_rank(seconds: float, ranks: Ranks) -> float:
    """Return the sum of the ranks' indices; rank 1 adds its own after this time."""
    time.sleep(seconds * ranks.rank)
    return float(ranks.sum(np.array(ranks.rank)))


def sum_shares(count: int, ranks: Ranks) -> tuple[float, list[list[int]], list[object]]:
    """Return the results of the methods of `Ranks`."""
    share = ranks.share(count)
    numbers = torch.arange(count)[share]
    total = float(ranks.sum(numbers.sum().numpy()))
    rows = ranks.gather(torch.stack([numbers, numbers % 2], dim=1), count).tolist()
    shared = ranks.broadcast_tensors({"rank": torch.tensor(ranks.rank)})
    return total, rows, [ranks.broadcast(f"of rank {ranks.rank}"), int(shared["rank"])]
