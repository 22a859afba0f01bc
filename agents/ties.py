"""Which candidates a network values most, the same alone and in any batch, with any number of threads.

float32 is off by 1e-6 to 1e-5, differently in a batch than alone: what it cannot tell apart is decided in
float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

CLOSE = 1e-3
"""Values that differ by less are computed again in float64."""
DIGITS = 9
"""Values in float64 are rounded to this, so that equal candidates are equal in every batch (float64 is off by
1e-14)."""


def are_best(values: np.ndarray, exact: Callable[[np.ndarray], np.ndarray] | None) -> np.ndarray:
    """bool (n, k): the candidates of highest value in each row of floats (n, k).

    ``exact(rows)`` computes the values, float64 (len(rows), k), of the rows with these numbers again; None:
    the values stand as they are.
    """
    most = values.max(axis=1, keepdims=True)
    best = values == most
    close = np.flatnonzero((values > most - CLOSE).sum(axis=1) > 1)
    if len(close) and exact is not None:
        again = exact(close).round(DIGITS)
        best[close] = again == again.max(axis=1, keepdims=True)
    return best
