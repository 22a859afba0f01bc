"""The PettingZoo environment: `gin_rummy_v0.env` and `raw_env`."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pettingzoo
import pytest
from hands_in_words import action

from gin_env import agents, gin_rummy_v0, gin_rummy_v4
from gin_env.estimators.ensemble import EnsembleEstimator
from gin_env.game.actions import DRAW_UPCARD, NUM_ACTIONS
from gin_env.observations.observation import OBSERVATION_SIZE, part
from gin_env.observations.views import PlayerView

with warnings.catch_warnings():  # PettingZoo 1.27's own tests still use its deprecated imports
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, seed_test
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel

PLAYERS = ["player_0", "player_1"]
both_environments = pytest.mark.parametrize("make", [gin_rummy_v0.raw_env, gin_rummy_v0.env])


def simple_move(env) -> int:
    return int(agents.make("simple").act(PlayerView.from_env(env, env.agent_selection))[0])


def play_out(env, choose=simple_move):
    """Play to the end of the episode; return the (rewards, terminated) of every step."""
    paid = []
    while not any(env.terminations.values()):
        env.step(choose(env))
        paid.append((dict(env.rewards), any(env.terminations.values())))
    return paid


def dealt_deck(env) -> list[int]:
    return env.games.deck(0).tolist()


def hand_of(env, agent: str) -> set[int]:
    """Return the hand shown by the agent's own observation."""
    return set(np.flatnonzero(part(env.observe(agent)["observation"], "hand").ravel()).tolist())


def random_deck(number: int) -> list[int]:
    return np.random.default_rng(number).permutation(52).tolist()


# --- PettingZoo's own tests ---------------------------------------------------------------------------


# Two warnings cannot be avoided: PettingZoo has a fixed list of environments whose observation is a dict
# with a mask, and warns about all others.
@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
class TestPettingZoo:
    every_environment = pytest.mark.parametrize(
        ("module", "keywords"),
        [
            (gin_rummy_v0, {"episode": "hand", "reward": "points"}),
            (gin_rummy_v0, {"episode": "game", "reward": "win"}),
            (gin_rummy_v4, {}),
            (gin_rummy_v4, {"opponents_hand_visible": True, "layoffs": True}),
        ],
    )

    @every_environment
    @pytest.mark.parametrize("make", ["raw_env", "env"])
    def test_api(self, module, make, keywords):
        api_test(getattr(module, make)(**keywords), num_cycles=300)

    @every_environment
    @pytest.mark.parametrize("make", ["raw_env", "env"])
    def test_seed(self, module, make, keywords):
        seed_test(lambda: getattr(module, make)(**keywords), num_cycles=200)

    @pytest.mark.skipif(
        not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry (before 1.27)"
    )
    def test_registry(self):
        env = pettingzoo.make("aec", "gin_env/gin_rummy-v0", episode="game")
        assert env.unwrapped.games.whole_game
        api_test(env, num_cycles=50)

    @both_environments
    @pytest.mark.parametrize("face", ["flat", "candidates"])
    def test_api_of_other_observations(self, make, face):
        api_test(make(**{face: True}), num_cycles=300)

    # The test looks for masks in observations only, so it plays illegal actions if flat.
    @pytest.mark.parametrize(
        ("make", "flat"), [(gin_rummy_v0.raw_env, False), (gin_rummy_v0.env, False), (gin_rummy_v0.env, True)]
    )
    def test_converted_to_a_parallel_environment(self, make, flat):
        parallel_api_test(turn_based_aec_to_parallel(make(flat=flat)), num_cycles=100)


@both_environments
def test_spaces_are_documented_and_stable(make):
    env = make()
    assert env.possible_agents == PLAYERS
    assert env.metadata["name"] == "gin_rummy_v0"
    for agent in PLAYERS:
        space = env.observation_space(agent)
        assert space is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert env.action_space(agent).n == NUM_ACTIONS == 107
        assert (space["observation"].shape, space["observation"].dtype) == ((OBSERVATION_SIZE,), np.float32)
        assert (space["action_mask"].shape, space["action_mask"].dtype) == ((107,), np.int8)


