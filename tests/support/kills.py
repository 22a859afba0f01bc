"""Sessions of a training example in forked processes, killed at moments of the caller's choice.

Forking is for scripts of their own: everything is imported once, before the first session.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback

import cloudpickle
import torch


def kill_at(step: int, before: bool) -> None:
    """SIGKILL this process at the call number `step` of those that change files, before it or after it."""
    calls = 0

    def counted(call):
        def counting(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == step and before:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return call(*args, **kwargs)
            finally:
                if calls == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        return counting

    for name in ("fsync", "replace", "unlink", "mkdir"):
        setattr(os, name, counted(getattr(os, name)))


def forbid_pickles() -> None:
    """Make what SB3 and torch would read pickled objects by raise."""

    def refuse(*_, **__):
        raise AssertionError("a session unpickled something")

    def load(*args, load=torch.load, **kwargs):
        return load(*args, **kwargs) if kwargs.get("weights_only") else refuse()

    cloudpickle.loads = cloudpickle.load = refuse
    torch.load = load


def start(example, settings, prepare=lambda: None) -> int:
    """Fork a session, which writes into output.txt beside the run; its process."""
    if process := os.fork():
        return process
    forbid_pickles()
    with (settings.run.parent / "output.txt").open("w") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    prepare()
    status = 1
    try:
        with example.one_line_errors(example.__name__):
            example.main(settings)
        status = 0
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def kill_session(
    example, settings, generator: random.Random, *, calls: int, seconds: tuple[float, float], timed: bool
) -> None:
    """Start a session and kill it: before or after a random one of its first `calls` calls that change files.

    A timed one is killed after a random time between two limits in seconds.
    """
    if timed:
        process = start(example, settings)
        time.sleep(generator.uniform(*seconds))
        os.kill(process, signal.SIGKILL)
    else:
        step, before = generator.randint(1, calls), generator.random() < 0.5
        process = start(example, settings, lambda: kill_at(step, before))
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status), f"a session ended by itself: {output_of(settings)}"


def finish(example, settings) -> None:
    """One session to the end."""
    _, status = os.waitpid(start(example, settings), 0)
    assert os.waitstatus_to_exitcode(status) == 0, output_of(settings)


def output_of(settings) -> str:
    """What the last session beside the run has written."""
    return (settings.run.parent / "output.txt").read_text()
