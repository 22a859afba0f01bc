"""The frozen readings: bots with fixed parameters that reproduce the players of the papers.

A bot's defaults are the best known values, and they may change. A bot that is compared with a paper must not
change, so every reading of a published player has its own name here, with all parameters written out.
`gin_env.agents.make` accepts these names, ``python -m research run`` uses them, and
`tests/agents/test_paper_names.py` checks the bots' decisions. If a reading turns out to be wrong, the
corrected one gets a new name and the old one stays.

``simple`` and ``random-discard`` are completely defined by their sources, so they are frozen under their own
names. These bots have no frozen name: ``safe-discard`` (its rule is missing from Francis et al. 2021),
``cfr`` (Gallucci et al. 2021 has no such bot), and ``cfr-plus``, ``generation`` and ``policy`` (ours).
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Reading(NamedTuple):
    """A frozen reading of a paper's player."""

    paper: str
    """Its authors and year, or where it was published."""
    bot: str
    parameters: dict[str, Any]
    """All of the bot's parameters."""


PAPER_BOTS: dict[str, Reading] = {
    "fitness-cfr-paper": Reading(
        "Gallucci et al. 2021",
        "fitness-cfr",
        {
            "factors": ("deadwood", "unmeldable", "useless", "discarded"),
            "relative": False,
            "early_knock": 0,
            "table": None,
            "purified": True,
        },
    ),
    "heuristics-paper": Reading(
        "Gallucci et al. 2021",
        "heuristics",
        {"reading": "unanimous", "relative": False, "table": None, "purified": True},
    ),
    "medium-paper": Reading(
        "Gallucci et al. 2021",
        "medium",
        {"minimum_drop": 3, "knock_at": 9, "cautious_knock_at": 7, "exact": False},
    ),
    "medium-literal-paper": Reading(
        "Gallucci et al. 2021",
        "medium",
        {"minimum_drop": 3, "knock_at": 9, "cautious_knock_at": 7, "exact": True},
    ),
    "tonic-paper": Reading(
        "Larkin et al. 2021",
        "tonic",
        {
            "increment": 1.5,
            "decrement": 0.75,
            "decline": 0.4,
            "held": 0.86,
            "knock_at": (10, 10, 10, 10, 8, 6, 4, 3),
            "pair_turns": 2,
            "max_pair_points": 18,
            "keep_pairs_below": (21, 21, 12, 11, 10, 0),
            "filtered_fallback": False,
            "break_pairs": False,
            "depth_growth": 0.0,
        },
    ),
    "simple-variable-paper": Reading(
        "Larkin et al. 2021", "simple", {"knock_at": (10, 10, 10, 10, 8, 6, 4, 3)}
    ),
    "late-knock-paper": Reading("Truong and Neller 2021", "late-knock", {"useful_draws": True}),
    "offensive-paper": Reading(
        "Truong and Neller 2021",
        "offensive",
        {"network": "dual-inception-random-256", "estimator": "bayes-isru:table=simple,alpha=1.0"},
    ),
    "defensive-paper": Reading(
        "Truong and Neller 2021", "defensive", {"estimator": "bayes-isru:table=simple,alpha=1.0"}
    ),
    "utility-paper": Reading("Keats 2017", "utility", {"draw_above": 2, "late_stock": 20, "knock_at": 10}),
    "marjj-paper": Reading(
        "Ahmed et al. 2021",
        "marjj",
        {
            "future_weight": 20.0,
            "discount": 0.9,
            "best_draws": 6,
            "danger_weight": 1.0,
            "knock_turns": 3,
            "mean_draws": False,
            "fixed_danger": False,
        },
    ),
    "gold-standard-paper": Reading(
        "arXiv 2607.06854", "gold-standard", {"knock_at": 10, "hold_for_gin": False}
    ),
}
"""name -> `Reading`.

``table=None`` is the packaged table ``cfr_paper.npz``. The readings depend on it and on the network
``dual-inception-random-256``, so neither file may ever change.
"""
