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


def games_setting(games: Games) -> tuple[Any, ...]:
    """Return what two batches must have in common to exchange states."""
    return len(games), games.rules, games.whole_game, games.pays


def copy_games(games: Games) -> dict[str, Any]:
    """Return copies of everything in a batch that changes in play."""
    decks = {game: list(following) for game, following in games.fixed_decks.items()}
    return {name: getattr(games, name).copy() for name in _ARRAYS} | {"fixed_decks": decks}


def restore_games(games: Games, values: dict[str, Any]) -> None:
    """Write what `copy_games` returned into a batch."""
    for name in _ARRAYS:
        getattr(games, name)[:] = values[name]
    games.fixed_decks = {game: list(decks) for game, decks in values["fixed_decks"].items()}


def copy_attributes(thing: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Return deep copies of these attributes."""
    return {name: copy.deepcopy(getattr(thing, name)) for name in names}


def restore_attributes(thing: object, values: dict[str, Any]) -> None:
    """Set attributes to deep copies of these values; arrays that callers hold are not written to."""
    for name, value in values.items():
        setattr(thing, name, copy.deepcopy(value))


def check_state(state: Any, setting: tuple[Any, ...]) -> dict[str, Any]:
    """Return the values of a state.

    Raises TypeError unless it is an `EnvironmentState`, ValueError if it comes from an environment with other
    settings.
    """
    if not isinstance(state, EnvironmentState):
        raise TypeError(f"a state must come from get_state(), not {state!r}")
    if state.setting != setting:
        raise ValueError(
            "the state must come from an environment with the same settings, "
            f"{setting!r}, not {state.setting!r}"
        )
    return state.values
