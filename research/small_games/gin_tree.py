"""The tree of a small deck of Gin Rummy, unrolled by compiled code.

`research.small_games.tree.GameTree` unrolls any game in Python and checks what the solvers assume; the tests
compare this module with it. Here the engine's rules run level by level, on some deals at a time, and millions
of nodes take seconds. Chance deals both hands and the upcard in one move.

Everyone sees the first upcard, and suits can be renamed. So the hands that begin with an upcard of one suit
are a game of their own with the same equilibria, and a tree smaller by the number of suits.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from gin_env.agents.base import Agent
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, NUM_ACTIONS
from gin_env.game.batch_kernels import write_masks
from gin_env.game.cards import NUM_CARDS, cards_of
from gin_env.game.engine import deal, play, points_for, write_mask
from gin_env.game.rules import Rules, cards_in_deck
from gin_env.game.state import OVER, STATE
from gin_env.game.streams import mix
from gin_env.support.compilation import kernel
from research.small_games.game import CHANCE, TERMINAL
from research.small_games.small_gin import DEALER, DECKS, GinState, SmallGin
from research.small_games.tree import NO_SEQUENCE, GameTree

DEALS_AT_ONCE, SETS_AT_ONCE = 2000, 4096
"""Numbers of deals unrolled, and of information sets evaluated, at a time: they limit the memory."""
NO_SET = -1
NODE = np.dtype(
    [
        ("parent", np.int32),  # index in the level above
        ("place", np.int8),  # index among the actions of the parent
        ("to_move", np.int8),
        ("probability", np.float64),  # of a chance outcome, given the parent; 1 after an action
        ("payoff", np.float64),
        ("information_set", np.uint64),  # a hash of what the player to move knows
    ]
)


class GinTree(GameTree):
    """The tree of one hand under any rules, with a position of each information set.

    Parameters
    ----------
    one_suit : deal only upcards of the first suit.

    Attributes
    ----------
    records : `STATE` (I,): one of the positions of each information set.
    """

    game: SmallGin
    actions: list[tuple[int, ...]]  # type: ignore[assignment]

    def __init__(self, rules: Rules, one_suit: bool = False) -> None:
        self.game = SmallGin(rules)
        levels = unroll(rules, one_suit)
        self.records = np.concatenate([level.records for level in levels])
        masks = np.empty((len(self.records), NUM_ACTIONS), np.int8)
        write_masks(self.records, np.arange(len(masks)), masks)
        self.actions = [tuple(np.flatnonzero(mask).tolist()) for mask in masks]
        lengths = masks.sum(axis=1, dtype=np.int64)
        self._store(*_columns(levels, self.records["public"]["to_move"], np.cumsum(lengths) - lengths))
        self.information_sets = [
            GinState(self.records[number : number + 1], player).information_set()
            for number, player in enumerate(self.player.tolist())
        ]


def deck_tree(cards: int) -> GinTree:
    """Return the tree of the deck of `DECKS` with this many cards; the largest deals upcards of one suit."""
    return GinTree(DECKS[cards], one_suit=cards == max(DECKS))


@dataclass
class Level:
    """The nodes of a depth, `NODE` (nodes,), and its information sets."""

    nodes: np.ndarray
    hashes: np.ndarray
    """uint64 (sets,), ascending."""
    records: np.ndarray
    """A position of each information set, `STATE` (sets,)."""

    def join(self, other: Level) -> None:
        """Add the nodes of other deals, and their information sets that are new."""
        new = ~np.isin(other.hashes, self.hashes)
        hashes = np.concatenate([self.hashes, other.hashes[new]])
        order = np.argsort(hashes)
        self.hashes = hashes[order]
        self.records = np.concatenate([self.records, other.records[new]])[order]
        self.nodes = np.concatenate([self.nodes, other.nodes])


def unroll(rules: Rules, one_suit: bool) -> list[Level]:
    """Return the levels of the tree of a hand; the root is the deal, a chance node."""
    nothing = np.empty(0, NODE), np.empty(0, np.uint64), np.empty(0, STATE)
    root = np.zeros(1, NODE)
    root["parent"], root["to_move"], root["probability"] = -1, CHANCE, 1.0
    levels = [Level(root, *nothing[1:])]
    for states in deals(rules, one_suit):
        above = 0
        for depth, level in enumerate(_below(states), 1):
            if depth == len(levels):
                levels.append(Level(*nothing))
            level.nodes["parent"] += above
            above = len(levels[depth].nodes)
            levels[depth].join(level)
    levels[1].nodes["probability"] = 1 / len(levels[1].nodes)
    return levels


def _below(states: np.ndarray) -> Iterator[Level]:
    """Yield the level of some deals, and all levels below them."""
    nodes = np.zeros(len(states), NODE)
    for state, node in zip(states, nodes, strict=True):
        _describe(state, node)
    while len(nodes):
        live = np.flatnonzero(nodes["to_move"] != TERMINAL)
        states, movers = states[live], nodes["to_move"][live]
        deciding = np.flatnonzero(movers != CHANCE)
        hashes, first = np.unique(nodes["information_set"][live[deciding]], return_index=True)
        yield Level(nodes, hashes, states[deciding[first]])
        counts = np.empty(len(states), np.int64)
        _count_children(states, movers, counts)
        nodes, children = np.zeros(counts.sum(), NODE), np.empty(counts.sum(), STATE)
        _write_children(states, movers, live, counts, children, nodes)
        states = children


def _columns(
    levels: list[Level], players: np.ndarray, first_sequence: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the columns of the nodes and of the information sets, as `GameTree` stores them."""
    columns: dict[str, list[np.ndarray]] = {"parent": [], "sequence": []}
    first_node, start, sets_before = np.empty(len(players), np.int64), 0, 0
    above, start_above = np.full(1, NO_SET), 0
    for level in levels:
        parent = level.nodes["parent"]
        own = above[parent]
        columns["parent"].append(parent + start_above)
        columns["sequence"].append(
            np.where(own == NO_SET, NO_SEQUENCE, first_sequence[own] + level.nodes["place"]).astype(np.int32)
        )
        above = np.full(len(parent), NO_SET)
        deciding = np.flatnonzero(level.nodes["to_move"] >= 0)
        found = np.searchsorted(level.hashes, level.nodes["information_set"][deciding])
        above[deciding] = sets_before + found
        first_node[above[deciding[::-1]]] = start + deciding[::-1]
        start_above, start = start, start + len(parent)
        sets_before += len(level.hashes)
    depths = np.arange(len(levels))
    nodes = {name: np.concatenate(parts) for name, parts in columns.items()}
    nodes |= {
        name: np.concatenate([level.nodes[name] for level in levels]) for name in ("probability", "payoff")
    }
    nodes["depth"] = np.repeat(depths, [len(level.nodes) for level in levels])
    return nodes, {
        "player": players,
        "depth": np.repeat(depths, [len(level.hashes) for level in levels]),
        "first_node": first_node,
        "first_sequence": first_sequence,
    }


