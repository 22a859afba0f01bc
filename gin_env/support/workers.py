"""Who does the work: this process, processes beside it, or a Ray cluster. The results are the same.

Work is a function and its tasks. A task says everything that its result depends on, seeds included, and is
cut without regard to who works; results come in the order of the tasks, each once. So sums, files and
floating-point numbers are the same to the bit. What a worker was doing when it was lost (killed, out of
memory, its machine gone) is done again by another.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from types import TracebackType
from typing import Any, Literal, TypeVar

from gin_env.support.checks import check_integer
from gin_env.support.version import __version__

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_WORKERS = 4096
MOST_LOSSES = 3
"""How often workers may be lost while nothing gets done; on Ray, how often each task is tried again."""
_LOST = (
    f"workers were lost {MOST_LOSSES + 1} times in the middle of the same work, "
    "killed or out of memory: try fewer workers"
)


class Workers:
    """Works for this program until it is closed.

    >>> with Workers("all") as workers:
    ...     for seed in range(10):
    ...         print(play_match("simple", "tonic", 100_000, seed, workers=workers))

    Parameters
    ----------
    count : 1 works in this process, more in so many processes beside it, "all" in one for each core that this
        process may use. With `ray` so many tasks run at once, "all" as many as the cluster has cores.
        Default: 1, with `ray` "all".
    ray : True: a Ray cluster, the one named by ``RAY_ADDRESS`` or started on this machine, else a new one of
        this machine alone. A text: the cluster at this address, such as ``"10.0.0.1:6379"``. A program that
        has called ``ray.init`` itself stays where it is.

    A script that starts processes does so below ``if __name__ == "__main__":``, since each of them reads it.

    Raises TypeError or ValueError for another `count` or `ray`.
    """

    def __init__(self, count: int | Literal["all"] | None = None, ray: bool | str = False) -> None:
        if not isinstance(ray, bool | str) or ray == "":
            raise TypeError(f"ray is True, False or the address of a cluster, not {ray!r}")
        if isinstance(count, str) and count != "all":
            raise ValueError(f'workers = {count!r}: a number or "all" is needed')
        if count is not None and count != "all":
            count = check_integer("workers", count, 1, MOST_WORKERS)
        self.count = ("all" if ray else 1) if count is None else count
        self.ray = ray
        self._crew: _Processes | _RayTasks | None = None

    @property
    def here(self) -> bool:
        """Whether the work is done in this process."""
        return not self.ray and self.count == 1

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """``function(task)`` for each task, in the order of the tasks, of which there may be no end.

        Unless the work is done here, `function` is one of a module, and tasks and results can be pickled. Who
        stops iterating stops the work.

        Raises what `function` raises, ChildProcessError if workers are lost again and again, ImportError or
        ConnectionError where there is no Ray or no cluster.
        """
        if self.here:
            yield from map(function, tasks)
            return
        crew = self._working()
        left, waiting = iter(tasks), deque[Any]()
        try:
            while True:
                waiting.extend(crew.begin(function, task) for task in islice(left, crew.ahead - len(waiting)))
                if not waiting:
                    return
                result = crew.result(waiting[0])
                waiting.popleft()
                yield result
        finally:
            for job in waiting:
                crew.cancel(job)

    def pickled(self, value: object, what: str) -> bytes:
        """A value for tasks to hold, to be read by `pickle.loads`; `what` names it in errors.

        Raises ValueError if it cannot be sent to another process.
        """
        crew = self._working()
        try:
            return crew.dumps(value)
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
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.end(kind, error, trace)

    def _working(self) -> _Processes | _RayTasks:
        if self._crew is None:
            self._crew = (
                _RayTasks(self.ray, self.count)
                if self.ray
                else _Processes(_cores() if self.count == "all" else self.count)
            )
        return self._crew


@contextmanager
def opened(workers: int | Literal["all"] | Workers) -> Iterator[Workers]:
    """These workers, or so many new ones, which are closed at the end of the block."""
    if isinstance(workers, Workers):
        yield workers
        return
    with Workers(workers) as new:
        yield new


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _do(function: Callable[[Task], Result], task: Task) -> Result:
    """In a worker: the result, or an error that survives the way back."""
    try:
        return function(task)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # a class may raise anything here
            raise RuntimeError(f"{type(error).__name__}: {error}") from None
        raise


# --- Processes ----------------------------------------------------------------------------------------


class _Job:
    """A task that has been begun, and may have to be begun again."""

    def __init__(self, function: Callable[[Any], Any], task: object) -> None:
        self.function, self.task = function, task
        self.future: Future[Any] = Future()


class _Processes:
    """So many processes. When one is lost the pool is broken: a new one does what is not done."""

    def __init__(self, count: int) -> None:
        self.ahead = 2 * count
        self._count = count
        self._jobs: list[_Job] = []
        self._losses = 0
        self._abandoned = False
        self._open()

    def dumps(self, value: object) -> bytes:
        return pickle.dumps(value)

    def begin(self, function: Callable[[Any], Any], task: object) -> _Job:
        job = _Job(function, task)
        self._jobs.append(job)
        self._submit(job)
        return job

    def result(self, job: _Job) -> Any:
        while True:
            try:
                result = job.future.result()
            except BrokenExecutor:
                self._begin_again()
            else:
                self._losses = 0
                self._jobs.remove(job)
                return result

    def cancel(self, job: _Job) -> None:
        self._jobs.remove(job)
        self._abandoned |= not (job.future.cancel() or job.future.done())

    def end(self, *error: Any) -> None:
        if (
            self._abandoned and error[0] is None
        ):  # nobody waits for what is still being done: as after an error
            error = (GeneratorExit, GeneratorExit(), None)
        self._pool.__exit__(*error)

    def _open(self) -> None:
        self._pool = ExitStack()
        self._executor = self._pool.enter_context(process_pool(self._count))
        self._first = self._executor.submit(os.getpid)

    def _submit(self, job: _Job) -> None:
        try:
            job.future = self._executor.submit(_do, job.function, job.task)
        except BrokenExecutor as error:
            job.future = Future()
            job.future.set_exception(error)

    def _begin_again(self) -> None:
        if isinstance(self._first.exception(), BrokenExecutor):
            raise ChildProcessError(
                "worker processes ended as soon as they had started; a script that uses workers needs "
                'what it does below a line  if __name__ == "__main__":'
            )
        self._losses += 1
        if self._losses > MOST_LOSSES:
            raise ChildProcessError(_LOST)
        self._pool.close()
        self._open()
        for job in self._jobs:
            if job.future.done() and isinstance(job.future.exception(), BrokenExecutor):
                self._submit(job)


@contextmanager
def process_pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """An executor of `count` fresh processes.

    If the block raises (Ctrl-C included), the workers are stopped at once, in the middle of what they do; if
    this process is killed, they end too.
    """
    before = set(active_children())
    executor = ProcessPoolExecutor(count, get_context("spawn"), _begin)
    try:
        with _interrupts_ignored():
            for _ in range(count):  # each starts a process, since none is idle yet
                executor.submit(os.getpid)
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in set(active_children()) - before:
            worker.terminate()
        raise
    finally:
        executor.shutdown()


def _begin() -> None:
    """In a worker: one thread; leave Ctrl-C to the parent, which stops its workers, and end when it has."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    if "torch" in sys.modules:  # by the parent's script, before it could read that
        sys.modules["torch"].set_num_threads(1)
    parent = parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


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


