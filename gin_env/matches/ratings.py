"""Ratings from match results, by openskill (Bradley-Terry, full pairing; Weng and Lin, 2011).

The scale is Elo's: a lead of 200 points means winning 76 % of the games. The mean of all bots is 1500.

openskill is built for players whose strength changes. Two settings adapt it to bots, whose strength does not:
no noise is added between games (``tau=0``), and each game counts with its full information (``gamma=1``). The
order of the games then hardly matters, and `Rating.deviation` is the error given the other ratings.

A rating cannot show cycles, in which each bot beats the next. Read the win-rate matrix first.
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


def rate(num_players: int, wins: Sequence[tuple[int, int, int, int]], seed: int = 0) -> list[Rating]:
    """Return the ratings of players 0 to num_players - 1.

    `wins` has an entry (a, b, games won by a, games won by b) for each pair. The games are rated one by one
    in an order shuffled by `seed`. Raises ImportError without openskill.

    >>> stronger, weaker = rate(2, [(0, 1, 76, 24)])
    >>> 150 < stronger.value - weaker.value < 250
    True
    """
    try:
        from openskill.models import BradleyTerryFull
    except ImportError as error:
        raise ImportError('ratings need openskill: pip install "gin-env[plots]"') from error
    model = BradleyTerryFull(mu=MEAN, sigma=_PRIOR_DEVIATION, beta=_BETA, tau=0.0, gamma=_full_information)
    players = [model.rating() for _ in range(num_players)]
    for winner, loser in _games(wins, seed).tolist():
        [[players[winner]], [players[loser]]] = model.rate([[players[winner]], [players[loser]]])
    centre = sum(player.mu for player in players) / num_players - MEAN
    return [Rating(player.mu - centre, player.sigma) for player in players]


def _games(wins: Sequence[tuple[int, int, int, int]], seed: int) -> np.ndarray:
    """Return the winner and loser of each game, shuffled: int64 (num_games, 2)."""
    pairs = [pair for a, b, _, _ in wins for pair in ((a, b), (b, a))]
    num_wins = [count for _, _, by_a, by_b in wins for count in (by_a, by_b)]
    games = np.repeat(np.array(pairs, np.int64).reshape(-1, 2), num_wins, axis=0)
    return np.random.default_rng(seed).permutation(games)


def _full_information(*_: Any, **__: Any) -> float:
    return 1.0
