"""Coverage of confidence intervals: the share of matches in which a 95 % interval contains the true value.

A long match is cut into short ones, and the win rate of the long match is taken as the true value. Two kinds
of intervals are compared. Those of `gin_env.matches.intervals` treat the two games of a deal as one
observation and compare two matches on the same decks deal by deal. The others treat all games as
independent: Wilson's interval, and Newcombe's for the difference of two. Intervals of points per hand are
counted too. ``tests/matches/test_intervals.py`` does the same with simulated games whose true value is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gin_env.batch import Episode
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.intervals import Interval, design_effect, newcombe_interval
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

    rows = [coverage_row(play(*about), matches) for about in run.some(win_rates)]
    for bot, less, *about in run.some(differences):
        rows.append(coverage_row(play(bot, *about), matches, play(less, *about)))
    return rows


def coverage_row(match: MatchResult, matches: int, less: MatchResult | None = None) -> Row:
    """Return the row of a long match, cut into short ones, for the intervals of its win rate and its points.

    With `less`, a match on the same decks, it is for the intervals of the difference of the win rates.
    """
    short, value = cut(match, matches), match.win_rate
    effect = points_held = None
    if less is None:
        paired, independent = [one.interval for one in short], [one.wilson_interval() for one in short]
        points = [one.points_intervals()[0] for one in short]
        points_held = held("points", points, match.points_per_hand[0])["points_held"]
        effect = round(design_effect(*match.wins_and_decided), 3)
    else:
        pairs = list(zip(short, cut(less, matches), strict=True))
        paired = [win_rate_difference(a, b).interval for a, b in pairs]
        independent = [
            newcombe_interval((a.win_rate, a.wilson_interval()), (b.win_rate, b.wilson_interval()))
            for a, b in pairs
        ]
        value -= less.win_rate
    return (
        {"bot": match.bots[0], "less": less.bots[0] if less else None, "opponent": match.bots[1]}
        | {"games": short[0].games, "episode": match.episode, "matches": matches, "value": percent(value)}
        | {"design_effect": effect, "points_held": points_held}
        | held("paired", paired, value)
        | held("independent", independent, value)
    )


def cut(match: MatchResult, matches: int) -> list[MatchResult]:
    """Return a long match as short ones."""
    return [
        replace(
            match,
            games=match.games // matches,
            deals=deals,
            hands=int(deals["hands"].sum()),
            wins=tuple(deals["wins"].sum(axis=0).tolist()),
            points=tuple(deals["points"].sum(axis=0).tolist()),
        )
        for deals in np.split(match.each_deal(), matches)
    ]


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
