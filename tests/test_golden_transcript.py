"""What users see of one hand changes only on purpose."""

from __future__ import annotations

import golden_transcript
import pytest


@pytest.mark.compiled
def test_the_golden_hand_is_as_it_was():
    """If the change is meant: ``python tests/golden_transcript.py``, and read the difference first."""
    assert golden_transcript.transcript() == golden_transcript.FILE.read_text()


def test_the_golden_hand_shows_a_knock_and_lay_offs():
    text = golden_transcript.FILE.read_text()
    for word in ("knock", "laid off", "opening offer", "pass", "draw from the stock"):
        assert word in text
