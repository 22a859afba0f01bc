"""Figures 2 and 4 of Larkin et al. 2021: the length of hands, and Simple with other knock thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gin_env.support.plots import BLUE, new_figure, save_figure
from research.papers.claims import turns_of_hands
from research.reproduce.experiment import TONIC, VARIABLE, Run, match_row, percent
from research.reproduce.tables import Row, markdown, ordered

THRESHOLDS = {"10": "simple", **{str(at): f"simple:knock_at={at}" for at in (8, 6, 4)}, "variable": VARIABLE}
"""Knocking strategies of the Simple player in Larkin et al. 2021, in the order of Figure 4."""


def measure_turns(run: Run) -> list[Row]:
    """Measure how many hands of Simple against itself have each number of turns."""
    run.used("simple")
    counts = np.bincount(turns_of_hands("simple", run.size(100_000), run.seed))
    return [{"turns": turns, "hands": int(count)} for turns, count in enumerate(counts) if count]


def turns_table(rows: Sequence[Row]) -> str:
    """Return the table of hands by turns of a player, rounded up: the non-dealer can have one more turn."""
    hands = Counter[int]()
    for row in rows:
        hands[(row["turns"] + 1) // 2] += row["hands"]
    total = hands.total()
    header = ["turns of a player", *map(str, hands)]
    return markdown(header, [["hands (%)", *(f"{100 * count / total:.1f}" for count in hands.values())]])


def measure_thresholds(run: Run) -> list[Row]:
    """Measure Simple with each threshold against the default and the variable one, and Tonic against each.

    ``undercut`` is the share of the knocks of Simple with the threshold that its opponent undercuts.
    """
    pairs = [(bot, "simple") for bot in THRESHOLDS.values() if bot != "simple"]
    pairs += [(bot, VARIABLE) for bot in THRESHOLDS.values() if bot != VARIABLE]
    pairs += [(TONIC, bot) for bot in THRESHOLDS.values()]
    rows = []
    for pair in pairs:
        match, player = run.match(*pair, 20_000), int(pair[0] == TONIC)
        undercut = percent(match.undercuts[1 - player] / max(match.knocks[player], 1))
        rows.append(match_row(match, undercut=undercut))
    return rows


def draw_turns(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 2 of Larkin et al. 2021: the distribution of the number of turns of a player in a hand."""
    turns = np.repeat([row["turns"] for row in rows], [row["hands"] for row in rows])
    figure, [[axes]] = new_figure(6.4, 3.6)
    shares = [100 * row["hands"] / len(turns) for row in rows]
    axes.bar([row["turns"] / 2 for row in rows], shares, width=0.4, color=BLUE)
    axes.axvline(turns.mean() / 2, color="black", linestyle="--", label=f"mean {turns.mean() / 2:.2f}")
    axes.set(xlabel="turns of each player (half: the non-dealer had one more)", ylabel="hands (%)")
    axes.set_title(f"Simple against itself, {len(turns):,} hands (Figure 2)", fontsize=10)
    axes.legend()
    save_figure(figure, path, dpi=150, origin=origin)


PANELS = {
    TONIC: "Tonic against it",
    "simple": "against Simple (4a)",
    VARIABLE: "against Simple (variable) (4b)",
}


def panels(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with their panels of Figure 4, the threshold of each, and who undercuts its knocks."""
    labels = {bot: label for label, bot in THRESHOLDS.items()}
    found = []
    for row in rows:
        of, bot = (TONIC, row["opponent"]) if row["bot"] == TONIC else (row["opponent"], row["bot"])
        about = {"panel": PANELS[of], "of_tonic": of == TONIC, "threshold": labels[bot]}
        found.append(row | about | {f"undercut_by_{of}": row["undercut"]})
    return ordered(found, panel=PANELS.values(), threshold=THRESHOLDS)
