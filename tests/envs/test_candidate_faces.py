"""``candidates=True``: every environment gives the same candidates as games and views."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from played_positions import played, redealt
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3

from gin_env import PlayerView, agents, gin_rummy_v0
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.rules import Rules
from gin_env.observations.candidates import ENTRIES, NO_ACTION
from gin_env.wrappers.sb3 import GinRummyVecEnv

COUNT, SEED = 6, 40
both_episodes = pytest.mark.parametrize("episode", ["hand", "game"])


def same(observation, entries) -> None:
    for name, entry in zip(ENTRIES, entries, strict=True):
        assert observation[name].dtype == entry.dtype
        np.testing.assert_array_equal(observation[name], entry)


def offered(observation) -> list[int]:
    """Return the actions of one player's candidates."""
    actions = observation["candidate_actions"]
    return sorted(actions[actions != NO_ACTION].tolist())


def random_actions(games) -> np.ndarray:
    return agents.make("random").act(games.views(games.everyone))


def begin(env: GinRummyVectorEnv | GinRummyVecEnv) -> dict[str, np.ndarray]:
    """Return the first observations of the same episodes from either environment."""
    if isinstance(env, GinRummyVectorEnv):
        return env.reset(seed=SEED)[0]
    env.seed(SEED)
    return env.reset()


# --- Equal everywhere -------------------------------------------------------------------------------------


@both_episodes
def test_aec_candidates_equal_those_of_games(episode):
    """Random play over hands and episodes; the waiting player has no candidates."""
    env = gin_rummy_v0.raw_env(episode=episode, rules=Rules(max_turns=40, max_hands=2), candidates=True)
    ended = deciding = 0
    for number in range(3):
        env.reset(seed=SEED if number == 0 else None)
        while not ended > number:
            for player, agent in enumerate(env.possible_agents):
                observation = env.observe(agent)
                assert observation in env.observation_space(agent)
                same(observation, (e[0] for e in env.games.candidates(env.games.everyone, player=player)))
                same(observation, (e[0] for e in PlayerView.from_env(env, agent).candidates()))
                assert offered(observation) == np.flatnonzero(observation["action_mask"]).tolist()
                deciding += bool(offered(observation))
            if env.terminations["player_0"]:
                ended += 1
            else:
                env.step(int(random_actions(env.games)[0]))
    assert deciding > 60


@both_episodes
def test_candidates_agree_across_environments(episode):
    options = {"opponent": "simple", "episode": episode, "rules": Rules(max_hands=3)}
    vector = GinRummyVectorEnv(COUNT, **options, candidates=True)
    plain = GinRummyVectorEnv(COUNT, **options)
    sb3 = GinRummyVecEnv(COUNT, **options, seed=SEED, candidates=True)
    singles = [GinRummyEnv(**options, candidates=True) for _ in range(COUNT)]
    observations, flat, ours = vector.reset(seed=SEED)[0], plain.reset(seed=SEED)[0], sb3.reset()
    alone = [env.reset(seed=SEED + number)[0] for number, env in enumerate(singles)]
    ended = 0
    for _ in range(150):
        assert observations in vector.observation_space
        games = vector.seat.games
        same(observations, games.views(games.everyone, 0).candidates())
        same(ours, (observations[name] for name in ENTRIES))
        assert all(np.array_equal(flat[name], observations[name]) for name in flat)
        assert np.array_equal(ours["observation"], flat["observation"])
        for number, observation in enumerate(alone):
            same(observation, (observations[name][number] for name in ENTRIES))
            assert offered(observation) == np.flatnonzero(observation["action_mask"]).tolist()
        actions = random_actions(games)
        observations, _, over, _, infos = vector.step(actions)
        flat = plain.step(actions)[0]
        ours, _, _, infos_of_sb3 = sb3.step(actions)
        alone = [env.step(int(action))[0] for env, action in zip(singles, actions, strict=True)]
        for number in np.flatnonzero(over):
            ended += 1
            last, terminal = infos["final_obs"][number], infos_of_sb3[number]["terminal_observation"]
            assert last in vector.single_observation_space
            assert terminal in sb3.observation_space
            for observation in (last, terminal):
                same(observation, (alone[number][name] for name in ENTRIES))
                assert not offered(observation)
                assert not observation["candidate_rows"].any()
            assert last["candidate_context"].any(), "the table is still to be seen"
            alone[number] = singles[number].reset()[0]
    assert ended > 8


