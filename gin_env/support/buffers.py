"""Large arrays that are reused as soon as the caller has dropped them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_UNSHARED = 3
"""References to an array that only `Buffers.take` knows: list, variable, and the argument of the count."""


class Buffers:
    """Arrays to write into, reused once the caller has dropped them.

    Fresh memory costs more than writing into it: the system maps each array above 32 MB page by page. An
    array is never reused while the caller holds a reference to it or to a view of it.

    Parameters
    ----------
    shape, dtype : of the arrays.
    max_kept : how many arrays are kept for reuse; further ones are new.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, max_kept: int = 3) -> None:
        self._shape, self._dtype, self._max_kept = shape, dtype, max_kept
        self._arrays: list[np.ndarray] = []

    def take(self) -> np.ndarray:
        """Return an array with arbitrary content that nothing else refers to."""
        for array in self._arrays:
            if sys.getrefcount(array) == _UNSHARED:
                return array
        array = np.empty(self._shape, self._dtype)
        self._arrays = [*self._arrays, array][-self._max_kept :]
        return array
