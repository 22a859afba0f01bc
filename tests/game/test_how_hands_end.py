"""Every environment reports the end of a hand to both players as the engine does."""

from __future__ import annotations

import numpy as np
import pytest
from hand_endings import RULES, SITUATIONS, Plain, plain_action
from hands_in_words import ONE_GAME, started

from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.state import OUTCOME_NAMES
from gin_env.wrappers.sb3 import GinRummyVecEnv

every_situation = pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
ILLEGAL = 0  # AC: never legal before a draw


def play_on(env: GinRummyEnv, mask: np.ndarray) -> tuple[float, dict]:
    """Play the learner's hand to the end; return the sum of its rewards and the last info."""
    total, over, info = 0.0, False, {"action_mask": mask}
    while not over:
        _, reward, over, _, info = env.step(plain_action(info["action_mask"]))
        total += reward
    return total, info


@every_situation
def test_engine_reports_the_result_of_the_hand(situation):
    games = started(1, RULES)
    games.set_deck(0, situation.deck, situation.dealer)
    while not games.done[0]:
        games.play(ONE_GAME, Plain().act(games.views(ONE_GAME)))
    assert games.results[0].item() == (
        True,
        OUTCOME_NAMES.index(situation.outcome),
        situation.winner,
        situation.knocker,
        situation.points,
        situation.turns,
        situation.dealer,
    )
    assert games.rewards[0] == pytest.approx(situation.reward(0))
    scores = [situation.points if player == situation.winner else 0 for player in (0, 1)]
    assert games.state["public"]["scores"][0].tolist() == scores


def test_illegal_first_action_does_not_reveal_the_previous_hand():
    situation = SITUATIONS["gin by 0"]  # the learner begins: no action precedes its first
    options = {"deck": situation.deck, "dealer": situation.dealer}
    single = GinRummyEnv(Plain(), RULES, illegal_action="lose")
    _, info = single.reset(options=options)
    assert play_on(single, info["action_mask"])[1]["won"]
    single.reset(options=options)
    _, reward, over, _, info = single.step(ILLEGAL)
    assert (reward, over) == (-1, True)
    assert (info["outcome"], info["won"], info["points"], info["turns"]) == ("illegal", False, 0, 0)

    batch = GinRummyVectorEnv(3, Plain(), RULES, illegal_action="lose")
    _, infos = batch.reset(options=options)
    over = np.zeros(3, bool)
    while not over.all():
        _, _, over, _, infos = batch.step(np.array([plain_action(mask) for mask in infos["action_mask"]]))
    assert infos["final_info"]["won"].all()
    batch.reset(options=options)
    _, _, _, _, infos = batch.step(np.full(3, ILLEGAL))
    assert infos["final_info"]["outcome"].tolist() == ["illegal"] * 3
    for name in ("won", "points", "turns"):
        assert not infos["final_info"][name].any()


def test_sb3_environment_matches_the_vector_environment():
    """Compare both environments over many episodes, including some that end illegally."""
    count, rng = 8, np.random.default_rng(2)
    ours = GinRummyVectorEnv(count, "simple", illegal_action="lose")
    sb3 = GinRummyVecEnv(count, "simple", illegal_action="lose", seed=4)
    _, infos = ours.reset(seed=4)
    sb3.reset()
    returns, lengths, outcomes = np.zeros(count), np.zeros(count, int), set()
    for _ in range(40):
        actions = np.array([plain_action(mask) for mask in infos["action_mask"]])
        actions[rng.random(count) < 0.03] = 106  # a pass, usually illegal
        _, rewards, over, _, infos = ours.step(actions)
        _, sb3_rewards, sb3_over, sb3_infos = sb3.step(actions)
        assert np.array_equal(rewards, sb3_rewards)
        assert np.array_equal(over, sb3_over)
        returns += rewards
        lengths += 1
        for game in np.flatnonzero(over):
            told = sb3_infos[game]
            for name in ("outcome", "won", "points", "turns"):
                assert told[name] == infos["final_info"][name][game]
            assert told["episode"]["r"] == pytest.approx(returns[game])
            assert told["episode"]["l"] == lengths[game]
            final = infos["final_obs"][game]["observation"]
            assert np.array_equal(told["terminal_observation"], final)
            outcomes.add(told["outcome"])
        returns[over], lengths[over] = 0, 0
    assert {"knock", "illegal"} <= outcomes
