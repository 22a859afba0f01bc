"""The end of a program: exit statuses, one-line error messages, and stopping the programs that it started."""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_finalizers: set[weakref.finalize[..., Any]] = set()


def stop_at_end(finalizer: weakref.finalize[..., Any]) -> None:
    """Call this finalizer in `run_finalizers`, too, if it is still alive then."""
    _finalizers.intersection_update([each for each in list(_finalizers) if each.alive])
    _finalizers.add(finalizer)


def run_finalizers() -> None:
    """Stop the programs that bots have started, before an end that calls no exit handlers."""
    for finalizer in list(_finalizers):
        finalizer()


@contextmanager
def one_line_errors(program: str) -> Iterator[None]:
    """Exit with one line on stderr if the block raises an error that the user or the system can cause.

    The notes of the error follow.

    The exit status is 2 for a mistake by the user (ValueError, TypeError, FileNotFoundError, ImportError), 1
    for any other OSError, such as a full disk, and 130 for Ctrl-C.
    """
    notes: list[str] = []
    try:
        yield
    except KeyboardInterrupt:
        line, status = "interrupted", 130
    except (ValueError, TypeError, FileNotFoundError, ImportError) as error:
        line, status = str(error), 2
        notes += getattr(error, "__notes__", [])
    except OSError as error:
        # Every writer of files names its file, so a full disk without a name is that of the output.
        place = "the standard output" if error.errno == errno.ENOSPC else None
        place = place if error.filename is None else error.filename
        line, status = str(error) if None in (error.strerror, place) else f"{error.strerror}: {place}", 1
    else:
        return
    print("\n".join([f"{program}: {line}", *notes]), file=sys.stderr)
    raise SystemExit(status)


def command_line(program: str, run: Callable[[], object]) -> None:
    """Run a command line: mistakes and warnings are one line each, and SIGTERM ends it like Ctrl-C.

    So a terminated training saves its state, and the programs of bots are stopped. A standard stream that is
    closed, as in a service, is empty and takes all output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with one_line_errors(program):
        run()
