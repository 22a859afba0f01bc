"""States of environments: ``state = env.get_state()``, ``env.set_state(state)``.

A state holds everything that changes while an environment is played: cards, scores, memories of the
estimator, seeds and numbers of the next episodes. It can be set any number of times, in this environment or
in another one with the same settings, and it can be pickled. It includes the hidden cards; to search as a
player, sample the cards that the player cannot see (`gin_env.belief`).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from gin_env.batch import Games

_ARRAYS = ("state", "rewards", "done", "results")


@dataclass(frozen=True, eq=False, repr=False)
class EnvironmentState:
    """The result of `get_state`. Its contents can change between releases."""

    setting: tuple[Any, ...]
    """What an environment must agree on to take this state."""
    values: dict[str, Any]


class Restorable:
    """Adds `get_state` and `set_state` to a class that names what changes in play.

    ``_CHANGING`` names attributes. Games are written in place, other `Restorable` objects keep their own
    states, the objects in ``_SHARED`` are included as they are, and everything else is copied.
    """

    _CHANGING: tuple[str, ...]
    _SHARED: tuple[str, ...] = ()

    def get_state(self) -> EnvironmentState:
        """Return the current state, hidden cards included; see `gin_env.envs.snapshots`.

        Call it on ``env.unwrapped``. Wrappers keep states of their own, such as the steps that ``TimeLimit``
        counts.
        """
        values = {name: _keep(getattr(self, name)) for name in self._CHANGING}
        return EnvironmentState(
            self._whole_setting(), values | {name: getattr(self, name) for name in self._SHARED}
        )

    def set_state(self, state: EnvironmentState) -> None:
        """Continue from a state. Raises TypeError or ValueError for one that does not fit."""
        if not isinstance(state, EnvironmentState):
            raise TypeError(f"a state must come from get_state(), not {state!r}")
        setting = self._whole_setting()
        if state.setting != setting:
            raise ValueError(
                "the state must come from an environment with the same settings, "
                f"{setting!r}, not {state.setting!r}"
            )
        for name, value in state.values.items():
            part = getattr(self, name, None)
            if isinstance(part, Restorable):
                part.set_state(value)
            elif isinstance(part, Games):
                for array in _ARRAYS:
                    getattr(part, array)[:] = value[array]
                part.fixed_decks = {game: list(decks) for game, decks in value["fixed_decks"].items()}
            else:
                setattr(self, name, value if name in self._SHARED else copy.deepcopy(value))

    def _setting(self) -> tuple[Any, ...]:
        """Return what two objects must have in common to exchange states."""
        return (type(self).__name__,)

    def _whole_setting(self) -> tuple[Any, ...]:
        """Return `_setting` with the settings of the parts."""
        setting = self._setting()
        for part in (getattr(self, name, None) for name in self._CHANGING):
            if isinstance(part, Restorable):
                setting += part._whole_setting()
            elif isinstance(part, Games):
                setting += len(part), part.rules, part.whole_game, part.pays
        return setting


def _keep(value: Any) -> Any:
    """Return what a state keeps of an attribute."""
    if isinstance(value, Restorable):
        return value.get_state()
    if isinstance(value, Games):
        decks = {game: list(following) for game, following in value.fixed_decks.items()}
        return {name: getattr(value, name).copy() for name in _ARRAYS} | {"fixed_decks": decks}
    return copy.deepcopy(value)
