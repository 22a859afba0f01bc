"""Rollouts: the policy plays on in many games, each decision by one compiled function.

The network of a policy that scores candidates is evaluated here for one decision at a time, so a game is
played the same in any batch.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env.agents.base import Agent
from gin_env.agents.policies.candidate_network import CandidateScorer, CandidateScores, check_no_memory
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.improved_policy import ImprovedPolicyBot
from gin_env.agents.search.belief import chances_of_play
from gin_env.agents.turns import play_turns
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.cards import NUM_CARDS
from gin_env.game.engine import play
from gin_env.game.rules import MAX_TURNS, Rules
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
from gin_env.support.compilation import kernel, kernel_of_sums

BLOCK = 64
"""Units of a layer computed together. A constant, so that the compiler unrolls the loops."""
ROOM_ROWS = DISCARD_ROWS + 1
"""Rows are computed in pairs."""


class Layers(NamedTuple):
    """The weights of a `CandidateScores` in blocks of units, float32; missing units have weights of 0.

    `first` and `table` are (blocks, inputs, BLOCK), `second` is (blocks, blocks, BLOCK, BLOCK), with the
    block of the inputs first, `last` is (blocks, 4, BLOCK), and the biases are (blocks, BLOCK) or (4,).
    """

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
    shared: np.ndarray
    first: np.ndarray
    second: np.ndarray
    scores: np.ndarray


class Network(NamedTuple):
    """What the kernels need of a policy's network."""

    draws: Layers
    discards: Layers
    room: RoomForOne


def network_of(bot: Agent) -> CandidateScorer | None:
    """Return the network that a bot plays like, of ``policy`` its first one; None for another kind of bot."""
    if type(bot) is ImprovedPolicyBot:
        bot = bot.policy
    if type(bot) is not CandidatePolicyBot or not bot.deterministic or not bot.sees_scores:
        return None
    return None if bot.network.reads_memory else bot.network


