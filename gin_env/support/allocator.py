"""Tuning of the C library's allocator for programs that repeatedly allocate large arrays."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Options of glibc's mallopt; every version accepts 32 MB as the threshold for mmap, and no more."""


def keep_freed_memory() -> bool:
    """Make the C library keep freed memory for later arrays, and return whether that is supported.

    By default glibc returns large arrays to the system as soon as they are freed, and maps the next one page
    by page. A training step with arrays of a few megabytes then spends a third of its time on page faults.
    Only glibc on Linux supports this; on other systems nothing changes.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    sizes = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 2**31 - 1, _TOP_PAD: 64 << 20}
    return mallopt is not None and all(mallopt(*option) == 1 for option in sizes.items())
