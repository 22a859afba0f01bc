"""Data sets made by several workers."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.support.workers import Workers
from research.recipes.hand_strength import data_sets

# --- Results ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two():
    """Two worker processes, shared by all tests."""
    with Workers(2) as workers:
        yield workers


# --- Matches, tournaments, data -----------------------------------------------------------------------------


@pytest.mark.long
def test_data_set_does_not_depend_on_workers(two, monkeypatch):
    monkeypatch.setattr(data_sets, "_DEALS_PER_TASK", 64)
    here, there = (
        data_sets.generate("random-16", 150, estimator="uniform", seed=3, workers=crew) for crew in (1, two)
    )
    for name in ("hands", "estimates", "scores", "counts"):
        assert np.array_equal(getattr(here, name), getattr(there, name))
    assert here.metadata == there.metadata
