"""Counterfactual regret minimization on games small enough to be solved and checked exactly.

>>> from research.small_games import CFRPlus, GameTree, exploitability
>>> from research.small_games.kuhn import KuhnPoker
>>> tree = GameTree(KuhnPoker())
>>> solver = CFRPlus(tree)
>>> solver.run(1000)
>>> exploitability(tree, solver.average_strategy())

- `game`: the protocol of a game; `kuhn`, `leduc`, `small_gin`: the games
- `tree`: a game unrolled into arrays, with a check that it follows the protocol; `gin_tree`: small decks of
  Gin Rummy unrolled by compiled code
- `cfr`: CFR, CFR+, and Monte Carlo CFR by external sampling
- `mmd`: magnetic mirror descent
- `best_response`: expected value, exact and local best response, exploitability
"""

from research.small_games.best_response import best_response, expected_value, exploitability
from research.small_games.cfr import CFR, CFRPlus, ExternalSamplingCFR, regret_matching
from research.small_games.game import CHANCE, TERMINAL, Game, State, Strategy
from research.small_games.mmd import MagneticMirrorDescent
from research.small_games.tree import GameTree

__all__ = [
    "CFR",
    "CHANCE",
    "TERMINAL",
    "CFRPlus",
    "ExternalSamplingCFR",
    "Game",
    "GameTree",
    "MagneticMirrorDescent",
    "State",
    "Strategy",
    "best_response",
    "expected_value",
    "exploitability",
    "regret_matching",
]
