"""Magnetic mirror descent approaches an equilibrium, which exact exploitability shows."""

from __future__ import annotations

import numpy as np
import pytest

from research.small_games import GameTree, MagneticMirrorDescent, expected_value, exploitability
from research.small_games.kuhn import KuhnPoker
from research.small_games.leduc import LeducHoldem


@pytest.mark.parametrize(("game", "bound"), [(KuhnPoker(), 0.02), (LeducHoldem(), 0.15)])
def test_exploitability_falls(game, bound):
    tree = GameTree(game)
    solver = MagneticMirrorDescent(tree)
    values = [exploitability(tree, solver.strategy())]
    for iterations in (4, 16, 64, 256):
        solver.run(iterations - solver.iterations)
        values.append(exploitability(tree, solver.strategy()))
    assert values == sorted(values, reverse=True)
    assert values[-1] < bound
    assert solver.nodes_touched == 256 * len(tree)


def test_value_of_kuhn_poker_is_found():
    tree = GameTree(KuhnPoker())
    solver = MagneticMirrorDescent(tree)
    solver.run(2000)
    assert expected_value(tree, solver.strategy()) == pytest.approx(-1 / 18, abs=2e-3)
    rows = solver.strategy()
    bad = [
        rows["2p"][0],
        rows["2b"][0],
        rows["0b"][1],
    ]  # a passive king, a king that folds, a jack that calls
    assert max(bad) < 1e-4


def test_strong_magnet_keeps_the_strategy_uniform():
    tree = GameTree(KuhnPoker())
    solver = MagneticMirrorDescent(tree, temperature=1000.0)
    solver.run(20)
    lengths = np.diff(tree.first_sequence, append=tree.num_sequences)
    assert np.allclose(solver.current_vector(), np.repeat(1 / lengths, lengths), atol=1e-2)
