"""The game protocol of the CFR solvers, checked on hand-made games."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from research.small_games import CHANCE, TERMINAL, CFRPlus, GameTree, expected_value


@dataclass(frozen=True)
class Node:
    """A hand-made state."""

    to_move: int
    key: str = ""
    children: tuple[Node, ...] = ()
    probabilities: tuple[float, ...] = ()
    value: float = 0.0

    def chance_outcomes(self):
        return list(enumerate(self.probabilities))

    def actions(self):
        return range(len(self.children))

    def information_set(self):
        return self.key

    def child(self, action):
        return self.children[action]

    def payoff(self):
        return self.value


@dataclass(frozen=True)
class HandMade:
    start: Node
    name: str = "hand-made"

    def root(self):
        return self.start


def end(value: float) -> Node:
    return Node(TERMINAL, value=value)


def decision(key: str, *children: Node, player: int = 0) -> Node:
    return Node(player, key, children)


def test_matching_pennies_is_solved_with_a_hidden_choice():
    """With unequal stakes, both players play the first action with probability 1/3."""
    guess = decision("guess", end(2), end(0), player=1), decision("guess", end(0), end(1), player=1)
    tree = GameTree(HandMade(decision("choose", *guess)))
    assert len(tree) == 7
    learner = CFRPlus(tree)
    learner.run(3000)
    strategy = learner.average_strategy()
    np.testing.assert_allclose(strategy["choose"], [1 / 3, 2 / 3], atol=0.01)
    np.testing.assert_allclose(strategy["guess"], [1 / 3, 2 / 3], atol=0.01)
    assert expected_value(tree, strategy) == pytest.approx(2 / 3, abs=0.01)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (Node(CHANCE, children=(end(1), end(0)), probabilities=(0.5, 0.4)), "sum to 1"),
        (Node(CHANCE, children=(end(1), end(0)), probabilities=(1.5, -0.5)), "at least 0"),
        (Node(7, "who?", (end(1),)), "to_move"),
        (decision("nothing to do"), "no action"),
        (decision("a", decision("b", end(0), player=1), decision("b", end(0), end(1), player=1)), "actions"),
        (decision("a", decision("b", end(0), player=1), decision("b", end(0), player=0)), "player, depth"),
        (decision("a", decision("a", end(0), end(1)), end(0)), "player, depth"),
        (decision("a", decision("b", end(0), end(1)), decision("b", end(2), end(3))), "perfect recall"),
    ],
)
def test_games_violating_the_protocol_are_refused(start, message):
    with pytest.raises(ValueError, match=message):
        GameTree(HandMade(start))
