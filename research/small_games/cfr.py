"""CFR, CFR+ and external-sampling Monte Carlo CFR.

All three learn by self-play: in each iteration every information set plays by *regret matching*, in
proportion to the positive part of its cumulative counterfactual regrets. The *average strategy*,
weighted by each player's own reach probabilities, converges to a Nash equilibrium.

========================  =====================  =========  =================  ======================
solver                    regrets                updates    average weight     source
========================  =====================  =========  =================  ======================
`CFR`                     any sign               together   1                  Zinkevich et al. 2008
`CFRPlus`                 cut off at 0           in turns   iteration number   Tammelin 2014
`ExternalSamplingCFR`     any sign, sampled      in turns   1                  Lanctot et al. 2009
========================  =====================  =========  =================  ======================

The exploitability of `CFR` and `CFRPlus` equals that of OpenSpiel 2.0.2's solvers iteration by iteration
(``_CFRSolver(game, alternating_updates=False, ...)`` and ``CFRPlusSolver``; tests/research/test_cfr.py).

The Monte Carlo variant is external sampling, which samples chance and the opponent but tries all own actions,
so that no sampled regret is divided by the probability of its sample. Outcome sampling visits a
single terminal node per iteration, but has to divide by that probability, which becomes tiny in games as long
as Gin Rummy, and its regrets have a far larger variance. A traversal stays cheap here because the own
decisions of a hand are few.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from gin_env.support.checks import is_integer
from research.small_games.game import CHANCE, TERMINAL, Game, State, Strategy
from research.small_games.tree import GameTree


def regret_matching(regrets: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
    """Return probabilities (Q,) in proportion to the positive regrets (Q,) of each row, or uniform ones.

    A row without positive regrets is uniform. `first` (I,) contains the start of each row; default: one
    row. (Hart & Mas-Colell 2000.)
    """
    positive = np.maximum(regrets, 0.0)
    if first is None:
        total = positive.sum()
        return positive / total if total > 0 else np.full(len(regrets), 1 / len(regrets))
    lengths = np.diff(first, append=len(regrets))
    totals = np.repeat(np.add.reduceat(positive, first), lengths)
    uniform = np.repeat(1 / lengths, lengths)
    return np.divide(positive, totals, out=uniform, where=totals > 0)


def check_iterations(iterations: int) -> int:
    """Return the number of iterations to run. Raises TypeError or ValueError unless it is an integer >= 0."""
    if not is_integer(iterations):
        raise TypeError(f"the number of iterations must be an integer, not {iterations!r}")
    if iterations < 0:
        raise ValueError(f"the number of iterations must be at least 0, not {iterations}")
    return int(iterations)


class CFR:
    """Vanilla counterfactual regret minimization: the whole tree in each iteration, both players together.

    Attributes
    ----------
    iterations : iterations run so far.
    nodes_touched : nodes visited so far.
    regrets : float64 (Q,): cumulative counterfactual regrets.
    """

    name = "CFR"

    def __init__(self, tree: GameTree) -> None:
        if not isinstance(tree, GameTree):
            raise TypeError(f"{type(self).__name__} needs a GameTree, not {tree!r}")
        self.tree = tree
        self.iterations = 0
        self.nodes_touched = 0
        self.regrets = np.zeros(tree.num_sequences)
        self._strategy_sum = np.zeros(tree.num_sequences)

    def run(self, iterations: int) -> None:
        """Run `iterations` more iterations."""
        for _ in range(check_iterations(iterations)):
            self.iterations += 1
            self._iterate()

    def _iterate(self) -> None:
        strategy = self.current_vector()
        reach = self.tree.reach_probabilities(strategy)
        values = self.tree.values(strategy)
        for player in (0, 1):
            self._add_regrets(player, reach, values)
            self._add_to_average(player, strategy, reach, weight=1.0)
        self.nodes_touched += len(self.tree)

    def _add_regrets(self, player: int, reach: np.ndarray, values: np.ndarray) -> None:
        """Add the instantaneous counterfactual regrets of a player's sequences, in that player's own payoff.

        At a node the regret of an action is its counterfactual value minus that of the strategy; both are
        weighted by the counterfactual reach probability: all but the player's own share.
        """
        tree = self.tree
        edges = tree.edges[player]
        parents = tree.parent[edges]
        counterfactual_reach = reach[1 - player, parents] * reach[2, parents]
        sign = 1 - 2 * player
        gains = sign * counterfactual_reach * (values[edges] - values[parents])
        self.regrets += np.bincount(tree.sequence[edges], gains, tree.num_sequences)

    def _add_to_average(self, player: int, strategy: np.ndarray, reach: np.ndarray, weight: float) -> None:
        """Add a player's strategy, weighted by their own reach probability (equal at all nodes of a set)."""
        tree = self.tree
        own = np.where(tree.player == player, reach[player, tree.first_node], 0.0)
        self._strategy_sum += weight * own[tree.owners] * strategy

    def current_vector(self) -> np.ndarray:
        """Return the current strategy by regret matching, float64 (Q,)."""
        return regret_matching(self.regrets, self.tree.first_sequence)

    def average_vector(self) -> np.ndarray:
        """Return the average strategy, float64 (Q,); uniform where it was never reached."""
        return regret_matching(self._strategy_sum, self.tree.first_sequence)

    def average_strategy(self) -> Strategy:
        """Return the average strategy by information set."""
        return self.tree.strategy(self.average_vector())


