"""Matches and tables that a file declares: see `research.reproduce.by_id`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import Any

from gin_env import agents
from gin_env.agents import Agent
from research.reproduce.experiment import Run, match_row, more_than, named
from research.reproduce.tables import Row, cell_text, ordered, pivot, table, widest


@dataclass(frozen=True)
class Matches:
    """Matches to play, each of which is a row; bots that the experiment makes have their names."""

    matches: Mapping[str, Sequence[str]] | Sequence[Row] = ()
    """Label -> [bot, opponent], or tables with ``bot``, ``opponent``, optionally ``games``, and what else the
    row contains. With ``plain``, another bot, the row has the gain over it on the same decks. With
    ``clairvoyant``, the bot sees all cards: see `Run.match`."""
    bots: Mapping[str, str] | Sequence[str] = ()
    """Bots, or label -> bot: each plays each of the `opponents` but itself, before the `matches`."""
    opponents: Sequence[str] = ()
    each: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Key -> values: each of the `matches` is played with all combinations. Its texts can name the keys."""
    block: int = 0
    """Number of games played and saved together, for slow bots; 0 for all games of a match."""

    def rows(self) -> list[Row]:
        """Return what is known of the rows beforehand."""
        bots: list[Row] = [{"bot": bot} for bot in self.bots]
        if isinstance(self.bots, Mapping):
            bots = [{"label": label, "bot": bot} for label, bot in self.bots.items()]
        pairs = product(bots, self.opponents)
        rows = [bot | {"opponent": opponent} for bot, opponent in pairs if bot["bot"] != opponent]
        if not isinstance(self.matches, Mapping):
            keyed = [dict(zip(self.each, values, strict=True)) for values in product(*self.each.values())]
            return [*rows, *(filled(one, values) for one in self.matches for values in keyed)]
        each = self.matches.items()
        return rows + [{"label": label, "bot": bot, "opponent": opponent} for label, (bot, opponent) in each]

    def measure(self, games: int, makes: Callable[[], Mapping[str, Agent]], run: Run) -> list[Row]:
        """Play the matches, of `games` games if they have no other number; `makes` is the experiment's."""
        made, rows = makes(), []
        for one in run.some(self.rows(), 1) if self.block else self.rows():
            plain, clairvoyant = one.pop("plain", None), one.pop("clairvoyant", False)
            a, b = (made.get(bot, bot) for bot in (one["bot"], one["opponent"]))
            size = one.get("games", games)
            if self.block:
                run.used(a, b)
                match = run.match_in_blocks(a, b, size, self.block)
            else:
                match = run.match(a, b, size, clairvoyant=clairvoyant)
            rows.append(match_row(match, **one))
            if plain:
                rows[-1] |= more_than(match, run.match(made.get(plain, plain), b, size))
        return rows


def filled(row: Row, values: Row) -> Row:
    """Return a row with more values; with any, its texts are format texts that can name them."""
    row = row | values
    return {key: one.format_map(row) if values and isinstance(one, str) else one for key, one in row.items()}


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The rows of an experiment that a table or figure shows."""

    order: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Key -> values of the rows, in their order."""
    having: str = ""
    """A key that the rows have."""
    rows: str | Sequence[Any] = ""
    """Name of a function that completes the rows, or a list of it and its first arguments."""
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Key -> value -> the text that is shown for it."""

    def selected(self, package: str, rows: Sequence[Row]) -> list[Row]:
        """Return the rows to show; functions are those of a package."""
        shown = [row for row in ordered(rows, **self.order) if not self.having or self.having in row]
        if self.rows:
            shown = function(package, self.rows)(shown)
        for key, words in self.words.items():
            shown = [row | {key: words.get(str(row.get(key)), row.get(key))} for row in shown]
        return shown


@dataclass(frozen=True, kw_only=True)
class Table(Selection):
    """A table of some rows, or with ``lines`` a pivot: see `research.reproduce.tables`.

    A cell is a format text or, without braces, the name of a function.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    end: Mapping[str, str] = field(default_factory=dict)
    align: str = ""
    sort: Sequence[str] = ()
    """Keys by which lines are sorted, in descending order after a ``-``."""
    across: Sequence[str] = ()
    """Keys by which the columns of a pivot are sorted."""
    widest: Sequence[str] = ()
    """Arguments of `research.reproduce.tables.widest`, which makes the text below the table."""
    note: str = ""
    """A text below the table, before that of `widest`."""
    text: str = ""
    """A format text to show for each row instead of a table."""

    def show(self, package: str, rows: Sequence[Row]) -> str:
        """Return the Markdown of the table; functions are those of a package."""
        shown = self.selected(package, rows)
        if self.text:
            return "\n\n".join(cell_text(self.text, [row]) for row in shown)
        lines, columns, end = (
            {head: cell if "{" in cell else _named(package, cell) for head, cell in cells.items()}
            for cells in (self.lines, self.columns, self.end)
        )
        place = _place(self.sort)
        if lines:
            text = pivot(shown, lines, columns, self.align, end, place, _place(self.across))
        else:
            text = table(sorted(shown, key=place), columns, self.align)
        below = f"{self.note} {widest(shown, *self.widest) if self.widest else ''}".strip()
        return f"{text}\n\n{below}".rstrip()


def made_bots(package: str, bots: str | Mapping[str, str]) -> dict[str, Agent]:
    """Return the bots of a function or of a table, name -> bot, each with its name there."""
    if isinstance(bots, str):
        found: Mapping[str, Agent] = function(package, bots)()
    else:
        found = {name: agents.make(bot, programs=True) for name, bot in bots.items()}
    return {name: named(bot, name) for name, bot in found.items()}


def show(package: str, tables: Sequence[Table], rows: Sequence[Row]) -> str:
    """Return the Markdown of several tables of the rows of an experiment."""
    return "\n\n".join(one.show(package, rows) for one in tables)


def function(package: str, reference: str | Sequence[Any]) -> Callable[..., Any]:
    """Return a function that imports and calls the one that a reference of a package names."""
    name, *first = [reference] if isinstance(reference, str) else list(reference)
    return lambda *more, **arguments: _named(package, name)(*first, *more, **arguments)


def _named(package: str, name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(f"{package}.{module}"), attribute)


def _place(keys: Sequence[str]) -> Callable[[Row], list[Any]]:
    return lambda row: [-row[key[1:]] if key.startswith("-") else row[key] for key in keys]
