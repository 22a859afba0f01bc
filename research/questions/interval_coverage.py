"""Coverage of confidence intervals: the share of matches in which a 95 % interval contains the true value.

A long match is cut into short ones, and the win rate of the long match is taken as the true value. Two kinds
of intervals are compared. Those of `gin_env.matches.intervals` treat the two games of a deal as one
observation and compare two matches on the same decks deal by deal. The others treat all games as
independent: Wilson's interval, and Newcombe's for the difference of two. Intervals of points per hand are
counted too. ``tests/matches/test_intervals.py`` does the same with simulated games whose true value is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gin_env.batch import Episode
from gin_env.matches.intervals import (
    Interval,
    design_effect,
    deviations,
    mean_interval,
    newcombe_interval,
    wilson_interval,
    win_rate_difference_interval,
    win_rate_interval,
)
from gin_env.matches.matches import MatchResult
from research.reproduce.experiment import Run, percent
from research.reproduce.tables import Row

MATCHES = 2000


def measure_coverage(run: Run, win_rates: Sequence[Any], differences: Sequence[Any]) -> list[Row]:
    """Measure in what share of the short matches each kind of interval contains the long match's value.

    `win_rates` are lists of two bots, the kind of episode, and the number of deals in a match; each deal is
    two games. `differences` are lists of two bots, their common opponent, the kind of episode, and the number
    of deals.
    """
    matches = run.size(MATCHES, 5)

    def play(bot: str, opponent: str, episode: Episode, deals: int) -> MatchResult:
        return run.match(bot, opponent, 2 * deals * matches, fresh=True, episode=episode)

    rows = [win_rate_row(play(*about), matches) for about in run.some(win_rates)]
    for one, other, opponent, episode, deals in run.some(differences):
        first, second = (play(bot, opponent, episode, deals) for bot in (one, other))
        rows.append(difference_row(first, second, matches))
    return rows


def win_rate_row(match: MatchResult, matches: int) -> Row:
    """Return the row for the intervals of the win rate and of the points per hand."""
    short = cut(match, matches)
    paired = [win_rate_interval(*part) for part in short]
    independent = [plain(part)[1] for part in short]
    parts = [(part["points"][:, 0], part["hands"]) for part in np.split(match.each_deal(), matches)]
    points = [mean_interval(own.sum() / hands.sum(), deviations(own, hands)) for own, hands in parts]
    return row_of(match, None, match.win_rate, paired, independent) | {
        "design_effect": round(design_effect(*match.wins_and_decided), 3),
        "points_held": held("points", points, match.points_per_hand[0])["points_held"],
    }


def difference_row(first: MatchResult, second: MatchResult, matches: int) -> Row:
    """Return the row for the intervals of the difference of two bots' win rates on the same decks."""
    short = list(zip(cut(first, matches), cut(second, matches), strict=True))
    paired = [win_rate_difference_interval(one, other) for one, other in short]
    independent = [newcombe_interval(plain(one), plain(other)) for one, other in short]
    return row_of(first, second.bots[0], first.win_rate - second.win_rate, paired, independent)


def row_of(
    match: MatchResult,
    less: str | None,
    value: float,
    paired: Sequence[Interval],
    independent: Sequence[Interval],
) -> Row:
    """Return the part common to both kinds of rows; `less` is the bot whose win rate is subtracted."""
    matches = len(paired)
    return (
        {"bot": match.bots[0], "less": less, "opponent": match.bots[1], "games": match.games // matches}
        | {"episode": match.episode, "matches": matches, "value": percent(value)}
        | {"design_effect": None, "points_held": None}
        | held("paired", paired, value)
        | held("independent", independent, value)
    )


def cut(match: MatchResult, matches: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for each short match, the games won by bot a and the games decided in each deal."""
    wins, decided = match.wins_and_decided
    return list(zip(np.split(wins, matches), np.split(decided, matches), strict=True))


def plain(of_match: tuple[np.ndarray, np.ndarray]) -> tuple[float, Interval]:
    """Return the win rate and its interval, as if all games were independent."""
    wins, decided = (float(games.sum()) for games in of_match)
    return wins / decided, wilson_interval(wins / decided, decided)


def held(kind: str, found: Sequence[Interval], value: float) -> Row:
    """Return the percentage of intervals that contain the value, and half their mean width in points."""
    ends = np.array(found)
    share = float(np.mean((ends[:, 0] <= value) & (value <= ends[:, 1])))
    return {
        f"{kind}_held": percent(share),
        f"{kind}_half_width": round(50 * float(np.mean(ends[:, 1] - ends[:, 0])), 3),
    }


def bots(row: Row) -> str:
    """Return the bots that are compared."""
    less = f"less `{row['less']}`, " if row["less"] else ""
    return f"`{row['bot']}` {less}against `{row['opponent']}`"


def win_rate(row: Row) -> str:
    """Return the true win rate, or the true difference with its sign."""
    return f"{row['value']:{'+' if row['less'] else ''}.1f}"
