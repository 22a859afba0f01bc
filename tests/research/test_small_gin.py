"""Small-deck Gin Rummy for CFR: agreement with the engine, and properties of its solution."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from gin_env import Rules, agents
from gin_env.batch import Games
from research.small_games import (
    CHANCE,
    TERMINAL,
    CFRPlus,
    GameTree,
    best_response,
    expected_value,
    exploitability,
)
from research.small_games.game import children
from research.small_games.gin_tree import GinTree, bot_vector
from research.small_games.small_gin import TINY, SmallGin

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def gin_tree():
    return GinTree(TINY)


# --- The solution -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solved_gin(trees):
    learner = CFRPlus(trees["small_gin"])
    learner.run(100)
    return learner.average_strategy()


def test_small_gin_solution_is_mixed(trees, solved_gin):
    """A game with a pure solution would not check that the solvers average their strategies."""
    pure = {key: np.eye(len(row))[row.argmax()] for key, row in solved_gin.items()}
    assert (
        exploitability(trees["small_gin"], pure) > 0.02 > 10 * exploitability(trees["small_gin"], solved_gin)
    )


def test_no_bot_beats_the_best_response_in_small_gin(gin_tree, solved_gin):
    bots, solution = bot_vector(gin_tree, agents.make("random")), gin_tree.vector(solved_gin)
    for player in (0, 1):
        seat = np.where(gin_tree.sequence_player == player, bots, solution)
        won = (1 - 2 * player) * expected_value(gin_tree, seat)
        assert won <= best_response(gin_tree, solution, player)[0] + 1e-9
    assert exploitability(gin_tree, bots) > 100 * exploitability(gin_tree, solution)


# --- The compiled tree ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules", [TINY, Rules(ranks=3, suits=3, hand_size=3, stock_floor=0, max_turns=1, gin_bonus=5)], ids=str
)
def test_compiled_tree_is_the_unrolled_game(rules):
    """It has the same information sets, and differs only in dealing by one chance move instead of three."""
    slow, fast = GameTree(SmallGin(rules)), GinTree(rules)
    assert dict(zip(slow.information_sets, slow.actions, strict=True)) == dict(
        zip(fast.information_sets, fast.actions, strict=True)
    )
    assert len(slow) - len(fast) == slow.levels[2].stop - 1  # the nodes of both hands
    random = np.random.default_rng(1)
    strategy = {
        key: random.dirichlet(np.ones(len(actions)))
        for key, actions in zip(slow.information_sets, slow.actions, strict=True)
    }
    assert expected_value(fast, strategy) == pytest.approx(expected_value(slow, strategy))
    assert exploitability(fast, strategy) == pytest.approx(exploitability(slow, strategy))
    solvers = CFRPlus(slow), CFRPlus(fast)
    for solver in solvers:
        solver.run(3)
    left = [exploitability(solver.tree, solver.average_strategy()) for solver in solvers]
    assert left[0] == pytest.approx(left[1])


def test_upcards_of_one_suit_are_a_game_with_the_same_equilibria(gin_tree):
    one_suit = GinTree(TINY, one_suit=True)
    assert len(gin_tree) - 1 == TINY.suits * (len(one_suit) - 1)
    solvers = [CFRPlus(tree) for tree in (gin_tree, one_suit)]
    for solver in solvers:
        solver.run(5)
    left = [exploitability(solver.tree, solver.average_vector()) for solver in solvers]
    assert left[0] == pytest.approx(left[1], rel=1e-12)
    assert set(one_suit.records["public"]["first_upcard"].tolist()) == set(range(TINY.ranks))


def test_a_bot_is_asked_only_where_it_is_wanted(gin_tree):
    some = np.array([3, 1000, 4999])
    everywhere, there = (bot_vector(gin_tree, agents.make("simple"), 1, sets) for sets in (None, some))
    wanted = np.isin(gin_tree.owners, some)
    assert (there[wanted] == everywhere[wanted]).all()
    assert (there[~wanted] == gin_tree.vector({})[~wanted]).all()


# --- Small Gin Rummy is the engine's game -----------------------------------------------------------


def test_small_gin_value_matches_the_engine(trees):
    """Compare uniform play in the tree with 100,000 hands between two random bots in the engine."""
    number = 100_000
    games = Games(number, TINY)
    games.start(games.everyone, np.full(number, 5, np.uint64), np.arange(number, dtype=np.uint64))
    bot = agents.make("random")
    while not games.done.all():
        waiting = np.flatnonzero(~games.done)
        games.play(waiting, bot.act(games.views(waiting)))
    to_player_0 = np.where(games.results["winner"] == 0, 1, -1) * games.results["points"].astype(float)
    to_the_non_dealer = np.where(games.results["dealer"] == 1, to_player_0, -to_player_0)
    error = to_the_non_dealer.std() / number**0.5
    assert abs(to_the_non_dealer.mean() - expected_value(trees["small_gin"], {})) < 4 * error


def everything_seen(view) -> bytes:
    """Return all fields of a view except its random number, without padding."""
    record = view.array[0]

    def flatten(value) -> tuple:
        if value.dtype.names:
            return tuple(flatten(value[name]) for name in value.dtype.names)
        return value.tobytes()

    return repr((flatten(record["public"]), flatten(record["private"]), int(record["player"]))).encode()


def test_small_gin_information_sets_match_the_views():
    """Two states have the same key if and only if the player's views are equal.

    All deals have the same upcard, so most information sets occur with several hidden hands.
    """
    game = SmallGin(TINY)
    games = Games(1, TINY)
    views, keys = defaultdict(set), defaultdict(set)
    visited = 0

    def walk(state) -> None:
        nonlocal visited
        if state.to_move == TERMINAL:
            scores = state.record["public"]["scores"][0]
            assert state.payoff() == scores[0] - scores[1]
            return
        if state.to_move != CHANCE:
            games.state[:] = state.record
            seen = everything_seen(games.views(games.everyone))
            views[state.information_set()].add(seen)
            keys[seen].add(state.information_set())
            visited += 1
        for child in children(state):
            walk(child)

    upcard = (14,)
    for first, _ in game.root().chance_outcomes():
        deal = game.root().child(first)
        for second, _ in deal.chance_outcomes() if upcard[0] not in first else ():
            if upcard[0] not in second:
                walk(deal.child(second).child(upcard))
    assert len(views) > 1000
    assert visited > 1.5 * len(views)
    assert all(len(seen) == 1 for seen in views.values())
    assert all(len(key) == 1 for key in keys.values())


def test_drawing_leaves_other_states_unchanged():
    """Children share no memory with their parents, so any stock card can be drawn from the same state."""
    rules = Rules(ranks=3, suits=3, hand_size=3, stock_floor=0, max_turns=2, opening_offer=False)
    state = SmallGin(rules).root().child((0, 1, 2)).child((13, 14, 15)).child((26,))
    before = state.record.tobytes()
    drawing = state.child(104)
    outcomes = drawing.chance_outcomes()
    assert outcomes == [(27, 0.5), (28, 0.5)]
    for card, _ in outcomes:
        after = drawing.child(card)
        assert int(after.record["private"]["hand"][0, 0]) == 0b111 | 1 << card
        assert after.to_move == 0
    assert state.record.tobytes() == before


def test_payoffs_equal_the_points_of_the_hand():
    rules = Rules(ranks=3, suits=3, hand_size=3, stock_floor=0, max_turns=2, gin_bonus=5, opening_offer=False)
    state = SmallGin(rules).root().child((0, 1, 13)).child((14, 26, 27)).child((2,))
    state = state.child(105)  # takes 3C and holds AC 2C 3C
    gin = state.child(52 + 13)
    assert gin.to_move == TERMINAL
    assert gin.payoff() == 5 + (2 + 1 + 2)  # against 2D AH 2H
    passed_on = state.child(13)
    assert passed_on.to_move == 1
    assert (
        passed_on.child(105).child(52 + 26).payoff() > 0
    )  # knocks with AD 2D 2H, deadwood 5 > 0: an undercut
