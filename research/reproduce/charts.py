"""Figures of lines with intervals that a file declares: see `research.reproduce.by_id`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.support.plots import DASHES, PALETTE, new_figure, save_figure
from research.reproduce.declared import Selection
from research.reproduce.tables import Row, cell_text, interval_ends


@dataclass(frozen=True, kw_only=True)
class Lines(Selection):
    """A figure with a line for each series of the rows that are selected."""

    x: str
    """Key of the horizontal axis."""
    y: Sequence[str] = ("won",)
    """Keys of the vertical axes, with a panel for each; intervals are drawn of ``won``."""
    ylabel: Sequence[str] = ("games won (%)",)
    series: str = "{bot}"
    """Format text that names the series of a row."""
    seed: str = ""
    """Key that tells lines of a series apart."""
    panel: str = ""
    """Format text that names the panel of a row, which is its title; none if all rows are in one."""
    level: float | None = None
    """Height of a horizontal line."""
    size: Sequence[float] = (8, 5)
    """Width and height of a panel, in inches."""
    axes: Mapping[str, Any] = field(default_factory=dict)
    """Other properties of the axes, such as title, xlabel and xscale."""
    legend: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the legend."""

    def draw(self, package: str, rows: Sequence[Row], path: Path, origin: str) -> None:
        """Draw the figure of the rows of an experiment."""
        panels = [
            ({"title": title} if title else {}, key, label, mine)
            for title, mine in grouped(self.selected(package, rows), self.panel).items()
            for key, label in zip(self.y, self.ylabel, strict=True)
        ]
        width, height = self.size
        figure, [all_axes] = new_figure(width * len(panels), height, columns=len(panels))
        for axes, (title, key, label, mine) in zip(all_axes, panels, strict=True):
            for number, (name, series) in enumerate(grouped(mine, self.series).items()):
                self._draw_series(axes, key, name.replace("`", ""), series, number)
            if self.level is not None:
                axes.axhline(self.level, color="black", linewidth=0.8)
            axes.set(**({"ylabel": label} | title | dict(self.axes)))
            places = sorted({row[self.x] for row in mine})
            if len(places) < 5:
                axes.set_xticks(places, [f"{place:,}" for place in places])
            axes.tick_params(axis="x", which="minor", labelbottom=False)
        handles, labels = all_axes[0].get_legend_handles_labels()
        if len(labels) > 1:
            figure.legend(handles, labels, loc="outside upper center", **self.legend)
        save_figure(figure, path, dpi=120, origin=origin)

    def _draw_series(self, axes: Any, key: str, name: str, rows: Sequence[Row], number: int) -> None:
        look = {"color": PALETTE[number % len(PALETTE)], "linestyle": DASHES[number % len(DASHES)]}
        for line in grouped(rows, f"{{{self.seed}}}" if self.seed else "").values():
            values = np.array([row[key] for row in line])
            ends = [interval_ends(row, key) for row in line if key == "won"]
            errors = np.abs(np.array(ends, float).T - values) if ends else None
            places = [row[self.x] for row in line]
            axes.errorbar(places, values, errors, marker=".", capsize=2, label=name, **look)
            name = "_"  # one entry in the legend


def grouped(rows: Sequence[Row], text: str) -> dict[str, list[Row]]:
    """Return the rows by a format text."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(cell_text(text, [row]), []).append(row)
    return groups
