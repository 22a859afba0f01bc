"""Processes that work for this one, and end with it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from typing import Any


@contextmanager
def process_pool(
    count: int, initializer: Callable[..., object], arguments: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """An executor of `count` fresh processes, each of which begins with ``initializer(*arguments)``.

    If the block raises (Ctrl-C included), the workers are stopped at once, in the middle of what they do; if
    this process is killed, they end too.
    """
    before = set(active_children())
    executor = ProcessPoolExecutor(count, get_context("spawn"), _begin, (initializer, arguments))
    try:
        with _interrupts_ignored():
            executor.submit(os.getpid)  # starts all the processes
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in set(active_children()) - before:
            worker.terminate()
        raise
    finally:
        executor.shutdown()


def _begin(initializer: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """In a worker: leave Ctrl-C to the parent, which stops its workers, and end when the parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    initializer(*arguments)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started in the block ignore Ctrl-C from their first moment on, not only from `_begin` on."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set this
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
