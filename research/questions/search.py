"""Matches of the bot `search` against bots of which it has no model, and of `policy` on the same decks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from research.reproduce.experiment import Run, match_row, more_than, ratio_row
from research.reproduce.tables import Row

SEARCH, POLICY = "search", "policy"
GAMES = 1000
BLOCK = 250
"""Number of games played and saved together."""


def measure_outside(run: Run, opponents: Sequence[str]) -> list[Row]:
    """Measure what `search` wins and gains over `policy` against each of the bots, and on average."""
    rows, gains = [], []
    for opponent in run.some(opponents):
        run.used(SEARCH, POLICY, opponent)
        search, policy = (run.match_in_blocks(bot, opponent, GAMES, BLOCK) for bot in (SEARCH, POLICY))
        rows += [match_row(search) | more_than(search, policy), match_row(policy)]
        (won, games), (plain, _) = search.wins_and_decided, policy.wins_and_decided
        gains.append(100 * (won - plain) / games)
    return [*rows, {"bot": SEARCH, "opponents": len(gains), **ratio_row(np.concatenate(gains), name="gain")}]
