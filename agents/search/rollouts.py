"""Rollouts: the policy plays on in many games, each decision by one compiled function.

The network of a policy that scores candidates is evaluated here row by row, so a game is played the same in
any batch. Candidates are mostly zeros, as are the outputs of a layer; neither is multiplied.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env.agents.base import Agent
from gin_env.agents.policies.candidate_network import CandidateScorer, CandidateScores, check_no_memory
from gin_env.agents.turns import play_turns
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.cards import NUM_CARDS
from gin_env.game.engine import play
from gin_env.game.state import DISCARD, OVER, STOCK_ONLY
from gin_env.observations.candidates import (
    DISCARD_ROWS,
    DRAW_ROWS,
    NO_ACTION,
    NUM_CONTEXT,
    NUM_FEATURES,
    write_context,
    write_discards,
    write_draws,
)
from gin_env.support.compilation import kernel


class Layers(NamedTuple):
    """The weights of a `CandidateScores`, float32; the matrices have a row for each input."""

    first: np.ndarray
    first_bias: np.ndarray
    table: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray
    last: np.ndarray
    last_bias: np.ndarray


class RoomForOne(NamedTuple):
    """Arrays for the candidates of one decision and their scores; the kernels overwrite them."""

    rows: np.ndarray
    actions: np.ndarray
    context: np.ndarray
    after: np.ndarray
    used: np.ndarray
    shared: np.ndarray
    hidden: np.ndarray
    scores: np.ndarray


class Network(NamedTuple):
    """What the kernels need of a policy's network."""

    draws: Layers
    discards: Layers
    room: RoomForOne


