"""What one generation leaves to learn from: positions, and what the decisions tried in them led to."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gin_env.support.atomic import replacing
from gin_env.views import VIEW

UNTRIED = np.float32(np.nan)


@dataclass(frozen=True)
class Experience:
    """Positions in which all learners discard, or all draw, and what their candidates earned."""

    views: np.ndarray
    """`VIEW` records (n,)."""
    returns: np.ndarray
    """float32 (n, rows, 2): the learner's points / 100 at the end of the hand; NaN for what was not tried."""

    def __len__(self) -> int:
        return len(self.views)

    @classmethod
    def join(cls, parts: Sequence[Experience]) -> Experience:
        """All positions of several."""
        return cls(
            np.concatenate([part.views for part in parts]), np.concatenate([part.returns for part in parts])
        )


def save_experiences(experiences: tuple[Experience, Experience], path: Path) -> None:
    """Write positions to draw in and to discard in to an ``.npz`` file."""
    draws, discards = experiences
    with replacing(path) as file:
        np.savez_compressed(
            file,
            draw_views=draws.views.view(np.uint8),
            draw_returns=draws.returns,
            discard_views=discards.views.view(np.uint8),
            discard_returns=discards.returns,
        )


def load_experiences(path: Path) -> tuple[Experience, Experience]:
    """What `save_experiences` wrote. Raises ValueError, naming the file, if it cannot be read."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return (
                Experience(file["draw_views"].view(VIEW), file["draw_returns"]),
                Experience(file["discard_views"].view(VIEW), file["discard_returns"]),
            )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} holds no experience of this version: {error}") from error