def deals(rules: Rules, one_suit: bool) -> Iterator[np.ndarray]:
    """Yield the position after each deal, `STATE` (deals,), some at a time."""
    deck = cards_of(rules.deck_mask)
    upcards = deck[: rules.ranks] if one_suit else deck
    everyone = (
        [*(card for pair in zip(first, second, strict=True) for card in pair), upcard]
        for first in combinations(deck, rules.hand_size)
        for second in combinations(sorted(set(deck) - set(first)), rules.hand_size)
        for upcard in sorted(set(upcards) - set(first) - set(second))
    )
    games = Games(1, rules)
    games.state["public"]["dealer"] = DEALER
    while chunk := list(islice(everyone, DEALS_AT_ONCE)):
        states = np.repeat(games.state, len(chunk))
        for state, dealt in zip(states, chunk, strict=True):
            state["hidden"]["deck"][: len(deck)] = dealt + sorted(set(deck) - set(dealt))
            deal(state)
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
def _describe(game, node) -> None:
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
    key = mix(key, NUM_CARDS)  # no card: the draws end
    for k in range(public.history_length):
        key = mix(key, public.history[k])
    node.information_set = key


@kernel
def _count_children(states, movers, counts) -> None:
    mask = np.empty(NUM_ACTIONS, np.int8)
    for k in range(len(states)):
        game = states[k]
        if movers[k] == CHANCE:
            counts[k] = game.public.stock_left
        else:
            write_mask(game.public, game.private[movers[k]], mask)
            counts[k] = mask.sum()


@kernel
def _write_children(states, movers, parents, counts, children, nodes) -> None:
    """Write the children of each position; drawing from the stock leads to a chance node."""
    mask = np.empty(NUM_ACTIONS, np.int8)
    number = 0
    for k in range(len(states)):
        game = states[k]
        action = -1
        if movers[k] != CHANCE:
            write_mask(game.public, game.private[movers[k]], mask)
        for place in range(counts[k]):
            children[number] = game
            child, node = children[number], nodes[number]
            node.parent, node.place, node.probability = parents[k], place, 1.0
            if movers[k] == CHANCE:
                node.probability = 1 / counts[k]
                _draw(child, place)
                _describe(child, node)
            else:
                action += 1
                while not mask[action]:
                    action += 1
                if action == DRAW_STOCK:
                    node.to_move = CHANCE
                else:
                    play(child, action)
                    _describe(child, node)
            number += 1


@kernel
def _draw(game, place: int) -> None:
    """Draw the card at this place of the stock."""
    stock = game.hidden.deck[cards_in_deck(game.public.rules) - game.public.stock_left :]
    stock[0], stock[place] = stock[place], stock[0]
    play(game, DRAW_STOCK)
