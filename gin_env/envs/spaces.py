"""The Gymnasium spaces that all environments share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces

from gin_env.batch import Episode
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.rules import MAX_HAND_SIZE
from gin_env.observations.candidates import DISCARD_ROWS, ENTRIES, NO_ACTION, NUM_CONTEXT, NUM_FEATURES
from gin_env.observations.memory import ENTRY, NUM_MEMORY
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.support.checks import check_switch

Observation: TypeAlias = dict[str, np.ndarray] | np.ndarray
"""A dict of arrays, or with ``flat=True`` the vector."""


def action_space() -> spaces.Discrete:
    """Return the space of the 107 actions, see `gin_env.game.actions`."""
    return spaces.Discrete(NUM_ACTIONS)


def vector_space() -> spaces.Box:
    """Return the space of the observation vector, see `gin_env.observations.observation`."""
    return spaces.Box(-1.0, 1.0, (OBSERVATION_SIZE,), np.float32)


def candidate_spaces() -> dict[str, spaces.Space[Any]]:
    """Return the spaces of the three `ENTRIES` of candidates; the bounds hold under all rules."""
    max_feature = 10 * MAX_HAND_SIZE / 5
    max_score = np.iinfo(np.int16).max  # scores are divided by the target, which is at least 1
    boxes = (
        spaces.Box(0, max_feature, (DISCARD_ROWS, NUM_FEATURES), np.float32),
        spaces.Box(NO_ACTION, NUM_ACTIONS - 1, (DISCARD_ROWS, 2), np.int64),
        spaces.Box(0, max_score, (NUM_CONTEXT,), np.float32),
    )
    return dict(zip(ENTRIES, boxes, strict=True))


def observation_space(
    candidates: bool = False, flat: bool = False, memory: bool = False
) -> spaces.Space[Any]:
    """Return the space of an observation: a dict with the mask and optional entries, or the vector."""
    if flat:
        return vector_space()
    mask = {"action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)}
    return spaces.Dict(observation_entries(candidates, memory) | mask)


def observation_entries(candidates: bool, memory: bool) -> dict[str, spaces.Space[Any]]:
    """Return the spaces of the vector and of the optional entries."""
    entries: dict[str, spaces.Space[Any]] = {"observation": vector_space()}
    if candidates:
        entries |= candidate_spaces()
    if memory:
        entries[ENTRY] = spaces.Box(0.0, 1.0, (NUM_MEMORY,), np.float32)
    return entries


def check_contents(
    candidates: object, flat: object, memory: object, episode: Episode
) -> tuple[bool, bool, bool]:
    """Return (candidates, flat, memory).

    Raises TypeError unless all three are bool, ValueError for `flat` with another one, or for a memory in
    episodes of one hand.
    """
    is_flat, with_candidates = check_switch("flat", flat), check_switch("candidates", candidates)
    if is_flat and with_candidates:
        raise ValueError("flat=True cannot be combined with candidates=True: candidates need a dict")
    with_memory = check_switch("memory", memory)
    if is_flat and with_memory:
        raise ValueError("flat=True cannot be combined with memory=True: the memory needs a dict")
    if with_memory and episode != "game":
        raise ValueError("memory=True needs episode='game': a single hand has no earlier hands")
    return with_candidates, is_flat, with_memory