@pytest.mark.parametrize("make", [GinRummyVectorEnv, GinRummyVecEnv])
def test_observations_are_never_shared(make):
    env, twin = make(COUNT, candidates=True), make(COUNT, candidates=True)
    first, _ = begin(env), begin(twin)
    kept = {name: first[name].copy() for name in ENTRIES}
    actions = random_actions(env.seat.games)
    second = env.step(actions)[0]
    twin.step(actions)
    same(first, kept.values())
    for name in ENTRIES:
        first[name][:] = second[name][:] = 1
    actions = random_actions(twin.seat.games)
    third, expected = env.step(actions)[0], twin.step(actions)[0]
    same(third, (expected[name] for name in ENTRIES))


# --- Hidden cards and illegal actions -----------------------------------------------------------------------


@pytest.mark.parametrize("player", [0, 1])
def test_hidden_cards_change_no_observation(player):
    play = played("simple")
    others = redealt(play.states, play.rules, player, seed=player)
    assert (play.states["private"]["hand"][:, 1 - player] != others["private"]["hand"][:, 1 - player]).any()
    env = gin_rummy_v0.raw_env(candidates=True)
    env.reset(seed=1)
    agent = env.possible_agents[player]
    for state, other in zip(play.states, others, strict=True):
        env.games.state[0] = state
        seen = env.observe(agent)
        env.games.state[0] = other
        same(env.observe(agent), (seen[name] for name in ENTRIES))
    if player == 0:
        seats = [GinRummyVectorEnv(len(play.states), candidates=True).seat for _ in range(2)]
        for seat, states in zip(seats, (play.states, others), strict=True):
            seat.games.state[:] = states
        one, other = (seat.observe(seat.masks()) for seat in seats)
        same(one, (other[name] for name in ENTRIES))


def test_no_candidates_after_an_illegal_action():
    vector = GinRummyVectorEnv(2, illegal_action="lose", candidates=True)
    single = GinRummyEnv(illegal_action="lose", candidates=True)
    aec = gin_rummy_v0.env(candidates=True)
    vector.reset(seed=SEED), single.reset(seed=SEED), aec.reset(seed=SEED)
    legal = random_actions(vector.seat.games)
    assert not single.action_masks()[0]
    observations, _, over, _, infos = vector.step(np.array([0, legal[1]]))
    assert over.tolist() == [True, False]
    aec.step(0)
    for observation in (infos["final_obs"][0], single.step(0)[0], aec.observe(aec.agent_selection)):
        assert not offered(observation)
        assert not observation["candidate_rows"].any()
    assert offered({"candidate_actions": observations["candidate_actions"][1]})


# --- The frameworks' own checks -----------------------------------------------------------------------------


def test_gymnasium_checks_pass():
    env = gymnasium.make("gin_env/GinRummy-v0", illegal_action="lose", candidates=True)
    check_env(env.unwrapped, skip_render_check=True)
    vector = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=3, candidates=True)
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(vector)
    observations, _ = wrapped.reset(seed=0)
    assert observations in wrapped.observation_space


# SB3's checker suggests flattening any dict observation; for MaskablePPO there is GinRummyVecEnv.
@pytest.mark.filterwarnings("ignore:.*:UserWarning:stable_baselines3.common.env_checker")
def test_stable_baselines3_checks_pass():
    check_env_of_sb3(GinRummyEnv(illegal_action="lose", candidates=True))
