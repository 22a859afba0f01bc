"""Worker pools: this process, several processes, or a Ray cluster, with the same results.

Work is a function and its tasks. A task contains everything that its result depends on, seeds included, and
the tasks do not depend on the number of workers. Results come in the order of the tasks, each once. So sums,
files and floating-point numbers are the same to the bit. The task of a worker that is lost (killed, out of
memory, its machine switched off) is done again by another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, Future
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Literal

from gin_env.support.checks import check_integer
from gin_env.support.process_workers import LOST, MAX_LOSSES, ProcessPool, Result, Task
from gin_env.support.ray_workers import RayPool
from gin_env.support.threads import usable_cores


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
            count = check_integer("workers", count, 1, 4096)
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
        remaining, jobs, num_losses = iter(tasks), deque[tuple[Task, Future[Result]]](), 0
        try:
            while True:
                for task in islice(remaining, pool.num_ahead - len(jobs)):
                    jobs.append((task, pool.submit(function, task)))
                if not jobs:
                    return
                try:
                    result = jobs[0][1].result()
                except BrokenExecutor as error:
                    num_losses += 1
                    if num_losses > MAX_LOSSES:
                        raise ChildProcessError(LOST) from error
                    pool.replace()
                    for number, (task, future) in enumerate(jobs):
                        if future.done() and isinstance(future.exception(), BrokenExecutor):
                            jobs[number] = task, pool.submit(function, task)
                else:
                    num_losses = 0
                    jobs.popleft()
                    yield result
        finally:
            pool.cancel([future for _, future in jobs])

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
        self.__exit__(None)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        pool, self._open_pool = self._open_pool, None
        if pool is not None:
            pool.close(kill=kind is not None)

    def _pool(self) -> ProcessPool | RayPool:
        if self._open_pool is None:
            if self.ray:
                self._open_pool = RayPool(self.ray, self.count)
            else:
                self._open_pool = ProcessPool(usable_cores() if self.count == "all" else self.count)
        return self._open_pool


def opened(workers: int | Literal["all"] | Workers) -> AbstractContextManager[Workers]:
    """Return a context with these workers, or with that many new ones, which are closed at its end."""
    return nullcontext(workers) if isinstance(workers, Workers) else Workers(workers)
