"""Do 95 % intervals hold the true value in 95 % of the matches? Cut from long matches, counted.

    python examples/interval_coverage.py                # 2,000 matches each, a quarter of an hour
    python examples/interval_coverage.py --matches 200

A long match is cut into short ones; its win rate, from 2,000 times as many games, stands for the true one.
Beside the intervals of `gin_env.play.intervals`, in which the two games of a deal are one observation and two
matches on the same decks are compared deal by deal, stand those that take all games as independent: Wilson's,
and Newcombe's of two of his. Intervals of points per hand are counted too. The table is in docs/results.md;
tests/test_intervals.py does the same with simulated games, of which the truth is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from gin_env.play.intervals import (
    Interval,
    deviations,
    mean_interval,
    newcombe_interval,
    wilson_interval,
    win_rate_difference_interval,
    win_rate_interval,
)
from gin_env.play.matches import MatchResult, check_confidence, play_match
from gin_env.support.exits import one_line_errors

WIN_RATES = [
    ("simple", "simple", "hand", 500),
    ("tonic", "simple", "hand", 100),
    ("simple:knock_at=0", "simple", "game", 100),
    ("random-discard", "simple", "game", 100),
    ("fitness-cfr", "heuristics", "game", 50),
]
"""Bots, kind of episode, and deals in a match; each deal is two games."""
DIFFERENCES = [
    ("late-knock", "simple:knock_at=0", "simple", "game", 100),
    ("simple:knock_at=9", "simple", "random-discard", "hand", 1000),
]
"""Two bots, the third that both play, kind of episode, deals."""


def described(found: Sequence[Interval], value: float) -> str:
    """In how many per cent of the matches the interval holds the value, and half its mean width in points."""
    ends = np.array(found)
    held = np.mean((ends[:, 0] <= value) & (value <= ends[:, 1]))
    return f"{100 * held:.1f} % (± {50 * np.mean(ends[:, 1] - ends[:, 0]):.2f})"


def cut(match: MatchResult, matches: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Games won by bot a and games decided in each deal, of each of so many matches."""
    wins, decided = match.wins_and_decided
    return list(zip(np.split(wins, matches), np.split(decided, matches), strict=True))


def plain(of_match: tuple[np.ndarray, np.ndarray], confidence: float) -> tuple[float, Interval]:
    """Win rate, and its interval as if all games were independent."""
    wins, decided = (float(games.sum()) for games in of_match)
    return wins / decided, wilson_interval(wins / decided, decided, confidence)


def win_rate_row(match: MatchResult, matches: int, confidence: float) -> str:
    """A line of the table for a long match."""
    short = cut(match, matches)
    points = [
        mean_interval(part["points"][:, 0].sum() / part["hands"].sum(),
                      deviations(part["points"][:, 0], part["hands"]), confidence)
        for part in np.split(match.each_deal(), matches)
    ]  # fmt: skip
    paired = described([win_rate_interval(*part, confidence) for part in short], match.win_rate)
    independent = described([plain(part, confidence)[1] for part in short], match.win_rate)
    of_points = described(points, match.points_per_hand[0]).split(" (")[0]
    cells = (
        f"`{match.bots[0]}` against `{match.bots[1]}`", f"{match.games // matches} {match.episode}s",
        f"{100 * match.win_rate:.1f}", f"{match.design_effect:.2f}", paired, independent, of_points,
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def difference_row(first: MatchResult, second: MatchResult, matches: int, confidence: float) -> str:
    """A line of the table for two long matches on the same decks."""
    value = first.win_rate - second.win_rate
    short = list(zip(cut(first, matches), cut(second, matches), strict=True))
    paired = [win_rate_difference_interval(one, other, confidence) for one, other in short]
    independent = [newcombe_interval(*(plain(part, confidence) for part in parts)) for parts in short]
    cells = (
        f"`{first.bots[0]}` less `{second.bots[0]}`, against `{first.bots[1]}`",
        f"{first.games // matches} {first.episode}s", f"{100 * value:+.1f}", "", described(paired, value),
        described(independent, value), "",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def coverage(
    matches: Annotated[int, typer.Option(min=1, help="Short matches of each kind.")] = 2000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 11,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
) -> None:
    """Play long matches, cut them, and print how often the intervals of the parts hold the whole's figure."""
    check_confidence(confidence)
    total = 2 * matches * (sum(row[-1] for row in WIN_RATES) + 2 * sum(row[-1] for row in DIFFERENCES))
    rows = []
    with tqdm(total=total, unit="game", smoothing=0.05) as progress:

        def play(bot: str, opponent: str, episode: str, deals: int) -> MatchResult:
            games = 2 * deals * matches
            return play_match(bot, opponent, games, seed, episode=episode, progress=progress.update)

        for bot, opponent, episode, deals in WIN_RATES:
            rows.append(win_rate_row(play(bot, opponent, episode, deals), matches, confidence))
        for one, other, opponent, episode, deals in DIFFERENCES:
            both = [play(bot, opponent, episode, deals) for bot in (one, other)]
            rows.append(difference_row(both[0], both[1], matches, confidence))
    typer.echo(
        "| | a match | win rate | design effect | deals paired | games as independent | points per hand |\n"
        "|---|---|---|---|---|---|---|"
    )
    for row in rows:
        typer.echo(row)


if __name__ == "__main__":
    with one_line_errors("interval_coverage.py"):
        typer.run(coverage)
