"""The tables and weights in the package, and their descriptions."""

import json
from pathlib import Path

import numpy as np
import pytest

from gin_env.matches.provenance import FOLDERS


def packaged(label: str) -> Path:
    """Return the file or folder of a label such as ``agents/data/policy.safetensors``."""
    folder, _, path = label.partition("/")
    return FOLDERS[folder] / path


def packaged_files() -> list[Path]:
    folders = ("estimators", "agents", "agents/cfr", "agents/hand_strength", "agents/generations")
    return sorted(file for folder in folders for file in packaged(f"{folder}/data").iterdir())


def description(path: Path) -> dict:
    """Return the description stored in a packaged file."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return json.loads(file["metadata"].tobytes())
    pytest.importorskip("torch")
    from safetensors import safe_open

    with safe_open(path, "np") as file:
        described = json.loads(file.metadata()["gin_env"].partition(" ")[2])
    return described | described.get("provenance", {})
