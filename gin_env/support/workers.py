"""Worker pools: this process, several processes, or a Ray cluster, with the same results.

Work is a function and its tasks. A task contains everything that its result depends on, seeds included, and
the tasks do not depend on the number of workers. Results come in the order of the tasks, each once. So sums,
files and floating-point numbers are the same to the bit. The task of a worker that is lost (killed, out of
memory, its machine switched off) is done again by another.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from gin_env.support.checks import check_integer

if TYPE_CHECKING:
    from gin_env.support.ray_workers import RayPool

Task = TypeVar("Task")
Result = TypeVar("Result")

MAX_WORKERS = 4096
MAX_LOSSES = 3
"""How often workers may be lost before the next result arrives; on Ray, how often a task is tried again."""
LOST = (
    f"workers were lost {MAX_LOSSES + 1} times during the same work "
    "(killed or out of memory): try fewer workers"
)


class Workers:
    """Works for this program until it is closed.

    >>> with Workers("all") as workers:
    ...     for seed in range(10):
    ...         print(play_match("simple", "tonic", 100_000, seed, workers=workers))

    Parameters
    ----------
    count : 1 works in this process, more in that many processes, "all" in one process for each core that this
        process may use. With `ray`, that many tasks run at the same time; "all" is one for each core of the
        cluster. Default: 1, with `ray` "all".
    ray : True: a Ray cluster, the one that ``RAY_ADDRESS`` names or that runs on this machine, or else a new
        one on this machine. A text: the cluster at this address, such as ``"10.0.0.1:6379"``. If the program
        has called ``ray.init`` itself, that cluster is used.

    A script that starts processes needs ``if __name__ == "__main__":``, because each process imports it.

    Raises TypeError or ValueError for another `count` or `ray`.
    """

    def __init__(self, count: int | Literal["all"] | None = None, ray: bool | str = False) -> None:
        if not isinstance(ray, bool | str) or ray == "":
            raise TypeError(f"ray must be True, False or the address of a cluster, not {ray!r}")
        if isinstance(count, str) and count != "all":
            raise ValueError(f'workers must be a number or "all", not {count!r}')
        if count is not None and count != "all":
            count = check_integer("workers", count, 1, MAX_WORKERS)
        self.count = ("all" if ray else 1) if count is None else count
        self.ray = ray
        self._open_pool: ProcessPool | RayPool | None = None

    @property
    def here(self) -> bool:
        """Whether the work is done in this process."""
        return not self.ray and self.count == 1

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """Yield ``function(task)`` for each task, in the order of the tasks, which may be endless.

        Unless the work is done here, `function` belongs to a module, and tasks and results can be pickled.
        Closing the generator stops the work.

        Raises what `function` raises, ChildProcessError if workers are lost again and again, ImportError or
        ConnectionError if Ray is not installed or no cluster answers.
        """
        if self.here:
            yield from map(function, tasks)
            return
        pool = self._pool()
        remaining, jobs, num_losses = iter(tasks), deque[_Job](), 0
        try:
            while True:
                for task in islice(remaining, pool.num_ahead - len(jobs)):
                    jobs.append(_Job(task, pool.submit(function, task)))
                if not jobs:
                    return
                try:
                    result = jobs[0].future.result()
                except BrokenExecutor as error:
                    num_losses += 1
                    if num_losses > MAX_LOSSES:
                        raise ChildProcessError(LOST) from error
                    pool.replace()
                    for job in jobs:
                        if job.future.done() and isinstance(job.future.exception(), BrokenExecutor):
                            job.future = pool.submit(function, job.task)
                else:
                    num_losses = 0
                    jobs.popleft()
                    yield result
        finally:
            pool.cancel([job.future for job in jobs])

    def pickled(self, value: object, what: str) -> bytes:
        """Return a value for tasks to contain, to be read by `pickle.loads`; `what` names it in errors.

        Raises ValueError if it cannot be sent to another process.
        """
        pool = self._pool()
        try:
            return pool.dumps(value)
        except Exception as error:  # a class may raise anything here
            raise ValueError(f"{what} cannot be sent to another process ({error})") from error

    def close(self) -> None:
        """End the processes, or leave the cluster."""
        self.__exit__(None, None, None)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pool, self._open_pool = self._open_pool, None
        if pool is not None:
            pool.close(kill=kind is not None)

    def _pool(self) -> ProcessPool | RayPool:
        if self._open_pool is None:
            if self.ray:
                from gin_env.support.ray_workers import RayPool

                self._open_pool = RayPool(self.ray, self.count)
            else:
                self._open_pool = ProcessPool(_num_cores() if self.count == "all" else self.count)
        return self._open_pool


@contextmanager
def opened(workers: int | Literal["all"] | Workers) -> Iterator[Workers]:
    """Yield these workers, or that many new ones, which are closed at the end of the block."""
    if isinstance(workers, Workers):
        yield workers
        return
    with Workers(workers) as new:
        yield new


def _num_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


class _Job:
    """A task that has been submitted, and may have to be submitted again."""

    def __init__(self, task: Any, future: Future[Any]) -> None:
        self.task, self.future = task, future


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


def _begin() -> None:
    """In a worker: use one thread, leave Ctrl-C to the parent, which stops its workers, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    if "torch" in sys.modules:  # imported by the parent's script, before it could read that
        sys.modules["torch"].set_num_threads(1)
    parent = parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


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
