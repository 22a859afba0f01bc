"""Processes that train together, over torch.distributed: gloo on CPUs, NCCL on GPUs.

Each process is a *rank*: it plays its share of the games, and all ranks take the same steps, by the sums of
their gradients and counts. `launch` starts the ranks on this machine, or joins those that ``torchrun`` or Ray
Train started on several.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
from torch import distributed

from gin_env.support.exits import one_line_errors

TIMEOUT = timedelta(days=1)
"""How long the ranks wait for each other: the first plays long evaluations while the others wait."""
PATIENCE = 60.0
"""Seconds for the other ranks to end after the first."""
Value = TypeVar("Value")
Task = TypeVar("Task")
Result = TypeVar("Result")


class RankLostError(ConnectionError):
    """Another rank has ended or cannot be reached."""


class Ranks:
    """This process among those that train together; alone by default.

    All ranks must call the same methods in the same order. Raises RankLostError if another rank is lost.

    Attributes
    ----------
    rank, size : the number of this rank, from 0, and the number of ranks.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    def share(self, count: int) -> slice:
        """This rank's share of `count` things, such as games."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def device(self, device: str) -> str:
        """The device of this rank: with several ranks, ``cuda`` is one GPU for each."""
        if device == "cuda" and self.size > 1:
            return f"cuda:{os.environ.get('LOCAL_RANK', self.rank)}"
        return device

    def add(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum of all ranks' tensors, in place."""
        if self.size > 1:
            with _lost_ranks():
                distributed.all_reduce(tensor)
        return tensor

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum of all ranks' arrays, float64."""
        return self.add(torch.from_numpy(np.array(array, np.float64))).numpy()

    def broadcast(self, value: Value) -> Value:
        """The value of rank 0, which can be anything that pickle takes."""
        if self.size == 1:
            return value
        values = [value]
        with _lost_ranks():
            distributed.broadcast_object_list(values, 0)
        return values[0]

    def gather(self, value: Value) -> list[Value]:
        """The values of all ranks at rank 0; an empty list at the others."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size if self.rank == 0 else []
        with _lost_ranks():
            distributed.gather_object(value, values if self.rank == 0 else None)
        return values


@contextmanager
def _lost_ranks() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # all that torch raises when a connection breaks
        # Gloo's messages begin with a line of its source in brackets, and end with advice.
        reason = re.sub(r"^\[\S+\] ", "", str(error).splitlines()[0]).partition(". ")[0]
        raise RankLostError(f"another rank was lost: {reason}") from error


def launch(
    function: Callable[[Task, Ranks], Result], settings: Task, workers: int, device: str = "cpu"
) -> Result:
    """Call ``function(settings, ranks)`` in `workers` processes; its result in this one, which is rank 0.

    The others are new Python processes, which import `function` by its name. If torchrun or Ray Train has
    started this process as one of several ranks, `workers` is ignored and no process started.

    Raises what `function` raises, and RankLostError if another rank ends early.
    """
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
    if distributed.is_initialized():
        return function(settings, Ranks(distributed.get_rank(), distributed.get_world_size()))
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        with _group(device) as ranks:
            return function(settings, ranks)
    if workers == 1:
        return function(settings, Ranks())
    store = _store(0, is_master=True)
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(
            target=_work, args=(function, settings, rank, workers, store.port, device), daemon=True
        )
        for rank in range(1, workers)
    ]
    patience = 0.0
    try:
        for process in processes:
            process.start()
        while not store.check([f"ready {rank}" for rank in range(1, workers)]):
            if any(process.exitcode is not None for process in processes):
                raise RankLostError("another rank ended before the training began")
            time.sleep(0.02)
        with _group(device, store, 0, workers) as ranks:
            result = function(settings, ranks)
        patience = PATIENCE
        return result
    finally:
        for process in processes:
            process.join(patience)
            process.kill()


def _work(
    function: Callable[[Any, Ranks], Any], settings: Any, rank: int, size: int, port: int, device: str
) -> None:
    """What the processes of `launch` do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 handles Ctrl-C for all
    store = _store(port, is_master=False)
    store.set(f"ready {rank}", "")
    try:
        with one_line_errors(f"rank {rank}"), _group(device, store, rank, size) as ranks:
            function(settings, ranks)
    except RankLostError:
        sys.exit(1)  # rank 0 reports it, if it is not the lost one


def _store(port: int, is_master: bool) -> Any:
    """What the processes of `launch` meet at; port 0 is any free one."""
    from torch.distributed import TCPStore  # type: ignore[attr-defined]

    return TCPStore("127.0.0.1", port, is_master=is_master, wait_for_workers=False)


@contextmanager
def _group(device: str, store: Any = None, rank: int = -1, size: int = -1) -> Iterator[Ranks]:
    """The ranks, connected in the block; without a store as the environment says."""
    backend = "cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo"
    with _lost_ranks():
        distributed.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=TIMEOUT)
    try:
        yield Ranks(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
