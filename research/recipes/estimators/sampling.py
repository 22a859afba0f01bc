"""Positions with the true hands, sampled from hands of bots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gin_env.agents import Agent
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed
from gin_env.observations.views import PlayerView
from gin_env.training.estimators.positions import Positions, play_hands


def collect_positions(
    bots: Sequence[str | Agent], hands: int, seed: int, share: float = 0.25, rules: Rules | None = None
) -> Positions:
    """Return a random `share` of both players' positions from `hands` hands, in random order.

    The bot in each seat of each hand is drawn from `bots`. The result depends only on the arguments.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, not {share}")
    rng = np.random.default_rng(check_seed(seed))
    kept_views, kept_hands = [], []
    for games, waiting in play_hands(bots, hands, seed, rules):
        for player in range(2):
            kept = waiting[rng.random(len(waiting)) < share]
            kept_views.append(games.views(kept, player).array)
            kept_hands.append(games.state["private"]["hand"][kept, 1 - player])
    views, truth = np.concatenate(kept_views), np.concatenate(kept_hands)
    order = rng.permutation(len(views))
    return Positions(PlayerView(views[order]), truth[order])
