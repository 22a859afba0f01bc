"""Tournaments: every bot plays a match against every other one, and the result is a set of tables.

All pairs play the same deals, so the result of a pair depends on these two bots and the seed, not on who
else takes part. Seats and dealers are balanced in each match, see `gin_env.matches.matches`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gin_env import agents
from gin_env.agents import Agent
from gin_env.batch import Episode
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.matches.differences import Difference, win_rate_difference
from gin_env.matches.match_log import MatchLog
from gin_env.matches.matches import MatchResult, check_confidence, play_match
from gin_env.matches.ratings import Rating, rate
from gin_env.matches.recording import spell_out
from gin_env.records import Recorder
from gin_env.support.atomic import save_figure, write_csv, write_json
from gin_env.support.plots import import_matplotlib, origin_line, sign_figure
from gin_env.support.workers import Workers, opened

CSV_COLUMNS = (
    "a", "b", "games", "seed", "wins_a", "wins_b", "win_rate", "low", "high", "confidence", "hands",
    "points_per_hand_a", "points_per_hand_b", "gins_a", "gins_b", "undercuts_a", "undercuts_b", "voids",
)  # fmt: skip
"""One line for each pair; figures with `_a` and `_b` are the two bots' own."""


@dataclass(frozen=True)
class TournamentResult:
    """Result of a tournament of n bots. Matrices are (n, n), the row's bot against the column's."""

    bots: tuple[str, ...]
    matches: tuple[MatchResult, ...]
    """One for each pair, in the order of ``itertools.combinations(bots, 2)``."""
    ratings: tuple[Rating, ...] | None
    """One for each bot; None where openskill is not installed."""
    games: int
    """Games in each match, but for those of bots that were to play fewer."""
    seed: int
    confidence: float

    @property
    def size(self) -> str:
        """How many games each pair played, in words."""
        least, most = (number(match.games for match in self.matches) for number in (min, max))
        return f"{most:,} games a pair" if least == most else f"{least:,} to {most:,} games a pair"

    def match(self, a: str, b: str) -> MatchResult:
        """The match of these two bots; `MatchResult.bots` says which of them is its bot a."""
        for result in self.matches:
            if set(result.bots) == {a, b}:
                return result
        raise ValueError(f"no match between {a!r} and {b!r}; the bots are {', '.join(self.bots)}")

    @property
    def win_rates(self) -> np.ndarray:
        """float64 (n, n): share of the decided games that the row won; NaN on the diagonal."""
        return self._matrix(lambda match: (match.win_rate, 1 - match.win_rate))

    @property
    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends, float64 (n, n) each, of the Wilson intervals of `win_rates`, deals paired."""

        def ends(match: MatchResult) -> tuple[float, float]:
            return match.confidence_interval(self.confidence)

        lows = self._matrix(lambda match: (ends(match)[0], 1 - ends(match)[1]))
        highs = self._matrix(lambda match: (ends(match)[1], 1 - ends(match)[0]))
        return lows, highs

    def difference(self, a: str, b: str, opponent: str) -> Difference:
        """The win rate of `a` against `opponent` less that of `b`, deal by deal.

        Raises ValueError for bots that did not play each other, and for matches without their deals.
        """
        first, second = (
            match if match.bots[1] == opponent else match.swapped()
            for match in (self.match(a, opponent), self.match(b, opponent))
        )
        return win_rate_difference(first, second, self.confidence)

    @property
    def points_per_hand(self) -> np.ndarray:
        """float64 (n, n): points that the row scored in a hand, on average; NaN on the diagonal."""
        return self._matrix(lambda match: match.points_per_hand)

    @property
    def mean_win_rates(self) -> np.ndarray:
        """float64 (n,): each bot's mean win rate over its opponents."""
        return np.nanmean(self.win_rates, axis=1)

    def standings(self) -> list[int]:
        """The bots' indices, the highest rating first (without ratings: the highest mean win rate)."""
        strengths = [rating.value for rating in self.ratings] if self.ratings else self.mean_win_rates
        return np.argsort(-np.asarray(strengths), kind="stable").tolist()

    def _matrix(self, entries: Callable[[MatchResult], tuple[float, float]]) -> np.ndarray:
        """A matrix from the two entries, (a, b) and (b, a), of each match."""
        matrix = np.full((len(self.bots), len(self.bots)), np.nan)
        for (a, b), match in zip(combinations(range(len(self.bots)), 2), self.matches, strict=True):
            matrix[a, b], matrix[b, a] = entries(match)
        return matrix

    # --- Output ---------------------------------------------------------------------------------------

    def as_dict(self) -> dict[str, object]:
        """All figures, for JSON; what the diagonals hold is None."""
        lows, highs = self.intervals
        return {
            "bots": self.bots,
            "games": self.games,
            "seed": self.seed,
            "confidence": self.confidence,
            "win_rates": _without_nan(self.win_rates),
            "interval_lows": _without_nan(lows),
            "interval_highs": _without_nan(highs),
            "points_per_hand": _without_nan(self.points_per_hand),
            "mean_win_rates": self.mean_win_rates.tolist(),
            "ratings": [asdict(rating) for rating in self.ratings] if self.ratings else None,
            "matches": [match.as_dict(self.confidence) for match in self.matches],
        }

    def save(self, path: str | Path) -> None:
        """Write `as_dict` as JSON."""
        write_json(path, self.as_dict())

    def save_csv(self, path: str | Path) -> None:
        """Write one line for each pair, see `CSV_COLUMNS`."""
        rows = []
        for match in self.matches:
            low, high = match.confidence_interval(self.confidence)
            figures = (match.win_rate, low, high, self.confidence, match.hands, *match.points_per_hand)
            rest = (*match.gins, *match.undercuts, match.voids)
            rows.append((*match.bots, match.games, match.seed, *match.wins, *figures, *rest))
        write_csv(path, CSV_COLUMNS, rows)

    def __str__(self) -> str:
        """The standings and the win-rate matrix, strongest bot first."""
        order = self.standings()
        width = max(len(name) for name in self.bots)
        points = self.points_per_hand
        lines = [
            f"{self.size}, seed {self.seed}. "
            "Wins in per cent, row against column, ± half of "
            f"the {100 * self.confidence:g} % Wilson interval, deals paired.",
            "",
            f"{'':{width + 4}}{'rating':>10}  mean win   points per hand",
        ]
        for place, bot in enumerate(order, 1):
            rating = (
                f"{self.ratings[bot].value:6.0f} ±{self.ratings[bot].deviation:2.0f}" if self.ratings else "-"
            )
            lines.append(
                f"{place:2}  {self.bots[bot]:{width}}{rating:>10}  {100 * self.mean_win_rates[bot]:6.2f} %   "
                f"{np.nanmean(points[bot]):5.2f} : {np.nanmean(points[:, bot]):5.2f}"
            )
        lines += ["", " " * (width + 4) + " ".join(f"{place:>10}" for place in range(1, len(order) + 1))]
        lows, highs = self.intervals
        for place, row in enumerate(order, 1):
            cells = [
                f"{100 * self.win_rates[row, column]:6.2f}±{50 * (highs - lows)[row, column]:.1f}"
                if row != column
                else ""
                for column in order
            ]
            lines.append(
                f"{place:2}  {self.bots[row]:{width}}" + " ".join(f"{cell:>10}" for cell in cells).rstrip()
            )
        if self.ratings is None:
            lines += ["", 'No ratings: they need openskill, pip install "gin-env[plots]".']
        return "\n".join(lines)


