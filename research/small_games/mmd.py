"""Magnetic mirror descent on a game tree.

In each iteration every information set maximises its action values under the current strategy, less
``temperature`` times the divergence from a magnet, here the uniform strategy, and less the divergence from
its current probabilities divided by the step size. This has a closed form, and the current strategy itself
approaches an equilibrium; there is no average. Step size and temperature fall with the square root of the
number of iterations.

Source: Sokota et al. 2023, "A Unified Approach to Reinforcement Learning, Quantal Response Equilibria, and
Two-Player Zero-Sum Games", arXiv 2206.05825, section 3 and the annealed temperature of its experiments.
"""

from __future__ import annotations

import numpy as np

from research.small_games.cfr import check_iterations
from research.small_games.game import Strategy
from research.small_games.tree import GameTree


class MagneticMirrorDescent:
    """Both players update all information sets together, with exact action values.

    Parameters
    ----------
    step : step size of the first iteration, relative to the largest payoff.
    temperature : weight of the magnet in the first iteration, relative to the largest payoff.

    Attributes
    ----------
    iterations, nodes_touched : iterations run and nodes visited so far.
    """

    name = "MMD"

    def __init__(self, tree: GameTree, step: float = 4.0, temperature: float = 0.25) -> None:
        self.tree, self.step, self.temperature = tree, step, temperature
        self.iterations = self.nodes_touched = 0
        self._logits = np.zeros(tree.num_sequences)
        self._scale = np.abs(tree.payoff).max()

    def run(self, iterations: int) -> None:
        """Run `iterations` more iterations."""
        for _ in range(check_iterations(iterations)):
            self.iterations += 1
            self.nodes_touched += len(self.tree)
            step, temperature = np.array([self.step, self.temperature]) / np.sqrt(self.iterations)
            strategy = self.current_vector()
            logits = np.log(strategy) + step * self._action_values(strategy) / self._scale
            self._logits = logits / (1 + step * temperature)

    def _action_values(self, strategy: np.ndarray) -> np.ndarray:
        """Return the mover's expected payoff of each action at its information set, float64 (Q,)."""
        tree = self.tree
        reach, values = tree.reach_probabilities(strategy), tree.values(strategy)
        gains, weights = np.zeros(tree.num_sequences), np.zeros(tree.num_sequences)
        for player, edges in enumerate(tree.edges):
            parents, sequences = tree.parent[edges], tree.sequence[edges]
            others = reach[1 - player, parents] * reach[2, parents]
            gains += np.bincount(sequences, (1 - 2 * player) * others * values[edges], tree.num_sequences)
            weights += np.bincount(sequences, others, tree.num_sequences)
        return gains / np.maximum(weights, np.finfo(np.float64).tiny)

    def current_vector(self) -> np.ndarray:
        """Return the current strategy, float64 (Q,), in which every action has a positive probability."""
        first, owners = self.tree.first_sequence, self.tree.owners
        chances = np.exp(self._logits - np.maximum.reduceat(self._logits, first)[owners])
        chances = np.maximum(chances, 1e-12)
        return chances / np.add.reduceat(chances, first)[owners]

    def strategy(self) -> Strategy:
        """Return the current strategy by information set."""
        return self.tree.strategy(self.current_vector())