class RolloutPlayers:
    """The players of rollouts.

    Parameters
    ----------
    network : the policy's.
    opponent : the bot on the other side; None for the policy. Another policy that scores candidates is as
        fast. Of the bot ``policy``, only the first network plays.
    """

    def __init__(self, network: CandidateScorer, opponent: Agent | None) -> None:
        self._chances: dict[Rules, np.ndarray] = {}
        self.network = self._other = read_network(network)
        self.opponent = opponent
        if opponent is not None and (other := network_of(opponent)) is not None:
            self.opponent, self._other = None, read_network(other)

    def roll_out(self, games: Games, player: int | np.ndarray, turns: int) -> np.ndarray:
        """Play every game until it is over or its `player` is to draw for the `turns`-th time.

        `player` is one for all games or one for each. Returns their probability of winning minus that before
        the hand, as estimated by the network when they are to draw for that time, float64 (n,); 0 where the
        hand ends before.
        """
        players = np.broadcast_to(np.asarray(player, np.int64), len(games))
        begun, won = np.zeros(len(games), np.int64), np.zeros(len(games))
        networks = with_own_room(self.network), with_own_room(self._other)
        running = games.everyone[~games.done]
        while len(running):
            both = self.opponent is None
            running = _play_policy(networks, games.state, running, players, both, turns, begun, won)
            if len(running) and self.opponent is not None:
                play_turns(games, self.opponent, running)
        games.done[:] = games.state["public"]["phase"] == OVER
        return won

    def chances_to_win(self, rules: Rules) -> np.ndarray:
        """Return `gin_env.game.match_odds.chances_to_win` from hands of these players under these rules."""
        if rules not in self._chances:
            self._chances[rules] = chances_of_play(rules, lambda games: self.roll_out(games, 0, MAX_TURNS))
        return self._chances[rules]

    def logits(self, views: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return logits and actions, float32 and int64 (n, 11, 2), of the players of `VIEW` records."""
        logits = np.zeros((len(views), DISCARD_ROWS, 2), np.float32)
        actions = np.empty((len(views), DISCARD_ROWS, 2), np.int64)
        _write_logits(with_own_room(self.network), views, logits, actions)
        return logits, actions


def read_network(network: CandidateScorer) -> Network:
    """Return a copy of the weights, and room for one decision."""
    check_no_memory(network)
    blocks = -(-network.hidden // BLOCK)
    room = RoomForOne(
        np.zeros((ROOM_ROWS, NUM_FEATURES), np.float32),
        np.empty((DISCARD_ROWS, 2), np.int64),
        np.zeros((2, NUM_CONTEXT), np.float32),
        np.empty((NUM_CARDS, NUM_CARDS), np.int64),
        np.empty((blocks, 2, BLOCK), np.float32),
        np.empty((blocks, ROOM_ROWS, BLOCK), np.float32),
        np.empty((blocks, ROOM_ROWS, BLOCK), np.float32),
        np.empty((ROOM_ROWS, 4), np.float32),
    )
    return Network(read_layers(network.draws), read_layers(network.discards), room)


def with_own_room(network: Network) -> Network:
    """Return the network with room of its own, so that several threads can use the same weights."""
    return network._replace(room=RoomForOne(*map(np.zeros_like, network.room)))


def read_layers(scores: CandidateScores) -> Layers:
    """Return a copy of the weights."""

    weights = {name: tensor.numpy().astype(np.float32) for name, tensor in scores.state_dict().items()}

    def in_blocks(array: np.ndarray) -> np.ndarray:
        """Return an array whose last axis is the units as (..., blocks, BLOCK)."""
        missing = -array.shape[-1] % BLOCK
        padded = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)])
        return padded.reshape(*array.shape[:-1], -1, BLOCK)

    def matrix(name: str) -> np.ndarray:
        return np.ascontiguousarray(in_blocks(weights[f"{name}.weight"].T).swapaxes(0, 1))

    second = in_blocks(np.moveaxis(in_blocks(weights["row_second.weight"]), 0, -1))
    return Layers(
        matrix("row_first"),
        in_blocks(weights["row_first.bias"]),
        matrix("table_first"),
        np.ascontiguousarray(second.swapaxes(1, 2)),
        in_blocks(weights["row_second.bias"]),
        np.ascontiguousarray(in_blocks(weights["outputs.weight"]).swapaxes(0, 1)),
        weights["outputs.bias"],
    )


@kernel_of_sums
def _add_products(inputs: np.ndarray, weights: np.ndarray, num_rows: int, outputs: np.ndarray) -> None:
    """Add the products of rows (n, k) and weights (blocks, k, BLOCK) to outputs (blocks, n, BLOCK).

    Two rows and four inputs are multiplied in one pass over the units of a block.
    """
    num_inputs = inputs.shape[1]
    whole = num_inputs - num_inputs % 4
    for block in range(len(weights)):
        matrix, sums = weights[block], outputs[block]
        for row in range(0, num_rows, 2):
            x, y, of_x, of_y = inputs[row], inputs[row + 1], sums[row], sums[row + 1]
            for index in range(0, whole, 4):
                a, b, c, d = x[index], x[index + 1], x[index + 2], x[index + 3]
                e, f, g, h = y[index], y[index + 1], y[index + 2], y[index + 3]
                for unit in range(BLOCK):
                    p, q = matrix[index, unit], matrix[index + 1, unit]
                    r, s = matrix[index + 2, unit], matrix[index + 3, unit]
                    of_x[unit] += a * p + b * q + c * r + d * s
                    of_y[unit] += e * p + f * q + g * r + h * s
            for index in range(whole, num_inputs):
                a, e = x[index], y[index]
                for unit in range(BLOCK):
                    of_x[unit] += a * matrix[index, unit]
                    of_y[unit] += e * matrix[index, unit]


@kernel
def _set_rows(values: np.ndarray, num_rows: int, outputs: np.ndarray) -> None:
    """Write values (blocks, BLOCK) into each row of outputs (blocks, n, BLOCK)."""
    for block in range(len(values)):
        for row in range(num_rows):
            for unit in range(BLOCK):
                outputs[block, row, unit] = values[block, unit]


@kernel
def _clip_rows(num_rows: int, outputs: np.ndarray) -> None:
    """Replace negative numbers by 0."""
    for block in range(len(outputs)):
        for row in range(num_rows):
            for unit in range(BLOCK):
                outputs[block, row, unit] = max(outputs[block, row, unit], np.float32(0))


@kernel_of_sums
def _write_scores(hidden: np.ndarray, layers, num_rows: int, scores: np.ndarray) -> None:
    """Write the last layer's outputs for hidden (blocks, n, BLOCK) into scores (n, 4)."""
    scores[:num_rows] = layers.last_bias
    for block in range(len(hidden)):
        matrix = layers.last[block]
        for row in range(num_rows):
            x = hidden[block, row]
            a = b = c = d = np.float32(0)
            for unit in range(BLOCK):
                a += x[unit] * matrix[0, unit]
                b += x[unit] * matrix[1, unit]
                c += x[unit] * matrix[2, unit]
                d += x[unit] * matrix[3, unit]
            scores[row, 0] += a
            scores[row, 1] += b
            scores[row, 2] += c
            scores[row, 3] += d


@kernel
def score_candidates(network, public, private, player: int) -> int:
    """Write the candidates of the player to move and their scores into the room; return their number.

    The scores of a row are the logits and the values of its action and of the same action with a knock.
    """
    discarding = public.phase == DISCARD
    layers = network.discards if discarding else network.draws
    room = network.room
    write_context(public, private, player, room.context[0])
    if discarding:
        num_rows = DISCARD_ROWS
        write_discards(public, private, player, room.rows, room.actions, room.after)
    else:
        num_rows = DRAW_ROWS
        write_draws(public, private, player, room.rows, room.actions, room.after)
    in_pairs = num_rows + num_rows % 2
    _set_rows(layers.first_bias, 2, room.shared)
    _add_products(room.context, layers.table, 2, room.shared)
    _set_rows(room.shared[:, 0], in_pairs, room.first)
    _add_products(room.rows, layers.first, in_pairs, room.first)
    _clip_rows(in_pairs, room.first)
    _set_rows(layers.second_bias, in_pairs, room.second)
    for block in range(len(room.first)):
        _add_products(room.first[block], layers.second[block], in_pairs, room.second)
    _clip_rows(in_pairs, room.second)
    _write_scores(room.second, layers, num_rows, room.scores)
    return num_rows


@kernel
def likeliest_action(room, num_rows: int) -> int:
    """Return the possible action with the highest logit; ties go to the lowest action, as in the bot.

    Networks that cannot tell the two rows of a draw apart tie where the upcard replaces an equal card.
    """
    highest, chosen = -np.inf, np.int64(NO_ACTION)
    for row in range(num_rows):
        for knock in range(2):
            action, score = room.actions[row, knock], np.float64(room.scores[row, knock])
            if action != NO_ACTION and (score > highest or (score == highest and action < chosen)):
                highest, chosen = score, action
    return chosen


@kernel
def position_value(room, num_rows: int) -> float:
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
    networks, states, games, players, both: bool, turns: int, begun: np.ndarray, won: np.ndarray
) -> np.ndarray:
    """Play in these games by the networks of `player` and of the opponent, or until the opponent is to move.

    Returns the games in which the opponent is to move. When `player` is to draw for the `turns`-th time, half
    the network's value becomes `won`, since values are twice the change in the probability of winning, and
    their game stops.
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
            draws = mover == player and public.phase != DISCARD and public.phase != STOCK_ONLY
            begun[number] += draws
            if mover != player and not both:
                waiting[count] = number
                count += 1
                break
            if public.phase == STOCK_ONLY:
                play(game, DRAW_STOCK)
                continue
            network = networks[np.int64(mover != player)]
            num_rows = score_candidates(network, public, game.private[mover], mover)
            if draws and begun[number] == turns:
                won[number] = position_value(network.room, num_rows) / 2
                break
            play(game, likeliest_action(network.room, num_rows))
    return waiting[:count]


@kernel
def _write_logits(network, views, logits, actions) -> None:
    for index, view in enumerate(views):
        num_rows = score_candidates(network, view.public, view.private, np.int64(view.player))
        actions[index] = NO_ACTION
        actions[index, :num_rows] = network.room.actions[:num_rows]
        logits[index, :num_rows] = network.room.scores[:num_rows, :2]
