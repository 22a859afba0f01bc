"""The OpenSpiel game, if OpenSpiel is installed."""

from __future__ import annotations

import random

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install open_spiel")

import pyspiel

from gin_env.batch import Games
from gin_env.game.actions import NUM_ACTIONS
from gin_env.wrappers.openspiel import DEALS, SEED

pytestmark = pytest.mark.compiled


def play_both(deal: int):
    """Yield OpenSpiel's state and our games after each action of a random hand."""
    state = pyspiel.load_game("python_gin_env").new_initial_state()
    assert state.is_chance_node()
    games = Games(1)
    games.start(games.everyone, np.array([SEED], np.uint64), np.array([deal], np.uint64))
    state.apply_action(deal)
    choices = random.Random(deal)
    while True:
        yield state, games
        if games.done[0]:
            return
        action = choices.choice(state.legal_actions())
        state.apply_action(action)
        games.play(games.everyone, np.array([action]))


def test_openspiel_state_matches_our_game():
    for deal in (0, 7, DEALS - 1):
        for state, games in play_both(deal):
            over = bool(games.done[0])
            assert state.is_terminal() == over
            if not over:
                player = int(games.to_move()[0])
                assert state.current_player() == player
                assert state.legal_actions() == games.masks(games.everyone)[0].nonzero()[0].tolist()
                seen = games.observations(games.everyone, player)[0]
                assert np.array_equal(state.observation_tensor(player), seen)
        assert state.returns() == pytest.approx([float(games.rewards[0]), -float(games.rewards[0])])


def test_clone_is_independent():
    positions = play_both(3)
    for _ in range(4):
        state, _ = next(positions)
    before, copied = state.observation_tensor(0), state.clone()
    copied.apply_action(copied.legal_actions()[0])
    assert state.observation_tensor(0) == before
    assert copied.history()[:-1] == state.history()


def test_state_is_reproduced_by_its_history():
    game = pyspiel.load_game("python_gin_env")
    *_, (state, _) = play_both(11)
    again = game.new_initial_state()
    for action in state.history():
        again.apply_action(action)
    assert again.returns() == state.returns()
    assert game.num_distinct_actions() == NUM_ACTIONS
    assert game.min_utility() <= state.returns()[0] <= game.max_utility()


def test_small_deck_is_dealt_in_every_order():
    """OpenSpiel's exploitability is exact: all deals are chance outcomes, and the payoffs are zero-sum."""
    rules = "ranks=3,suits=2,hand_size=2,knock_limit=3,stock_floor=0,max_turns=1,opening_offer=false"
    game = pyspiel.load_game("python_gin_env", {"rules": rules})
    root = game.new_initial_state()
    deals = [root.child(deal) for deal, _ in root.chance_outcomes()]
    assert sum(chance for _, chance in root.chance_outcomes()) == pytest.approx(1)
    assert len(deals) == game.max_chance_outcomes() == 15 * 6 * 2
    seen = [deal.observation_tensor(0) + deal.observation_tensor(1) for deal in deals]
    assert len({tuple(both) for both in seen}) == len(deals)
    assert {deal.current_player() for deal in deals} == {0}
    state = deals[7]
    while not state.is_terminal():
        state = state.child(state.legal_actions()[-1])
    assert sum(state.returns()) == 0
    with pytest.raises(ValueError, match="unknown rule"):
        pyspiel.load_game("python_gin_env", {"rules": "jokers=2"})
