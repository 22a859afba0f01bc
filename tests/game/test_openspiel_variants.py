"""Agreement with OpenSpiel's gin_rummy, decision by decision, under every rule both support."""

from __future__ import annotations

import pytest
from openspiel import VARIANTS, compare

pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install open_spiel")
pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("variant", VARIANTS)
def test_openspiel_agrees_on_every_hand(variant):
    counts = compare(3000, 1, ("simple", "random"), variant)
    assert counts["differences"] == 0
    assert counts["knocks settled"] > 0
