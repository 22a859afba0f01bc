"""Experiments, and the runs that measure them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gin_env.agents import Agent
from gin_env.matches.benchmark import joined
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.intervals import deviations, mean_interval
from gin_env.matches.match_log import MatchLog
from gin_env.matches.matches import MatchResult, play_match
from gin_env.support.files import write_json
from research.reproduce.tables import Row

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
            self.bots[name_of(bot)] = bot

    def match(
        self,
        bot: str | Agent,
        opponent: str | Agent,
        games: int,
        *,
        clairvoyant: bool = False,
        fresh: bool = False,
        **options: Any,
    ) -> MatchResult:
        """Return a match of `games` games (in a quick run of at most `QUICK_GAMES`).

        The match is stored in the folder and is not played again there, unless it is `fresh` or
        `clairvoyant`. Bots that play differently therefore need different names. `options` are those of
        `play_match`.
        """
        # A clairvoyant bot needs both hands, so its decisions cannot be hashed from a view alone.
        self.used(*((opponent,) if clairvoyant else (bot, opponent)))
        names = name_of(bot), name_of(opponent)
        self.say(f"{names[0]} against {names[1]}")
        games = self.size(games)
        if fresh or clairvoyant:
            return play_match(bot, opponent, games, self.seed, **options)
        return self.log.play(names, (bot, opponent), games, self.seed, **options)

    def row(self, bot: str | Agent, opponent: str | Agent, games: int, /, **more: Any) -> Row:
        """Return `match_row` of a match: see `match`."""
        return match_row(self.match(bot, opponent, games), **more)

    def match_in_blocks(
        self, bot: str | Agent, opponent: str | Agent, games: int, block: int, quick: int = 4
    ) -> MatchResult:
        """Return a match of slow bots, played and stored in blocks of `block` games with their own decks.

        A run that is stopped loses at most one block. A quick run plays two blocks of `quick` games. Call
        `used` for the bots. Raises ValueError unless the blocks add up to `games`.
        """
        if games % block:
            raise ValueError(f"games must be a multiple of {block}, not {games}")
        names = name_of(bot), name_of(opponent)
        size = self.size(block, quick)
        played = []
        for number in range(self.size(games // block, 2)):
            self.say(f"{names[0]} against {names[1]}, games {number * size:,} to {(number + 1) * size:,}")
            played.append(self.log.play(names, (bot, opponent), size, self.seed + number))
        return reduce(joined, played)

    def kept(self, name: str, measure: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `measure` returns for JSON; a resumed run reads it from the file of this name."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            write_json(path, measure(*arguments))
        return json.loads(path.read_text())

    def checkout(self, repository: str, file: Path | str) -> Path:
        """Return the folder of a user's checkout of a repository.

        Raises ValueError without one, and FileNotFoundError if `file` is not in it.
        """
        if self.authors is None:
            raise ValueError(f"name a checkout of {repository}: git clone it, then --authors PATH")
        if not (self.authors / file).exists():
            raise FileNotFoundError(f"{self.authors} must be a checkout of {repository}: it has no {file}")
        return self.authors

    def finish(self) -> None:
        """Delete the folder, so that a later run measures everything again with the code of that release."""
        shutil.rmtree(self.folder, ignore_errors=True)


def name_of(bot: str | Agent) -> str:
    """Return the name of a bot given by name or as an object."""
    return bot if isinstance(bot, str) else bot.name


NamedAgent = TypeVar("NamedAgent", bound=Agent)


def named(bot: NamedAgent, name: str) -> NamedAgent:
    """Give a bot that an experiment made its name, and return it."""
    bot.name = name
    return bot


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


def lead_of(match: MatchResult) -> np.ndarray:
    """Return the points of bot a less those of bot b in each deal, float64 (m,)."""
    return match.each_deal()["points"] @ np.array([1.0, -1.0])


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


def percent(share: float) -> float:
    """Return a share in per cent, rounded to three decimal places."""
    return round(100 * float(share), 3)


def more_won(more: float, low: float, high: float, deals: list[int] | None, name: str = "more") -> Row:
    """Return the part of a row for a gain in win rate with its interval, in per cent.

    `deals` are the `deal_counts` of the two matches, and the keys begin with `name`.
    """
    ends = {f"{name}_low": percent(low), f"{name}_high": percent(high)}
    return {name: percent(more), **ends, f"{name}_deals": deals}


def more_than(match: MatchResult, plain: MatchResult, name: str = "more") -> Row:
    """Return `more_won` of bot a over bot a of `plain`, a match on the same decks."""
    gain = win_rate_difference(match, plain)
    return more_won(gain.value, *gain.interval, deal_counts(match, plain), name)


@dataclass(frozen=True)
class Experiment:
    """A published table or figure and the functions that produce it."""

    id: str
    """Such as ``keats2017/claims``; the result is stored in ``research/results/keats2017/claims.json``."""
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
    extra: str = "train"
    """Extra of the package that it needs; empty for none. Networks need PyTorch, which is in ``train``."""
    authors: str = ""
    """Repository of a paper's authors that it reads; running it needs a checkout (``--authors``)."""
    makes: Callable[[], Mapping[str, Agent]] = dict
    """Returns the bots that it makes of parameters alone, by name. ``--check`` makes them again; bots that it
    trains cannot be compared."""
    parts: tuple[str, ...] = ()
    """Ids of the experiments whose stored results it combines, if it measures nothing itself. `table`
    receives the rows of all of them, each with the id of its experiment as ``of``. Results of all parts but
    the first can be missing."""
