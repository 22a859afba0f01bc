"""What an experiment is, what it measures with, and how its rows become a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents import Agent
from gin_env.matches.match_log import MatchLog
from gin_env.matches.matches import MatchResult, play_match

Row = dict[str, Any]
"""A flat record for JSON: texts, numbers, None, lists of these."""
QUICK_GAMES = 40

# The frozen readings that most tables name.
V4, V2, MEDIUM = "fitness-cfr-paper", "heuristics-paper", "medium-paper"
TONIC, VARIABLE = "tonic-paper", "simple-variable-paper"


class Run:
    """One run of an experiment: its size and seed, and what it has played so far.

    Parameters
    ----------
    seed : of the matches, or of whatever the experiment draws.
    quick : everything at the smallest size that still goes through all the steps: tries the command.
    folder : where the run keeps what it can use again if it is stopped: matches, data sets, networks.
    progress : called with lines that say how far the run has come.
    authors : a checkout of the repository of a paper's authors, for the experiments that read it.
    """

    def __init__(
        self,
        seed: int,
        quick: bool,
        folder: Path,
        progress: Callable[[str], object] | None = None,
        authors: Path | None = None,
    ) -> None:
        self.seed = seed
        self.quick = quick
        self.folder = folder
        self.authors = authors
        self.say = progress or (lambda line: None)
        self.bots: dict[str, str | Agent] = {}
        self.estimators: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / "matches"
        self.log = MatchLog(log, resume=log.exists())

    def size(self, full: int, quick: int = QUICK_GAMES) -> int:
        """`full`, or `quick` in a quick run."""
        return min(full, quick) if self.quick else full

    def some(self, full: Sequence[Any], quick: int = 2) -> list[Any]:
        """All of them, or in a quick run the first ones."""
        return list(full)[:quick] if self.quick else list(full)

    def used(self, *bots: str | Agent) -> None:
        """Note bots that took part in something other than `match`."""
        for bot in bots:
            self.bots[bot if isinstance(bot, str) else bot.name] = bot

    def match(
        self,
        bot: str | Agent,
        opponent: str | Agent,
        games: int,
        *,
        clairvoyant: bool = False,
        fresh: bool = False,
    ) -> MatchResult:
        """A match of `games` games at most (in a quick run `QUICK_GAMES`).

        It is kept in the folder and not played again there, unless it is `fresh` or `clairvoyant`; so bots
        that play differently need different names.
        """
        self.used(*((opponent,) if clairvoyant else (bot, opponent)))  # who sees hands has no decisions alone
        names = tuple(one if isinstance(one, str) else one.name for one in (bot, opponent))
        self.say(f"{names[0]} against {names[1]}")
        games = self.size(games)
        if fresh or clairvoyant:
            return play_match(bot, opponent, games, self.seed, clairvoyant=clairvoyant)
        return self.log.play((names[0], names[1]), (bot, opponent), games, self.seed)

    def finish(self) -> None:
        """Forget the matches: a later run plays them again, with the bots of its time."""
        self.log.path.unlink(missing_ok=True)


def match_row(match: MatchResult, **more: Any) -> Row:
    """A match as a row: `more`, the bots, the games and the share that bot a won, in per cent."""
    low, high = match.interval
    a, b = match.bots
    return more | {
        "bot": a,
        "opponent": b,
        "games": match.games,
        "wins": match.wins[0],
        "losses": match.wins[1],
        "won": percent(match.win_rate),
        "low": percent(low),
        "high": percent(high),
        "points_per_hand": [round(points, 3) for points in match.points_per_hand],
        "deals": deal_counts(match),
    }


def deal_counts(*matches: MatchResult) -> list[int] | None:
    """Number of deals by the games that bot a won of their two: none, one, both; None if some is undecided.

    With two matches on the same decks the nine numbers of both, those of the second changing first. The
    intervals of a win rate and of a difference follow from these numbers alone.
    """
    kind = np.zeros(len(matches[0].each_deal()), np.int64)
    for match in matches:
        wins, decided = match.wins_and_decided
        if (decided != 2).any():
            return None
        kind = 3 * kind + wins
    return np.bincount(kind, minlength=3 ** len(matches)).tolist()


def percent(share: float) -> float:
    """A share in per cent, to three digits."""
    return round(100 * float(share), 3)


def more_won(more: float, low: float, high: float) -> Row:
    """By how much more is won than without something, with its interval, in per cent: a part of a row."""
    return {"more": percent(more), "more_low": percent(low), "more_high": percent(high)}


@dataclass(frozen=True)
class Experiment:
    """A published table or figure, and what makes it."""

    id: str
    """As in ``gin-rummy reproduce 000/claims``; the result is ``results/000/claims.json``."""
    title: str
    measure: Callable[[Run], list[Row]] | None
    """None if `program` measures it, or if it has `parts`."""
    table: Callable[[Sequence[Row]], str]
    """The rows as Markdown."""
    games: int = 20_000
    """In each match, 0 if it plays no matches."""
    time: str = "a minute"
    """Of a full run on one core, roughly; the result says it exactly."""
    seed: int = 0
    program: str = ""
    """What measures it, where ``gin-rummy reproduce`` cannot: training by a script, a check of the tests."""
    on_page: Callable[[Row], bool] = lambda row: True
    """Which rows a page shows; the page of complete tables has all."""
    pictures: Mapping[str, Callable[[Sequence[Row], Path, str], None]] = field(default_factory=dict)
    """Path in ``examples/figures`` -> what draws it from the rows, with `Result.origin` at its foot."""
    authors: str = ""
    """The repository of a paper's authors that it reads: it needs a checkout of it (``--authors``)."""
    parts: tuple[str, ...] = ()
    """The experiments whose stored results it is made of, if it measures nothing itself. `table` gets the
    rows of all, each with the id of its experiment as ``of``. All but the first may be missing."""


