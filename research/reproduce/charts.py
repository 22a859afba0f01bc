"""Figures with intervals that a file declares: see `research.reproduce.by_id`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gin_env.support.plots import DASHES, GREY, PALETTE, new_figure, save_figure
from research.reproduce.declared import Selection
from research.reproduce.tables import Row, cell_text, grouped, interval_ends


@dataclass(frozen=True, kw_only=True)
class Chart(Selection):
    """A figure of the selected rows, in panels: a line for each measure if they are split both ways."""

    measures: Mapping[str, str] = field(default_factory=lambda: {"won": "games won (%)"})
    """Measured keys and the labels of their axes, with a panel for each."""
    series: str = "{bot}"
    """Format text that names the series of a row."""
    panel: str = ""
    """Format text that names the panel of a row, which is its title; none if all rows are in one."""
    level: float | None = None
    """Value of a line across each panel."""
    lines: int = 1
    """Number of lines of panels of one measure."""
    size: Sequence[float] = (8, 5)
    """Width and height of a panel, in inches."""
    axes: Mapping[str, Any] = field(default_factory=dict)
    """Other properties of the axes, such as title, xlabel and xscale."""
    legend: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the legend."""

    def draw(self, package: str, rows: Sequence[Row], path: Path, origin: str) -> None:
        """Draw the figure of the rows of an experiment."""
        chosen = self.selected(package, rows)
        panels, measures = grouped(chosen, self.panel), self.measures
        split = len(panels) > 1 and len(measures) > 1
        lines = len(measures) if split else self.lines
        columns = len(panels) * len(measures) // lines
        width, height = self.size
        share = {"sharex": True, "sharey": "row"} if split else self.shared
        figure, grid = new_figure(width * columns, height * lines, lines, columns, **share)
        places = [(title, key, label) for key, label in measures.items() for title in panels]
        named: dict[str, Any] = {}
        for axes, (title, key, label) in zip(grid.flat, places, strict=True):
            self.draw_panel(axes, key, label, panels[title], chosen)
            axes.set(**({"title": title} if title else {}), **self.axes)
            if split:
                axes.label_outer()
                axes.set_title(title if key == next(iter(measures)) else "")
            axes.tick_params(axis="x", which="minor", labelbottom=False)
            for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
                named.setdefault(name, handle)
        if len(named) > 1:
            figure.legend(named.values(), named.keys(), loc="outside upper center", **self.legend)
        save_figure(figure, path, dpi=120, origin=origin)

    shared: ClassVar[Mapping[str, Any]] = {}
    """What panels in one row share."""

    def draw_panel(self, axes: Any, key: str, label: str, rows: Sequence[Row], chosen: Sequence[Row]) -> None:
        """Draw a measure of the rows of a panel, some of the `chosen` rows."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """A figure with a line for each series of the rows; intervals are drawn of ``won``."""

    x: str
    """Key of the horizontal axis."""
    seed: str = ""
    """Key that tells lines of a series apart."""

    def draw_panel(self, axes: Any, key: str, label: str, rows: Sequence[Row], chosen: Sequence[Row]) -> None:
        """Draw the lines of the series; a series looks the same in every panel."""
        every = list(grouped(chosen, self.series))
        for name, series in grouped(rows, self.series).items():
            number = every.index(name)
            look = {"color": PALETTE[number % len(PALETTE)], "linestyle": DASHES[number % len(DASHES)]}
            label_of = name.replace("`", "")
            for line in grouped(series, f"{{{self.seed}}}" if self.seed else "").values():
                errors = errors_of(line, key) if key == "won" else None
                places, values = [row[self.x] for row in line], [row[key] for row in line]
                axes.errorbar(places, values, errors, marker=".", capsize=2, label=label_of, **look)
                label_of = "_"  # one entry in the legend
        if self.level is not None:
            axes.axhline(self.level, color="black", linewidth=0.8)
        axes.set_ylabel(label)
        ticks = sorted({row[self.x] for row in rows})
        if len(ticks) < 5:
            axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])


@dataclass(frozen=True, kw_only=True)
class Dots(Chart):
    """A figure with a dot and its interval for each row, below one another by their names."""

    label: str
    """Format text that names a row."""
    log: Sequence[str] = ()
    """Keys with a logarithmic axis."""
    shared: ClassVar[Mapping[str, Any]] = {"sharey": True}

    def draw_panel(self, axes: Any, key: str, label: str, rows: Sequence[Row], chosen: Sequence[Row]) -> None:
        """Draw the dots of the series, those of the first row above."""
        names = list(grouped(chosen, self.label))
        every = list(grouped(chosen, self.series))
        for name, series in grouped(rows, self.series).items():
            shown, number = [row for row in series if row.get(key) is not None], every.index(name)
            shift = (number - (len(every) - 1) / 2) / 6
            places = [names.index(cell_text(self.label, [row])) + shift for row in shown]
            look = {"fmt": "osD^v"[number], "color": PALETTE[number], "markersize": 4, "capsize": 2}
            values, label_of = [row[key] for row in shown], name.replace("`", "")
            axes.errorbar(values, places, xerr=errors_of(shown, key), label=label_of, **look)
        if self.level is not None:
            axes.axvline(self.level, color=GREY, linewidth=0.8)
        axes.set_xlabel(label)
        axes.set_xscale("log" if key in self.log else "linear")
        axes.set_yticks(range(len(names)), [name.replace("`", "") for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)


def errors_of(rows: Sequence[Row], key: str) -> np.ndarray | None:
    """Return the distances of values from the ends of their intervals, (2, n); None without intervals."""
    ends = [interval_ends(row, key) for row in rows]
    if any(low is None for low, _ in ends):
        return None
    return np.abs(np.array(ends, float).T - [row[key] for row in rows])
