"""CFR training of the full game: each step matches the formulas, for both players."""

from __future__ import annotations

import numpy as np
import pytest
from hand_endings import RULES, SITUATIONS, Plain
from hands_in_words import ONE_GAME, Table

from gin_env import cards
from gin_env.agents.cfr import strategy as cfr_sets
from gin_env.agents.cfr.strategy import Strategy
from gin_env.batch import Games
from gin_env.game.rules import Rules
from gin_env.game.state import STATE
from research.recipes.cfr import kernels

KIND, WHICH = cfr_sets.KINDS["paper"], cfr_sets.CANDIDATES["least"]
SIZE = cfr_sets.number_of_sets(KIND)


def learner(probabilities: np.ndarray, candidates: int = WHICH) -> Strategy:
    return Strategy(probabilities, KIND, candidates, False)


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
def test_hand_is_zero_sum_in_points(situation):
    games = Games(1, RULES)
    games.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    games.set_deck(0, situation.deck, situation.dealer)
    while not games.done[0]:
        games.play(ONE_GAME, Plain().act(games.views(ONE_GAME)))
    for player in (0, 1):
        value = kernels.hand_value(games.state["public"][0], player)
        assert value == pytest.approx(situation.reward(player))


@pytest.mark.parametrize(
    ("before", "gains", "after", "strategy"),
    [
        ((1.0, 2.0), (0.5, 1.0), (1.5, 3.0), 1 / 3),
        ((1.0, 2.0), (-0.5, -1.0), (0.5, 1.0), 1 / 3),
        ((1.0, 2.0), (0.5, -3.0), (1.5, 0.0), 1.0),
        ((1.0, 2.0), (-3.0, 0.5), (0.0, 2.5), 0.0),
        ((1.0, 2.0), (-3.0, -3.0), (0.0, 0.0), 0.5),
    ],
)
def test_regrets_are_cut_off_at_zero_and_matched(before, gains, after, strategy):
    regrets, strategies = np.zeros((3, 2)), np.full(3, 0.25)
    regrets[1] = before
    kernels.add_regret(regrets, strategies, 1, *gains)
    assert regrets[1].tolist() == pytest.approx(after)
    assert strategies.tolist() == pytest.approx([0.25, strategy, 0.25])
    assert not regrets[[0, 2]].any()


def test_binary_decision_updates_the_regret_of_the_other_action():
    regrets, strategies = np.full((1, 2), 1.0), np.array([0.25])
    kernels.learn_binary(regrets, strategies, 0, 0.6, 0.2)
    # The value of the strategy is 0.2 + 0.25 * 0.4 = 0.3.
    assert regrets[0].tolist() == pytest.approx([1 + 0.6 - 0.3, 1 + 0.2 - 0.3])


def two_states(table: Table) -> np.ndarray:
    states = np.zeros(2, STATE)
    states[0] = table.games.state[0]
    return states


@pytest.mark.parametrize("player", [0, 1])
def test_discard_regrets_match_the_formulas(player):
    """Compare with the formulas, with p(c) the probability of discarding c and v(c) its value.

    V = sum p v / sum p, and the regrets are (1 - p) (v - V) and p (V - v).
    """
    hands = ("5D 6D 7D 9C TH 2S AH 4C JH KS", "2C 3D 4H 6C 7H 8H TD JD QC KC")
    table = Table(*(hands if player == 0 else hands[::-1]), "QS", "8S", dealer=1 - player)
    table.play("pass", "pass", "draw")
    rng = np.random.default_rng(3)
    strategy = rng.random(SIZE)
    states = two_states(table)
    public, private = states[0]["public"], states[0]["private"][player]
    held = cards.cards_of(int(private["hand"]))
    candidates = cards.mask_of(held)
    assert not table.knocks, "so the probed action is the discard itself"
    numbers = [cfr_sets.discard_set_of(KIND, public, private, player, card) for card in held]
    values = np.array([kernels.probe(two_states(table), card, player, learner(strategy)) for card in held])
    assert len(set(values.tolist())) > 3
    assert values.min() < 0
    expected = np.zeros((SIZE, 2))
    p = strategy[numbers]
    mean = (p * values).sum() / p.sum()
    expected_strategy = strategy.copy()
    for number, probability, value in zip(numbers, p, values, strict=True):
        gains = (1 - probability) * (value - mean), probability * (mean - value)
        expected[number] = np.maximum(expected[number] + gains, 0)
        total = expected[number].sum()
        expected_strategy[number] = expected[number, 0] / total if total > 0 else 0.5
    regrets = np.zeros((SIZE, 2))
    learned = strategy.copy()
    kernels.learn_discard(states, player, candidates, np.uint64(9), learner(learned), regrets)
    np.testing.assert_allclose(regrets, expected, atol=1e-12)
    np.testing.assert_allclose(learned, expected_strategy, atol=1e-12)


