"""A game unrolled into NumPy arrays, which the solvers and the best response process level by level.

A tree has N nodes, I information sets and Q *sequences* (an information set with one of its actions).
A strategy of both players is one vector (Q,), the rows of the information sets one after another. Nodes are
ordered by depth, and the children of a node are adjacent, in the order of its actions. So the sum over the
children of every node of a level is one ``np.add.reduceat``.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Mapping

import numpy as np

from research.small_games.game import CHANCE, TERMINAL, Game, State, Strategy

NO_SEQUENCE = -1
MAX_NODES = 5_000_000


class GameTree:
    """All nodes of a game.

    Parameters
    ----------
    game : see `game.Game`.
    max_nodes : maximum number of nodes; larger games are refused.

    Attributes
    ----------
    parent : int32 (N,): the node above; -1 for the root, node 0.
    sequence : int32 (N,): the sequence on the edge that leads to the node; `NO_SEQUENCE` if chance moved.
    chance : float64 (N,): the probability of the chance outcome that leads to the node; 1 if a player moved.
    payoff : float64 (N,): payoff to player 0 at terminal nodes, 0 elsewhere.
    levels : for each depth the slice of its nodes.
    information_sets : the I keys.
    actions : the I tuples of actions.
    player : int8 (I,): the player of each information set.
    depth : int16 (I,): the depth of its nodes.
    first_node : int32 (I,): one of its nodes.
    first_sequence : int64 (I,): the start of its row.
    owners : int64 (Q,): the information set of each sequence.
    sequence_player : int8 (Q,): the player of each sequence.
    edges : for each player, the nodes to which the player's sequences lead.

    Raises ValueError for a game that is too large or violates the protocol (see `game`).
    """

    def __init__(self, game: Game, max_nodes: int = MAX_NODES) -> None:
        self.game = game
        unrolled = _Unrolled(game, max_nodes)
        self.information_sets = unrolled.keys
        self.actions = unrolled.actions
        self._store(*unrolled.columns())

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.parent)

    @property
    def num_sequences(self) -> int:
        """Length Q of the strategy vectors."""
        return len(self.sequence_player)

    def _store(self, nodes: dict[str, np.ndarray], sets: dict[str, np.ndarray]) -> None:
        """Order the nodes by depth and store the columns."""
        order = np.argsort(nodes["depth"], kind="stable")
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        self.parent = np.where(nodes["parent"] < 0, -1, place[nodes["parent"]])[order]
        self.sequence = nodes["sequence"][order]
        self.chance = nodes["probability"][order]
        self.payoff = nodes["payoff"][order]
        bounds = np.cumsum(np.bincount(nodes["depth"])).tolist()
        self.levels = [slice(start, stop) for start, stop in zip([0, *bounds], bounds, strict=False)]
        self.player = sets["player"].astype(np.int8)
        self.depth = sets["depth"].astype(np.int16)
        self.first_node = place[sets["first_node"]]
        self.first_sequence = sets["first_sequence"]
        self.owners = np.repeat(np.arange(len(self.actions)), [len(actions) for actions in self.actions])
        self.sequence_player = self.player[self.owners]
        owner = np.where(self.sequence < 0, -1, self.sequence_player[self.sequence])
        self.edges = [np.flatnonzero(owner == player) for player in (0, 1)]
        # For the sums over children: the start of each parent's children, in each level but the first.
        self._parents, self._starts = [], []
        for level in self.levels[1:]:
            starts = np.flatnonzero(np.diff(self.parent[level], prepend=-1))
            self._starts.append(starts)
            self._parents.append(self.parent[level][starts])

    # --- Strategies -------------------------------------------------------------------------------

    def vector(self, strategy: Mapping[Hashable, np.ndarray] | np.ndarray) -> np.ndarray:
        """Return a strategy of both players as float64 (Q,); missing information sets are played uniformly.

        A vector is copied. Raises ValueError for an unknown information set, or a row that is not
        a distribution.
        """
        if isinstance(strategy, np.ndarray) and strategy.shape == (self.num_sequences,):
            vector = strategy.astype(np.float64)
        else:
            vector = self._concatenated(strategy)
        first = self.first_sequence
        sums, least = np.add.reduceat(vector, first), np.minimum.reduceat(vector, first)
        wrong = np.flatnonzero(~(np.abs(sums - 1) < 1e-6) | (least < 0))
        if len(wrong):
            row = vector[self.owners == wrong[0]]
            raise ValueError(
                f"{self.information_sets[wrong[0]]!r}: {row} is not a probability distribution over its "
                "actions"
            )
        return vector

    def _concatenated(self, strategy: object) -> np.ndarray:
        """Return the rows of a strategy, one after another, float64 (Q,)."""
        if not isinstance(strategy, Mapping):
            raise TypeError(
                f"a strategy must be a dict of rows by information set, or a vector of {self.num_sequences} "
                f"probabilities, not {type(strategy).__name__}"
            )
        unknown = len(strategy.keys() - set(self.information_sets))
        if unknown:
            raise ValueError(f"the strategy has {unknown} information sets that {self.game.name} lacks")
        rows = []
        for key, actions in zip(self.information_sets, self.actions, strict=True):
            row = strategy.get(key)
            if row is None:
                row = np.full(len(actions), 1 / len(actions))
            elif np.shape(row) != (len(actions),):
                raise ValueError(f"{key!r} has {len(actions)} actions, not a row of shape {np.shape(row)}")
            rows.append(row)
        return np.concatenate(rows, dtype=np.float64)

    def strategy(self, vector: np.ndarray) -> Strategy:
        """Return the rows of a strategy vector by information set; the inverse of `vector`."""
        rows = np.split(vector, self.first_sequence[1:])
        return dict(zip(self.information_sets, rows, strict=True))

    # --- Passes over the tree ---------------------------------------------------------------------

    def edge_probabilities(self, vector: np.ndarray) -> np.ndarray:
        """Return the probability of each node given its parent, float64 (N,); 1 for the root."""
        return np.where(self.sequence < 0, self.chance, vector[self.sequence])

    def reach_probabilities(self, vector: np.ndarray) -> np.ndarray:
        """Return the factors of player 0, player 1 and chance in each reach probability, float64 (3, N)."""
        reach = np.ones((3, len(self)))
        reach[2] = self.chance
        for player, edges in enumerate(self.edges):
            reach[player, edges] = vector[self.sequence[edges]]
        for level in self.levels[1:]:
            reach[:, level] *= reach[:, self.parent[level]]
        return reach

    def values(self, vector: np.ndarray) -> np.ndarray:
        """Return the expected payoff to player 0 from each node, float64 (N,)."""
        probabilities = self.edge_probabilities(vector)
        values = self.payoff.copy()
        for depth in range(len(self.levels) - 1, 0, -1):
            self.sum_children(values, probabilities, depth)
        return values

    def sum_children(self, values: np.ndarray, probabilities: np.ndarray, depth: int) -> None:
        """Set the values (N,) of the nodes above level `depth` from the values of their children there."""
        level = self.levels[depth]
        values[self._parents[depth - 1]] = np.add.reduceat(
            probabilities[level] * values[level], self._starts[depth - 1]
        )


class _Unrolled:
    """The nodes and information sets of a game, collected and checked in a depth-first traversal."""

    def __init__(self, game: Game, max_nodes: int) -> None:
        self.name = game.name
        self.max_nodes = max_nodes
        self.parent, self.sequence, self.depth = array("i"), array("i"), array("h")
        self.probability, self.payoff = array("d"), array("d")
        self.keys: list[Hashable] = []
        self.actions: list[tuple[Hashable, ...]] = []
        self.number: dict[Hashable, int] = {}
        self.facts: list[tuple[int, int, int]] = []  # of each information set: player, depth, last sequence
        self.first_node, self.first_sequence = array("q"), array("q")
        self.num_sequences = 0
        root = self.add_node(-1, NO_SEQUENCE, 1.0, 0)
        self.expand(game.root(), root, 0, (NO_SEQUENCE, NO_SEQUENCE))

    def add_node(self, parent: int, sequence: int, probability: float, depth: int) -> int:
        """Add a node and return its number."""
        node = len(self.parent)
        if node >= self.max_nodes:
            raise ValueError(f"the tree of {self.name} has more than {self.max_nodes:,} nodes (max_nodes)")
        self.parent.append(parent)
        self.sequence.append(sequence)
        self.probability.append(probability)
        self.payoff.append(0.0)
        self.depth.append(depth)
        return node

    def expand(self, state: State, node: int, depth: int, last: tuple[int, int]) -> None:
        """Add everything below a node; `last` holds both players' last sequences on the path to it."""
        player = state.to_move
        if player == TERMINAL:
            self.payoff[node] = state.payoff()
        elif player == CHANCE:
            outcomes = state.chance_outcomes()
            probabilities = [probability for _, probability in outcomes]
            if abs(sum(probabilities) - 1) > 1e-9 or min(probabilities) < 0:
                raise ValueError(
                    f"{self.name}: chance probabilities are at least 0 and sum to 1; "
                    f"these sum to {sum(probabilities)}"
                )
            children = [self.add_node(node, NO_SEQUENCE, share, depth + 1) for share in probabilities]
            for (outcome, _), child in zip(outcomes, children, strict=True):
                self.expand(state.child(outcome), child, depth + 1, last)
        elif player in (0, 1):
            actions = tuple(state.actions())
            own = self.row(state.information_set(), actions, node, (player, depth, last[player]))
            children = [self.add_node(node, own + place, 1.0, depth + 1) for place in range(len(actions))]
            for action, child in zip(actions, children, strict=True):
                after = (own, last[1]) if player == 0 else (last[0], own)
                self.expand(state.child(action), child, depth + 1, after)
                own += 1
        else:
            raise ValueError(f"{self.name}: to_move must be 0, 1, CHANCE or TERMINAL, not {player!r}")

    def row(
        self, key: Hashable, actions: tuple[Hashable, ...], node: int, facts: tuple[int, int, int]
    ) -> int:
        """Return the start of an information set's row. Raises ValueError if the node does not match."""
        number = self.number.setdefault(key, len(self.keys))
        if number == len(self.keys):
            if not actions:
                raise ValueError(f"{self.name}: no action at the information set {key!r}")
            self.keys.append(key)
            self.actions.append(actions)
            self.facts.append(facts)
            self.first_node.append(node)
            self.first_sequence.append(self.num_sequences)
            self.num_sequences += len(actions)
        if actions != self.actions[number]:
            raise ValueError(
                f"{self.name}: the information set {key!r} has the actions {actions} "
                f"and {self.actions[number]}"
            )
        if facts[:2] != self.facts[number][:2]:
            raise ValueError(
                f"{self.name}: the information set {key!r} has nodes of (player, depth) {facts[:2]} and "
                f"{self.facts[number][:2]}"
            )
        if facts != self.facts[number]:
            raise ValueError(
                f"{self.name}: no perfect recall: at {key!r} the player has forgotten what they did or knew"
            )
        return self.first_sequence[number]

    def columns(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return the columns of the nodes (N,) and of the information sets (I,)."""
        names = ("parent", "sequence", "probability", "payoff", "depth")
        facts = np.array(self.facts, np.int64).reshape(-1, 3)
        sets = {"player": facts[:, 0], "depth": facts[:, 1]}
        sets |= {name: np.array(getattr(self, name)) for name in ("first_node", "first_sequence")}
        return {name: np.array(getattr(self, name)) for name in names}, sets
