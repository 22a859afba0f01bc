"""Bots made of what other libraries call an agent: functions, networks, MaskablePPO and OpenSpiel's.

>>> def lowest(observation, mask):
...     return mask.argmax()
>>> agents.resolve(lowest).name
'lowest'
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gin_env.agents.base import Agent
from gin_env.agents.policies.policy import sample_actions
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.views import PlayerView
from gin_env.support.specs import NamedObject


class AdaptedBot(NamedObject):
    """The base of these bots; matches treat them like programs, since their code may remember."""

    def __init__(self, original: Any, name: str) -> None:
        self.original, self.name = original, name


class FunctionBot(AdaptedBot):
    """Calls a function for each decision.

    The function gets one observation, float32 (OBSERVATION_SIZE,), of `gin_env.observation`, and the action
    mask, int8 (107,), and returns a legal action.
    """

    def act(self, view: PlayerView) -> np.ndarray:
        pairs = zip(view.observations(), view.masks(), strict=True)
        return np.array([int(self.original(observation, mask)) for observation, mask in pairs], np.int64)


class ObjectBot(AdaptedBot):
    """An object with the method ``act(view)`` and no name, which gets that of its class."""

    def act(self, view: PlayerView) -> np.ndarray:
        return self.original.act(view)


class OpenSpielBot(AdaptedBot):
    """A policy or a bot of OpenSpiel, trained in the game of `gin_env.wrappers.openspiel`.

    It gets a `SeenState`, so it must be written in Python and ask for nothing but what its player sees. A
    policy's actions are drawn from its probabilities.
    """

    def act(self, view: PlayerView) -> np.ndarray:
        rows = zip(view.observations(), view.masks(), strict=True)
        states = [SeenState(view[index], *row) for index, row in enumerate(rows)]
        if callable(getattr(self.original, "step", None)):
            return np.array([int(self.original.step(state)) for state in states], np.int64)
        chances = np.zeros((len(states), NUM_ACTIONS))
        for state, row in zip(states, chances, strict=True):
            for action, chance in self.original.action_probabilities(state, state.current_player()).items():
                row[action] = chance
        return sample_actions(chances, view.array["random"])


class SeenState:
    """What a player sees, with the methods of an OpenSpiel state that a player may use."""

    def __init__(self, view: PlayerView, observation: np.ndarray, mask: np.ndarray) -> None:
        self._view, self._observation, self._mask = view, observation, mask

    def current_player(self) -> int:
        return int(self._view.array["player"][0])

    def legal_actions(self, player: int | None = None) -> list[int]:
        return self._mask.nonzero()[0].tolist()

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        return self._mask.tolist()

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        return self._observation.tolist()

    def information_state_string(self, player: int | None = None) -> str:
        return str(self._view)

    observation_tensor, observation_string = information_state_tensor, information_state_string

    def is_chance_node(self) -> bool:
        return False

    is_terminal = is_simultaneous_node = is_chance_node


def adapt(thing: Any) -> Agent | None:
    """Return a bot that plays by an object of another library, or None for any other object.

    Raises ValueError for a network or a model that does not say what it reads, with the lines to add.
    """
    torch = sys.modules.get("torch")  # imported already if the object is a network
    if torch is not None and isinstance(thing, torch.nn.Module):
        return _of_network(thing)
    if hasattr(thing, "policy") and hasattr(thing, "get_vec_normalize_env"):
        return _of_model(thing)
    openspiel = sys.modules.get("pyspiel")
    if callable(getattr(thing, "action_probabilities", None)) or (
        openspiel is not None and isinstance(thing, openspiel.Bot)
    ):
        return OpenSpielBot(thing, _name(thing))
    if callable(getattr(thing, "act", None)):
        return ObjectBot(thing, _name(thing))
    return FunctionBot(thing, _name(thing)) if callable(thing) else None


def _of_network(network: Any) -> Agent:
    from gin_env.agents.policies.policy import PolicyBot

    training = getattr(network, "gin_env", None)
    if not isinstance(training, dict):
        raise ValueError(
            f"the network {type(network).__name__} does not say which observation it reads; add the line\n"
            "    network.gin_env = env.unwrapped.describe_training()\n"
            "with the environment in which it was trained"
        )
    return PolicyBot(network, training, name=_name(network))


def _of_model(model: Any) -> Agent:
    from gin_env.agents.policies.candidate_network import CandidateScorer
    from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
    from gin_env.agents.policies.policy import PolicyBot

    scorer = getattr(model.policy.mlp_extractor, "network", None)
    kind: Callable[..., Agent]
    kind = CandidatePolicyBot.snapshot if isinstance(scorer, CandidateScorer) else PolicyBot.snapshot
    return kind(model, deterministic=True, name=type(model).__name__)


def _name(thing: Any) -> str:
    """Return the name that an object has, or that of its class."""
    name = getattr(thing, "name", None) or getattr(thing, "__name__", None)
    return name if isinstance(name, str) else type(thing).__name__
