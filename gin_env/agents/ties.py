"""The candidates with the highest value, independent of the batch size and the number of threads.

A network's float32 values have errors of 1e-6 to 1e-5 that depend on the batch. Candidates that are too close
to distinguish in float32 are compared in float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

CLOSE = 1e-3
"""Values that differ by less than this are recomputed in float64."""
DIGITS = 9
"""Decimal places to which float64 values are rounded, so that equal candidates are equal in every batch.

The rounding error of float64 is about 1e-14.
"""


def are_best(values: np.ndarray, exact: Callable[[np.ndarray], np.ndarray] | None) -> np.ndarray:
    """Return which candidates have the highest value in their row, bool (n, k).

    `values` are floats (n, k). ``exact(rows)`` recomputes the values of the rows with these indices, as
    float64 (len(rows), k). If `exact` is None, `values` are compared as they are.
    """
    most = values.max(axis=1, keepdims=True)
    best = values == most
    close = np.flatnonzero((values > most - CLOSE).sum(axis=1) > 1)
    if len(close) and exact is not None:
        again = exact(close).round(DIGITS)
        best[close] = again == again.max(axis=1, keepdims=True)
    return best
