"""The Gymnasium spaces that all environments share."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from gin_env.actions import NUM_ACTIONS
from gin_env.observation import OBSERVATION_SIZE


def action_space() -> spaces.Discrete:
    """The 107 actions, see `gin_env.actions`."""
    return spaces.Discrete(NUM_ACTIONS)


def vector_space() -> spaces.Box:
    """The observation vector, see `gin_env.observation`."""
    return spaces.Box(-1.0, 1.0, (OBSERVATION_SIZE,), np.float32)


def observation_space() -> spaces.Dict:
    """The observation vector with its action mask."""
    return spaces.Dict(
        {"observation": vector_space(), "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)}
    )
