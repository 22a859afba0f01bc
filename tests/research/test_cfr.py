"""CFR solvers, compared with known values, OpenSpiel and brute force."""

from __future__ import annotations

import importlib
import json
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from research.small_games import (
    CFR,
    CFRPlus,
    ExternalSamplingCFR,
    GameTree,
    best_response,
    expected_value,
    exploitability,
    regret_matching,
)
from research.small_games.kuhn import VALUE, KuhnPoker, equilibrium
from research.small_games.leduc import LeducHoldem
from research.small_games.small_gin import TINY, SmallGin

pytestmark = pytest.mark.compiled

LEDUC_VALUE = -0.0856
"""Value to player 0, as computed by CFR+ here and in OpenSpiel 2.0.2."""

# Exploitability after 1, 10, 100 iterations in OpenSpiel 2.0.2: CFRPlusSolver, and
# cfr._CFRSolver(game, alternating_updates=False, linear_averaging=False, regret_matching_plus=False).
OPEN_SPIEL = {
    ("kuhn", CFR): (0.45833333333333326, 0.09620850020140503, 0.02567473584694785),
    ("kuhn", CFRPlus): (0.45833333333333326, 0.032687090668344826, 0.0011944041011116846),
    ("leduc", CFR): (2.373611111111111, 0.9270185719676691, 0.1730343119208263),
    ("leduc", CFRPlus): (2.373611111111111, 0.6104389015904066, 0.013415994970897835),
}


# --- Regret matching --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regrets", "strategy"),
    [
        ([3.0, 1.0], [0.75, 0.25]),
        ([3.0, -5.0, 1.0], [0.75, 0.0, 0.25]),
        ([-1.0, -2.0, -3.0, 0.0], [0.25, 0.25, 0.25, 0.25]),
        ([0.0], [1.0]),
    ],
)
def test_regret_matching_is_proportional_to_positive_regret(regrets, strategy):
    assert regret_matching(np.array(regrets)).tolist() == strategy


def test_regret_matching_treats_each_row_separately():
    regrets = np.array([3.0, 1.0, -1.0, -2.0, 0.0, 5.0, 0.0])
    expected = [0.75, 0.25, 1 / 3, 1 / 3, 1 / 3, 1.0, 0.0]
    np.testing.assert_allclose(regret_matching(regrets, np.array([0, 2, 5])), expected)
    assert regrets[2] == -1  # the input is unchanged


@pytest.mark.parametrize(("solver", "regrets"), [(CFR, [-0.5, 0.5]), (CFRPlus, [0.0, 0.5])])
def test_first_iteration_of_kuhn_matches_manual_regrets(trees, solver, regrets):
    """With card 1 after a bet, against uniform play, folding is worth -1, calling 0 and the strategy -1/2.

    The counterfactual reach is 1/6, so the regrets are (-1 + 1/2) / 6 and (0 + 1/2) / 6.
    """
    tree = trees["kuhn"]
    learner = solver(tree)
    learner.run(1)
    first = tree.first_sequence[tree.information_sets.index("1pb")]
    # Counterfactual reach: 2 opposing cards * 1/6 * 1/2 for the bet, without player 0's own pass.
    np.testing.assert_allclose(learner.regrets[first : first + 2], np.array(regrets) / 6)


# --- Known values -----------------------------------------------------------------------------------


def test_trees_have_the_known_sizes(trees):
    assert (len(trees["kuhn"]), len(trees["kuhn"].information_sets)) == (55, 12)
    assert len(trees["leduc"].information_sets) == 288


def test_small_gin_tree_has_the_expected_size(trees):
    assert (len(trees["small_gin"]), len(trees["small_gin"].information_sets)) == (105_577, 13_720)


@pytest.mark.parametrize("name_and_solver", OPEN_SPIEL, ids=lambda pair: f"{pair[0]}-{pair[1].name}")
def test_exploitability_equals_openspiel(trees, name_and_solver):
    name, solver = name_and_solver
    learner = solver(trees[name])
    measured = []
    for iterations in (1, 9, 90):
        learner.run(iterations)
        measured.append(exploitability(trees[name], learner.average_strategy()))
    assert learner.iterations == 100
    np.testing.assert_allclose(measured, OPEN_SPIEL[name_and_solver], rtol=1e-6)


def test_uniform_play_has_the_published_exploitability(trees):
    """OpenSpiel's exploitability_test.py: NashConv 11/12 in Kuhn poker, 4.747222 in Leduc hold'em."""
    assert exploitability(trees["kuhn"], {}) == pytest.approx(11 / 24)
    assert exploitability(trees["leduc"], {}) == pytest.approx(4.747222222222222 / 2)


