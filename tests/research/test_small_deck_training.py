"""Exploitability in the deck of eight cards falls in training."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("torch")

from research.questions import nfsp, small_gin
from research.questions.nfsp import POINTS, FictitiousPlay
from research.reproduce.by_id import find
from research.reproduce.experiment import Run
from research.small_games import MagneticMirrorDescent, exploitability
from research.small_games.gin_tree import GinTree
from research.small_games.small_gin import TINY

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(("method", "decisions"), [("PPO, entropy 0.01", 40_000), ("NFSP", 100_000)])
def test_small_deck_exploitability_falls(method, decisions):
    """With little training: from 3.4 or more points a hand, as if everyone played at random."""
    tree = GinTree(TINY)
    curve = list(small_gin.learners()[method](tree, 1, (1000, decisions)))
    (_, early, before), (learned, late, after) = curve
    assert learned >= decisions
    assert 0 < early < late
    assert after < before - 0.3 < exploitability(tree, {})
    solver = MagneticMirrorDescent(tree)
    solver.run(16)
    assert exploitability(tree, solver.current_vector()) < after


def test_fictitious_play_keeps_each_players_own_next_decision():
    """Player 1's reward is what player 0 loses, and a decision is followed by one of the same player."""
    play = FictitiousPlay(TINY, 3)
    for _ in range(12):
        play.step()
    kept = slice(play.num_transitions)
    before, after, over = play.before[kept], play.after[kept], play.over[kept]
    player = before["public"]["to_move"]
    assert len(before) > 500
    assert (after["public"]["to_move"] == player)[~over].all()
    assert (play.rewards[kept][~over] == 0).all()
    assert (after["public"]["history_length"] > before["public"]["history_length"])[~over].all()
    # Both players' last decisions of a hand, which its key identifies, have opposite rewards.
    ends = {}
    keys = before["hidden"]["deal_key"]
    for key, own, reward in zip(keys[over], player[over], play.rewards[kept][over], strict=True):
        ends.setdefault(int(key), {})[int(own)] = float(reward)
    paired = [one for one in ends.values() if len(one) == 2]
    assert len(paired) > 100
    assert all(one[0] == -one[1] for one in paired)
    points = POINTS * np.array([one[0] for one in paired])
    assert np.allclose(points, points.round(), atol=1e-4)
    assert 5 <= np.abs(points).max() <= 30
    assert np.isin(play.imitated_actions[: play.num_imitated], np.arange(107)).all()


def test_reservoir_is_a_fair_sample_of_all_decisions(monkeypatch):
    """Of twenty times as many decisions as it holds, each is kept with the same probability."""
    monkeypatch.setattr(nfsp, "RESERVOIR", 500)
    play, number = FictitiousPlay(TINY, 3), 10_000
    for first in range(0, number, nfsp.NUM_GAMES):
        actions = np.arange(first, min(first + nfsp.NUM_GAMES, number))
        play._imitate(play.games.state, actions, np.arange(len(actions)))
    assert play.num_imitated == number
    assert len(set(play.imitated_actions.tolist())) == 500
    assert stats.kstest(play.imitated_actions / number, "uniform").pvalue > 0.001


def test_learners_have_the_entropy_and_the_pull_of_their_names(monkeypatch):
    built = []
    monkeypatch.setattr(small_gin, "learn", lambda kind, ent_coef, *_: built.append((kind, ent_coef)))
    *named, (last, pulled) = [
        (name, method) for name, method in small_gin.learners().items() if name != "NFSP"
    ]
    for name, method in (*named, (last, pulled)):
        method(None, 1, ())
        assert name.split(",")[1] == f" entropy {built[-1][1]:g}"
    assert last.endswith("pulled towards its average")
    assert built[-1][0].keywords == {"coef": small_gin.PULL_COEF, "rate": small_gin.PULL_RATE}


def test_seconds_of_a_solver_begin_with_those_of_unrolling():
    ((_, seconds, _),) = small_gin.solve(small_gin.CFRPlus, 100.0, GinTree(TINY), 0, [1])
    assert seconds > 100


def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch):
    """Each method and seed is kept in the folder as soon as it is measured."""
    asked = []

    def method(tree, seed, goals):
        asked.append((seed, tuple(goals)))
        yield goals[-1], 1.0, seed / 10

    monkeypatch.setattr(small_gin, "learners", lambda: {"mine": method})
    monkeypatch.setattr(small_gin, "DECISIONS", (10, 20))
    monkeypatch.setattr(small_gin, "ITERATIONS", (1, 2))
    rows = small_gin.measure_small_gin(Run(1, False, tmp_path), 8)
    assert asked == [(seed, (10, 20)) for seed in small_gin.SEEDS]
    (tmp_path / "mine, seed 2.json").unlink()
    assert small_gin.measure_small_gin(Run(1, False, tmp_path), 8) == rows
    assert asked[5:] == [(2, (10, 20))]
    assert [row["exploitability"] for row in rows if row["method"] == "mine"] == [0.1, 0.2, 0.3, 0.4, 0.5]
    solved = json.loads((tmp_path / "CFR+, seed 0.json").read_text())
    assert [visited for visited, _, _ in solved] == [2 * 104_961, 4 * 104_961]


def row(method, seed, visited, seconds, value) -> dict:
    about = {"cards": 8, "method": method, "seed": seed}
    return about | {"visited": visited, "seconds": seconds, "exploitability": value}


def test_table_compares_at_equal_positions_and_equal_seconds():
    rows = [
        row("CFR+", 0, 200_000, 1, 4.0),
        row("CFR+", 0, 420_000, 11, 2.0),
        row("CFR+", 0, 9_000_000, 600, 0.001),
        *(row("PPO", seed, 400_100, 9, seed / 10) for seed in (3, 1, 2)),
        *(row("PPO", seed, 4_000_500, 70, seed / 100) for seed in (3, 1, 2)),
    ]
    other_deck = [row("CFR+", 0, 400_000, 1, 9.0) | {"cards": 9}]
    assert find("ladder/8").table(rows + other_deck).splitlines()[2:] == [
        "| 8 | CFR+ | 2.00 | 2.00 | 4.00 | 2.00 | 0.001 | 9,000,000 | 600 |",
        "| 8 | PPO | 0.20 (0.10 to 0.30) | 0.02 (0.01 to 0.03) | 0.20 (0.10 to 0.30) "
        "| 0.20 (0.10 to 0.30) | 0.020 (0.010 to 0.030) | 4,000,500 | 70 |",
        "| 9 | CFR+ | 9.00 | 9.00 | 9.00 | 9.00 | 9.000 | 400,000 | 1 |",
    ]
