"""Large arrays that are used again as soon as nobody else holds them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_ONLY_HERE = 3
"""References to an array that only `Buffers.take` knows: list, variable, and the argument of the count."""


class Buffers:
    """Gives arrays to write into; what was given is given again once the caller has dropped it.

    Fresh memory costs more than writing into it: above 32 MB each array is mapped anew by the system, page
    by page. An array that somebody still holds, or a view of it, is never touched.

    Parameters
    ----------
    shape, dtype : of the arrays.
    most : how many are kept for use again; a caller who holds more gets new ones.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, most: int = 3) -> None:
        self._shape, self._dtype, self._most = shape, dtype, most
        self._arrays: list[np.ndarray] = []

    def take(self) -> np.ndarray:
        """An array of any content that nobody else holds."""
        for array in self._arrays:
            if sys.getrefcount(array) == _ONLY_HERE:
                return array
        array = np.empty(self._shape, self._dtype)
        self._arrays = [*self._arrays, array][-self._most :]
        return array
