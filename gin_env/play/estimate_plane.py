"""The observation's estimate plane, filled by any estimator, with a memory for each seat of each game."""

from __future__ import annotations

import numpy as np

from gin_env.batch import Games
from gin_env.estimators import resolve
from gin_env.estimators.base import Estimator
from gin_env.estimators.omniscient import OmniscientEstimator
from gin_env.estimators.uniform import UniformEstimator
from gin_env.observation import LAYOUT

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
        """Begin the memories of these games anew: another episode begins, maybe against another opponent."""
        if not isinstance(self.estimator, UniformEstimator | OmniscientEstimator):
            slots = np.concatenate([2 * rows, 2 * rows + 1])
            self._memory[slots] = self.estimator.new_memory(len(slots))

    def observe(self, games: Games, rows: np.ndarray, player: int) -> np.ndarray:
        """float32 (k, OBSERVATION_SIZE): what `player` sees in these games of `games`."""
        observations = games.observations(rows, player)
        if isinstance(self.estimator, UniformEstimator):
            return observations  # `write_observation` has written it already
        if isinstance(self.estimator, OmniscientEstimator):
            hands = games.state["private"]["hand"][rows, 1 - player]
            observations[:, ESTIMATE] = self.estimator.estimate_hands(hands)
            return observations
        slots = 2 * rows + player
        memory = self._memory[slots]
        observations[:, ESTIMATE] = self.estimator.advance(games.views(rows, player), memory)
        self._memory[slots] = memory
        return observations