@pytest.mark.parametrize("bluff", [0.0, 0.2, 1 / 3])
def test_kuhn_equilibria_are_not_exploitable(trees, bluff):
    strategy = equilibrium(bluff)
    assert expected_value(trees["kuhn"], strategy) == pytest.approx(VALUE)
    assert exploitability(trees["kuhn"], strategy) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("solver", "bound"), [(CFR, 0.01), (CFRPlus, 0.0002)])
def test_kuhn_is_solved(trees, solver, bound):
    learner = solver(trees["kuhn"])
    learner.run(1000)
    assert exploitability(trees["kuhn"], learner.average_strategy()) < bound
    assert expected_value(trees["kuhn"], learner.average_strategy()) == pytest.approx(VALUE, abs=bound)


def test_kuhn_is_solved_by_external_sampling(trees):
    learner = ExternalSamplingCFR(KuhnPoker(), seed=1)
    measured = []
    for iterations in (200, 19_800):
        learner.run(iterations)
        measured.append(exploitability(trees["kuhn"], learner.average_strategy()))
    assert measured[1] < 0.01
    assert measured[1] < measured[0] / 4
    assert expected_value(trees["kuhn"], learner.average_strategy()) == pytest.approx(VALUE, abs=0.01)
    strategy = learner.average_strategy()
    assert strategy["2pb"][1] == pytest.approx(1, abs=0.01)
    assert strategy["0b"][1] == pytest.approx(0, abs=0.01)
    assert strategy["1b"][1] == pytest.approx(1 / 3, abs=0.05)  # player 1's equilibrium is unique


def test_external_sampling_counts_every_visited_node():
    class Counted(ExternalSamplingCFR):
        calls = 0

        def _traverse(self, state, player):
            self.calls += 1
            return super()._traverse(state, player)

    learner = Counted(KuhnPoker(), seed=1)
    learner.run(5)
    assert learner.nodes_touched == learner.calls > 5 * 2 * 4


def test_sampled_averages_hold_the_opponents_strategies_only():
    """Only what the opponent samples is reached with its own probability."""
    learner = ExternalSamplingCFR(KuhnPoker(), seed=1)
    learner._traverse(learner.game.root(), 0)
    tried = {key for key, regrets in learner.regrets.items() if regrets.any()}
    added = {key for key, sums in learner._strategy_sums.items() if sums.any()}
    assert tried
    assert added
    assert not tried & added


def test_leduc_exploitability_falls_faster_with_cfr_plus(trees):
    tree = trees["leduc"]
    cfr, plus = CFR(tree), CFRPlus(tree)
    for learner in (cfr, plus):
        learner.run(500)
    assert exploitability(tree, plus.average_strategy()) < 0.001
    assert 0.01 < exploitability(tree, cfr.average_strategy()) < 0.1
    assert expected_value(tree, plus.average_strategy()) == pytest.approx(LEDUC_VALUE, abs=0.001)
    sampled = ExternalSamplingCFR(LeducHoldem(), seed=1)
    sampled.run(1500)
    assert exploitability(tree, sampled.average_strategy()) < 0.8


def test_small_gin_is_solved(trees):
    tree = trees["small_gin"]
    cfr, plus = CFR(tree), CFRPlus(tree)
    measured = defaultdict(list)
    for iterations in (1, 9, 40):
        for learner in (cfr, plus):
            learner.run(iterations)
            measured[learner.name].append(exploitability(tree, learner.average_strategy()))
    for name, (first, second, third) in measured.items():
        assert first > 4 * second > 16 * third, name
    assert measured[CFRPlus.name][2] < 0.01  # points; uniform play: 4.2
    assert measured[CFRPlus.name][2] < measured[CFR.name][2] / 5
    sampled = ExternalSamplingCFR(SmallGin(TINY), seed=1)
    sampled.run(300)
    assert exploitability(tree, sampled.average_strategy()) < exploitability(tree, {})


# --- Best response ----------------------------------------------------------------------------------


def pure_strategies(tree: GameTree, player: int):
    """Yield all pure strategies of one player."""
    own = [number for number in range(len(tree.information_sets)) if tree.player[number] == player]
    for choice in product(*(range(len(tree.actions[number])) for number in own)):
        yield {
            tree.information_sets[number]: np.eye(len(tree.actions[number]))[place]
            for number, place in zip(own, choice, strict=True)
        }


@pytest.mark.parametrize("player", [0, 1])
def test_best_response_equals_the_best_pure_strategy(trees, player):
    tree = trees["kuhn"]
    rng = np.random.default_rng(0)
    for _ in range(5):
        strategy = {key: rng.dirichlet(np.ones(2)) for key in tree.information_sets}
        sign = 1 - 2 * player
        values = [sign * expected_value(tree, strategy | pure) for pure in pure_strategies(tree, player)]
        value, response = best_response(tree, strategy, player)
        assert value == pytest.approx(max(values))
        assert sign * expected_value(tree, response) == pytest.approx(value)
        others = tree.sequence_player != player
        np.testing.assert_array_equal(response[others], tree.vector(strategy)[others])


