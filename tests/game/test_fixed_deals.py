"""Fixed decks and dealers: which hands they apply to, and that a reset clears them."""

from __future__ import annotations

import numpy as np
import pytest
from hand_endings import SITUATIONS, Plain, plain_action
from hands_in_words import started

from gin_env import Rules, gin_rummy_v0
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.state import OVER

KNOCK, GIN = SITUATIONS["knock by 0"], SITUATIONS["gin by 0"]


def test_vector_env_reset_discards_fixed_decks():
    fresh, used = (GinRummyVectorEnv(2, Plain(), episode="game") for _ in range(2))
    used.reset(seed=1, options={"deck": [KNOCK.deck, GIN.deck, KNOCK.deck]})
    fresh.reset(seed=8)
    used.reset(seed=8)
    for _ in range(40):
        observations, rewards = [], []
        for env in (fresh, used):
            result = env.step(np.array([plain_action(mask) for mask in env.action_masks()]))
            observations.append(result[0]["observation"])
            rewards.append(result[1])
        assert np.array_equal(*observations)
        assert np.array_equal(*rewards)
    assert fresh.seat.games.state["public"]["hand_number"].max() > 0


@pytest.mark.parametrize("dealer", [0, 1])
def test_learner_acts_first_when_the_opponent_deals(dealer):
    env = GinRummyEnv(Plain(), episode="game")
    for seed in range(4):
        for options in ({"dealer": dealer}, {"dealer": dealer, "deck": [KNOCK.deck, GIN.deck]}):
            env.reset(seed=seed, options=options)
            public = env.seat.games.state["public"][0]
            assert public["dealer"] == dealer
            assert public["history_length"] == (1 if dealer == 0 else 0)  # the opponent has passed, or nobody
        env.reset(seed=seed, options={"deck": KNOCK.deck})
        assert env.seat.games.deck(0).tolist() == KNOCK.deck


def test_unused_fixed_decks_leave_a_finished_game_unchanged():
    rules = Rules(target_score=1)  # the first hand that anybody wins ends the game
    env = gin_rummy_v0.raw_env(rules=rules, episode="game")
    env.reset(seed=1, options={"deck": [KNOCK.deck, GIN.deck, GIN.deck], "dealer": KNOCK.dealer})
    while not any(env.terminations.values()):
        env.step(plain_action(env.observe(env.agent_selection)["action_mask"]))
    public = env.games.state["public"][0]
    assert public["phase"] == OVER
    assert env.games.deck(0).tolist() == KNOCK.deck
    assert public["scores"].tolist() == [KNOCK.points, 0]
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()
    env.reset(seed=2)
    assert env.games.deck(0).tolist() == started(1, seed=2).deck(0).tolist()


def test_fixed_decks_are_copied():
    decks = [np.array(KNOCK.deck, np.int8), np.array(GIN.deck, np.int8)]
    games = started(1, episode="game")
    games.fix_deals(0, decks)
    expected = decks[1].tolist()
    decks[1][:] = 0
    assert games.fixed_decks[0][0].tolist() == expected