class RolloutPlayers:
    """The players of rollouts.

    Parameters
    ----------
    network : the policy's.
    opponent : the bot on the other side; None for the policy.
    """

    def __init__(self, network: CandidateScorer, opponent: Agent | None) -> None:
        self.opponent = opponent
        check_no_memory(network)
        self._network = Network(
            read_layers(network.draws), read_layers(network.discards), room_for_one(network.hidden)
        )

    def roll_out(self, games: Games, player: int | np.ndarray, turns: int) -> np.ndarray:
        """Play every game until it is over or its `player` is to draw for the `turns`-th time.

        `player` is one for all games or one for each. Returns float64 (n,): their probability of winning then
        minus that before the hand, as estimated by the network; 0 where the hand is over.
        """
        players = np.broadcast_to(np.asarray(player, np.int64), len(games))
        begun, won = np.zeros(len(games), np.int64), np.zeros(len(games))
        running = games.everyone[~games.done]
        while len(running):
            both = self.opponent is None
            running = _play_policy(self._network, games.state, running, players, both, turns, begun, won)
            if len(running) and self.opponent is not None:
                play_turns(games, self.opponent, running)
        games.done[:] = games.state["public"]["phase"] == OVER
        return won

    def logits(self, views: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return logits and actions, float32 and int64 (n, 11, 2), of the players of `VIEW` records."""
        logits = np.zeros((len(views), DISCARD_ROWS, 2), np.float32)
        actions = np.empty((len(views), DISCARD_ROWS, 2), np.int64)
        _write_logits(self._network, views, logits, actions)
        return logits, actions


def read_layers(scores: CandidateScores) -> Layers:
    """Return a copy of the weights."""

    def matrix(layer) -> np.ndarray:
        return np.ascontiguousarray(layer.weight.detach().numpy().T, np.float32)

    def bias(layer) -> np.ndarray:
        return layer.bias.detach().numpy().astype(np.float32)

    first, second, last = scores.row_first, scores.row_second, scores.outputs
    return Layers(
        matrix(first), bias(first), matrix(scores.table_first), matrix(second), bias(second),
        matrix(last), bias(last),
    )  # fmt: skip


def room_for_one(hidden: int) -> RoomForOne:
    """Return uninitialised arrays for a network with layers of this width."""
    return RoomForOne(
        np.empty((DISCARD_ROWS, NUM_FEATURES), np.float32),
        np.empty((DISCARD_ROWS, 2), np.int64),
        np.empty(NUM_CONTEXT, np.float32),
        np.empty((NUM_CARDS, NUM_CARDS), np.int64),
        np.empty(max(hidden, NUM_FEATURES) + 1, np.int64),
        np.empty(hidden, np.float32),
        np.empty((2, hidden), np.float32),
        np.empty((DISCARD_ROWS, 4), np.float32),
    )


@kernel
def _add_products(inputs: np.ndarray, matrix: np.ndarray, used: np.ndarray, outputs: np.ndarray) -> None:
    """Add the product of a vector and a matrix to `outputs`, without the rows whose input is 0.

    Eight rows are added in one pass over `outputs`; `used` has room for the indices of these rows.
    """
    count = 0
    for index in range(len(inputs)):  # without a branch, which could not be predicted
        used[count] = index
        count += inputs[index] != 0
    whole = count - count % 8
    for start in range(0, whole, 8):
        i, j, k, l = used[start], used[start + 1], used[start + 2], used[start + 3]  # noqa: E741
        m, n, o, p = used[start + 4], used[start + 5], used[start + 6], used[start + 7]
        for unit in range(len(outputs)):
            outputs[unit] += (
                (inputs[i] * matrix[i, unit] + inputs[j] * matrix[j, unit])
                + (inputs[k] * matrix[k, unit] + inputs[l] * matrix[l, unit])
            ) + (
                (inputs[m] * matrix[m, unit] + inputs[n] * matrix[n, unit])
                + (inputs[o] * matrix[o, unit] + inputs[p] * matrix[p, unit])
            )
    for start in range(whole, count):
        value, row = inputs[used[start]], matrix[used[start]]
        for unit in range(len(outputs)):
            outputs[unit] += value * row[unit]


@kernel
def score_candidates(network, public, private, player: int) -> int:
    """Write the candidates of the player to move and their scores into the room; return their number.

    The scores of a row are the logits and the values of its action and of the same action with a knock.
    """
    discarding = public.phase == DISCARD
    layers = network.discards if discarding else network.draws
    room = network.room
    write_context(public, private, player, room.context)
    if discarding:
        num_rows = DISCARD_ROWS
        write_discards(public, private, player, room.rows, room.actions, room.after)
    else:
        num_rows = DRAW_ROWS
        write_draws(public, private, player, room.rows, room.actions, room.after)
    room.shared[:] = layers.first_bias
    _add_products(room.context, layers.table, room.used, room.shared)
    first, second = room.hidden[0], room.hidden[1]
    for index in range(num_rows):
        if room.actions[index, 0] == NO_ACTION:
            continue
        first[:] = room.shared
        _add_products(room.rows[index], layers.first, room.used, first)
        for unit in range(len(first)):
            first[unit] = max(first[unit], np.float32(0))
        second[:] = layers.second_bias
        _add_products(first, layers.second, room.used, second)
        for unit in range(len(second)):
            second[unit] = max(second[unit], np.float32(0))
        room.scores[index] = layers.last_bias
        _add_products(second, layers.last, room.used, room.scores[index])
    return num_rows


@kernel
def _likeliest(room, num_rows: int) -> int:
    """Return the possible action with the highest logit."""
    highest, chosen = -np.inf, np.int64(NO_ACTION)
    for row in range(num_rows):
        for knock in range(2):
            if room.actions[row, knock] != NO_ACTION and room.scores[row, knock] > highest:
                highest = np.float64(room.scores[row, knock])
                chosen = room.actions[row, knock]
    return chosen


@kernel
def _value(room, num_rows: int) -> float:
    """Return the value of a position: that of its actions, weighted by their probabilities."""
    highest = -np.inf
    for row in range(num_rows):
        for knock in range(2):
            if room.actions[row, knock] != NO_ACTION:
                highest = max(highest, np.float64(room.scores[row, knock]))
    total = value = 0.0
    for row in range(num_rows):
        for knock in range(2):
            if room.actions[row, knock] != NO_ACTION:
                weight = np.exp(room.scores[row, knock] - highest)
                total += weight
                value += weight * room.scores[row, 2 + knock]
    return value / total


@kernel
def _play_policy(
    network, states, games, players, both: bool, turns: int, begun: np.ndarray, won: np.ndarray
) -> np.ndarray:
    """Play the policy in these games, for both sides or until the opponent is to move.

    Returns the games in which the opponent is to move. Where `player` is to draw for the `turns`-th time,
    half the network's value is written into `won`, since values are twice the change in the probability of
    winning.
    """
    waiting, count = np.empty(len(games), np.int64), 0
    for index in range(len(games)):
        number = games[index]
        game, player = states[number], players[number]
        while True:
            public = game.public
            if public.phase == OVER:
                break
            mover = np.int64(public.to_move)
            if mover == player and public.phase != DISCARD and public.phase != STOCK_ONLY:
                begun[number] += 1
                if begun[number] == turns:
                    num_rows = score_candidates(network, public, game.private[mover], mover)
                    won[number] = _value(network.room, num_rows) / 2
                    break
            if mover != player and not both:
                waiting[count] = number
                count += 1
                break
            if public.phase == STOCK_ONLY:
                play(game, DRAW_STOCK)
            else:
                num_rows = score_candidates(network, public, game.private[mover], mover)
                play(game, _likeliest(network.room, num_rows))
    return waiting[:count]


@kernel
def _write_logits(network, views, logits, actions) -> None:
    for index in range(len(views)):
        view = views[index]
        num_rows = score_candidates(network, view.public, view.private, np.int64(view.player))
        actions[index] = NO_ACTION
        actions[index, :num_rows] = network.room.actions[:num_rows]
        logits[index, :num_rows] = network.room.scores[:num_rows, :2]
