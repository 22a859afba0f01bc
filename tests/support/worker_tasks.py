"""What workers do in tests. They import this file, which therefore imports little."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def square(number: int) -> int:
    return number**2


class Uncopied(Exception):
    """Reading it back from a pickle fails, as for many exceptions with arguments of their own."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def fail(number: int) -> int:
    raise Uncopied("one", "two") if number == 1 else ValueError("the task is wrong")


def die_once_each(task: tuple[Path, int]) -> int:
    """Every task ends its process when it is begun for the first time."""
    folder, number = task
    try:
        (folder / str(number)).touch(exist_ok=False)
    except FileExistsError:
        return number**2
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def die_once(task: tuple[Path, int]) -> int:
    """The third task ends its process when it is done for the first time; all say that they were begun."""
    folder, number = task
    (folder / f"{number}-{os.getpid()}").touch()
    if number == 2 and len(list(folder.glob("2-*"))) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def sleep_for_minutes(seconds: int) -> int:
    time.sleep(seconds)
    return seconds


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def wait_on_node(task: tuple[Path, str, int]) -> int:
    """On the node with this name a task never ends; elsewhere it waits until one has begun there."""
    import ray

    folder, node, number = task
    if ray.get_runtime_context().get_node_id() == node:
        (folder / f"{number}").touch()
        time.sleep(600)
    while not any(folder.iterdir()):
        time.sleep(0.1)
    return number**2
