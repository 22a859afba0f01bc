"""Tasks on Ray, by a module that stands in for Ray: limits, errors, releases and addresses."""

from __future__ import annotations

import pickle
import sys
import types

import pytest
from worker_tasks import fail, square

from gin_env.support import ray_workers
from gin_env.support.process_workers import MAX_LOSSES
from gin_env.support.workers import Workers


class TaskError(Exception):
    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class LostError(Exception):
    """Of Ray itself, as when a node is lost too often."""


@pytest.fixture
def ray(monkeypatch) -> types.SimpleNamespace:
    """Ray with one core, whose tasks are done when their results are asked for; `asked` are its options."""
    found = types.SimpleNamespace(asked=[], shut=0, started=[], is_initialized=lambda: False)

    def get(reference, timeout=None):
        function, *arguments = reference
        try:
            return function(*arguments)
        except LostError:
            raise
        except Exception as error:
            raise TaskError(error) from error

    def remote(**options):
        found.asked.append(options)
        return lambda function: types.SimpleNamespace(remote=lambda *arguments: (function, *arguments))

    found.exceptions = types.SimpleNamespace(RayTaskError=TaskError, RayError=LostError)
    found.get, found.remote, found.cloudpickle = get, remote, pickle
    found.init = lambda address, logging_level: found.started.append(address)
    found.cluster_resources = lambda: {"CPU": 1.0}
    found.cancel = lambda reference, force: None
    found.shutdown = lambda: setattr(found, "shut", found.shut + 1)
    monkeypatch.setitem(sys.modules, "ray", found)
    return found


def lose(task):
    raise LostError("a node was lost\nand more")


def test_results_are_in_task_order_and_errors_propagate(ray):
    with Workers(ray=True) as crew:
        assert list(crew.map(square, range(20))) == [number**2 for number in range(20)]
        with pytest.raises(ValueError, match=r"^the task is wrong$"):
            list(crew.map(fail, [0]))
        with pytest.raises(ChildProcessError, match=r"lost .*\(a node was lost\)$"):
            list(crew.map(lose, [1]))
    assert ray.asked[0] == {"num_cpus": 1, "max_retries": MAX_LOSSES}
    assert ray.started[0] is None
    assert ray.shut == len(ray.started)


def test_cores_get_two_tasks_each_and_results_are_waited_for_as_long_as_asked(ray, monkeypatch):
    ray.cluster_resources = lambda: {"CPU": 3.0}
    assert [ray_workers.RayPool(True, number).num_ahead for number in ("all", 4)] == [6, 4]
    waited = []
    monkeypatch.setattr(ray, "get", lambda reference, timeout=None: waited.append(timeout))
    ray_workers._RayFuture(ray, None).result(2.5)
    assert waited == [2.5]


def test_node_with_another_release_raises(ray, monkeypatch):
    run = ray_workers._call_on_node
    monkeypatch.setattr(
        ray_workers, "_call_on_node", lambda function, task, version: run(function, task, "0")
    )
    with Workers(ray=True) as crew, pytest.raises(ImportError, match=r"this program 0: install the same"):
        list(crew.map(square, [1]))


def test_unreachable_address_raises(ray):
    for address in ("127.0.0.1:1", "ray://127.0.0.1:1", "[::1]:99999"):
        with Workers(ray=address) as nobody, pytest.raises(ConnectionError) as error:
            list(nobody.map(square, [1]))
        assert f"no Ray cluster answers at {address} (" in str(error.value)