@both_environments
def test_flat_observations_are_the_vectors_of_the_dicts(make):
    plain, flat = make(), make(flat=True)
    for env in (plain, flat):
        env.reset(seed=3)
    while not any(plain.terminations.values()):
        for agent in PLAYERS:
            vector = flat.observe(agent)
            assert flat.observation_space(agent).contains(vector)
            assert np.array_equal(vector, plain.observe(agent)["observation"])
            assert np.array_equal(flat.infos[agent]["action_mask"], plain.observe(agent)["action_mask"])
        choice = simple_move(plain)
        plain.step(choice)
        flat.step(choice)
    assert flat.rewards == plain.rewards


def test_changed_mask_makes_no_action_legal_in_a_flat_environment():
    env = gin_rummy_v0.env(flat=True)
    env.reset(seed=1)
    loser = env.agent_selection
    _, _, _, _, info = env.last()
    info["action_mask"][:] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env.step(0)
    assert env.terminations == dict.fromkeys(PLAYERS, True)
    assert env.rewards[loser] == -1


# --- Seeds and deals ----------------------------------------------------------------------------------


def test_seed_determines_the_sequence_of_episodes():
    first, second = gin_rummy_v0.raw_env(), gin_rummy_v0.raw_env()
    decks = []
    for seed in (5, None, None):
        first.reset(seed=seed)
        second.reset(seed=seed)
        assert dealt_deck(first) == dealt_deck(second)
        decks.append(dealt_deck(first))
        first.step(DRAW_UPCARD)  # an interrupted episode changes nothing
    assert len({tuple(deck) for deck in decks}) == 3
    first.reset(seed=5)
    assert dealt_deck(first) == decks[0]
    first.reset(seed=6)
    assert dealt_deck(first) != decks[0]


@pytest.mark.parametrize("module", [gin_rummy_v0, gin_rummy_v4])
def test_unseeded_environments_differ(module):
    first, second = module.raw_env(), module.raw_env()
    first.reset()
    second.reset()
    assert dealt_deck(first) != dealt_deck(second)


@pytest.mark.parametrize("as_type", [list, tuple, np.array, lambda deck: np.array(deck, np.uint8)])
def test_any_sequence_type_is_a_deck(as_type):
    env = gin_rummy_v0.raw_env()
    env.reset(options={"deck": as_type(random_deck(1)), "somebody else's option": 1})
    assert dealt_deck(env) == random_deck(1)


@pytest.mark.parametrize("as_type", [list, np.array])
def test_list_of_decks_is_dealt_before_the_seed(as_type):
    decks = [random_deck(number) for number in range(3)]
    env, unfixed = gin_rummy_v0.raw_env(episode="game"), gin_rummy_v0.raw_env(episode="game")
    env.reset(seed=9, options={"deck": as_type(decks), "dealer": 1})
    unfixed.reset(seed=9)
    dealt: dict[int, list[int]] = {}
    from_seed: dict[int, list[int]] = {}
    for one, seen in ((env, dealt), (unfixed, from_seed)):
        while not any(one.terminations.values()):
            seen.setdefault(int(one.games.state["public"]["hand_number"][0]), dealt_deck(one))
            one.step(simple_move(one))
    assert [dealt[hand] for hand in range(3)] == decks
    assert dealt[3] == from_seed[3]


@pytest.mark.parametrize("dealer", [0, 1, np.int64(1)])
def test_dealer_option_keeps_the_deck_of_the_seed(dealer):
    env, unfixed = gin_rummy_v0.raw_env(), gin_rummy_v0.raw_env()
    unfixed.reset(seed=4)
    env.reset(seed=4, options={"dealer": dealer})
    assert dealt_deck(env) == dealt_deck(unfixed)
    assert env.agent_selection == f"player_{1 - dealer}"
    assert hand_of(env, "player_0") == hand_of(unfixed, "player_0")


# --- Masks and observations ---------------------------------------------------------------------------


