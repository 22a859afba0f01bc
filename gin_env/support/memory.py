"""Memory that stays with the process, for programs that repeatedly allocate large arrays."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Options of glibc's mallopt."""
_MEGABYTE = 2**20


def keep_freed_memory() -> bool:
    """Ask the C library to keep freed memory for the next array, and return whether it can.

    By default glibc returns large arrays to the system as soon as they are freed, and requests the next one
    page by page: a training step with arrays of a few megabytes then spends a third of its time on pages.
    Only glibc on Linux can keep them; elsewhere nothing changes.
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