class CFRPlus(CFR):
    """CFR+: regret matching+ (cumulative regrets never fall below 0), the players updated in turns, and the
    strategies of iteration t averaged with weight t.
    """

    name = "CFR+"

    def _iterate(self) -> None:
        for player in (0, 1):
            strategy = self.current_vector()
            reach = self.tree.reach_probabilities(strategy)
            self._add_regrets(player, reach, self.tree.values(strategy))
            np.maximum(self.regrets, 0.0, out=self.regrets)
            self._add_to_average(player, strategy, reach, weight=self.iterations)
            self.nodes_touched += len(self.tree)


class ExternalSamplingCFR:
    """Monte Carlo CFR by external sampling; it traverses states and needs no tree.

    In an iteration, each player in turn tries all their actions, while chance and the opponent are sampled.
    The opponent's strategies on the way are added to their average, which sampling weights by their reach
    probability.

    Attributes
    ----------
    iterations, nodes_touched : as in `CFR`.
    regrets : cumulative sampled counterfactual regrets (number of actions,) by information set.
    """

    name = "external-sampling MCCFR"

    def __init__(self, game: Game, seed: int = 0) -> None:
        if not hasattr(game, "root"):
            raise TypeError(f"{type(self).__name__} needs a game with root(), not {game!r}")
        self.game = game
        self.iterations = 0
        self.nodes_touched = 0
        self.regrets: dict[Hashable, np.ndarray] = {}
        self._strategy_sums: dict[Hashable, np.ndarray] = {}
        self._random = np.random.default_rng(seed)

    def run(self, iterations: int) -> None:
        """Run `iterations` more iterations."""
        for _ in range(check_iterations(iterations)):
            self.iterations += 1
            for player in (0, 1):
                self._traverse(self.game.root(), player)

    def _traverse(self, state: State, player: int) -> float:
        """Return the sampled value of a state for `player`, and update their regrets below it."""
        self.nodes_touched += 1
        to_move = state.to_move
        if to_move == TERMINAL:
            return state.payoff() * (1 - 2 * player)
        if to_move == CHANCE:
            outcomes = state.chance_outcomes()
            outcome, _ = outcomes[self._sample([probability for _, probability in outcomes])]
            return self._traverse(state.child(outcome), player)
        actions = state.actions()
        key = state.information_set()
        if key not in self.regrets:
            self.regrets[key] = np.zeros(len(actions))
            self._strategy_sums[key] = np.zeros(len(actions))
        strategy = regret_matching(self.regrets[key])
        if to_move != player:
            self._strategy_sums[key] += strategy
            action = actions[self._sample(strategy.tolist())]
            return self._traverse(state.child(action), player)
        values = np.array([self._traverse(state.child(action), player) for action in actions])
        value = float(strategy @ values)
        self.regrets[key] += values - value
        return value

    def _sample(self, probabilities: list[float]) -> int:
        """Return an index sampled with these probabilities."""
        left = self._random.random()
        for index, probability in enumerate(probabilities):
            left -= probability
            if left < 0:
                return index
        return max(range(len(probabilities)), key=probabilities.__getitem__)  # rounding

    def average_strategy(self) -> Strategy:
        """Return the average strategy of the information sets visited so far."""
        return {key: regret_matching(row) for key, row in self._strategy_sums.items()}
