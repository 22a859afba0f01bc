"""What users see of one hand changes only on purpose."""

from __future__ import annotations

import golden_transcript
import pytest


@pytest.mark.compiled
def test_the_golden_hand_is_as_it_was():
    """After an intended change run ``python tests/support/golden_transcript.py`` and read the diff."""
    assert golden_transcript.transcript() == golden_transcript.FILE.read_text()


def test_the_golden_hand_shows_a_knock_and_lay_offs():
    text = golden_transcript.FILE.read_text()
    for word in ("knock", "laid off", "opening offer", "pass", "draw from the stock"):
        assert word in text
