"""Processes of this machine that work for `gin_env.support.workers.Workers`.

joblib's processes are not enough: a lost worker ends the work there, and workers survive a killed parent.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context, parent_process
from typing import Any, TypeVar

from gin_env.support.exits import run_finalizers

Task = TypeVar("Task")
Result = TypeVar("Result")

STOP_SECONDS = 5
"""How long a worker may take to stop the programs of its bots."""
MAX_LOSSES = 3
"""How often workers may be lost before the next result arrives; on Ray, how often a task is tried again."""
LOST = (
    f"workers were lost {MAX_LOSSES + 1} times during the same work "
    "(killed or out of memory): try fewer workers"
)


def call(function: Callable[[Task], Result], task: Task) -> Result:
    """In a worker: return the result, or raise an error that can be sent back."""
    try:
        return function(task)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # a class may raise anything here
            raise RuntimeError(f"{type(error).__name__}: {error}") from None
        raise


class ProcessPool:
    """Fresh processes, all replaced when one is lost. They end with this process, even if it is killed."""

    def __init__(self, num_processes: int) -> None:
        self.num_ahead = 2 * num_processes
        self._num_processes = num_processes
        self._executor: ProcessPoolExecutor | None = None

    def submit(self, function: Callable[[Any], Any], task: object) -> Future[Any]:
        try:
            return (self._executor or self._start()).submit(call, function, task)
        except BrokenExecutor as error:
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    def replace(self) -> None:
        """Prepare for `submit` after a process was lost."""
        self.close(kill=False)
        # A process that was killed has another status than one that could not import the script.
        failed = any(process.exitcode == 1 for process in self._processes)
        if failed and isinstance(self._first.exception(), BrokenExecutor):
            raise ChildProcessError(
                "worker processes ended as soon as they started; in a script that uses workers, put the "
                'code below  if __name__ == "__main__":'
            )

    def cancel(self, futures: list[Future[Any]]) -> None:
        if [future for future in futures if not future.cancel() and not future.done()]:
            self.close(kill=True)

    def dumps(self, value: object) -> bytes:
        return pickle.dumps(value)

    def close(self, kill: bool) -> None:
        executor, self._executor = self._executor, None
        if executor is None:
            return
        if kill:
            for process in self._processes:
                process.terminate()
            end = time.monotonic() + STOP_SECONDS
            for process in self._processes:
                process.join(max(end - time.monotonic(), 0))
                process.kill()  # a kernel does not notice that it was asked to end
        executor.shutdown()

    def _start(self) -> ProcessPoolExecutor:
        before = set(active_children())
        self._executor = ProcessPoolExecutor(self._num_processes, get_context("spawn"), _begin)
        with _interrupts_ignored():
            self._first = self._executor.submit(os.getpid)
            with suppress(BrokenExecutor):  # killed already: the first task will say so
                for _ in range(self._num_processes - 1):  # each starts a process, since none is idle yet
                    self._executor.submit(os.getpid)
            self._processes = set(active_children()) - before
        return self._executor


_ending = threading.Lock()


def _begin() -> None:
    """In a worker: use one thread, leave Ctrl-C to the parent, which stops its workers, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _end())
    os.environ["OMP_NUM_THREADS"] = "1"
    if "torch" in sys.modules:  # imported by the parent's script, before it could read that
        sys.modules["torch"].set_num_threads(1)
    parent = parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
            _end()

    threading.Thread(target=end_with_parent, daemon=True).start()


def _end() -> None:
    """End this process without its exit handlers, which a worker's loop would prevent or delay."""
    if _ending.acquire(blocking=False):  # a second signal must not end what the first one has begun
        run_finalizers()
        os._exit(1)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes started in the block ignore Ctrl-C from the beginning, not only from `_begin` on."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set this
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
