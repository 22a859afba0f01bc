"""Markdown tables of rows.

A cell is a format text such as ``{games:,}`` or a function of a row. It is empty if the row lacks a value.
These signs before the format of a number show more than the number of the first row:

- ``{won:~.2f}``: the figure with its interval, 52.72 (52.03 to 53.41); see `interval`;
- ``{won:±.2f}``: the figure and half the width of its interval, 52.72 ± 0.69;
- ``{won:mean .1f}``, ``median``, ``most``: of all rows of the line that have one; ``exact`` is a
  mean without rounding errors, so that halves of a tenth are rounded to even;
- ``{won:each .1f}``: the mean of all rows, and each row's number in brackets;
- ``{won:range .1f}``: the median of all rows, the lowest and the highest: 53.6 (46.1 to 55.2);
- ``{won:all .1f}``: the figures of all rows;
- ``{won:list .1f}``: the figures of all rows, with their intervals;
- ``{decisions:millions .1f}``: the figure in millions, and ``percent`` a share in per cent; also with its
  interval, ``{won:percent ~.1f}``;
- ``{time:short}``: two digits below 10, otherwise a whole number.

``{#}`` is the number of rows of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

import numpy as np

Row = dict[str, Any]
"""A flat, JSON-serialisable record of texts, numbers, None and lists of these."""


@dataclass(frozen=True)
class Over:
    """A cell made of all rows of a group, not only of the first."""

    function: Callable[[list[Row]], object]


Cell = str | Callable[[Row], object] | Over
Columns = Mapping[str, Any]
"""Header -> `Cell`."""


def table(rows: Sequence[Row], columns: Columns, align: str = "") -> str:
    """Return a table with a line for each row.

    Parameters
    ----------
    columns : header -> cell.
    align : one letter per column, ``r`` for right and any other for left.
    """
    return markdown(columns, ([cell_text(cell, [row]) for cell in columns.values()] for row in rows), align)


def pivot(
    rows: Sequence[Row],
    lines: Columns,
    columns: Columns,
    align: str = "",
    end: Columns | None = None,
    sort: Callable[[Row], Any] | None = None,
    across: Callable[[Row], Any] | None = None,
) -> str:
    """Return a table of groups of rows, in order of first appearance.

    Parameters
    ----------
    lines : header -> cell of the first columns. Rows with the same cells make a line.
    columns : header -> cell of the other columns. The headers are format texts: rows with the same headers
        make a column, or as many columns as there are headers.
    align : as in `table`.
    end : header -> cell of the last columns, made of all rows of a line.
    sort : key of the lines' first rows, for lines in another order.
    across : key of rows, for columns in another order.
    """
    groups = grouped(rows, *(cell for cell in lines.values() if not _is_of_all(cell)))
    heads = grouped(sorted(rows, key=across) if across else rows, *columns)
    found = []
    for group in sorted(groups.values(), key=lambda group: sort(group[0]) if sort else 0):
        cells = [cell_text(cell, group) for cell in lines.values()]
        of_heads = grouped(group, *columns)
        for head in heads:
            here = of_heads.get(head)
            cells += [cell_text(cell, here) if here else "" for cell in columns.values()]
        found.append(cells + [cell_text(cell, group) for cell in (end or {}).values()])
    titles = (cell_text(title, some) for some in heads.values() for title in columns)
    header = [*lines, *titles, *(end or {})]
    return markdown(header, found, align)


def grouped(rows: Iterable[Row], *cells: Cell) -> dict[Any, list[Row]]:
    """Return the rows by the texts of cells: by the text itself for one cell, else by a tuple."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        texts = tuple(cell_text(cell, [row]) for cell in cells)
        groups.setdefault(texts[0] if len(texts) == 1 else texts, []).append(row)
    return groups


def cell_text(cell: Cell, rows: list[Row]) -> str:
    """Return the text of a cell for the rows of a line."""
    if isinstance(cell, Over):
        return str(cell.function(rows))
    if callable(cell):
        return str(cell(rows[0]))
    try:
        return cell.format_map(_Figures(rows))
    except KeyError:
        return ""


_SUMMARIES: dict[str, Callable[[list[Any]], Any]] = {
    "mean": np.mean,
    "exact": mean,
    "median": median,
    "most": max,
}
_SCALES = {"millions": 1e-6, "percent": 100}
_OF_ALL = re.compile(rf"\{{#\}}|:({'|'.join(_SUMMARIES)}|each|range|all|list) ")


def _is_of_all(cell: Cell) -> bool:
    """Return whether a cell shows all rows of a line, not only the first."""
    return isinstance(cell, Over) or (isinstance(cell, str) and bool(_OF_ALL.search(cell)))