def play_tournament(
    bots: Sequence[str | Agent] | None = None,
    games: int = 2000,
    seed: int | None = None,
    *,
    episode: Episode = "game",
    rules: Rules | None = None,
    confidence: float = 0.95,
    progress: Callable[[int], object] | None = None,
    log: MatchLog | None = None,
    record: Recorder | None = None,
    workers: int | Literal["all"] | Workers = 1,
    fewer: Mapping[str, int] | None = None,
) -> TournamentResult:
    """Play `games` games (an even number) between every two of the bots.

    Parameters
    ----------
    bots : names (parameters allowed, as in ``"simple:knock_at=4"``), paths or objects; default: every bot
        that decides in microseconds (`gin_env.agents.quick_names`).
    games, seed, episode, rules : of each match, see `play_match`.
        All matches have the same seed (without one: a secret one), so that each bot meets the same cards
        in each.
    confidence : of the intervals.
    progress : called now and then with the number of games that have ended since the last call.
    log : keeps each match when it has been played; those that it holds already are taken from it.
    record : every game that is played is written there, see `play_match`.
    workers : processes that play, or `Workers`; the result does not depend on them, see `play_match`.
    fewer : games of each match of slow bots, by their names.

    Raises ValueError unless there are at least two bots, all of different names, those of `fewer` among them,
    and whatever `play_match` raises.
    """
    check_confidence(confidence)
    given = list(agents.quick_names() if bots is None else bots)
    entrants = [agents.resolve(bot, programs=True) for bot in given]
    names = [bot.name for bot in entrants]
    if seed is None and log is not None:
        seed = log.seed  # a tournament that goes on keeps its secret seed
    seed = fresh_seed() if seed is None else check_seed(seed)
    if len(entrants) < 2:
        raise ValueError("a tournament needs at least two bots")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"the bots need different names, {twice[0]!r} is there twice")
    fewer = fewer or {}
    if strangers := sorted(set(fewer) - set(names)):
        raise ValueError(f"{strangers[0]!r} is to play fewer games, but the bots are {', '.join(names)}")
    if record is not None:
        spell_out(record, given, entrants)
    pairs = list(combinations(range(len(entrants)), 2))
    matches = []
    with opened(workers) as crew:
        # Objects play here; workers make their own of the names.
        players: Sequence[str | Agent] = entrants if crew.here else given
        settings: dict[str, Any] = {"episode": episode, "rules": rules, "progress": progress}
        settings |= {"record": record, "workers": crew}
        for a, b in pairs:
            pair = players[a], players[b]
            number = min(games, *(fewer.get(names[bot], games) for bot in (a, b)))
            if log is None:
                match = play_match(*pair, number, seed, **settings)
            else:
                match = log.play((names[a], names[b]), pair, number, seed, **settings)
            matches.append(match)
    wins = [(a, b, *match.wins) for (a, b), match in zip(pairs, matches, strict=True)]
    try:
        ratings = tuple(rate(len(entrants), wins, seed))
    except ImportError:
        ratings = None
    return TournamentResult(tuple(names), tuple(matches), ratings, int(games), seed, float(confidence))


