"""Exact evaluation of strategies: expected value, best response and exploitability."""

from __future__ import annotations

import numpy as np

from research.small_games.cfr import regret_matching
from research.small_games.game import Strategy
from research.small_games.tree import GameTree


def expected_value(tree: GameTree, strategy: Strategy | np.ndarray) -> float:
    """Return the expected payoff of player 0 if both players follow this strategy."""
    return float(tree.values(tree.vector(strategy))[0])


def best_response(tree: GameTree, strategy: Strategy | np.ndarray, player: int) -> tuple[float, np.ndarray]:
    """Return the value of a best response of `player` to this strategy, and the best response.

    The vector returned is that of `strategy` with the player's own rows replaced by the best response
    (uniform over equally good actions, and where the opponent never lets the player go).

    The tree is processed level by level from the bottom. At an information set, the value of an action is the
    sum over its nodes of the counterfactual reach probability times the value of the child; the best action
    is played.
    Raises ValueError unless `player` is 0 or 1.
    """
    if player not in (0, 1):
        raise ValueError(f"the player must be 0 or 1, not {player!r}")
    response = tree.vector(strategy)
    reach = tree.reach_probabilities(response)
    counterfactual_reach = reach[1 - player] * reach[2]
    sign = 1 - 2 * player
    probabilities = tree.edge_probabilities(response)
    values = sign * tree.payoff
    edges = tree.edges[player]
    for depth in range(len(tree.levels) - 1, 0, -1):
        level = tree.levels[depth]
        own = edges[np.searchsorted(edges, level.start) : np.searchsorted(edges, level.stop)]
        if len(own):
            sequences = tree.sequence[own]
            # The parent's counterfactual reach is the child's: the edge between them is the player's own.
            gains = np.bincount(sequences, counterfactual_reach[own] * values[own], tree.num_sequences)
            best = regret_matching(_is_best(gains, tree.first_sequence), tree.first_sequence)
            response[sequences] = best[sequences]
            probabilities[own] = response[sequences]
        tree.sum_children(values, probabilities, depth)
    return float(values[0]), response


def local_best_response(tree: GameTree, strategy: np.ndarray, afterwards: np.ndarray) -> np.ndarray:
    """Return the best action at each information set if the player goes on by another strategy after it.

    The opponent follows `strategy`, the player `afterwards`, float64 (Q,) both. The player knows `strategy`,
    and so the probabilities of the hands that the opponent can hold. Source: Lisý and Bowling 2017,
    "Equilibrium Approximation Quality of Current No-Limit Poker Bots", arXiv 1612.07547, section 3.
    """
    response = afterwards.copy()
    for player, edges in enumerate(tree.edges):
        both = np.where(tree.sequence_player == player, afterwards, strategy)
        reach, values = tree.reach_probabilities(both), tree.values(both)
        gains = (1 - 2 * player) * reach[1 - player, edges] * reach[2, edges] * values[edges]
        sums = np.bincount(tree.sequence[edges], gains, tree.num_sequences)
        best = regret_matching(_is_best(sums, tree.first_sequence), tree.first_sequence)
        response = np.where(tree.sequence_player == player, best, response)
    return response


def _is_best(gains: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return 1 for the largest entries of each row and 0 for the others, float64 (Q,)."""
    lengths = np.diff(first, append=len(gains))
    return (gains == np.repeat(np.maximum.reduceat(gains, first), lengths)).astype(np.float64)


def exploitability(tree: GameTree, strategy: Strategy | np.ndarray) -> float:
    """Return a best-responding opponent's mean payoff over both seats: NashConv / 2, as in OpenSpiel.

    Its unit is that of the payoffs; it is 0 exactly in a Nash equilibrium.
    """
    vector = tree.vector(strategy)
    return sum(best_response(tree, vector, player)[0] for player in (0, 1)) / 2
