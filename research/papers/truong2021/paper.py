"""What Truong and Neller 2021 prints, from the data file ``paper.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from research.reproduce.tables import Row, grouped

_PAPER = tomllib.loads(Path(__file__).with_name("paper.toml").read_text(encoding="utf-8"))
TABLE: dict[str, tuple[float, float, float, float]] = {
    name: tuple(figures) for name, figures in _PAPER["table_1"].items()
}
"""Table 1: training loss, validation loss, percentage of games won against Simple, half of its interval."""
FIGURE_6 = _PAPER["figure_6"]
FIGURE_7 = _PAPER["figure_7"]


@dataclass(frozen=True)
class Comparison:
    """A sentence about win rates: pairs of (better, worse) networks of Table 1, or of alike ones."""

    text: str
    pairs: Sequence[tuple[str, str]]
    alike: bool = False


COMPARISONS = [Comparison(**one) for one in _PAPER["comparisons"]]


def with_paper(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the figures of their networks in Table 1, where it has them."""
    keys = ("paper_train", "paper_validation", "paper_won", "paper_error")
    return [row | dict(zip(keys, TABLE.get(row.get("network", ""), ()), strict=False)) for row in rows]


def beside_ours(rows: Sequence[Row]) -> list[Row]:
    """Return what the networks of Table 1 win in the paper, here, and trained here (median and range)."""
    trained = grouped((row for row in rows if row["of"] == "truong2021/table-1"), "{network}")
    ours = {name: [row["won"] for row in each] for name, each in trained.items()}
    theirs = [row for row in rows if row["of"] == "truong2021/authors-networks" and "won" in row]
    return [
        *(
            {"network": name, "whose": "Table 1", "won": won, "low": won - error, "high": won + error}
            for name, (_, _, won, error) in TABLE.items()
        ),
        *(row | {"whose": "the authors' network, played here"} for row in theirs),
        *(
            {"network": name, "whose": "ten networks trained here: median and range"}
            | {"won": median(ours[name]), "low": min(ours[name]), "high": max(ours[name])}
            for name in TABLE
            if name in ours
        ),
    ]
