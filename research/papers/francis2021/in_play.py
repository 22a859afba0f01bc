"""Estimators of Francis et al. 2021 in play: safe discards by each and by one that sees the cards, and PPO
with one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gin_env.agents.safe_discard import SafeDiscardBot
from gin_env.batch import Games
from gin_env.estimators.extremes import OmniscientEstimator
from research.reproduce.tables import Row

OMNISCIENT = "omniscient (`ClairvoyantSafeDiscardBot`)"


class ClairvoyantSafeDiscardBot(SafeDiscardBot):
    """`SafeDiscardBot` with the ``omniscient`` estimator, which sees the opponent's cards.

    Views never contain them, so it plays in `play_match` from the games themselves and never from a view.
    The parameters are those of `SafeDiscardBot`.
    """

    name = "clairvoyant-safe-discard"

    def act(self, view: object) -> np.ndarray:
        """Raise ValueError, since views never contain the opponents' hands."""
        raise ValueError(f"{self.name} needs the opponents' hands, which views never contain")

    def play_turns(self, games: Games, which: np.ndarray, both_seats: bool) -> None:
        """Play one action in each of these games, with the opponents' hands as the estimates."""
        hands = games.state["private"]["hand"][which, 1 - games.to_move()[which]]
        estimates = OmniscientEstimator().estimate_hands(hands)
        games.play(which, self.decide(games.views(which), estimates))


def estimator(row: Row) -> str:
    """Return the name of the estimator."""
    return row["estimator"] if row["estimator"] == OMNISCIENT else f"`{row['estimator']}`"


def with_gains(rows: Sequence[Row]) -> list[Row]:
    """Return the rows by seed; those of other estimators have their gain over `uniform`."""
    plain = {row["seed"]: row["won"] for row in rows if row["estimator"] == "uniform"}
    found = [
        row if row["estimator"] == "uniform" else row | {"gain": row["won"] - plain[row["seed"]]}
        for row in rows
    ]
    return sorted(found, key=lambda row: list(plain).index(row["seed"]))
