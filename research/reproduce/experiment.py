"""Experiments, the runs that measure them, and helpers for turning rows into tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gin_env.agents import Agent
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.intervals import deviations, mean_interval
from gin_env.matches.match_log import MatchLog
from gin_env.matches.matches import PAIRS, MatchResult, play_match
from research.reproduce.labels import shown

Row = dict[str, Any]
"""A flat, JSON-serialisable record of texts, numbers, None and lists of these."""
QUICK_GAMES = 40

# Bots that play a frozen reading of a paper and appear in most tables.
V4, V2, MEDIUM = "fitness-cfr-paper", "heuristics-paper", "medium-literal-paper"
TONIC, VARIABLE = "tonic-paper", "simple-variable-paper"


class Run:
    """One run of an experiment: its size and seed, and the matches played so far.

    Parameters
    ----------
    seed : seed of the matches, or of whatever else the experiment samples.
    quick : whether to run at the smallest size that still exercises every step, to try the command.
    folder : folder for everything that a resumed run can reuse: matches, data sets, networks. If it is not
        empty, the run is `resumed`.
    progress : called with lines that describe the progress of the run.
    authors : checkout of the repository of a paper's authors, for experiments that read it.
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
        self.resumed = any(folder.iterdir())
        log = folder / "matches"
        self.log = MatchLog(log, resume=log.exists())

    def size(self, full: int, quick: int = QUICK_GAMES) -> int:
        """Return `full`, or in a quick run at most `quick`."""
        return min(full, quick) if self.quick else full

    def some(self, full: Sequence[Any], quick: int = 2) -> list[Any]:
        """Return all elements of `full`, or in a quick run the first `quick`."""
        return list(full)[:quick] if self.quick else list(full)

    def used(self, *bots: str | Agent) -> None:
        """Record bots that took part in anything other than `match`."""
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
        """Return a match of `games` games (in a quick run of at most `QUICK_GAMES`).

        The match is stored in the folder and is not played again there, unless it is `fresh` or
        `clairvoyant`. Bots that play differently therefore need different names.
        """
        # A clairvoyant bot needs both hands, so its decisions cannot be hashed from a view alone.
        self.used(*((opponent,) if clairvoyant else (bot, opponent)))
        names = tuple(one if isinstance(one, str) else one.name for one in (bot, opponent))
        self.say(f"{names[0]} against {names[1]}")
        games = self.size(games)
        if fresh or clairvoyant:
            return play_match(bot, opponent, games, self.seed, clairvoyant=clairvoyant)
        return self.log.play((names[0], names[1]), (bot, opponent), games, self.seed)

    def match_in_blocks(
        self, bot: str | Agent, opponent: str | Agent, games: int, block: int, quick: int = 4
    ) -> MatchResult:
        """Return a match of slow bots, played and stored in blocks of `block` games with their own decks.

        A run that is stopped loses at most one block. A quick run plays two blocks of `quick` games. Call
        `used` for the bots. Raises ValueError unless the blocks add up to `games`.
        """
        if games % block:
            raise ValueError(f"games must be a multiple of {block}, not {games}")
        names = (
            bot if isinstance(bot, str) else bot.name,
            opponent if isinstance(opponent, str) else opponent.name,
        )
        size = self.size(block, quick)
        played = []
        for number in range(self.size(games // block, 2)):
            self.say(f"{names[0]} against {names[1]}, games {number * size:,} to {(number + 1) * size:,}")
            played.append(self.log.play(names, (bot, opponent), size, self.seed + number))
        return joined(played)

    def finish(self) -> None:
        """Delete the folder, so that a later run measures everything again with the code of that release."""
        shutil.rmtree(self.folder, ignore_errors=True)


NamedAgent = TypeVar("NamedAgent", bound=Agent)


def named(bot: NamedAgent, name: str) -> NamedAgent:
    """Give a bot that an experiment made its name, and return it."""
    bot.name = name
    return bot


def joined(matches: Sequence[MatchResult]) -> MatchResult:
    """Combine matches of the same bots on different decks into one."""
    numbers = ("games", "hands", "voids", "turns")
    totals: dict[str, Any] = {name: sum(getattr(match, name) for match in matches) for name in numbers}
    for name in PAIRS[1:]:  # all but the bots' names
        a, b = np.sum([getattr(match, name) for match in matches], axis=0).tolist()
        totals[name] = a, b
    return replace(matches[0], **totals, deals=np.concatenate([match.each_deal() for match in matches]))


def match_row(match: MatchResult, **more: Any) -> Row:
    """Return a match as a row: `more`, the bots, the games and the share that bot a won, in per cent."""
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
    """Return the number of deals of which bot a won neither game, one game and both games.

    With two matches on the same decks, return the nine numbers of deals for each combination; the index of
    the second match varies fastest. The intervals of a win rate and of a difference depend only on these
    numbers. Returns None if any game is undecided.
    """
    return counts_of_wins(*(match.wins_and_decided for match in matches))


def counts_of_wins(*of_matches: tuple[np.ndarray, np.ndarray]) -> list[int] | None:
    """Return `deal_counts` of matches as (games won, games decided) in each deal, shape (m,) each."""
    kind = np.zeros(len(of_matches[0][0]), np.int64)
    for wins, decided in of_matches:
        if (decided != 2).any():
            return None
        kind = 3 * kind + wins
    return np.bincount(kind, minlength=3 ** len(of_matches)).tolist()


def moments_of(totals: np.ndarray, counts: np.ndarray | None = None) -> list[float]:
    """Return the sums that determine the interval of a ratio, sum(totals) / sum(counts).

    The numbers are [m, sum of x, of y, of x^2, of x y, of y^2] for m observations of (x, y), shape (m,). In
    a mean, all y are 1.
    """
    x = np.asarray(totals, float)
    y = np.ones(len(x)) if counts is None else np.asarray(counts, float)
    return [len(x), *(round(float(total), 8) for total in (x.sum(), y.sum(), x @ x, x @ y, y @ y))]


def ratio_row(totals: np.ndarray, counts: np.ndarray | None = None, digits: int = 6, name: str = "") -> Row:
    """Return the part of a row for a ratio, sum(totals) / sum(counts), with its 95 % t interval.

    `totals` and `counts` have shape (m,), one number for each of m independent observations, such as hands;
    without counts the ratio is the mean. The keys are value, low, high and moments (see `moments_of`), or
    with a name such as "won" won, won_low, won_high and won_moments.
    """
    counts = np.ones(len(totals)) if counts is None else counts
    value, prefix = float(totals.sum() / counts.sum()), f"{name}_" if name else ""
    low, high = mean_interval(value, deviations(totals, counts))
    figures = {name or "value": value, f"{prefix}low": low, f"{prefix}high": high}
    return {key: round(figure, digits) for key, figure in figures.items()} | {
        f"{prefix}moments": moments_of(totals, counts)
    }


def half_width(row: Row, name: str = "") -> float:
    """Return half of the width of a `ratio_row`'s interval."""
    prefix = f"{name}_" if name else ""
    return float(row[f"{prefix}high"] - row[f"{prefix}low"]) / 2


def plus_minus(row: Row, digits: int, name: str = "", sign: str = "") -> str:
    """Return the value of a `ratio_row`, plus or minus half of its 95 % interval; `sign` is "" or "+"."""
    return f"{row[name or 'value']:{sign}.{digits}f} ± {half_width(row, name):.{digits}f}"


def percent(share: float) -> float:
    """Return a share in per cent, rounded to three decimal places."""
    return round(100 * float(share), 3)


def more_won(more: float, low: float, high: float, deals: list[int] | None) -> Row:
    """Return the part of a row for a gain in win rate with its interval, in per cent.

    `deals` are the `deal_counts` of the two matches.
    """
    return {"more": percent(more), "more_low": percent(low), "more_high": percent(high), "more_deals": deals}


def gain_row(match: MatchResult, plain: MatchResult, **more: Any) -> Row:
    """Return `match_row` with bot a's gain over `plain`, its match in another version on the same decks."""
    gain = win_rate_difference(match, plain)
    return match_row(match, **more) | more_won(gain.value, *gain.interval, deal_counts(match, plain))


@dataclass(frozen=True)
class Experiment:
    """A published table or figure and the functions that produce it."""

    id: str
    """Such as ``000/claims``; the result is stored in ``research/results/000/claims.json``."""
    title: str
    measure: Callable[[Run], list[Row]] | None
    """Returns the rows; None if `program` measures them or the experiment has `parts`."""
    table: Callable[[Sequence[Row]], str]
    """Returns the rows as Markdown."""
    games: int = 20_000
    """Number of games in each match; 0 without matches."""
    time: str = "a minute"
    """Approximate time of a full run on one core; the result has the measured time."""
    seed: int = 0
    program: str = ""
    """Command that measures it if ``python -m research run`` cannot: a training script or a test suite."""
    on_page: Callable[[Row], bool] = lambda row: True
    """Whether a page shows a row; the page with the complete table shows all rows."""
    pictures: Mapping[str, Callable[[Sequence[Row], Path, str], None]] = field(default_factory=dict)
    """Path in ``examples/figures`` -> function of the rows, the path and `Result.origin` that draws it."""
    authors: str = ""
    """Repository of a paper's authors that it reads; running it needs a checkout (``--authors``)."""
    makes: Callable[[], Mapping[str, Agent]] | None = None
    """Returns the bots that it makes of parameters alone, by name. ``--check`` makes them again; bots that it
    trains cannot be compared."""
    parts: tuple[str, ...] = ()
    """Ids of the experiments whose stored results it combines, if it measures nothing itself. `table`
    receives the rows of all of them, each with the id of its experiment as ``of``. Results of all parts but
    the first can be missing."""


# --- Tables -------------------------------------------------------------------------------------------


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]], align: str = "") -> str:
    """Return a Markdown table; `align` has one letter per column, ``r`` for right and any other for left.

    Labels of stored results are replaced by the text in `research.reproduce.labels`.
    """
    marks = ["---:" if mark == "r" else "---" for mark in align.ljust(len(header))]
    lines = [f"| {' | '.join(map(shown, header))} |", f"|{'|'.join(marks)}|"]
    lines += [f"| {' | '.join(map(shown, row))} |" for row in rows]
    return "\n".join(lines)


