"""Workers of a Ray cluster. Ray does again what a lost worker or node was doing."""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from gin_env.support.process_workers import LOST, MAX_LOSSES, Result, Task, call
from gin_env.support.version import __version__


class RayPool:
    """A pool for `Workers`: the tasks of a Ray cluster.

    Raises ImportError if Ray is not installed, ConnectionError if no cluster answers at `address`.
    """

    def __init__(self, address: bool | str, num_tasks: int | str) -> None:
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
        self._call = ray.remote(num_cpus=1, max_retries=MAX_LOSSES)(_call_on_node)
        num_cores = int(ray.cluster_resources().get("CPU", 1))
        # Ray runs every task that it is given as soon as a core is free.
        self.num_ahead = 2 * max(1, num_cores) if num_tasks == "all" else int(num_tasks)

    def submit(self, function: Callable[[Any], Any], task: object) -> Future[Any]:
        return _RayFuture(self._ray, self._call.remote(function, task, __version__))

    def replace(self) -> None:
        pass

    def cancel(self, futures: list[Future[Any]]) -> None:
        for future in futures:
            future.cancel()

    def dumps(self, value: object) -> bytes:
        # By value where the class is the program's own, which the nodes do not have.
        return bytes(self._ray.cloudpickle.dumps(value))

    def close(self, kill: bool) -> None:
        if self._ours:
            self._ray.shutdown()


class _RayFuture(Future[Any]):
    """The result of a task, with the errors that `Workers` promises."""

    def __init__(self, ray: Any, reference: Any) -> None:
        super().__init__()
        self._ray, self._reference = ray, reference

    def result(self, timeout: float | None = None) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(self._reference, timeout=timeout)
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.RayError as error:
            raise ChildProcessError(f"{LOST} ({str(error).strip().splitlines()[0]})") from error

    def cancel(self) -> bool:
        with suppress(Exception):  # the cluster may be gone
            self._ray.cancel(self._reference, force=True)
        return True


def _check_answers(address: str) -> None:
    """Raise ConnectionError unless something answers at HOST:PORT: Ray itself would try for a minute."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not port.isdecimal():
        return  # one of Ray's words, such as "auto"
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"no Ray cluster answers at {address} ({error})") from error


def _call_on_node(function: Callable[[Task], Result], task: Task, version: str) -> Result:
    """Run `call` if the node has the same release."""
    if version != __version__:
        raise ImportError(
            f"a node has gin-env {__version__}, this program {version}: install the same release on all nodes"
        )
    return call(function, task)
