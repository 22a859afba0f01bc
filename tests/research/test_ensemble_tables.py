"""Tables fitted for the ensemble."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.estimators.ensemble import EnsembleEstimator, load_table
from research.recipes.estimators import by_name
from research.recipes.estimators.ensemble import FittedTable, _fit

pytest.importorskip("torch")


@pytest.mark.compiled
def test_ensemble_tables_reload_and_invalid_parameters_raise(tmp_path):
    table = _fit(np.repeat([1], 30_000), np.full((30_000, 3), 0.5))
    FittedTable(table, {"seed": 1}).save(tmp_path / "table.npz")
    assert np.array_equal(load_table(tmp_path / "table.npz")["choice"], table["choice"])
    (tmp_path / "bad.npz").write_bytes((tmp_path / "table.npz").read_bytes()[:200])
    with pytest.raises(ValueError, match=r"bad\.npz"):
        load_table(tmp_path / "bad.npz")
    with pytest.raises(ValueError, match="unknown switching"):
        EnsembleEstimator("sometimes")
    with pytest.raises(ValueError, match="needs the members"):
        EnsembleEstimator("fitted", ("nn", "uniform"))
    with pytest.raises(ValueError, match="at least one"):
        EnsembleEstimator("adaptive", ())
    with pytest.raises(ValueError, match="rate must be from 0"):
        EnsembleEstimator("adaptive", rate=float("nan"))


def test_ensemble_is_fitted_to_one_bot():
    with pytest.raises(ValueError, match="fitted to one bot only, not simple, tonic"):
        by_name.train_estimator("ensemble", 10, 0, ["simple", "tonic"])
