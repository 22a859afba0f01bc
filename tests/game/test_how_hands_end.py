"""Every environment reports the end of a hand to both players as the engine does."""

from __future__ import annotations

import numpy as np
import pytest
from hand_endings import RULES, SITUATIONS, Plain, plain_action
from hands_in_words import ONE_GAME

from gin_env import agents, gin_rummy_v0
from gin_env.batch import Games
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
    games = Games(1, RULES)
    games.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
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


@every_situation
def test_learner_info_reports_the_result_of_the_hand(situation):
    for reward in ("points", "win"):
        env = GinRummyEnv(Plain(), RULES, reward=reward)
        _, info = env.reset(options={"deck": situation.deck, "dealer": situation.dealer})
        total, info = play_on(env, info["action_mask"])
        assert total == pytest.approx(situation.reward(0) if reward == "points" else situation.win_reward(0))
        told = {name: info[name] for name in ("outcome", "won", "points", "turns")}
        assert told == {
            "outcome": situation.outcome,
            "won": situation.winner == 0,
            "points": situation.points,
            "turns": situation.turns,
        }
        assert not info["action_mask"].any()


@every_situation
def test_aec_environment_rewards_both_agents(situation):
    for reward in ("points", "win"):
        env = gin_rummy_v0.raw_env(rules=RULES, reward=reward)
        env.reset(seed=1, options={"deck": situation.deck, "dealer": situation.dealer})
        while not any(env.terminations.values()):
            assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
            env.step(plain_action(env.observe(env.agent_selection)["action_mask"]))
        for player in (0, 1):
            paid = situation.reward(player) if reward == "points" else situation.win_reward(player)
            assert env.rewards[f"player_{player}"] == pytest.approx(paid)


def test_vector_env_reports_each_ending_separately():
    """One game per situation, plus one that ends with an illegal action."""
    situations = list(SITUATIONS.values())
    count = len(situations) + 1
    env = GinRummyVectorEnv(count, Plain(), RULES, illegal_action="lose")
    env.reset(seed=0)
    for index, situation in enumerate((*situations, situations[0])):
        mask = np.arange(count) == index
        options = {"deck": situation.deck, "dealer": situation.dealer, "reset_mask": mask}
        _, infos = env.reset(options=options)
    returns, seen = np.zeros(count), {}
    while len(seen) < count:
        actions = np.array([plain_action(mask) for mask in infos["action_mask"]])
        if not seen:
            actions[-1] = ILLEGAL
        _, rewards, over, _, infos = env.step(actions)
        for index in np.flatnonzero(over):
            final = {name: values[index].item() for name, values in infos["final_info"].items()}
            seen.setdefault(index, final | {"return": returns[index] + rewards[index]})
        returns += rewards
    for index, situation in enumerate(situations):
        assert seen[index]["outcome"] == situation.outcome
        assert seen[index]["won"] == (situation.winner == 0)
        assert (seen[index]["points"], seen[index]["turns"]) == (situation.points, situation.turns)
        assert seen[index]["return"] == pytest.approx(situation.reward(0))
    last = seen[count - 1]
    assert (last["outcome"], last["won"], last["points"], last["turns"]) == ("illegal", False, 0, 0)
    assert last["return"] == -1


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


def test_game_results_match_those_of_single_hands():
    """A copy of the state plays each action in a single-hand episode, whose final state can be inspected."""
    count = 3
    games, copy = Games(count, episode="game"), Games(count)
    games.start(games.everyone, np.full(count, 3, np.uint64), np.arange(count, dtype=np.uint64))
    simple, ended = agents.make("simple"), 0
    while not games.done.all():
        running = np.flatnonzero(~games.done)
        actions = simple.act(games.views(running))
        copy.state[:] = games.state
        earned = games.rewards.copy()
        games.play(running, actions)
        copy.play(running, actions)
        for game in running[games.results["ended"][running]]:
            public = copy.state["public"][game]
            result = games.results[game]
            for name in ("outcome", "winner", "knocker", "points", "dealer"):
                assert result[name] == public[name], name
            assert result["turns"] == public["turn"]
            sign = {0: 1, 1: -1, -1: 0}[int(public["winner"])]
            assert games.rewards[game] - earned[game] == pytest.approx(
                sign * public["points"] / 100, abs=1e-5
            )
            ended += 1
    assert ended > 20


def test_next_hand_does_not_reveal_the_previous_hand():
    """The next hand's public state is that of a first hand, except for scores, hand number and memory."""
    games = Games(1, episode="game")
    games.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    situation = SITUATIONS["undercut of a knock by 0"]
    games.set_deck(0, situation.deck, situation.dealer)
    while not games.results["ended"][0]:
        games.play(ONE_GAME, Plain().act(games.views(ONE_GAME)))
    fresh = Games(1)
    fresh.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    fresh.set_deck(0, games.deck(0), 1 - situation.dealer)
    second, first = games.state["public"][0], fresh.state["public"][0]
    for name in second.dtype.names:
        if name not in ("rules", "scores", "boxes", "memory", "hand_number", "history", "discard_turn"):
            assert np.array_equal(second[name], first[name]), name
    assert (second["hand_number"], second["scores"].tolist()) == (1, [0, 35])
