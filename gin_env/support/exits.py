"""How programs end: one line that says what was wrong, and an exit status, instead of a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_line_errors(program: str) -> Iterator[None]:
    """End the program with one line on stderr if the block raises what a user or the system can cause.

    Status 2: a mistake in what the user asked for (ValueError, TypeError, FileNotFoundError, ImportError);
    1: another OSError, such as a full disk; 130: Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt:
        line, status = "interrupted", 130
    except (ValueError, TypeError, FileNotFoundError, ImportError) as error:
        line, status = str(error), 2
    except OSError as error:
        named = error.strerror is not None and error.filename is not None
        line, status = f"{error.strerror}: {error.filename}" if named else str(error), 1
    else:
        return
    print(f"{program}: {line}", file=sys.stderr)
    raise SystemExit(status)