class _Figures(dict[str, Any]):
    """What a format text finds under each key of the rows of a line."""

    def __init__(self, rows: list[Row]) -> None:
        super().__init__({"#": len(rows)})
        self.of_rows = rows

    def __missing__(self, key: str) -> _Figure:
        rows = [row for row in self.of_rows if row.get(key) is not None]
        if not rows:
            raise KeyError(key)
        return _Figure(rows, key)


@dataclass
class _Figure:
    """A value of the rows, which a format text shows by the signs that the module lists."""

    rows: list[Row]
    key: str

    def __getitem__(self, index: Any) -> Any:
        return self.rows[0][self.key][index]

    def __format__(self, spec: str) -> str:
        row, key = self.rows[0], self.key
        if spec.startswith("~"):
            return interval(row, spec[1:], key)
        if spec.startswith("±"):
            low, high = interval_ends(row, key)
            half = "" if low is None else f" ± {(high - low) / 2:{spec[1:].removeprefix('+')}}"
            return f"{row[key]:{spec[1:]}}{half}"
        if spec == "short":
            return f"{row[key]:.2g}" if row[key] < 10 else f"{row[key]:,.0f}"
        kind, space, number = spec.partition(" ")
        if not space:
            return format(row[key], spec)
        values = [one[key] for one in self.rows]
        if kind in _SUMMARIES:
            return f"{_SUMMARIES[kind](values):{number}}"
        if kind in _SCALES:
            names = {key, f"{key}_low", f"{key}_high"} & set(row)
            return format(_Figure([{name: _SCALES[kind] * row[name] for name in names}], key), number)
        if kind == "list":
            return ", ".join(interval(one, number, key) for one in self.rows)
        if kind == "range":
            ends = f" ({min(values):{number}} to {max(values):{number}})" if len(values) > 1 else ""
            return f"{median(values):{number}}{ends}"
        every = ", ".join(format(value, number) for value in values)
        return every if kind == "all" else f"{np.mean(values):{number}} ({every})"


def markdown(header: Iterable[object], rows: Iterable[Iterable[object]], align: str = "") -> str:
    """Return a Markdown table; `align` has one letter per column, ``r`` for right and any other for left."""
    titles = [str(title).strip() for title in header]  # a space tells equal headers apart
    marks = ["---:" if mark == "r" else "---" for mark in align.ljust(len(titles))]
    lines = [f"| {' | '.join(titles)} |", f"|{'|'.join(marks)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def interval(row: Row, digits: str = ".2f", key: str = "won") -> str:
    """Return a figure with its interval, such as ``52.72 (52.03 to 53.41)``.

    The ends of the interval are ``won_low`` and ``won_high`` for the key ``won``, or else ``low`` and
    ``high``. Returns only the figure if the row has no interval, and an empty string if it has no figure.
    """
    if row.get(key) is None:
        return ""
    low, high = interval_ends(row, key)
    if low is None:
        return f"{row[key]:{digits}}"
    return f"{row[key]:{digits}} ({low:{digits}} to {high:{digits}})"


def interval_ends(row: Row, key: str = "won") -> tuple[Any, Any]:
    """Return the ends of a figure's interval; None without one."""
    prefix = f"{key}_" if f"{key}_low" in row else ""
    return row.get(f"{prefix}low"), row.get(f"{prefix}high")


def widest(rows: Iterable[Row], *keys: str) -> str:
    """Return a sentence with the largest half of an interval in the rows.

    Each of `keys` is the prefix of two ends, such as ``more_`` for ``more_low`` and ``more_high``. Without
    keys, the ends are ``low`` and ``high``. Returns an empty string if no row has an interval.
    """
    ends = [(row.get(f"{key}low"), row.get(f"{key}high")) for row in rows for key in keys or ("",)]
    halves = [(high - low) / 2 for low, high in ends if low is not None]
    return f"Intervals are at most ± {max(halves):.2f}." if halves else ""


def ordered(rows: Iterable[Row], **values: Iterable[Any]) -> list[Row]:
    """Return the rows whose keys have one of some values, in the order of these, by the first key first."""
    places = {key: {value: place for place, value in enumerate(each)} for key, each in values.items()}
    chosen = [row for row in rows if all(row.get(key) in places[key] for key in places)]
    return sorted(chosen, key=lambda row: [places[key][row[key]] for key in places])


def by(rows: Iterable[Row], *keys: str) -> dict[Any, Row]:
    """Return the rows by their values of `keys`: by the value itself for one key, else by a tuple."""
    return {row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row for row in rows}
