"""A pytest plugin, ``pytest -p interpreted`` with tests/helpers on the path: kernels as plain functions.

Coverage tools see nothing inside compiled code. Tests that play thousands of hands take too long this way.

Numba reads fields of records as attributes and lets uint64 numbers overflow silently; NumPy does
so only for `np.record`, and warns. The wrapper corrects only this, at the outermost call.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import numba
import numpy as np

_threads = threading.local()
"""Whether a kernel runs in this thread: what it calls need not be wrapped again."""


def _as_records(value: Any) -> Any:
    """Structured arrays and records, also inside tuples, as those whose fields are attributes."""
    if isinstance(value, tuple):
        fields = map(_as_records, value)
        return type(value)(*fields) if hasattr(value, "_fields") else tuple(fields)
    if isinstance(value, np.ndarray | np.void) and value.dtype.names and value.dtype.type is not np.record:
        return value.view(_record_dtype(value.dtype))
    return value


@functools.cache
def _record_dtype(dtype: np.dtype) -> np.dtype:
    return np.dtype((np.record, dtype))


def interpreted(function: Any = None, **_: Any) -> Any:
    """Replace ``numba.njit``."""
    if function is None:
        return interpreted

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        if getattr(_threads, "running", False):
            return function(*arguments)
        _threads.running = True
        try:
            with np.errstate(over="ignore"):
                return function(*map(_as_records, arguments))
        finally:
            _threads.running = False

    call.py_func = function
    return call


numba.njit = interpreted
numba.config.DISABLE_JIT = True  # what is not a kernel reads this
