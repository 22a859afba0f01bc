"""Processes that train together, over torch.distributed: gloo on CPUs, NCCL on GPUs.

Each process is a *rank*. It plays its share of the games. All ranks take the same optimizer steps, because
they sum their gradients and counts. `launch` starts the ranks on this machine, or joins ranks that
``torchrun`` or Ray Train started on several machines.
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
"""Maximum time that ranks wait for each other; they wait while rank 0 plays long evaluations."""
PATIENCE = 60.0
"""Seconds to wait for the other ranks to end after rank 0."""
Value = TypeVar("Value")
Task = TypeVar("Task")
Result = TypeVar("Result")


class RankLostError(ConnectionError):
    """Another rank has ended or cannot be reached."""


class Ranks:
    """Communication between the processes that train together; by default there is only this one.

    All ranks must call the same methods in the same order. Raises RankLostError if another rank is lost.

    Attributes
    ----------
    rank : index of this rank.
    size : number of ranks.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    def share(self, count: int) -> slice:
        """Return this rank's slice of `count` items, such as games."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def device(self, device: str) -> str:
        """Return the device of this rank; with several ranks, ``cuda`` is one GPU per rank."""
        if device == "cuda" and self.size > 1:
            return f"cuda:{os.environ.get('LOCAL_RANK', self.rank)}"
        return device

    def add(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum the tensors of all ranks in place, and return the sum."""
        if self.size > 1:
            with _lost_ranks():
                distributed.all_reduce(tensor)
        return tensor

    def sum(self, array: np.ndarray) -> np.ndarray:
        """Return the sum of all ranks' arrays, float64."""
        return self.add(torch.from_numpy(np.array(array, np.float64))).numpy()

    def broadcast(self, value: Value) -> Value:
        """Return the value of rank 0, which can be any object that can be pickled."""
        if self.size == 1:
            return value
        values = [value]
        with _lost_ranks():
            distributed.broadcast_object_list(values, 0)
        return values[0]

    def gather(self, value: Value) -> list[Value]:
        """Return the values of all ranks on rank 0, and an empty list on the others."""
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
    except RuntimeError as error:  # torch raises only this when a connection breaks
        # Gloo's messages begin with a source location in brackets and end with advice.
        reason = re.sub(r"^\[\S+\] ", "", str(error).splitlines()[0]).partition(". ")[0]
        raise RankLostError(f"another rank was lost: {reason}") from error


def launch(
    function: Callable[[Task, Ranks], Result], settings: Task, workers: int, device: str = "cpu"
) -> Result:
    """Call ``function(settings, ranks)`` in `workers` processes, and return the result of this one, rank 0.

    The others are new Python processes, which import `function` by its name. If torchrun or Ray Train has
    started this process as one of several ranks, `workers` is ignored and no process is started.

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
    """Run `function` in a process of `launch`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 handles Ctrl-C for all
    store = _store(port, is_master=False)
    store.set(f"ready {rank}", "")
    with one_line_errors(f"rank {rank}"):
        try:
            with _group(device, store, rank, size) as ranks:
                function(settings, ranks)
        except RankLostError:
            sys.exit(1)  # rank 0 reports it, unless rank 0 is lost


def _store(port: int, is_master: bool) -> Any:
    """Return the store through which the processes of `launch` connect; port 0 selects a free port."""
    from torch.distributed import TCPStore  # type: ignore[attr-defined]

    return TCPStore("127.0.0.1", port, is_master=is_master, wait_for_workers=False)


@contextmanager
def _group(device: str, store: Any = None, rank: int = -1, size: int = -1) -> Iterator[Ranks]:
    """Connect the ranks for the block; without a store, use the environment variables."""
    backend = "cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo"
    with _lost_ranks():
        distributed.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=TIMEOUT)
    try:
        yield Ranks(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
