"""Estimators of Francis et al. 2021 in play: safe discards by each and by one that sees the cards, and PPO
with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gin_env.agents.safe_discard import SafeDiscardBot
from gin_env.batch import Games
from gin_env.estimators.extremes import OmniscientEstimator
from research.reproduce.experiment import Run, match_row, named
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


def measure_in_play(
    run: Run,
    switches: Mapping[str, str],
    estimators: Mapping[str, Sequence[str]],
    slow: Sequence[str],
    omniscient: Mapping[str, Mapping[str, Any]],
) -> list[Row]:
    """Measure each estimator's safe discards, some with the other switches, and the omniscient bot.

    `switches` are parameters by name, `estimators` have the switches of each, those that are `slow` play half
    as many games, and `omniscient` are parameters of the omniscient bot by switch.
    """
    rows = []
    for name, chosen in estimators.items():
        for switch in chosen:
            bot = f"safe-discard:estimator={name}{switches[switch]}"
            games = 10_000 if name in slow else 20_000
            rows.append(run.row(bot, "simple", games, estimator=name, switch=switch))
    for switch, parameters in omniscient.items():
        seeing = named(ClairvoyantSafeDiscardBot(**parameters), f"clairvoyant-safe-discard, {switch}")
        match = run.match(seeing, "simple", 20_000, clairvoyant=True)
        rows.append(match_row(match, estimator=OMNISCIENT, switch=switch))
    return rows


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