# --- Ray ----------------------------------------------------------------------------------------------


class _RayTasks:
    """Tasks of a Ray cluster, which does again what a lost worker or node was doing."""

    def __init__(self, address: bool | str, count: int | str) -> None:
        try:
            import ray
        except ImportError as error:
            raise ImportError(f'ray is not installed: pip install "gin-env[ray]" ({error})') from error
        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            if isinstance(address, str):
                _check_answers(address)
            ray.init(None if address is True else address, logging_level="error")
        self._do = ray.remote(num_cpus=1, max_retries=MOST_LOSSES)(_do_on_node)
        self.ahead = 2 * (
            max(1, int(ray.cluster_resources().get("CPU", 1))) if count == "all" else int(count)
        )

    def dumps(self, value: object) -> bytes:
        # By value where the class is the program's own, which the nodes do not have.
        return bytes(self._ray.cloudpickle.dumps(value))

    def begin(self, function: Callable[[Any], Any], task: object) -> Any:
        return self._do.remote(function, task, __version__)

    def result(self, job: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(job)
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.RayError as error:
            raise ChildProcessError(f"{_LOST} ({str(error).strip().splitlines()[0]})") from error

    def cancel(self, job: Any) -> None:
        with suppress(Exception):  # the cluster may be gone
            self._ray.cancel(job, force=True)

    def end(self, *_: Any) -> None:
        if self._ours:
            self._ray.shutdown()


def _check_answers(address: str) -> None:
    """Raise ConnectionError unless something answers at HOST:PORT: Ray itself would try for a minute."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not port.isdecimal():
        return  # one of Ray's words, such as "auto"
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"no Ray cluster answers at {address} ({error})") from error


def _do_on_node(function: Callable[[Task], Result], task: Task, version: str) -> Result:
    """`_do`, where the release is the same."""
    if version != __version__:
        raise ImportError(
            f"a node has gin-env {__version__}, this program {version}: install one release on all"
        )
    return _do(function, task)
