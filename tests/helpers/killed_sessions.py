"""Commands and trainings in forked processes, killed at counted events.

Use it in separate scripts, since it forks: everything is imported once, before the first session.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Events = Sequence[tuple[Any, str]]
"""Functions whose calls are counted: (module or class, name)."""
FILE_EVENTS: Events = [(os, name) for name in ("fsync", "replace", "unlink", "mkdir")]


def kill_at(count: int, before: bool, events: Events) -> None:
    """Kill this process before or after call number `count` of these functions."""
    calls = 0

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == count and before:
                os.kill(os.getpid(), signal.SIGKILL)
            number = calls
            try:
                return call(*args, **kwargs)
            finally:
                if number == count:
                    os.kill(os.getpid(), signal.SIGKILL)

        return counting

    for owner, name in events:
        setattr(owner, name, counted(getattr(owner, name)))


def fork(work: Callable[[], object], output: Path) -> int:
    """Call `work` in a forked process that writes its output to this file; return its process id.

    The process ends with the status of SystemExit, or 1 after another exception, or else 0.
    """
    if process := os.fork():
        return process
    status = 1
    try:
        with output.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        work()
        status = 0
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
