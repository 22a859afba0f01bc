"""Ratings from match results, by openskill (Bradley-Terry, full pairing; Weng and Lin, 2011).

The scale is Elo's: 200 points more means that 76 % of the games are won, and the mean of all bots is 1500.
Two settings make openskill, which is built for players who change, estimate bots who do not: no noise is
added between games (``tau=0``), and each game counts with its full information (``gamma=1``), so that the
order of the games hardly matters, and `Rating.deviation` is the error with the other ratings taken as exact.

One number cannot say who beats whom: bots can win in a circle. The win-rate matrix comes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MEAN = 1500.0
_BETA = 400 / math.log(10) / math.sqrt(2)  # makes the model's scale, sqrt(2) beta, Elo's
_PRIOR_DEVIATION = 2 * _BETA  # openskill's default ratio


@dataclass(frozen=True)
class Rating:
    """A bot's strength on Elo's scale, and the standard error of the estimate."""

    value: float
    deviation: float


def rate(count: int, wins: Sequence[tuple[int, int, int, int]], seed: int = 0) -> list[Rating]:
    """Ratings of players 0 to count - 1.

    `wins` has an entry (a, b, games won by a, games won by b) for each pair. The games are rated one by
    one in an order that is shuffled by `seed`. Raises ImportError without openskill.
    """
    try:
        from openskill.models import BradleyTerryFull
    except ImportError as error:
        raise ImportError('ratings need openskill: pip install "gin-env[plots]"') from error
    model = BradleyTerryFull(mu=MEAN, sigma=_PRIOR_DEVIATION, beta=_BETA, tau=0.0, gamma=_full_information)
    players = [model.rating() for _ in range(count)]
    for winner, loser in _games(wins, seed).tolist():
        [[players[winner]], [players[loser]]] = model.rate([[players[winner]], [players[loser]]])
    centre = sum(player.mu for player in players) / count - MEAN
    return [Rating(player.mu - centre, player.sigma) for player in players]


def _games(wins: Sequence[tuple[int, int, int, int]], seed: int) -> np.ndarray:
    """int64 (games, 2): winner and loser of each game, shuffled."""
    pairs = [pair for a, b, _, _ in wins for pair in ((a, b), (b, a))]
    counts = [count for _, _, by_a, by_b in wins for count in (by_a, by_b)]
    games = np.repeat(np.array(pairs, np.int64).reshape(-1, 2), counts, axis=0)
    return np.random.default_rng(seed).permutation(games)


def _full_information(*_: Any, **__: Any) -> float:
    return 1.0