def draw_heat_map(result: TournamentResult, path: str | Path, origin: str | None = None) -> None:
    """Draw the win-rate matrix, strongest bot first, as a picture (PNG by the path's ending).

    `origin` is the line at its foot, by default games, seed and release. Raises ImportError without
    matplotlib.
    """
    figure_class, color_map = import_matplotlib()
    order = result.standings()
    names = [result.bots[bot] for bot in order]
    rates = 100 * result.win_rates[np.ix_(order, order)]
    half_widths = 50 * (result.intervals[1] - result.intervals[0])[np.ix_(order, order)]
    size = 0.75 * len(order)
    figure = figure_class(figsize=(size + 3.2, size + 2.2), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(rates, cmap=color_map["RdBu"], vmin=20, vmax=80)  # beyond it hardly matters
    for (row, column), value in np.ndenumerate(rates):
        if row == column:
            continue
        colour = "white" if abs(value - 50) > 17 else "black"
        axes.text(column, row - 0.08, f"{value:.1f}", ha="center", va="center", color=colour, fontsize=10)
        interval = f"±{half_widths[row, column]:.1f}"
        axes.text(column, row + 0.25, interval, ha="center", va="center", color=colour, fontsize=7)
    if result.ratings:
        labels = [f"{name}  {result.ratings[bot].value:.0f}" for name, bot in zip(names, order, strict=True)]
    else:
        labels = names
    axes.set_yticks(range(len(order)), labels)
    axes.set_xticks(range(len(order)), names, rotation=45, ha="left", rotation_mode="anchor")
    axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
    axes.spines[:].set_visible(False)
    ratings = "; ratings beside the names" if result.ratings else ""
    axes.set_xlabel(
        f"{result.size}, ± half the {100 * result.confidence:g} % interval{ratings}",
        fontsize=9,
    )
    figure.colorbar(image, ax=axes, shrink=0.7, extend="both", label="games won by the row's bot (%)")
    sign_figure(figure, origin or origin_line(result.size, result.seed))
    save_figure(figure, path, dpi=150)


def _without_nan(matrix: np.ndarray) -> list[list[float | None]]:
    """Nested lists with None for NaN, which JSON does not know."""
    return [[None if np.isnan(value) else float(value) for value in row] for row in matrix]
