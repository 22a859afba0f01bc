"""Tournaments: every bot plays a match against every other bot.

All pairs play the same deals, so the result of a pair depends only on the two bots and the seed, not on the
other entrants. Seats and dealers are balanced in each match, see `gin_env.matches.matches`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gin_env import agents
from gin_env.agents import AnyAgent
from gin_env.batch import Episode
from gin_env.game.rules import RulesLike
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.matches.differences import Difference, win_rate_difference
from gin_env.matches.match_log import MatchLog, logged_name
from gin_env.matches.matches import MatchResult, check_confidence, check_games, play_match
from gin_env.matches.provenance import spell_out_bot
from gin_env.records import Recorder
from gin_env.support.files import write_csv, write_json
from gin_env.support.plots import import_matplotlib, origin_line, save_figure
from gin_env.support.tables import table
from gin_env.support.workers import Workers, opened

CSV_COLUMNS = (
    *("a", "b", "games", "seed", "wins_a", "wins_b", "win_rate", "low", "high", "confidence", "hands"),
    *("points_per_hand_a", "points_per_hand_b", "gins_a", "gins_b", "undercuts_a", "undercuts_b", "voids"),
)
"""Columns of the CSV file, which has one line for each pair; `_a` and `_b` are the figures of each bot."""

MEAN = 1500.0
_BETA = 400 / math.log(10) / math.sqrt(2)  # makes the model's scale, sqrt(2) beta, Elo's
_PRIOR_DEVIATION = 2 * _BETA  # openskill's default ratio


@dataclass(frozen=True)
class Rating:
    """A bot's strength on Elo's scale, by openskill (Bradley-Terry, full pairing; Weng and Lin, 2011).

    The model expects a lead of 200 points to win 76 % of the games; the mean of all bots is 1500. A rating
    cannot show cycles, and single pairs can be far from it. Read the win-rate matrix first.
    """

    value: float
    deviation: float
    """The sampling error among these opponents, not how much the rating depends on their choice."""


@dataclass(frozen=True)
class TournamentResult:
    """The result of a tournament of n bots. Matrices are (n, n), the row's bot against the column's."""

    bots: tuple[str, ...]
    matches: tuple[MatchResult, ...]
    """The match of each pair, in the order of ``itertools.combinations(bots, 2)``."""
    ratings: tuple[Rating, ...] | None
    """The rating of each bot on Elo's scale, as ``value`` and ``deviation``; None without openskill."""
    games: int
    """Number of games in each match."""
    seed: int
    confidence: float

    @property
    def size(self) -> str:
        """The number of games of each pair as text."""
        return f"{self.games:,} games a pair"

    def match(self, a: str, b: str) -> MatchResult:
        """Return the match of two bots; `MatchResult.bots` says which of them is bot a.

        >>> result = play_tournament(["simple", "random"], games=20, seed=1, episode="hand")
        >>> result.match("random", "simple").bots
        ('simple', 'random')
        """
        for result in self.matches:
            if set(result.bots) == {a, b}:
                return result
        raise ValueError(f"no match between {a!r} and {b!r}; the bots are {', '.join(self.bots)}")

    @property
    def win_rates(self) -> np.ndarray:
        """Share of the decided games that the row won: float64 (n, n), NaN on the diagonal."""
        return self._matrix(lambda match: (match.win_rate, 1 - match.win_rate))

    @property
    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of the paired Wilson intervals of `win_rates`: float64 (n, n) each."""
        ends = {match.bots: match.confidence_interval(self.confidence) for match in self.matches}
        lows = self._matrix(lambda match: (ends[match.bots][0], 1 - ends[match.bots][1]))
        highs = self._matrix(lambda match: (ends[match.bots][1], 1 - ends[match.bots][0]))
        return lows, highs

    def difference(self, a: str, b: str, opponent: str) -> Difference:
        """Return the win rate of `a` against `opponent` minus that of `b`, paired deal by deal.

        Raises ValueError for bots that did not play each other, and for matches without their deals.
        """
        first, second = (
            match if match.bots[1] == opponent else match.swapped()
            for match in (self.match(a, opponent), self.match(b, opponent))
        )
        return win_rate_difference(first, second, self.confidence)

    @property
    def points_per_hand(self) -> np.ndarray:
        """Mean points that the row scored in a hand: float64 (n, n), NaN on the diagonal."""
        return self._matrix(lambda match: match.points_per_hand)

    @property
    def mean_win_rates(self) -> np.ndarray:
        """Mean win rate of each bot over its opponents: float64 (n,)."""
        return np.nanmean(self.win_rates, axis=1)

    def standings(self) -> list[int]:
        """Return the bots' indices by descending rating (without ratings: by mean win rate).

        >>> result = play_tournament(["random", "simple"], games=20, seed=1, episode="hand")
        >>> result.standings()
        [1, 0]
        """
        strengths = [rating.value for rating in self.ratings] if self.ratings else self.mean_win_rates
        return np.argsort(-np.asarray(strengths), kind="stable").tolist()

    def _matrix(self, entries: Callable[[MatchResult], tuple[float, float]]) -> np.ndarray:
        """Return the matrix of the entries (a, b) and (b, a) of each match."""
        matrix = np.full((len(self.bots), len(self.bots)), np.nan)
        for (a, b), match in zip(combinations(range(len(self.bots)), 2), self.matches, strict=True):
            matrix[a, b], matrix[b, a] = entries(match)
        return matrix

    # --- Output ---------------------------------------------------------------------------------------

    def as_dict(self) -> dict[str, object]:
        """Return all figures for JSON; diagonals hold None."""
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
        """Write a CSV file with one line for each pair and the columns `CSV_COLUMNS`."""
        rows = []
        for match in self.matches:
            low, high = match.confidence_interval(self.confidence)
            figures = (match.win_rate, low, high, self.confidence, match.hands, *match.points_per_hand)
            outcomes = (*match.gins, *match.undercuts, match.voids)
            rows.append((*match.bots, match.games, match.seed, *match.wins, *figures, *outcomes))
        write_csv(path, CSV_COLUMNS, rows)

    def __str__(self) -> str:
        """Return the standings and the win-rate matrix, strongest bot first."""
        order, points = self.standings(), self.points_per_hand
        lows, highs = self.intervals
        standings, matrix = [], []
        for place, bot in enumerate(order, 1):
            # Its deviation is left out: it says nothing of the choice of the bots, which matters more.
            rating = f"{self.ratings[bot].value:.0f}" if self.ratings else "-"
            won = f"{100 * self.mean_win_rates[bot]:.2f} %"
            per_hand = f"{np.nanmean(points[bot]):.2f} : {np.nanmean(points[:, bot]):.2f}"
            standings.append([str(place), self.bots[bot], rating, won, per_hand])
            cells = [
                f"{100 * self.win_rates[bot, other]:.2f}±{50 * (highs - lows)[bot, other]:.1f}"
                if bot != other
                else ""
                for other in order
            ]
            matrix.append([str(place), self.bots[bot], *cells])
        places = [str(place) for place in range(1, len(order) + 1)]
        lines = [
            f"{self.size}, seed {self.seed}. Wins in per cent, row against column, ± half of "
            f"the {100 * self.confidence:g} % Wilson interval (paired deals).",
            "",
            table(["", "", "rating", "mean win", "points per hand"], standings, left=(1,)),
            "",
            table(["", "", *places], matrix, left=(1,)),
        ]
        if self.ratings is None:
            lines += ["", 'No ratings: install openskill with pip install "gin-env[plots]".']
        return "\n".join(lines)


def play_tournament(
    bots: Sequence[AnyAgent] | None = None,
    games: int = 2000,
    seed: int | None = None,
    *,
    episode: Episode = "game",
    rules: RulesLike = None,
    confidence: float = 0.95,
    progress: bool | Callable[[int], object] | None = None,
    log: MatchLog | None = None,
    record: Recorder | None = None,
    workers: int | Literal["all"] | Workers = 1,
) -> TournamentResult:
    """Play a match between every two of the bots.

    Parameters
    ----------
    bots : names (parameters allowed, as in ``"simple:knock_at=4"``), paths or objects; default: every bot
        that decides within microseconds (`gin_env.agents.quick_names`).
    games, seed, episode, rules : of each match, see `play_match`. All matches share one seed, so every pair
        plays the same deals.
    confidence : confidence level of the intervals.
    progress : as in `play_match`; True shows a bar for each match.
    log : stores each finished match; a match that it already holds is not played again.
    record : receives every game that is played, see `play_match`.
    workers : number of worker processes, or `Workers`, see `play_match`.

    Raises
    ------
    ValueError
        With fewer than two bots, or with two bots of the same name; otherwise as `play_match`.

    Examples
    --------
    >>> result = play_tournament(["simple", "random"], games=20, seed=1, episode="hand")
    >>> [result.bots[index] for index in result.standings()]
    ['simple', 'random']
    """
    check_confidence(confidence)
    named = list(agents.quick_names() if bots is None else bots)
    entrants = [agents.resolve(bot, programs=True) for bot in named]
    names = [bot.name for bot in entrants]
    if seed is None and log is not None:
        seed = log.seed  # a resumed tournament keeps its secret seed
    seed = fresh_seed() if seed is None else check_seed(seed)
    if len(entrants) < 2:
        raise ValueError("a tournament needs at least two bots")
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"bots must have different names, but {duplicates[0]!r} occurs twice")
    games = check_games(games)
    if record is not None:
        for bot, entrant in zip(named, entrants, strict=True):
            if isinstance(bot, str):  # entrants are objects, which do not know how they were named
                record.spell(entrant.name, spell_out_bot(bot))
    pairs = list(combinations(range(len(entrants)), 2))
    logged = names if log is None else list(map(logged_name, entrants))
    matches = []
    with opened(workers) as crew:
        # Workers make their own bots from the names.
        players: Sequence[AnyAgent] = entrants if crew.here else named
        settings: dict[str, Any] = {"episode": episode, "rules": rules, "progress": progress}
        settings |= {"record": record, "workers": crew}
        for a, b in pairs:
            pair, in_log = (players[a], players[b]), (logged[a], logged[b])
            play = partial(play_match, *pair) if log is None else partial(log.play, in_log, pair)
            matches.append(play(games, seed, **settings))
    wins = [(a, b, *match.wins) for (a, b), match in zip(pairs, matches, strict=True)]
    try:
        ratings = tuple(rate(len(entrants), wins, seed))
    except ImportError:
        ratings = None
    return TournamentResult(tuple(names), tuple(matches), ratings, games, seed, float(confidence))


def rate(num_players: int, wins: Sequence[tuple[int, int, int, int]], seed: int = 0) -> list[Rating]:
    """Return the ratings of players 0 to num_players - 1.

    `wins` has an entry (a, b, games won by a, games won by b) for each pair. The games are rated one by one
    in an order shuffled by `seed`. Raises ImportError without openskill.

    openskill is built for players whose strength changes. Two settings adapt it to bots, whose strength does
    not: no noise is added between games (``tau=0``), and each game counts with its full information
    (``gamma=1``). The order of the games then hardly matters.

    >>> stronger, weaker = rate(2, [(0, 1, 76, 24)])
    >>> 150 < stronger.value - weaker.value < 250
    True
    """
    try:
        from openskill.models import BradleyTerryFull
    except ImportError as error:
        raise ImportError('ratings need openskill: pip install "gin-env[plots]"') from error
    model = BradleyTerryFull(mu=MEAN, sigma=_PRIOR_DEVIATION, beta=_BETA, tau=0.0, gamma=lambda *_, **__: 1.0)
    players = [model.rating() for _ in range(num_players)]
    pairs = [pair for a, b, _, _ in wins for pair in ((a, b), (b, a))]
    num_wins = [count for _, _, by_a, by_b in wins for count in (by_a, by_b)]
    games = np.repeat(np.array(pairs, np.int64).reshape(-1, 2), num_wins, axis=0)
    for winner, loser in np.random.default_rng(seed).permutation(games).tolist():
        [[players[winner]], [players[loser]]] = model.rate([[players[winner]], [players[loser]]])
    centre = sum(player.mu for player in players) / num_players - MEAN
    return [Rating(player.mu - centre, player.sigma) for player in players]


def draw_heat_map(result: TournamentResult, path: str | Path, origin: str | None = None) -> None:
    """Draw the win-rate matrix, strongest bot first; the path's suffix selects the format.

    `origin` is the footer, by default games, seed and release. Raises ImportError without matplotlib.
    """
    figure_class, color_map = import_matplotlib()
    order = result.standings()
    names = [result.bots[bot] for bot in order]
    rates = 100 * result.win_rates[np.ix_(order, order)]
    half_widths = 50 * (result.intervals[1] - result.intervals[0])[np.ix_(order, order)]
    size = 0.75 * len(order)
    figure = figure_class(figsize=(size + 3.2, size + 2.2), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(rates, cmap=color_map["RdBu"], vmin=20, vmax=80)  # differences beyond matter little
    for (row, column), value in np.ndenumerate(rates):
        if row == column:
            continue
        colour = "#ffffff" if abs(value - 50) > 17 else "#000000"
        axes.text(column, row - 0.08, f"{value:.1f}", ha="center", va="center", color=colour, fontsize=10)
        interval = f"±{half_widths[row, column]:.1f}"
        axes.text(column, row + 0.25, interval, ha="center", va="center", color=colour, fontsize=7)
    labels = names
    if result.ratings:
        labels = [f"{result.bots[bot]}  {result.ratings[bot].value:.0f}" for bot in order]
    axes.set_yticks(range(len(order)), labels)
    axes.set_xticks(range(len(order)), names, rotation=45, ha="left", rotation_mode="anchor")
    axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
    axes.spines[:].set_visible(False)
    ratings = "; ratings next to the names" if result.ratings else ""
    axes.set_xlabel(f"{result.size}, ± half the {100 * result.confidence:g} % interval{ratings}", fontsize=9)
    figure.colorbar(image, ax=axes, shrink=0.7, extend="both", label="games won by the row's bot (%)")
    save_figure(figure, path, dpi=150, origin=origin or origin_line(result.size, result.seed))


def _without_nan(matrix: np.ndarray) -> list[list[float | None]]:
    """Return nested lists with None for NaN, which JSON lacks."""
    return [[None if np.isnan(value) else float(value) for value in row] for row in matrix]
