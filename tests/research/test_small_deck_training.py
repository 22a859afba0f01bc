"""The learner's exploitability in the deck of eight cards falls in training."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from gin_env.training.learner import Learner
from research.questions import small_gin
from research.reproduce.by_id import find
from research.reproduce.experiment import Run
from research.small_games import GameTree, MagneticMirrorDescent, exploitability
from research.small_games.small_gin import TINY, SmallGin, decision_states

pytestmark = pytest.mark.compiled


def test_small_deck_exploitability_falls(tmp_path, monkeypatch):
    """With little training of both: from 3.4 points a hand if everyone plays at random."""
    game = SmallGin(TINY)
    tree, states = GameTree(game), decision_states(game)
    monkeypatch.setattr(small_gin, "DECISIONS", (1000, 40_000))
    (_, before), (decisions, after) = small_gin.train(Run(1, False, tmp_path), tree, states, Learner, 0.01, 1)
    assert decisions >= 40_000
    assert after < before - 0.3 < exploitability(tree, {})
    solver = MagneticMirrorDescent(tree)
    solver.run(16)
    assert exploitability(tree, solver.strategy()) < after


def test_table_has_the_last_and_the_least():
    rows = [
        small_gin.row_of("PPO", 1, 100, 0.5),
        small_gin.row_of("PPO", 1, 200, 0.25),
        small_gin.row_of("PPO", 2, 101, 0.125),
        small_gin.row_of("PPO", 2, 202, 0.375),
    ]
    assert find("learning/small-gin").table(rows).splitlines()[2:] == [
        "| PPO | 202 | 0.25, 0.38 | 0.250, 0.375 | 0.125 |"
    ]
