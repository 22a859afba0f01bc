"""For programs that work on large arrays again and again: memory stays with the process."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Options of glibc's mallopt."""
_MEGABYTE = 2**20


def keep_freed_memory() -> bool:
    """Ask the C library to keep freed memory for the next array; returns whether it can.

    By default glibc gives large arrays back to the system as soon as they are freed, and gets the next one
    anew, page by page: a training step, whose arrays are all of a few megabytes, then spends a third of its
    time on pages. Elsewhere than on Linux with glibc nothing changes.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return all(
        mallopt(option, size) == 1
        for option, size in (
            (_MMAP_THRESHOLD, 32 * _MEGABYTE),  # the largest that every glibc takes
            (_TRIM_THRESHOLD, 2**31 - 1),
            (_TOP_PAD, 64 * _MEGABYTE),
        )
    )
