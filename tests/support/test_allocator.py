"""Freed memory is kept for the next array, where the C library supports it."""

from __future__ import annotations

import sys

import pytest
from python_programs import run_python

PROGRAM = """
import resource
import sys

import numpy as np

from gin_env.support.allocator import keep_freed_memory

if sys.argv[1] == "keep":
    assert keep_freed_memory()
for _ in range(3):
    several = [np.ones(2**21) for _ in range(4)]
    del several
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    several = [np.ones(2**21) for _ in range(4)]
    del several
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def pages_fetched(how: str) -> int:
    """Return the page faults of filling four arrays of 16 MB ten times."""
    return int(run_python("-c", PROGRAM, how).stdout)


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mallopt is glibc's")
def test_kept_memory_is_reused_page_by_page():
    assert pages_fetched("keep") < pages_fetched("default") / 10
