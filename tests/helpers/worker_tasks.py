"""Functions that workers run in the tests. Workers import this file, so it imports little."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def is_running(process: int) -> bool:
    """Return whether the process with this number is still running."""
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def square(number: int) -> int:
    return number**2


class Uncopied(Exception):
    """An exception that cannot be unpickled, like many exceptions with their own arguments."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def fail(number: int) -> int:
    raise Uncopied("one", "two") if number == 1 else ValueError("the task is wrong")


def die_once_each(task: tuple[Path, int]) -> int:
    """Kill the process when a task is started for the first time."""
    folder, number = task
    try:
        (folder / str(number)).touch(exist_ok=False)
    except FileExistsError:
        return number**2
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def die_once(task: tuple[Path, int]) -> int:
    """Record every start, and kill the process when the third task runs for the first time."""
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