def test_candidates_without_probability_are_weighted_equally():
    table = Table("5D 6D 7D 9C TH 2S AH 4C JH KS", "2C 3D 4H 6C 7H 8H TD JD QC KC", "QS", "8S", dealer=1)
    table.play("pass", "pass", "draw")
    held, states = cards.cards_of(cards.parse("KS 8S 2S")), two_states(table)
    public, private = states[0]["public"], states[0]["private"][0]
    numbers = [cfr_sets.discard_set_of(KIND, public, private, 0, card) for card in held]
    strategy, regrets = np.random.default_rng(3).random(SIZE), np.zeros((SIZE, 2))
    strategy[numbers] = 0
    values = [kernels.probe(two_states(table), card, 0, learner(strategy)) for card in held]
    assert len(set(values)) == 3
    kernels.learn_discard(states, 0, cards.mask_of(held), np.uint64(9), learner(strategy), regrets)
    assert regrets[numbers, 0].tolist() == pytest.approx(np.maximum(values - np.mean(values), 0).tolist())


def test_average_strategy_is_weighted_by_the_iteration():
    """Iteration t (from 1) counts t times, so it adds multiples of t, and t itself, to the weights."""
    states = np.zeros(2, STATE)
    states["public"]["rules"] = Rules(max_turns=5).record()
    strategy, regrets, sums = np.full(SIZE, 0.5), np.zeros((SIZE, 2)), np.zeros((SIZE, 2))
    for iteration in range(4):
        before, regrets_before = sums.copy(), regrets.copy()
        known = strategy.copy()
        kernels.iterate_many(states, iteration, iteration + 1, 5, 0.1, learner(strategy), regrets, sums)
        added = sums - before
        visits = added[:, 1] / (iteration + 1)
        assert visits.max() >= 1
        assert np.array_equal(visits, np.round(visits))
        assert (visits == 1).any()
        untouched = (regrets == regrets_before).all(axis=1) & (visits > 0)
        assert untouched.any()
        np.testing.assert_allclose(added[untouched, 0], added[untouched, 1] * known[untouched])


@pytest.mark.parametrize("iteration", range(4))
def test_players_learn_alternately(iteration):
    """The hand has one turn: its player either learns from the discard, or their average strategy grows."""
    states = np.zeros(2, STATE)
    states["public"]["rules"] = Rules(max_turns=1).record()
    strategy, regrets, sums = np.full(SIZE, 0.5), np.zeros((SIZE, 2)), np.zeros((SIZE, 2))
    every_card = cfr_sets.CANDIDATES["all"]
    kernels.iterate_many(
        states, iteration, iteration + 1, 5, 0.0, learner(strategy, every_card), regrets, sums
    )
    discards = cfr_sets.decision_slices(KIND)[0]
    discarding = int(states[0]["public"]["to_move"])  # at the end of a hand the player who moved last
    assert bool(sums[discards, 1].any()) == (discarding != iteration % 2)


@pytest.mark.parametrize("iteration", range(4))
def test_traverser_learns_knocks_and_the_other_averages_them(iteration):
    """The hand has one turn, in which any discard may knock: against no points at all."""
    states = np.zeros(2, STATE)
    states["public"]["rules"] = Rules(max_turns=1, knock_limit=100).record()
    strategy, regrets, sums = np.full(SIZE, 0.5), np.zeros((SIZE, 2)), np.zeros((SIZE, 2))
    kernels.iterate_many(states, iteration, iteration + 1, 5, 0.0, learner(strategy), regrets, sums)
    knocks = cfr_sets.decision_slices(KIND)[2]
    learns = int(states[0]["public"]["to_move"]) == iteration % 2
    assert regrets[knocks].any() == learns
    visits = sums[knocks, 1]
    assert visits[visits > 0].tolist() == ([] if learns else [iteration + 1])
    assert sums[knocks, 0].sum() == pytest.approx(visits.sum() / 2)
