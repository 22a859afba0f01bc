"""The transcript of one hand matches the golden file."""

from __future__ import annotations

import golden_transcript
import pytest


@pytest.mark.compiled
def test_golden_hand_matches_the_file():
    """After an intended change, run ``python tests/helpers/golden_transcript.py`` and review the diff."""
    assert golden_transcript.transcript() == golden_transcript.FILE.read_text()


def test_golden_hand_includes_a_knock_and_lay_offs():
    text = golden_transcript.FILE.read_text()
    for word in ("knock", "laid off", "opening offer", "pass", "draw from the stock"):
        assert word in text
