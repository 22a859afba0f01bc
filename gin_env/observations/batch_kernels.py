"""Kernels that write what players see of many games: observations, candidates, memories, views.

`gin_env.batch.Games` checks their arguments. Indices of games are int64 (k,); `state` is its record array.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.cards import NUM_CARDS
from gin_env.observations.candidates import write_candidates
from gin_env.observations.memory import write_memory
from gin_env.observations.observation import write_observation
from gin_env.observations.view_records import write_view
from gin_env.support.compilation import kernel
from gin_env.support.prefetch import prefetch_row

AHEAD = 3
"""Number of rows by which loading memory into the cache is ahead of writing. Without it, writing the
observations of 16,384 games takes one and a half times as long."""


@kernel
def write_observations(state, games, player, observations):
    """Write the player's observation of each game, float32 (k, OBSERVATION_SIZE)."""
    for k in range(len(games)):
        prefetch_row(observations, k + AHEAD)
        game = state[games[k]]
        write_observation(game.public, game.private[player], player, observations[k])


@kernel
def write_all_candidates(state, games, player, rows, actions, context):
    """Write the candidates of the player, or of the players to move (-1); return whether all have room."""
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    complete = True
    for k in range(len(games)):
        prefetch_row(rows, k + AHEAD)
        game = state[games[k]]
        seat = game.public.to_move if player < 0 else player
        complete &= write_candidates(
            game.public, game.private[seat], seat, rows[k], actions[k], context[k], after
        )
    return complete


@kernel
def write_memories(state, games, player, memories):
    """Write what the player, or the players to move (-1), know from earlier hands: (k, NUM_MEMORY)."""
    for k in range(len(games)):
        public = state[games[k]].public
        write_memory(public, public.to_move if player < 0 else player, memories[k])


@kernel
def write_views(state, games, player, views):
    """Write `VIEW` records (k,) of the player, or of the players to move (-1)."""
    for k in range(len(games)):
        game = state[games[k]]
        write_view(game, game.public.to_move if player < 0 else player, views[k])
