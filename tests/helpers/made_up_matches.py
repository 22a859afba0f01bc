"""Results of matches that nobody played."""

from __future__ import annotations

from typing import Any

import numpy as np

from gin_env import MatchResult
from gin_env.matches.matches import DEAL_RESULT


def result_of(**figures: Any) -> MatchResult:
    """Return a match of ten hands between a and b with these figures."""
    defaults: dict[str, Any] = {
        "bots": ("a", "b"), "games": 10, "seed": 3, "episode": "hand", "wins": (3, 1), "hands": 20,
        "knocks": (7, 5), "gins": (4, 2), "undercuts": (1, 2), "voids": 5, "points": (90, 30), "turns": 250,
    }  # fmt: skip
    return MatchResult(**defaults | figures)


def result_of_deals(bots: tuple[str, str], deals: list[tuple], **figures: Any) -> MatchResult:
    """Return a match with these `DEAL_RESULT` records, in which nobody knocked."""
    records = np.array(deals, DEAL_RESULT)
    wins, points = (tuple(records[name].sum(axis=0).tolist()) for name in ("wins", "points"))
    sums = {"games": 2 * len(deals), "hands": int(records["hands"].sum()), "wins": wins, "points": points}
    none = dict.fromkeys(("knocks", "gins", "undercuts"), (0, 0)) | {"voids": 0, "turns": 0}
    return result_of(bots=bots, deals=records, **sums | none | figures)
