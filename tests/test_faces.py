"""Any sequence of calls on every environment does what the reference rules say (see faces.py)."""

from __future__ import annotations

import pytest
from face_machine import run
from replays import FACES


@pytest.mark.parametrize("kind", FACES)
def test_any_sequence_of_calls_does_what_the_reference_says(kind):
    seen = run(kind, 40, 12)
    print(seen)
    assert all(seen[outcome] for outcome in ("knock", "gin", "undercut", "void")), seen
