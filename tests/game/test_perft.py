"""Game tree counts ("perft") of the engine, the slow reference and OpenSpiel."""

from __future__ import annotations

import perft
import pytest
from openspiel import VARIANTS

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("name", perft.deals())
def test_engine_counts_match_the_file(name):
    rules, depth = perft.deals()[name]
    counts = perft.read()[name]
    assert len(counts) == depth
    assert perft.engine_count(rules, depth) == counts


@pytest.mark.parametrize("name", perft.deals())
def test_reference_counts_match_the_file(name):
    rules, depth = perft.deals()[name]
    assert perft.reference_count(rules, depth - 2) == perft.read()[name][:-2]


@pytest.mark.parametrize("variant", ["default", "oklahoma", "straight"])
def test_openspiel_counts_match_the_engine(variant):
    pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install open_spiel")
    parameters, rules = VARIANTS[variant]
    assert perft.openspiel_count(parameters, rules, 6) == perft.engine_count(rules, 6)