@pytest.mark.parametrize("name", ["leduc", "small_gin"])
def test_best_response_wins_its_value_and_beats_the_strategy(trees, name):
    tree = trees[name]
    rng = np.random.default_rng(0)
    strategy = tree.strategy(regret_matching(rng.random(tree.num_sequences), tree.first_sequence))
    for player in (0, 1):
        sign = 1 - 2 * player
        value, response = best_response(tree, strategy, player)
        assert sign * expected_value(tree, response) == pytest.approx(value)
        assert value > sign * expected_value(tree, strategy)


# --- Trees and runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kuhn", "leduc", "small_gin"])
def test_reach_probabilities_of_the_leaves_sum_to_one(trees, name):
    tree = trees[name]
    vector = regret_matching(np.random.default_rng(1).random(tree.num_sequences), tree.first_sequence)
    leaves = np.setdiff1d(np.arange(len(tree)), tree.parent)
    assert tree.reach_probabilities(vector).prod(axis=0)[leaves].sum() == pytest.approx(1)


def test_strategies_round_trip_through_vectors(trees):
    tree = trees["leduc"]
    vector = regret_matching(np.random.default_rng(1).random(tree.num_sequences), tree.first_sequence)
    np.testing.assert_array_equal(tree.vector(tree.strategy(vector)), vector)


def test_runs_can_be_split_and_repeated(trees):
    def sampled(*pieces: int, seed: int = 4):
        learner = ExternalSamplingCFR(LeducHoldem(), seed)
        for piece in pieces:
            learner.run(piece)
        return learner.average_strategy()

    first, again, other = sampled(60), sampled(20, 0, 40), sampled(60, seed=5)
    assert first.keys() == again.keys()
    assert all(np.array_equal(first[key], again[key]) for key in first)
    assert any(not np.array_equal(first[key], other[key]) for key in first.keys() & other.keys())
    for solver in (CFR, CFRPlus):
        whole, pieces = solver(trees["leduc"]), solver(trees["leduc"])
        whole.run(7)
        pieces.run(3)
        pieces.run(4)
        np.testing.assert_array_equal(whole.regrets, pieces.regrets)
        assert (whole.iterations, whole.nodes_touched) == (pieces.iterations, pieces.nodes_touched)


def test_invalid_arguments_are_refused(trees):
    tree = trees["kuhn"]
    with pytest.raises(TypeError, match="GameTree"):
        CFR(KuhnPoker())
    with pytest.raises(TypeError, match="root"):
        ExternalSamplingCFR(tree)
    for learner in (CFR(tree), CFRPlus(tree), ExternalSamplingCFR(KuhnPoker())):
        with pytest.raises(ValueError, match="at least 0"):
            learner.run(-1)
        with pytest.raises(TypeError, match="integer"):
            learner.run(1.5)
    with pytest.raises(ValueError, match="player"):
        best_response(tree, {}, 2)
    with pytest.raises(TypeError, match="dict"):
        exploitability(tree, np.zeros(23))
    with pytest.raises(ValueError, match="not a probability distribution"):
        exploitability(tree, np.zeros(24))
    with pytest.raises(ValueError, match="2 actions"):
        exploitability(tree, {"0": np.ones(3) / 3})
    for row in ([0.5, 0.6], [1.5, -0.5], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="probability distribution"):
            exploitability(tree, {"0": np.array(row)})
    with pytest.raises(ValueError, match="lacks"):
        exploitability(tree, {"no such set": np.ones(2) / 2})
    with pytest.raises(ValueError, match="max_nodes"):
        GameTree(LeducHoldem(), max_nodes=100)
    with pytest.raises(ValueError, match="1/3"):
        equilibrium(0.5)
    with pytest.raises(TypeError, match="Rules"):
        SmallGin(7)


# --- The example ------------------------------------------------------------------------------------


def test_example_writes_the_plot_and_report(tmp_path, capsys):
    example = importlib.import_module("research.small_games.__main__")
    assert example.checkpoints(1) == [1]
    assert example.checkpoints(60) == [1, 2, 5, 10, 20, 50, 60]
    plot, figures = tmp_path / "new" / "plot.png", tmp_path / "figures.json"
    example.main(["kuhn"], 250, 100, 1, plot, figures)
    assert plot.read_bytes().startswith(b"\x89PNG")
    (report,) = json.loads(figures.read_text())["games"]
    assert report["information_sets"] == 12
    last = {row["solver"]: row["exploitability"] for row in report["rows"]}
    assert last["CFR+"] < last["CFR"] < report["uniform"]
    cfr = [row for row in report["rows"] if row["solver"] == "CFR"]
    assert len({row["nodes_touched"] / row["iterations"] for row in cfr}) == 1, "measured at each checkpoint"
    with pytest.raises(ValueError, match="choose from"):
        example.main(["chess"], 1, 1, 1, plot, None)