# --- Tables -------------------------------------------------------------------------------------------


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]], align: str = "") -> str:
    """A table; `align` has a letter for each column, r for right, else left."""
    marks = ["---:" if mark == "r" else "---" for mark in align.ljust(len(header))]
    lines = [f"| {' | '.join(header)} |", f"|{'|'.join(marks)}|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines)


def interval(row: Row, digits: int = 2, sign: str = "", key: str = "won") -> str:
    """``52.72 (52.03 to 53.41)``; the figure alone if the row has no interval, nothing without a figure."""
    if row.get(key) is None:
        return ""
    number = f"{row[key]:{sign}.{digits}f}"
    if row.get("low") is None:
        return number
    return f"{number} ({row['low']:{sign}.{digits}f} to {row['high']:{sign}.{digits}f})"


def more_interval(row: Row) -> str:
    """``+0.52 (+0.03 to +1.01)`` of a row with what `more_won` returned."""
    return interval({"won": row["more"], "low": row["more_low"], "high": row["more_high"]}, 2, "+")


def plain_table(header: Sequence[str], keys: Sequence[str], rows: Sequence[Row]) -> str:
    """A column for each key; numbers that are no integers to two digits, None as nothing."""

    def text(value: Any) -> str:
        return "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)

    return markdown(header, [[text(row[key]) for key in keys] for row in rows])


def games_of(row: Row, usual: int) -> str:
    """`` (4,000 games)`` where a row has another number of games than usual."""
    games = row.get("games")
    return "" if games in (None, usual) else f" ({games:,} games)"


def by(rows: Iterable[Row], *keys: str) -> dict[Any, Row]:
    """The rows by the values of these keys (one: the value itself)."""
    return {row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row for row in rows}


def in_order(rows: Iterable[Row], key: str) -> list[Any]:
    """The different values of a key, in the order in which they come."""
    return list(dict.fromkeys(row[key] for row in rows))


def match_experiment(
    experiment: str, title: str, matches: Sequence[Row], games: int = 20_000, **more: Any
) -> Experiment:
    """An experiment whose rows are matches: each has ``label``, ``bot``, ``opponent``, perhaps ``games``."""

    def measure(run: Run) -> list[Row]:
        return [
            match_row(run.match(one["bot"], one["opponent"], one.get("games", games)), label=one["label"])
            for one in matches
        ]

    def table(rows: Sequence[Row]) -> str:
        return markdown(
            ["match", "games won (95 % interval)"],
            [(row["label"] + games_of(row, games), interval(row)) for row in rows],
        )

    return Experiment(experiment, title, measure, more.pop("table", table), games, **more)
