"""Commands and training examples in forked processes, killed at counted events.

Use it in separate scripts, since it forks: everything is imported once, before the first session.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cloudpickle
import torch

from gin_env.training.ranks import Ranks

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


def forbid_pickles() -> None:
    """Make the functions by which SB3 and torch read pickled objects raise."""

    def refuse(*_, **__):
        raise AssertionError("a session unpickled something")

    def load(*args, load=torch.load, **kwargs):
        return load(*args, **kwargs) if kwargs.get("weights_only") else refuse()

    cloudpickle.loads = cloudpickle.load = refuse
    torch.load = load


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


def start(example, settings, prepare=lambda: None) -> int:
    """Fork a session with its output in output.txt next to the run; return its process id."""
    train = partial(example.train, ranks=Ranks()) if example.__name__ == "ppo" else example.train

    def session() -> None:
        forbid_pickles()
        prepare()
        with example.one_line_errors(example.__name__):
            train(settings)

    return fork(session, settings.run.parent / "output.txt")


def kill_session(
    example, settings, generator: random.Random, max_calls: int, events: Events = FILE_EVENTS
) -> None:
    """Start a session and kill it, before or after a random one of the first `max_calls` of these calls."""
    count, before = generator.randint(1, max_calls), generator.random() < 0.5
    process = start(example, settings, lambda: kill_at(count, before, events))
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status), f"a session ended by itself: {output_of(settings)}"


def finish(example, settings) -> None:
    """Run one session to the end."""
    _, status = os.waitpid(start(example, settings), 0)
    assert os.waitstatus_to_exitcode(status) == 0, output_of(settings)


def output_of(settings) -> str:
    """Return the output of the last session."""
    return (settings.run.parent / "output.txt").read_text()
