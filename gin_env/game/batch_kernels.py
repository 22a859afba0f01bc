"""Kernels that apply the rules to many games: starting, legal actions, playing, rewards.

`gin_env.batch.Games` checks their arguments. Indices of games are int64 (k,); `state` is its record array.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.engine import (
    final_score,
    game_is_over,
    game_winner,
    is_legal,
    play,
    points_for,
    start_episode,
    start_next_hand,
    write_mask,
)
from gin_env.game.state import OVER
from gin_env.support.compilation import kernel

PAY_POINTS, PAY_WIN, PAY_SCORE = range(3)  # `Games.pays` in the kernels
POINTS_SCALE = 100
"""``reward="points"`` pays the points of a hand divided by this."""

HAND_RESULT = np.dtype(
    [
        ("ended", np.bool_),
        ("outcome", np.uint8),  # see `state.OUTCOME_NAMES`
        ("winner", np.int8),  # -1: void
        ("knocker", np.int8),  # -1: nobody
        ("points", np.int16),  # to the winner
        ("turns", np.uint8),  # of both players together
        ("dealer", np.int8),
    ],
    align=True,
)


@kernel
def first_outside(games: np.ndarray, count: int) -> int:
    """Return the position in `games` of the first index that is not in 0..count-1; -1 if there is none."""
    for k in range(len(games)):
        if games[k] < 0 or games[k] >= count:
            return k
    return -1


@kernel
def start_games(state, games, seeds, episodes, twins, done):
    """Begin an episode in each of these games."""
    for k in range(len(games)):
        start_episode(state[games[k]], seeds[k], episodes[k], twins[k])
        done[games[k]] = False


@kernel
def write_masks(state, games, masks):
    """Write the legal actions of the players to move, int8 (k, 107)."""
    for k in range(len(games)):
        game = state[games[k]]
        write_mask(game.public, game.private[game.public.to_move], masks[k])


@kernel
def find_illegal(state, games, actions, illegal):
    """Write which of these actions are illegal, bool (k,)."""
    for k in range(len(games)):
        game = state[games[k]]
        illegal[k] = not is_legal(game.public, game.private[game.public.to_move], actions[k])


@kernel
def first_illegal(state, games, actions):
    """Return the position of the first illegal action; -1 if there is none."""
    for k in range(len(games)):
        game = state[games[k]]
        if not is_legal(game.public, game.private[game.public.to_move], actions[k]):
            return k
    return -1


@kernel
def keep_waiting(state, done, games, player, waiting):
    """Write the games in which `player` is to move and which are not over; return their number."""
    count = 0
    for k in range(len(games)):
        if state[games[k]].public.to_move == player and not done[games[k]]:
            waiting[count] = games[k]
            count += 1
    return count


@kernel
def play_and_score(game, action: int, whole_game: bool, pays: int, result):
    """Play one legal action; return player 0's reward and whether the episode is over.

    Fills `result` (a `HAND_RESULT` record) and deals the next hand within a game of several hands.
    """
    play(game, action)
    public = game.public
    result.ended = public.phase == OVER
    if not result.ended:
        return 0.0, False
    result.outcome = public.outcome
    result.winner = public.winner
    result.knocker = public.knocker
    result.points = public.points
    result.turns = public.turn
    result.dealer = public.dealer
    over = not whole_game or game_is_over(public)
    if pays == PAY_SCORE:
        margin = final_score(public, 0) - final_score(public, 1)
        reward = margin / POINTS_SCALE if over else 0.0
    elif pays == PAY_WIN:
        winner = game_winner(public) if whole_game else public.winner
        reward = 0.0 if winner < 0 or not over else 1.0 - 2.0 * winner
    else:
        reward = points_for(public, 0) / POINTS_SCALE
    if not over:
        start_next_hand(game)
    return reward, over


@kernel
def play_games(state, games, actions, scoring):
    """Play one legal action in each game; `scoring` is `Games.scoring`."""
    whole_game, pays, rewards, done, results = scoring
    for k in range(len(games)):
        game = games[k]
        reward, over = play_and_score(state[game], actions[k], whole_game, pays, results[game])
        rewards[game] += reward
        done[game] = over
