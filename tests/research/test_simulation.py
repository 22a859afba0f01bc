"""Hands simulated for the data sets of Truong and Neller 2021: redeals, explorers and recorded discards."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import Table
from state_invariants import status

from gin_env import cards, melds
from gin_env.agents.random_discard import random_discard_action
from gin_env.agents.simple import simple_action
from gin_env.game.engine import decision_random, play, points_for, start_episode
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD, OVER, STATE
from gin_env.game.streams import OPPONENT, mix, stream
from gin_env.observations.views import VIEW
from research.recipes.hand_strength import simulation
from research.recipes.hand_strength.simulation import Observations

MOVES = ("pass", "pass", "draw", "KS", "take", "QD", "draw", "9C", "draw", "6S", "take", "TS")


def middle(seat: int = 0) -> np.ndarray:
    """Return states (4,); in the first, `seat` has taken 6S from the pile and the opponent KS."""
    hands = ("2C 3C 4C 5H 6H 7H 9C KS AD 2D", "KH KC JS 8C 8H 4D 5D QD 2S 6S")
    table = Table(*(hands if seat == 0 else hands[::-1]), "TD", "TS 3H 7S 4S 3D 9H", dealer=1 - seat)
    states = np.zeros(4, STATE)
    states[0] = table.play(*MOVES).games.state[0]
    return states


@pytest.mark.parametrize("seat", [0, 1])
def test_only_unseen_cards_are_redealt(seat):
    taken, stock = set(), set()
    for key in range(40):
        states = middle(seat)
        before = states[0].copy()
        simulation.redeal_unseen(states[0], seat, np.uint64(key))
        assert key % 8 or status(states[0]) == []
        assert states[0]["public"] == before["public"]
        assert states[0]["private"][seat] == before["private"][seat]
        left = 52 - int(before["public"]["stock_left"])
        assert states[0]["hidden"]["deck"][:left].tolist() == before["hidden"]["deck"][:left].tolist()
        hand = int(states[0]["private"]["hand"][1 - seat])
        assert hand & cards.parse("KS"), "which the player has shown"
        taken |= set(cards.cards_of(hand))
        stock.add(int(states[0]["hidden"]["deck"][left]))
    own = cards.parse("2C 3C 4C 5H 6H 7H AD 2D 3H 6S")
    unseen = set(cards.cards_of(cards.FULL_DECK & ~own & ~cards.parse("TD QD 9C TS KS")))
    assert taken == unseen | set(cards.cards_of(cards.parse("KS")))
    assert stock <= unseen
    assert len(stock) > 20


def test_decision_keys_differ_between_players():
    states = middle()
    simulation.set_decision_keys(states[0], np.uint64(5))
    assert states[0]["hidden"]["decision_keys"].tolist() == [mix(np.uint64(5), 0), mix(np.uint64(5), 1)]


def dealt(rules: Rules | None = None) -> np.ndarray:
    states = np.zeros(4, STATE)
    states["public"]["rules"] = (rules or Rules()).record()
    start_episode(states[0], 3, 7, False)
    return states


def test_sample_keeps_the_players_hand_and_redeals_the_rest():
    first = dealt()[0]
    others, keys = set(), set()
    for sample in range(20):
        states = dealt()
        simulation.start_sample(states[0], 3, 7, sample)
        assert status(states[0]) == []
        assert states[0]["private"]["hand"][0] == first["private"]["hand"][0]
        assert sorted(states[0]["hidden"]["deck"].tolist()) == list(range(52))
        others |= set(cards.cards_of(int(states[0]["private"]["hand"][1])))
        keys |= set(states[0]["hidden"]["decision_keys"].tolist())
        again = dealt()
        simulation.start_sample(again[0], 3, 7, sample)
        assert again[0] == states[0]
    assert len(others) == 42
    assert len(keys) == 40


def answer(game: np.void, seat: int, explorer: int) -> int:
    """Return the action of Simple or of the random explorer."""
    random, private = np.uint64(decision_random(game, seat)), game["private"][seat]
    if explorer == simulation.RANDOM:
        return random_discard_action(game["public"], private, seat, random)
    return simple_action(game["public"], private, seat, random, 10)


def at_discard(rules: Rules) -> np.ndarray:
    """Return states in which player 0 must discard."""
    states = dealt(rules)
    while states[0]["public"]["phase"] != DISCARD or states[0]["public"]["to_move"] != 0:
        mover = int(states[0]["public"]["to_move"])
        play(states[0], answer(states[0], mover, simulation.SIMPLE))
    return states


SHORT = Rules(max_turns=5)


def test_each_explorer_plays_its_own_action():
    states = at_discard(SHORT)
    for explorer in (simulation.SIMPLE, simulation.RANDOM):
        action, simulated = simulation.explorer_action(states, 0, explorer, 64)
        assert (action, simulated) == (answer(states[0], 0, explorer), 0)
    expected = simulation.flat_monte_carlo_action(states, 0, 2)
    assert expected[1] > 0
    assert simulation.explorer_action(states, 0, simulation.FLAT_MONTE_CARLO, 64) == expected
    few = simulation.flat_monte_carlo_action(states, 0, 1)
    assert simulation.explorer_action(states, 0, simulation.FLAT_MONTE_CARLO, 31) == few
    drawing = middle()
    for explorer in range(3):
        assert simulation.explorer_action(drawing, 1, explorer, 64) == (answer(drawing[0], 1, 0), 0)


def test_flat_monte_carlo_discards_the_card_of_highest_mean():
    """Every unmelded card is tried on the same redeals; the first of equals wins; all actions count."""
    states = at_discard(SHORT)
    start = states[0].copy()
    action, simulated = simulation.flat_monte_carlo_action(states, 0, 3)
    assert states[0] == start
    key = np.uint64(stream(start["hidden"]["decision_keys"][0], start["hidden"]["decisions"], OPPONENT))
    hand = int(start["private"]["hand"][0])
    tried = cards.cards_of(int(simulation.unmelded_cards(hand)))
    assert len(tried) > 4
    totals, steps = dict.fromkeys(tried, 0), 0
    for number in range(3):
        for card in tried:
            game = start.copy()
            simulation.redeal_unseen(game, 0, np.uint64(mix(key, number)))
            simulation.set_decision_keys(game, np.uint64(mix(key, number)))
            play(game, simulation.discard_or_knock(hand, card, 10))
            steps += 1
            while game["public"]["phase"] != OVER:
                mover = int(game["public"]["to_move"])
                play(game, answer(game, mover, simulation.SIMPLE))
                steps += 1
            totals[card] += int(points_for(game["public"], 0))
    assert len(set(totals.values())) > 1
    best = max(tried, key=totals.__getitem__)
    assert (action % 52, simulated) == (best, steps)


def test_fully_melded_hand_discards_like_simple():
    hand = "AC 2C 3C 4H 5H 6H 7S 8S 9S TS"
    table = Table(hand, "5C 6C 2H 3S 5D 7D 9D JD QH KS", "KC", "4C", dealer=1).play("pass", "pass", "draw")
    states = np.zeros(4, STATE)
    states[0] = table.games.state[0]
    assert simulation.flat_monte_carlo_action(states, 0, 2) == (answer(states[0], 0, 0), 0)


def space(rows: int = 140) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(rows, VIEW), np.zeros(rows, np.uint64)


def hand_by_hand(states: np.ndarray, explorer: int) -> tuple[list[tuple[int, int]], int, int]:
    """Return what player 0 holds and keeps at each discard, their points, and the number of actions."""
    game, kept, steps = states[0], [], 0
    while game["public"]["phase"] != OVER:
        mover = int(game["public"]["to_move"])
        discards = game["public"]["phase"] == DISCARD and mover == 0
        action = int(answer(game, mover, explorer if mover == 0 else simulation.SIMPLE))
        if discards:
            hand = int(game["private"]["hand"][0])
            kept.append((hand, hand & ~(1 << action % 52)))
        play(game, action)
        steps += 1
    return kept, int(points_for(game["public"], 0)), steps


@pytest.mark.parametrize("explorer", [simulation.SIMPLE, simulation.RANDOM])
@pytest.mark.parametrize("record", [True, False])
def test_hand_records_player_0s_view_and_hand_at_each_discard(explorer, record):
    states = dealt()
    views, hands = space()
    row, simulated = simulation.play_hand(states, explorer, 16, record, views, hands, 3)
    kept, _, steps = hand_by_hand(dealt(), explorer)
    assert simulated == steps
    assert row == 3 + (len(kept) if record else 0)
    assert list(zip(views["private"]["hand"][3:row].tolist(), hands[3:row].tolist(), strict=True)) == (
        kept if record else []
    )
    assert not hands[:3].any()
    assert not hands[row:].any()


def test_best_sample_of_a_deal_is_recorded():
    states, found = dealt(), []
    for sample in range(4):
        tried = dealt()
        simulation.start_sample(tried[0], 3, 7, sample)
        found.append(hand_by_hand(tried, simulation.RANDOM))
    scores = [points for _, points, _ in found]
    assert len(set(scores)) == 4
    views, hands = space()
    row, score, simulated = simulation.explore_deal(states, 3, 7, simulation.RANDOM, 4, views, hands, 2)
    best = max(found, key=lambda each: each[1])
    assert score == max(scores) > scores[0]
    assert hands[2:row].tolist() == [left for _, left in best[0]]
    assert simulated == sum(steps for _, _, steps in found)
    row, score, simulated = simulation.explore_deal(states, 3, 7, simulation.RANDOM, 1, views, hands, 2)
    kept, points, steps = hand_by_hand(dealt(), simulation.RANDOM)
    assert (score, simulated, hands[2:row].tolist()) == (points, steps, [left for _, left in kept])


def test_void_hand_is_not_recorded():
    states, (views, hands) = dealt(Rules(max_turns=2)), space()
    row, score, simulated = simulation.explore_deal(states, 3, 7, simulation.RANDOM, 3, views, hands, 5)
    assert (row, score) == (5, 0)
    assert simulated > 0


@pytest.mark.parametrize("all_stages", [True, False])
def test_deals_are_explored_in_sequence(all_stages):
    expected = []
    for deal in (7, 8, 9):  # the last is void
        states = np.zeros(4, STATE)
        states["public"]["rules"] = Rules().record()
        start_episode(states[0], 3, deal, False)
        kept, points, _ = hand_by_hand(states, simulation.SIMPLE)
        rows = [(left, points, len(kept) - 1 - place) for place, (_, left) in enumerate(kept)]
        if states[0]["public"]["winner"] < 0:
            continue
        expected += rows if all_stages else rows[-1:]
    states = dealt()
    views, hands = space(400)
    scores, stages, deadwood = np.zeros((3, 400), np.int64)
    arguments = (states, 3, 7, 3, simulation.SIMPLE, 1, all_stages)
    deals, rows, _ = simulation.explore_deals(
        *arguments, Observations(views, hands, scores, stages, deadwood)
    )
    assert (deals, rows) == (3, len(expected))
    assert list(zip(hands[:rows], scores[:rows], stages[:rows], strict=True)) == expected
    full = simulation.explore_deals(
        *arguments, Observations(views[:128], hands[:128], scores, stages, deadwood)
    )
    assert full[0] == 1, "after the first the arrays might overflow"
    none = simulation.explore_deals(
        *arguments, Observations(views[:127], hands[:127], scores, stages, deadwood)
    )
    assert none == (0, 0, 0)


def test_fitted_explorer_moves_first_and_limits_samples():
    deals = range(400)
    assert [simulation.samples_of(simulation.RANDOM, 256, 3, deal) for deal in deals] == [256] * 400
    assert [simulation.samples_of(simulation.SIMPLE, 256, 3, deal) for deal in deals] == [1] * 400
    fitted = np.array([simulation.samples_of(simulation.FITTED, 256, 3, deal) for deal in deals])
    short = fitted != 200
    assert 2 <= short.sum() <= 30  # 3 % are expected
    assert fitted[short].min() >= 1
    assert fitted[short].max() <= 8
    states = dealt()
    views, hands = space(400)
    scores, stages, deadwood = np.zeros((3, 400), np.int64)
    arguments = (states, 3, 7, 20, simulation.FITTED, 16, False)
    _, rows, _ = simulation.explore_deals(*arguments, Observations(views, hands, scores, stages, deadwood))
    assert rows > 10
    assert set(views["public"]["dealer"][:rows].tolist()) == {1}


def test_recorded_deadwood_is_as_scored():
    states = dealt()
    views, hands = space(4000)
    scores, stages, deadwood = np.zeros((3, 4000), np.int64)
    arguments = (states, 3, 0, 100, simulation.SIMPLE, 1, True)
    _, rows, _ = simulation.explore_deals(*arguments, Observations(views, hands, scores, stages, deadwood))
    own = np.array([melds.deadwood(int(hand)) for hand in hands[:rows]])
    last = stages[:rows] == 0
    assert (deadwood[:rows][~last] == own[~last]).all()
    laid_off = deadwood[:rows][last] < own[last]
    assert (deadwood[:rows] <= own).all()
    assert 0 < laid_off.sum() < last.sum() / 2  # on the opponent's knock some cards are laid off
