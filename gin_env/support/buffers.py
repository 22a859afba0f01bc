"""Large arrays that are reused once the caller has dropped them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def _count_unshared() -> int:
    """Return the reference count that `Buffers.take` sees if nobody else holds an array.

    It is 3 up to Python 3.13, and 2 from 3.14 on, which lends local variables to the functions it calls.
    """
    arrays = [np.empty(0)]
    for array in arrays:
        return sys.getrefcount(array)
    raise AssertionError


_UNSHARED = _count_unshared()
MAX_KEPT = 3
"""Maximum number of arrays that a pool keeps for reuse."""


class Buffers:
    """A pool of arrays to write into; an array is reused once the caller has dropped it.

    Allocating fresh memory costs more than writing into it, since the system maps each array above 32 MB page
    by page. An array is never reused while the caller holds a reference to it or to a view of it.

    Parameters
    ----------
    shape, dtype : shape and type of the arrays.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, dtype
        self._arrays: list[np.ndarray] = []

    def take(self) -> np.ndarray:
        """Return an array with arbitrary content and no other references to it."""
        for array in self._arrays:
            if sys.getrefcount(array) == _UNSHARED:
                return array
        array = np.empty(self._shape, self._dtype)
        self._arrays = [*self._arrays, array][-MAX_KEPT:]
        return array
