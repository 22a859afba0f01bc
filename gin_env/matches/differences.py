"""Differences between two matches on the same decks, such as two bots against a third.

Matches with the same seed and rules deal the same decks: deal k has the same first dealer and the same cards
in every hand. Luck that both matches share cancels, so the interval of the difference is narrower than for
matches on different decks. The formulas are in `gin_env.matches.intervals`.
"""

from __future__ import annotations

from dataclasses import dataclass

from gin_env.matches.intervals import Interval, deviations, mean_interval, win_rate_difference_interval
from gin_env.matches.matches import MatchResult, check_confidence


@dataclass(frozen=True)
class Difference:
    """A figure of bot a in one match minus that of bot a in another."""

    bots: tuple[tuple[str, str], tuple[str, str]]
    """(a, b) of the first match and of the second."""
    games: int
    """Number of games in each match."""
    seed: int
    value: float
    interval: Interval
    confidence: float

    def __str__(self) -> str:
        (a, b), (other_a, other_b) = self.bots
        low, high = self.interval
        return (
            f"{a} against {b} minus {other_a} against {other_b}: {self.value:+.4f} "
            f"({100 * self.confidence:g} % interval {low:+.4f} to {high:+.4f}), "
            f"{self.games:,} games each on the same decks"
        )


def win_rate_difference(first: MatchResult, second: MatchResult, confidence: float = 0.95) -> Difference:
    """Return `first.win_rate` minus `second.win_rate`, with an interval that pairs the matches deal by deal.

    Raises ValueError unless both matches have their `deals` and used the same decks: the same seed, number of
    games, kind of episode and rules.

    >>> from gin_env import play_match
    >>> bots = ("simple:knock_at=0", "simple")
    >>> first, second = (play_match(bot, "random-discard", games=100, seed=1) for bot in bots)
    >>> low, high = win_rate_difference(first, second).interval
    >>> low < first.win_rate - second.win_rate < high
    True
    """
    _check_comparable(first, second, confidence)
    interval = win_rate_difference_interval(first.wins_and_decided, second.wins_and_decided, confidence)
    bots, value = (first.bots, second.bots), first.win_rate - second.win_rate
    return Difference(bots, first.games, first.seed, value, interval, confidence)


def points_difference(first: MatchResult, second: MatchResult, confidence: float = 0.95) -> Difference:
    """Return bot a's lead in points per hand in the first match minus its lead in the second.

    A lead is the difference of the two `MatchResult.points_per_hand`. Raises ValueError as
    `win_rate_difference` does, and for matches of a single deal.

    >>> from gin_env import play_match
    >>> match = play_match("simple", "random", games=20, seed=1)
    >>> points_difference(match, match).value
    0.0
    """
    _check_comparable(first, second, confidence)
    leads = [match.points_per_hand[0] - match.points_per_hand[1] for match in (first, second)]
    of_first, of_second = (
        deviations(deals["points"][:, 0] - deals["points"][:, 1], deals["hands"])
        for deals in (first.each_deal(), second.each_deal())
    )
    value = leads[0] - leads[1]
    interval = mean_interval(value, of_first - of_second, confidence)
    return Difference((first.bots, second.bots), first.games, first.seed, value, interval, confidence)


def _check_comparable(first: MatchResult, second: MatchResult, confidence: float) -> None:
    check_confidence(confidence)
    for name in ("seed", "games", "episode", "rules"):
        value, other = getattr(first, name), getattr(second, name)
        if value != other:
            raise ValueError(
                f"a difference needs two matches on the same decks, but {name} is {value!r} in the first "
                f"and {other!r} in the second; play both with the same seed, games, episode and rules"
            )
