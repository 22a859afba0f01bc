"""Results of matches that were never played."""

from __future__ import annotations

from typing import Any

from gin_env import MatchResult


def made_up_match(**figures: Any) -> MatchResult:
    """Return a match of single hands between ``a`` and ``b``, with other figures than these where given."""
    defaults: dict[str, Any] = {
        "bots": ("a", "b"),
        "games": 10,
        "seed": 3,
        "episode": "hand",
        "wins": (3, 1),
        "hands": 20,
        "knocks": (7, 5),
        "gins": (4, 2),
        "undercuts": (1, 2),
        "voids": 5,
        "points": (90, 30),
        "turns": 250,
    }
    return MatchResult(**(defaults | figures))
