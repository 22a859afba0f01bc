"""Reference data: a sample in tests/data, and the full files if available."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"
ORACLE = Path(__file__).resolve().parents[3] / "shared" / "oracle"
"""The full reference data."""

sample_and_whole = pytest.mark.parametrize("whole", [False, True], ids=["sample", "whole"])


def reference(name: str, whole: bool) -> list[dict[str, Any]]:
    """Return the lines of a reference file: the sample in tests/data, or the whole file."""
    path = (ORACLE if whole else DATA) / name
    if whole and not path.exists():
        pytest.skip(f"the whole reference data is not here ({path}); its sample in tests/data was tested")
    with path.open() as lines:
        return [json.loads(line) for line in lines]
