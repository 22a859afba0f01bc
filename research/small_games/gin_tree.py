"""The tree of a small deck of Gin Rummy, unrolled by compiled code.

`research.small_games.tree.GameTree` unrolls any game in Python and checks what the solvers assume; the tests
compare this module with it. Here the engine's rules run level by level, on some deals at a time, and a
million nodes take a second. Chance deals both hands and the upcard in one move.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, islice

import numpy as np

from gin_env.agents.base import Agent
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, NUM_ACTIONS
from gin_env.game.cards import cards_of
from gin_env.game.engine import deal, play, points_for, write_mask
from gin_env.game.rules import Rules
from gin_env.game.state import OVER, STATE
from gin_env.game.streams import mix
from gin_env.support.compilation import kernel
from research.small_games.game import CHANCE, TERMINAL
from research.small_games.small_gin import DEALER, GinState, SmallGin
from research.small_games.tree import NO_SEQUENCE, GameTree

DEALS_AT_ONCE, SETS_AT_ONCE = 500, 4096
NODE = np.dtype(
    [
        ("parent", np.int32),  # index in the level above
        ("place", np.int8),  # index among the children of an action's parent
        ("to_move", np.int8),
        ("probability", np.float64),  # of a chance outcome, given the parent; 1 after an action
        ("payoff", np.float64),
        ("information_set", np.uint64),  # a hash of what the player to move knows
    ]
)


class GinTree(GameTree):
    """The tree of one hand under any rules, as a `GameTree` with a position of each information set.

    Attributes
    ----------
    records : `STATE` (I,): one of the positions of each information set.
    """

    def __init__(self, rules: Rules) -> None:
        self.game = SmallGin(rules)
        levels = _Levels(rules)
        nodes = [np.concatenate(parts) for parts in levels.nodes]
        sizes = np.array([len(level) for level in nodes])
        starts = np.cumsum(sizes) - sizes
        sets_before = np.cumsum([0, *(len(known) for known in levels.known)])
        records, parents = [], [nodes[0]["parent"]]
        sequences, first_node = [np.full(1, NO_SEQUENCE)], np.zeros(sets_before[-1], np.int64)
        num_sequences, self.actions, first_sequence = 0, [], []
        for depth, level in enumerate(nodes):
            order = np.argsort(levels.known[depth])
            hashes = levels.known[depth][order]
            records.append(np.concatenate(levels.records[depth])[order])
            masks = np.empty((len(order), NUM_ACTIONS), np.int8)
            write_all_masks(records[-1], masks)
            self.actions += [tuple(np.flatnonzero(mask).tolist()) for mask in masks]
            lengths = masks.sum(axis=1, dtype=np.int64)
            first_sequence.append(num_sequences + np.cumsum(lengths) - lengths)
            num_sequences += lengths.sum()
            deciding = np.flatnonzero(level["to_move"] >= 0)[::-1]
            number = np.searchsorted(hashes, level["information_set"][deciding])
            first_node[sets_before[depth] + number] = starts[depth] + deciding
            own = np.full(len(level), NO_SEQUENCE, np.int64)
            own[deciding] = first_sequence[-1][number]
            if depth + 1 < len(nodes):
                below = nodes[depth + 1]
                parents.append(below["parent"] + starts[depth].astype(np.int32))
                first = own[below["parent"]]
                sequences.append(np.where(first < 0, NO_SEQUENCE, first + below["place"]))
        self.records = np.concatenate(records)
        depths = np.arange(len(nodes))
        self._store(
            {
                "parent": np.concatenate(parents),
                "sequence": np.concatenate(sequences).astype(np.int32),
                "probability": np.concatenate([level["probability"] for level in nodes]),
                "payoff": np.concatenate([level["payoff"] for level in nodes]),
                "depth": np.repeat(depths, sizes),
            },
            {
                "player": self.records["public"]["to_move"],
                "depth": np.repeat(depths, np.diff(sets_before)),
                "first_node": first_node,
                "first_sequence": np.concatenate(first_sequence),
            },
        )
        players = self.player.tolist()
        self.information_sets = [
            GinState(self.records[number : number + 1], player).information_set()
            for number, player in enumerate(players)
        ]


class _Levels:
    """The nodes of each level, and the hashes and positions of its information sets, in order of discovery."""

    def __init__(self, rules: Rules) -> None:
        root = np.zeros(1, NODE)
        root["parent"], root["to_move"], root["probability"] = -1, CHANCE, 1.0
        self.nodes: list[list[np.ndarray]] = [[root]]
        self.known: list[np.ndarray] = [np.empty(0, np.uint64)]
        self.records: list[list[np.ndarray]] = [[np.empty(0, STATE)]]
        number = 0
        for states in deals(rules):
            number += len(states)
            nodes = np.zeros(len(states), NODE)
            nodes["probability"] = 1.0
            describe_all(states, nodes)
            self._add(1, states, nodes)
        for nodes in self.nodes[1]:
            nodes["probability"] = 1 / number

    def _add(self, depth: int, states: np.ndarray, nodes: np.ndarray) -> None:
        """Add these nodes and all below them, whose states are those of the nodes that are not terminal."""
        while len(nodes):
            if depth == len(self.nodes):
                self.nodes.append([])
                self.known.append(np.empty(0, np.uint64))
                self.records.append([])
            before = sum(len(part) for part in self.nodes[depth])
            self.nodes[depth].append(nodes)
            live = np.flatnonzero(nodes["to_move"] != TERMINAL)
            states, movers = states[live], nodes["to_move"][live]
            deciding = np.flatnonzero(movers != CHANCE)
            hashes, first = np.unique(nodes["information_set"][live[deciding]], return_index=True)
            new = ~np.isin(hashes, self.known[depth])
            self.known[depth] = np.concatenate([self.known[depth], hashes[new]])
            self.records[depth].append(states[deciding[first[new]]])
            counts = np.zeros(len(states), np.int64)
            count_children(states, movers, counts)
            below, under = np.zeros(counts.sum(), NODE), np.empty(counts.sum(), STATE)
            write_children(states, movers, live + before, counts, under, below)
            depth, states, nodes = depth + 1, under, below


def deals(rules: Rules) -> Iterator[np.ndarray]:
    """Yield the position after each deal, `STATE` (deals,), some at a time."""
    deck = cards_of(rules.deck_mask)
    everyone = (
        [*(card for pair in zip(first, second, strict=True) for card in pair), upcard]
        for first in combinations(deck, rules.hand_size)
        for second in combinations(sorted(set(deck) - set(first)), rules.hand_size)
        for upcard in sorted(set(deck) - set(first) - set(second))
    )
    games = Games(1, rules)
    games.state["public"]["dealer"] = DEALER
    while chunk := list(islice(everyone, DEALS_AT_ONCE)):
        states = np.repeat(games.state, len(chunk))
        for state, dealt in zip(states, chunk, strict=True):
            state["hidden"]["deck"][: len(deck)] = dealt + sorted(set(deck) - set(dealt))
        deal_all(states)
        yield states


def bot_vector(tree: GinTree, bot: Agent, repeats: int = 1, sets: np.ndarray | None = None) -> np.ndarray:
    """Return a bot's strategy in some information sets, int (k,) (default: all), and a uniform one elsewhere.

    The bot is asked with `repeats` random numbers in each set. With one, ties that it breaks at random are
    resolved once, which makes the strategy pure. Shape: float64 (Q,).
    """
    random = np.random.default_rng(0)

    def shares(games: Games) -> np.ndarray:
        views, chosen = games.views(games.everyone), np.zeros((len(games), NUM_ACTIONS))
        for repeat in range(repeats):
            if repeat:
                views.array["random"] = random.integers(2**64, size=len(games), dtype=np.uint64)
            chosen[games.everyone, bot.act(views)] += 1 / repeats
        return chosen

    return strategy_vector(tree, shares, sets)


def strategy_vector(
    tree: GinTree, probabilities: Callable[[Games], np.ndarray], sets: np.ndarray | None = None
) -> np.ndarray:
    """Return a strategy, float64 (Q,), from the probabilities (games, 107) of all actions in some positions.

    It is uniform outside of `sets`, int (k,) (default: all).
    """
    vector = tree.vector({})
    owners, actions = tree.owners, np.concatenate(tree.actions)
    everywhere = np.arange(len(tree.records)) if sets is None else sets
    for part in np.array_split(everywhere, -(-len(everywhere) // SETS_AT_ONCE)) if len(everywhere) else []:
        games = Games(len(part), tree.game.rules)
        games.state[:] = tree.records[part]
        place = np.full(len(tree.records), -1)
        place[part] = games.everyone
        own = np.flatnonzero(place[owners] >= 0)
        vector[own] = probabilities(games)[place[owners[own]], actions[own]]
    return vector


@kernel
def deal_all(states) -> None:
    for k in range(len(states)):
        deal(states[k])


@kernel
def write_all_masks(states, masks) -> None:
    for k in range(len(states)):
        game = states[k]
        write_mask(game.public, game.private[game.public.to_move], masks[k])


@kernel
def describe_all(states, nodes) -> None:
    for k in range(len(states)):
        describe(states[k], nodes[k])


@kernel
def describe(game, node) -> None:
    """Write whose move it is in a position, and the payoff or the information set."""
    public = game.public
    if public.phase == OVER:
        node.to_move = TERMINAL
        node.payoff = points_for(public, 0)
        return
    player = public.to_move
    private = game.private[player]
    node.to_move = player
    key = mix(mix(np.uint64(player), public.first_upcard), private.hand)
    for k in range(private.num_stock_draws):
        key = mix(key, private.stock_draws[k])
    key = mix(key, 1 << 32)
    for k in range(public.history_length):
        key = mix(key, public.history[k])
    node.information_set = key


@kernel
def count_children(states, movers, counts) -> None:
    mask = np.empty(NUM_ACTIONS, np.int8)
    for k in range(len(states)):
        game = states[k]
        if movers[k] == CHANCE:
            counts[k] = game.public.stock_left
        else:
            write_mask(game.public, game.private[movers[k]], mask)
            counts[k] = mask.sum()


@kernel
def write_children(states, movers, parents, counts, below_states, below) -> None:
    """Write the children of each position, one after another; drawing from the stock leads to a chance node."""
    mask = np.empty(NUM_ACTIONS, np.int8)
    child = 0
    for k in range(len(states)):
        game = states[k]
        if movers[k] != CHANCE:
            write_mask(game.public, game.private[movers[k]], mask)
        action = -1
        for place in range(counts[k]):
            below_states[child] = states[k]
            after, node = below_states[child], below[child]
            node.parent, node.place, node.probability = parents[k], place, 1.0
            if movers[k] == CHANCE:
                stock = after.hidden.deck[deck_size(after) - after.public.stock_left :]
                stock[0], stock[place] = stock[place], stock[0]
                node.probability = 1 / counts[k]
                play(after, DRAW_STOCK)
                describe(after, node)
            else:
                action += 1
                while not mask[action]:
                    action += 1
                if action == DRAW_STOCK:
                    node.to_move = CHANCE
                else:
                    play(after, action)
                    describe(after, node)
            child += 1


@kernel
def deck_size(game) -> int:
    return game.public.rules.ranks * game.public.rules.suits
