"""Numbers of threads of torch: a fixed one where sums must not vary, and a warning of too many."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""The limit of a Linux container: "QUOTA PERIOD" in microseconds, or "max PERIOD"."""
_warned = False


@contextmanager
def torch_threads(number: int = 1) -> Iterator[None]:
    """Let torch, if it is installed, compute with this number of threads in the block.

    The order of a sum, and so its last digits, depends on the number of threads.
    """
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def usable_cores() -> int:
    """Return the number of cores that this process may use, by its affinity and its container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text().split()
        return max(1, min(cores, round(int(quota) / int(period))))
    except (OSError, ValueError):  # not a container, or no limit
        return cores


def warn_if_threads_compete() -> None:
    """Warn once per process if torch is imported and has more threads than there are idle cores.

    Threads that wait for each other slow down a small network by a factor of ten and more.
    """
    global _warned  # noqa: PLW0603 (once per process)
    torch = sys.modules.get("torch")
    if _warned or torch is None:
        return
    cores = usable_cores()
    try:
        others = max(os.getloadavg()[0] - 1, 0)  # this process may have kept one core busy in the last minute
    except (AttributeError, OSError):  # Windows
        others = 0
    threads, idle = torch.get_num_threads(), max(1, round(cores - others))
    if threads > idle:
        _warned = True
        warnings.warn(
            f"torch computes with {threads} threads, but only {idle} of {cores} cores "
            f"{'is' if idle == 1 else 'are'} idle, which makes small networks many times slower: "
            "call torch.set_num_threads(1) first",
            stacklevel=3,
        )
