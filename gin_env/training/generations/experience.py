"""Training data of one generation: positions, and the returns of the decisions tried in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS
from gin_env.observations.views import VIEW
from gin_env.support.array_files import ArrayFileError, ArrayFormat

UNTRIED = np.float32(np.nan)
_PARTS = ("draw", "discard")
_VIEW_FIELDS = str(VIEW.descr)
"""The layout of the `VIEW` records, stored with them to detect files of another layout."""
FORMAT = ArrayFormat(
    kind="experience",
    version=1,
    arrays={
        "draw_views": (np.uint8, ("draws", VIEW.itemsize)),
        "draw_returns": (np.float32, ("draws", DRAW_ROWS, 2)),
        "discard_views": (np.uint8, ("discards", VIEW.itemsize)),
        "discard_returns": (np.float32, ("discards", DISCARD_ROWS, 2)),
    },
    described={"view": str},
    command="gin-rummy train generations",
)


@dataclass(frozen=True)
class Experience:
    """Positions of one phase (all draws or all discards) and the returns of their candidates."""

    views: np.ndarray
    """`VIEW` records (n,)."""
    returns: np.ndarray
    """float32 (n, rows, 2): the learner's points / 100 at the end of the hand; NaN for untried candidates."""

    def __len__(self) -> int:
        return len(self.views)

    @classmethod
    def join(cls, parts: Sequence[Experience]) -> Experience:
        """Return the positions of several experiences in one."""
        return cls(
            np.concatenate([part.views for part in parts]), np.concatenate([part.returns for part in parts])
        )


def save_experiences(experiences: tuple[Experience, Experience], path: Path) -> None:
    """Write the draw positions and the discard positions to a file (.npz)."""
    arrays = {}
    for name, experience in zip(_PARTS, experiences, strict=True):
        arrays[f"{name}_views"] = experience.views.view(np.uint8).reshape(-1, VIEW.itemsize)
        arrays[f"{name}_returns"] = experience.returns
    FORMAT.write(path, arrays, {"view": _VIEW_FIELDS})


def load_experiences(path: Path) -> tuple[Experience, Experience]:
    """Return the draw positions and the discard positions that `save_experiences` wrote.

    Raises FileNotFoundError if the file is missing, or ArrayFileError if it cannot be used.
    """
    arrays, metadata = FORMAT.read(path)
    if metadata["view"] != _VIEW_FIELDS:
        raise ArrayFileError(f"{path} holds views of another release; remove it and play them again")
    draws, discards = (
        Experience(arrays[f"{name}_views"].view(VIEW)[:, 0], arrays[f"{name}_returns"]) for name in _PARTS
    )
    return draws, discards
