"""The estimate plane of the observation, with an estimator memory for each seat of each game."""

from __future__ import annotations

import numpy as np

from gin_env.batch import Games
from gin_env.estimators import resolve
from gin_env.estimators.base import Estimator, advance_slots, is_observed
from gin_env.observations.observation import LAYOUT

ESTIMATE = LAYOUT["estimate"].slice


class EstimatePlane:
    """The estimator of an environment and its memories.

    Parameters
    ----------
    estimator : a name, with or without parameters, or an object; see `gin_env.estimators.resolve`.
    num_games : number of games of the environment.

    Attributes
    ----------
    memory : the estimator's memories; player p of game g has slot 2 g + p.
    """

    def __init__(self, estimator: str | Estimator, num_games: int) -> None:
        self.estimator = resolve(estimator)
        self.memory = self.estimator.new_memory(2 * num_games)

    def forget(self, which: np.ndarray) -> None:
        """Clear the memories of these games at the start of an episode."""
        if not is_observed(self.estimator):
            slots = np.concatenate([2 * which, 2 * which + 1])
            self.memory[slots] = self.estimator.new_memory(len(slots))

    def observe(
        self, games: Games, which: np.ndarray, player: int, observations: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the observations of `player` in these games: float32 (k, OBSERVATION_SIZE).

        `observations` is an array to fill; default: a new one.
        """
        observations = games.observations(which, player, observations)
        if not is_observed(self.estimator):
            hands = games.state["private"]["hand"][which, 1 - player]
            observations[:, ESTIMATE] = advance_slots(
                self.estimator, games.views(which, player), hands, self.memory, 2 * which + player
            )
        return observations
