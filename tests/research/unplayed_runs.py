"""Runs of experiments in which nothing is played, trained or waited for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from gin_env.matches.matches import DEAL_RESULT, MatchResult
from research.reproduce.experiment import Run, percent


def match_result(
    bots: tuple[str, str], deals: list[tuple[int, int, int, int]], **counts: object
) -> MatchResult:
    """Return a match with deals given as (wins of a, wins of b, points of a, points of b)."""
    each = np.zeros(len(deals), DEAL_RESULT)
    each["wins"] = [deal[:2] for deal in deals]
    each["points"] = [deal[2:] for deal in deals]
    each["hands"] = 2
    sums = [int(total) for total in np.sum(deals, axis=0)]
    pairs = dict.fromkeys(("knocks", "gins", "undercuts"), (0, 0))
    return MatchResult(
        bots,
        2 * len(deals),
        0,
        "game",
        (sums[0], sums[1]),
        hands=2 * len(deals),
        voids=0,
        turns=0,
        points=(sums[2], sums[3]),
        deals=each,
        **pairs,
    )


class UnplayedRun(Run):
    """A full run that plays nothing: every match has other figures, so that each can be recognised.

    Attributes
    ----------
    matches : the matches by the games won by bot a, in per cent.
    met : bot a of each match, in order.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        super().__init__(seed, False, folder)
        self.log, self.met = self, []
        self.matches: dict[float, MatchResult] = {}

    def match(self, bot, opponent, games, **options):
        if hasattr(bot, "different"):  # a bot that counts its decisions
            bot.decisions, bot.different = 1000, len(self.met) + 1
        names = tuple(one if isinstance(one, str) else one.name for one in (bot, opponent))
        return self.play(names, (bot, opponent), games, self.seed)

    def match_in_blocks(self, bot, opponent, games, block, quick=4):
        return self.match(bot, opponent, games)

    def play(self, names, bots, games, seed, **options):
        self.met.append(bots[0])
        number = len(self.met)
        deals = [(2, 0, 3, number)] * number + [(1, 1, 2, 2)] * (146 - number) + [(0, 2, 1, 3)] * 4
        counts = {"knocks": (number, 6), "gins": (number % 2, 2), "undercuts": (1, number)}
        result = replace(match_result(names, deals), games=games, **counts)
        self.matches[percent(result.win_rate)] = result
        return result