def test_final_state_is_observable_after_both_agents_leave():
    env = gin_rummy_v0.raw_env()
    env.reset(seed=1)
    play_out(env)
    assert env.agent_selection == f"player_{1 - env.games.to_move()[0]}"  # the last mover's opponent first
    seen = {agent: env.observe(agent)["observation"].copy() for agent in PLAYERS}
    env.step(None)
    env.step(None)
    assert env.agents == []
    for agent in PLAYERS:
        np.testing.assert_array_equal(env.observe(agent)["observation"], seen[agent])
        assert not env.observe(agent)["action_mask"].any()


def test_returned_arrays_are_never_overwritten():
    env = gin_rummy_v0.raw_env()
    env.reset(seed=1)
    kept = env.observe(env.agent_selection)
    before = copy.deepcopy(kept)
    info = env.infos[env.agent_selection]
    play_out(env)
    np.testing.assert_array_equal(kept["observation"], before["observation"])
    np.testing.assert_array_equal(kept["action_mask"], before["action_mask"])
    np.testing.assert_array_equal(info["action_mask"], before["action_mask"])


# --- Rewards ------------------------------------------------------------------------------------------


@both_environments
def test_last_returns_every_reward_of_each_agent(make):
    env = make(episode="game")
    env.reset(seed=8)
    earned = dict.fromkeys(PLAYERS, 0.0)
    for agent in env.agent_iter():
        _, reward, termination, _, _ = env.last()
        earned[agent] += reward
        env.step(None if termination else simple_move(env))
    scores = env.unwrapped.games.state["public"]["scores"][0].astype(int)
    assert earned["player_0"] == pytest.approx((scores[0] - scores[1]) / 100)
    assert earned["player_1"] == pytest.approx((scores[1] - scores[0]) / 100)


# --- Actions, bots, copies ----------------------------------------------------------------------------


def tensor(number: int):
    return pytest.importorskip("torch").tensor(number)


@both_environments
@pytest.mark.parametrize("integer", [int, np.int8, np.int32, np.int64, np.uint64, np.array, tensor])
def test_integers_of_any_type_are_actions(make, integer):
    env = make()
    env.reset(seed=1)
    player = env.agent_selection
    env.step(integer(action("pass")))
    assert env.agent_selection != player


# --- The state, for critics ---------------------------------------------------------------------------


def test_state_holds_both_hands_the_pile_and_the_order_of_the_stock():
    deck = random_deck(4)
    env = gin_rummy_v0.env(episode="game")
    env.reset(seed=1, options={"deck": deck, "dealer": 0})
    state = env.state()
    assert env.unwrapped.state_space.contains(state)
    hand, other, pile, top, stock = state[:260].reshape(5, 52)
    assert [set(np.flatnonzero(plane)) for plane in (hand, other)] == [set(deck[0:20:2]), set(deck[1:20:2])]
    assert np.flatnonzero(pile).tolist() == np.flatnonzero(top).tolist() == [deck[20]]
    assert np.argsort(-stock)[:31].tolist() == deck[21:]
    assert stock[deck[21]] == 1
    assert state[260:].tolist() == [0, 1, 0, 0]
    env.step(DRAW_UPCARD)
    assert not env.state()[156:208].any(), "the taken card is in the hand"
    assert set(np.flatnonzero(env.state()[52:104])) == {*deck[1:20:2], deck[20]}
    small = gin_rummy_v0.raw_env(rules="ranks=8,hand_size=5")
    small.reset(seed=1)
    small.games.state["public"]["scores"] = 25, 130
    assert np.flatnonzero(small.state()[208:260]).tolist() == sorted(small.games.deck(0)[11:])
    assert small.state()[262:].tolist() == [0.25, 1]


@pytest.mark.compiled
def test_estimator_memory_of_both_players_is_cleared_each_episode():
    env = gin_rummy_v0.raw_env(estimator=EnsembleEstimator("adaptive", ("uniform", "bayes")), episode="game")

    def observations() -> list[bytes]:
        env.reset(seed=5)
        seen = []
        for _ in range(60):
            observation = env.last()[0]
            seen.append(observation["observation"].tobytes())
            env.step(int(observation["action_mask"].argmax()))
        return seen

    assert observations() == observations()
