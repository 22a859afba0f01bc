"""Processes that train together, over torch.distributed: gloo on CPUs, NCCL on GPUs of their own.

Each process is a *rank*. It plays its share of the games. All ranks take the same optimizer steps, because
they sum their gradients and counts. `launch` starts the ranks on this machine, or joins ranks that
``torchrun`` or Ray Train started on several machines.

The ranks that `launch` starts find each other through a file in a private folder, listen on the loopback
interface only, and prove to each other that they can read this file. All ranks exchange JSON and tensors,
never pickles: a rank cannot run code in another.
"""

from __future__ import annotations

import hmac
import json
import multiprocessing
import os
import re
import secrets
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import safetensors.torch
import torch
from torch import distributed

from gin_env.support.compilation import compile_silently
from gin_env.support.exits import one_line_errors
from gin_env.support.tensor_files import MAX_BYTES
from gin_env.training.checkpoints import Tensors

TIMEOUT = timedelta(days=1)
"""Maximum time that ranks wait for each other; they wait while rank 0 plays long evaluations."""
STARTING = 600.0
"""Seconds in which the processes of `launch` must have started; they import torch and compile."""
PATIENCE = 60.0
"""Seconds in which ranks that have started must connect, and in which the others must end after rank 0."""
SECRET = "secret"
"""Key in the store of `launch`: the text with which its ranks recognise each other."""
Task = TypeVar("Task")
Result = TypeVar("Result")