def interval(row: Row, digits: int = 2, sign: str = "", key: str = "won") -> str:
    """Return a figure with its interval, such as ``52.72 (52.03 to 53.41)``.

    Returns only the figure if the row has no interval, and an empty string if it has no figure.
    """
    if row.get(key) is None:
        return ""
    number = f"{row[key]:{sign},.{digits}f}"
    if row.get("low") is None:
        return number
    return f"{number} ({row['low']:{sign},.{digits}f} to {row['high']:{sign},.{digits}f})"


def more_interval(row: Row) -> str:
    """Return ``+0.52 (+0.03 to +1.01)`` for a row that contains the fields of `more_won`."""
    return interval({"won": row["more"], "low": row["more_low"], "high": row["more_high"]}, 2, "+")


def widest(rows: Iterable[Row], *keys: str) -> str:
    """Return a sentence with the largest half of an interval in the rows.

    Each of `keys` is the prefix of two ends, such as ``more_`` for ``more_low`` and ``more_high``. Without
    keys, the ends are ``low`` and ``high``. Returns an empty string if no row has an interval.
    """
    ends = [(row.get(f"{key}low"), row.get(f"{key}high")) for row in rows for key in keys or ("",)]
    halves = [(high - low) / 2 for low, high in ends if low is not None]
    return f"Intervals are at most ± {max(halves):.2f}." if halves else ""


def plain_table(header: Sequence[str], keys: Sequence[str], rows: Sequence[Row]) -> str:
    """Return a table with a column for each key; floats have two decimal places and None is left empty."""

    def text(value: Any) -> str:
        return "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)

    return markdown(header, [[text(row[key]) for key in keys] for row in rows])


def games_of(row: Row, usual: int) -> str:
    """Return `` (4,000 games)`` if a row does not have the usual number of games, else an empty string."""
    games = row.get("games")
    return "" if games in (None, usual) else f" ({games:,} games)"


def by(rows: Iterable[Row], *keys: str) -> dict[Any, Row]:
    """Return the rows by their values of `keys`: by the value itself for one key, else by a tuple."""
    return {row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row for row in rows}


def in_order(rows: Iterable[Row], key: str) -> list[Any]:
    """Return the distinct values of a key in order of first appearance."""
    return list(dict.fromkeys(row[key] for row in rows))


def match_experiment(
    experiment: str, title: str, matches: Sequence[Row], games: int = 20_000, **more: Any
) -> Experiment:
    """Return an experiment whose rows are matches.

    Each of `matches` has ``label``, ``bot`` and ``opponent``, and optionally ``games``.
    """

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
