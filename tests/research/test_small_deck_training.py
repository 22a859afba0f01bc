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
    curve = small_gin.train(Run(1, False, tmp_path), tree, states, Learner, 0.01, 1)
    (_, early, before), (decisions, late, after) = curve
    assert decisions >= 40_000
    assert 0 < early < late
    assert after < before - 0.3 < exploitability(tree, {})
    solver = MagneticMirrorDescent(tree)
    solver.run(16)
    assert exploitability(tree, solver.strategy()) < after


def test_table_compares_at_equal_positions_and_equal_seconds():
    rows = [
        small_gin.row_of("CFR+", 0, 200_000, 1, 4.0),
        small_gin.row_of("CFR+", 0, 420_000, 11, 2.0),
        small_gin.row_of("CFR+", 0, 9_000_000, 600, 0.001),
        *(small_gin.row_of("PPO", seed, 400_100, 9, seed / 10) for seed in (3, 1, 2)),
        *(small_gin.row_of("PPO", seed, 4_000_500, 70, seed / 100) for seed in (3, 1, 2)),
    ]
    assert find("learning/small-gin").table(rows).splitlines()[2:] == [
        "| CFR+ | 2.00 | 2.000 | 4.00 | 2.000 | 0.001 | 9,000,000 | 600 |",
        "| PPO | 0.20 (0.10 to 0.30) | 0.020 (0.010 to 0.030) | 0.20 (0.10 to 0.30) "
        "| 0.200 (0.100 to 0.300) | 0.020 (0.010 to 0.030) | 4,000,500 | 70 |",
    ]
