"""A wrapper that renames the entries of observations and converts masks to bool, as some libraries require.

>>> rename_entries(gymnasium.make("gin_env/GinRummy-v0"), observation="observations")  # RLlib
>>> rename_entries(gymnasium.make("gin_env/GinRummy-v0"), "obs", "mask", bool_mask=True)  # Tianshou
>>> rename_entries(gin_rummy_v0.raw_env(), bool_mask=True)  # bool masks in PettingZoo
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import BaseWrapper

from gin_env.support.checks import check_switch

Environment = TypeVar("Environment", bound="gymnasium.Env[Any, Any] | AECEnv[Any, Any, Any]")


def rename_entries(
    env: Environment,
    observation: str = "observation",
    action_mask: str = "action_mask",
    bool_mask: bool = False,
) -> Environment:
    """Return a Gymnasium or PettingZoo (AEC) environment with these names in its observations.

    With `bool_mask`, the mask is bool (107,) instead of int8. Other entries keep their names, and the infos
    do not change. Raises TypeError for other environments, and ValueError if both names are the same or the
    observations are not dicts with these entries (``flat=True``).
    """
    if observation == action_mask:
        raise ValueError(f"observation and action_mask need different names, not both {observation!r}")
    names = {"observation": observation, "action_mask": action_mask}
    check_switch("bool_mask", bool_mask)
    if isinstance(env, AECEnv):
        return cast(Environment, _RenamedAEC(env, names, bool_mask))
    if isinstance(env, gymnasium.Env):
        return cast(Environment, _RenamedGymnasium(env, names, bool_mask))
    raise TypeError(
        f"rename_entries takes an environment of Gymnasium or an AECEnv of PettingZoo, not {env!r}"
    )


class _RenamedGymnasium(gymnasium.ObservationWrapper[Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    def __init__(self, env: gymnasium.Env[Any, Any], names: dict[str, str], bool_mask: bool) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, names=names, bool_mask=bool_mask)
        super().__init__(env)
        self._names, self._bool_mask = names, bool_mask
        self.observation_space = _renamed_space(env.observation_space, names, bool_mask)

    def observation(self, observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return _renamed(observation, self._names, self._bool_mask)


class _RenamedAEC(BaseWrapper):
    def __init__(self, env: AECEnv, names: dict[str, str], bool_mask: bool) -> None:
        super().__init__(env)
        self._names, self._bool_mask = names, bool_mask
        self._spaces = {
            agent: _renamed_space(env.observation_space(agent), names, bool_mask)
            for agent in env.possible_agents
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._spaces[agent]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        return _renamed(self.env.observe(agent), self._names, self._bool_mask)


def _renamed(entries: dict[str, np.ndarray], names: dict[str, str], bool_mask: bool) -> dict[str, np.ndarray]:
    renamed = {names.get(name, name): entry for name, entry in entries.items()}
    if bool_mask:
        renamed[names["action_mask"]] = entries["action_mask"].astype(np.bool_)
    return renamed


def _renamed_space(space: spaces.Space[Any], names: dict[str, str], bool_mask: bool) -> spaces.Dict:
    if not isinstance(space, spaces.Dict) or not set(names) <= set(space.spaces):
        raise ValueError("the observations must be dicts with a mask: make the environment without flat=True")
    renamed = {names.get(name, name): entry for name, entry in space.spaces.items()}
    if len(renamed) < len(space.spaces):
        raise ValueError(f"{' or '.join(names.values())} is the name of another entry: choose another")
    if bool_mask:
        shape = space["action_mask"].shape
        renamed[names["action_mask"]] = spaces.Box(0, 1, shape, np.bool_)
    return spaces.Dict(renamed)
