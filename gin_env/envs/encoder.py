"""What an environment shows a player: the observation vector and, in a dict, mask, candidates and memory."""

from __future__ import annotations

from typing import Any, TypeAlias, TypedDict

import numpy as np
from gymnasium import spaces

from gin_env.batch import Episode, Games, Reward
from gin_env.envs.snapshots import Restorable
from gin_env.estimators import resolve
from gin_env.estimators.base import Estimator, advance_slots, is_observed
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.rules import MAX_HAND_SIZE
from gin_env.observations.candidates import DISCARD_ROWS, ENTRIES, NO_ACTION, NUM_CONTEXT, NUM_FEATURES
from gin_env.observations.memory import ENTRY, NUM_MEMORY
from gin_env.observations.observation import LAYOUT, OBSERVATION_SIZE
from gin_env.support.buffers import Buffers
from gin_env.support.checks import check_switch

Observation: TypeAlias = dict[str, np.ndarray] | np.ndarray
"""A dict of arrays, or the vector alone."""


class Options(TypedDict, total=False):
    """The keywords that all environments share; `raw_env` and `LearnerSeat` have their defaults."""

    episode: Episode
    reward: Reward
    estimator: str | Estimator
    candidates: bool
    flat: bool
    memory: bool


_ESTIMATE = LAYOUT["estimate"].slice
_MASK_SPACE = spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
_MEMORY_SPACE = spaces.Box(0.0, 1.0, (NUM_MEMORY,), np.float32)
_CANDIDATE_SPACES = (  # these bounds hold under all rules; scores are divided by the target, at least 1
    spaces.Box(0, 10 * MAX_HAND_SIZE / 5, (DISCARD_ROWS, NUM_FEATURES), np.float32),
    spaces.Box(NO_ACTION, NUM_ACTIONS - 1, (DISCARD_ROWS, 2), np.int64),
    spaces.Box(0, np.iinfo(np.int16).max, (NUM_CONTEXT,), np.float32),
)


class Encoder(Restorable):
    """Observations of the players of a batch of games.

    Parameters
    ----------
    games : the batch.
    estimator, candidates, flat, memory : as for `gin_env.envs.gymnasium_env.GinRummyEnv`.
    mask : whether dicts contain the action mask. Without any entry but the vector there is no dict.

    Raises TypeError or ValueError for an invalid estimator or combination.
    """

    _CHANGING = ("_slots",)

    def __init__(
        self,
        games: Games,
        estimator: str | Estimator = "uniform",
        candidates: bool = False,
        flat: bool = False,
        memory: bool = False,
        mask: bool = True,
    ) -> None:
        self.candidates, self.memory = check_switch("candidates", candidates), check_switch("memory", memory)
        self.mask = not check_switch("flat", flat) and mask
        if flat and candidates:
            raise ValueError("flat=True cannot be combined with candidates=True: candidates need a dict")
        if flat and memory:
            raise ValueError("flat=True cannot be combined with memory=True: the memory needs a dict")
        if memory and not games.whole_game:
            raise ValueError("memory=True needs episode='game': a single hand has no earlier hands")
        self.estimator = resolve(estimator, programs=True)
        self._is_observed = is_observed(self.estimator)
        self._is_dict = candidates or memory or self.mask
        self._games = games
        self._slots = self.estimator.new_memory(2 * len(games))  # player p of game g has slot 2 g + p
        self._vectors = Buffers((len(games), OBSERVATION_SIZE), np.float32)
        self._rows = Buffers((len(games), DISCARD_ROWS, NUM_FEATURES), np.float32)

    def space(self) -> spaces.Space[Any]:
        """Return the space of one observation."""
        vector = spaces.Box(-1.0, 1.0, (OBSERVATION_SIZE,), np.float32)
        entries: dict[str, spaces.Space[Any]] = {"observation": vector}
        if self.candidates:
            entries |= zip(ENTRIES, _CANDIDATE_SPACES, strict=True)
        if self.memory:
            entries[ENTRY] = _MEMORY_SPACE
        if self.mask:
            entries["action_mask"] = _MASK_SPACE
        return spaces.Dict(entries) if len(entries) > 1 else vector

    def forget(self, which: np.ndarray) -> None:
        """Clear the estimator's memories of these games at the start of an episode."""
        if not self._is_observed:
            slots = np.concatenate([2 * which, 2 * which + 1])
            self._slots[slots] = self.estimator.new_memory(len(slots))

    def observe(self, player: int, masks: np.ndarray, which: np.ndarray | None = None) -> Observation:
        """Return the observation of a player, one row for each game, in arrays that nobody else uses.

        Parameters
        ----------
        player : 0 or 1.
        masks : int8 (k, 107), the player's action masks. Without a legal action there are no candidates.
        which : indices of the games, int (k,); default: all, in arrays that are reused once dropped.
        """
        vectors = self._vectors.take() if which is None else None
        rows = self._rows.take() if which is None and self.candidates else None
        which = self._games.everyone if which is None else which
        vectors = self._write_vectors(player, which, vectors)
        if not self._is_dict:
            return vectors
        observation = {"observation": vectors}
        if self.mask:
            observation["action_mask"] = masks
        return observation | self._more_entries(player, masks, which, rows)

    def observe_one(self, player: int, mask: np.ndarray) -> Observation:
        """Return the same, without the axis of the games, in a batch of one game; `mask` is int8 (107,)."""
        which = self._games.everyone
        vector = self._write_vectors(player, which, None)[0]
        if not self._is_dict:
            return vector
        observation = {"observation": vector}
        if self.mask:
            observation["action_mask"] = mask
        if self.candidates or self.memory:
            entries = self._more_entries(player, mask[np.newaxis], which, None)
            observation |= {name: entry[0] for name, entry in entries.items()}
        return observation

    def _write_vectors(self, player: int, which: np.ndarray, vectors: np.ndarray | None) -> np.ndarray:
        """Return the vectors of a player, float32 (k, OBSERVATION_SIZE), written into an array if given."""
        games = self._games
        vectors = games.observations(which, player, vectors)
        if not self._is_observed:
            hands, slots = games.state["private"]["hand"][which, 1 - player], 2 * which + player
            view = games.views(which, player)
            vectors[:, _ESTIMATE] = advance_slots(self.estimator, view, hands, self._slots, slots)
        return vectors

    def _more_entries(
        self, player: int, masks: np.ndarray, which: np.ndarray, rows: np.ndarray | None
    ) -> dict[str, np.ndarray]:
        """Return the entries of candidates and memory, if wanted."""
        entries: dict[str, np.ndarray] = {}
        if self.candidates:
            arrays = self._games.candidates(which, rows, player=player)
            over = ~masks.any(axis=1)
            arrays[0][over], arrays[1][over] = 0, NO_ACTION
            entries |= zip(ENTRIES, arrays, strict=True)
        if self.memory:
            entries[ENTRY] = self._games.memories(which, player)
        return entries

    def _setting(self) -> tuple[Any, ...]:
        return (self.estimator.name,)


def row(observation: Observation, index: int) -> Any:
    """Return one game's observation from a batch."""
    if isinstance(observation, dict):
        return {name: entry[index] for name, entry in observation.items()}
    return observation[index]