class RankLostError(ConnectionError):
    """Another rank has ended, cannot be reached or sends what no rank sends."""


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
        """Return the device of this rank; with several ranks, ``cuda`` is each GPU of the machine in turn."""
        if device == "cuda" and self.size > 1:
            local_rank = int(os.environ.get("LOCAL_RANK", self.rank))
            return f"cuda:{local_rank % max(torch.cuda.device_count(), 1)}"
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

    def broadcast(self, value: Any) -> Any:
        """Return the JSON-serialisable value of rank 0, as JSON gives it back: tuples become lists."""
        text = json.dumps(value).encode() if self.rank == 0 else b""
        return json.loads(self._broadcast_bytes(text))

    def broadcast_tensors(self, tensors: Tensors) -> Tensors:
        """Return the named tensors of rank 0, on the CPU."""
        packed = safetensors.torch.save(tensors) if self.rank == 0 else b""
        return safetensors.torch.load(self._broadcast_bytes(packed))

    def gather(self, rows: torch.Tensor, count: int) -> torch.Tensor:
        """Return the rows of all `count` items on rank 0, and no rows on the others.

        `rows` are those of this rank's `share`, on the CPU.
        """
        if self.size == 1:
            return rows
        shares = [Ranks(rank, self.size).share(count) for rank in range(self.size)]
        padded = rows.new_zeros(-(-count // self.size), *rows.shape[1:])
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in shares]
        with _lost_ranks():
            distributed.gather(padded, parts if self.rank == 0 else None)
        if self.rank:
            return rows[:0]
        return torch.cat([part[: own.stop - own.start] for part, own in zip(parts, shares, strict=True)])

    def _broadcast_bytes(self, content: bytes) -> bytes:
        """Return the bytes of rank 0."""
        if self.size == 1:
            return content
        length = torch.tensor([len(content)])
        with _lost_ranks():
            distributed.broadcast(length, 0)
            if not 0 <= int(length) <= MAX_BYTES:
                raise RankLostError(f"a message must have at most {MAX_BYTES:,} bytes, not {int(length):,}")
            received = torch.empty(int(length), dtype=torch.uint8)
            if self.rank == 0:
                received = torch.frombuffer(bytearray(content), dtype=torch.uint8)
            distributed.broadcast(received, 0)
        return received.numpy().tobytes()


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
    context, others, patience = multiprocessing.get_context("spawn"), range(1, workers), 0.0
    with tempfile.TemporaryDirectory(prefix="gin-env-ranks-") as private:
        path = f"{private}/store"  # the file through which all ranks meet
        store = distributed.FileStore(path, workers)
        store.set(SECRET, secrets.token_hex())
        tasks = [(function, settings, rank, workers, path, device) for rank in others]
        processes = [context.Process(target=_work, args=task, daemon=True) for task in tasks]
        try:
            for process in processes:
                process.start()
            deadline = time.monotonic() + STARTING
            while missing := [rank for rank in others if not store.check([f"ready {rank}"])]:
                if time.monotonic() > deadline:
                    raise RankLostError(f"rank {missing[0]} has not started after {STARTING:g} seconds")
                if any(process.exitcode is not None for process in processes):
                    raise RankLostError("another rank ended before the training began")
                time.sleep(0.02)
            with _private_group(device, store, 0, workers) as ranks:
                result = function(settings, ranks)
            patience = PATIENCE
            return result
        finally:
            for process in processes:
                process.join(patience)
                process.kill()


def _work(
    function: Callable[[Any, Ranks], Any], settings: Any, rank: int, size: int, path: str, device: str
) -> None:
    """Run `function` in a process of `launch`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 handles Ctrl-C for all
    compile_silently()
    store = distributed.FileStore(path, size)
    store.set(f"ready {rank}", "")
    with one_line_errors(f"rank {rank}"):
        try:
            with _private_group(device, store, rank, size) as ranks:
                function(settings, ranks)
        except RankLostError:
            sys.exit(1)  # rank 0 reports it, unless rank 0 is lost


@contextmanager
def _private_group(device: str, store: Any, rank: int, size: int) -> Iterator[Ranks]:
    """Connect the ranks of `launch` for the block, on the loopback interface and without strangers."""
    with _loopback_only(), _group(device, store, rank, size, timedelta(seconds=PATIENCE)) as ranks:
        _check_members(ranks, store.get(SECRET))
        distributed.distributed_c10d._set_pg_timeout(TIMEOUT)
        yield ranks


def _check_members(ranks: Ranks, secret: bytes) -> None:
    """Raise RankLostError unless each other rank proves that it knows the secret.

    Gloo accepts any process that connects first and guesses a small number. Each direction between two ranks
    has its own proof, so that a stranger cannot pass on a proof that it received.
    """

    def proof(sender: int, receiver: int) -> bytes:
        return hmac.digest(secret, f"{sender} to {receiver}".encode(), "sha256")

    expected = b"".join(proof(rank, ranks.rank) for rank in range(ranks.size))
    own = bytearray(b"".join(proof(ranks.rank, rank) for rank in range(ranks.size)))
    received = torch.zeros(len(own), dtype=torch.uint8)
    with _lost_ranks():
        distributed.all_to_all_single(received, torch.frombuffer(own, dtype=torch.uint8))
    if not hmac.compare_digest(received.numpy().tobytes(), expected):
        raise RankLostError("a process that is not part of this training has connected in place of a rank")


@contextmanager
def _loopback_only() -> Iterator[None]:
    """Let gloo and NCCL listen on the loopback interface in the block: NCCL connects at its first use."""
    loopback = next((name for _, name in socket.if_nameindex() if name in ("lo", "lo0")), None)
    before = {name: os.environ.get(name) for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")}
    if loopback is not None:
        os.environ.update(dict.fromkeys(before, loopback))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _group(
    device: str, store: Any = None, rank: int = -1, size: int = -1, timeout: timedelta = TIMEOUT
) -> Iterator[Ranks]:
    """Connect the ranks for the block; without a store, use the environment variables."""
    # NCCL refuses ranks that share a GPU; gloo sums their gradients on the CPU.
    ranks_here = int(os.environ.get("LOCAL_WORLD_SIZE", size))
    own_gpu = device == "cuda" and ranks_here <= torch.cuda.device_count()
    backend = "cpu:gloo,cuda:nccl" if own_gpu else "gloo"
    with _lost_ranks():
        distributed.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=timeout)
    try:
        yield Ranks(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
