"""The observation's estimate plane, filled by any estimator, with a memory for each seat of each game."""

from __future__ import annotations

import numpy as np

from gin_env.batch import Games
from gin_env.estimators import resolve
from gin_env.estimators.base import Estimator, advance_slots, is_observed
from gin_env.observations.observation import LAYOUT

ESTIMATE = LAYOUT["estimate"].slice


class EstimatePlane:
    """What an environment keeps for its estimator.

    Parameters
    ----------
    estimator : a name, with parameters or without, or an object, see `gin_env.estimators.resolve`.
    num_games : games of the environment.
    """

    def __init__(self, estimator: str | Estimator, num_games: int) -> None:
        self.estimator = resolve(estimator)
        self._memory = self.estimator.new_memory(2 * num_games)  # of player p in game g: 2 g + p

    def forget(self, rows: np.ndarray) -> None:
        """Clear the memories of these games: another episode begins, maybe against another opponent."""
        if not is_observed(self.estimator):
            slots = np.concatenate([2 * rows, 2 * rows + 1])
            self._memory[slots] = self.estimator.new_memory(len(slots))

    def observe(
        self, games: Games, rows: np.ndarray, player: int, observations: np.ndarray | None = None
    ) -> np.ndarray:
        """float32 (k, OBSERVATION_SIZE): what `player` sees in these games of `games`, perhaps in an array of
        the caller."""
        observations = games.observations(rows, player, observations)
        if not is_observed(self.estimator):
            hands = games.state["private"]["hand"][rows, 1 - player]
            observations[:, ESTIMATE] = advance_slots(
                self.estimator, games.views(rows, player), hands, self._memory, 2 * rows + player
            )
        return observations
