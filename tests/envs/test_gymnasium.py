"""The single-agent environment and the native vector environment."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hands_in_words import deck_of

import gin_env
from gin_env import IllegalActionError, Rules, gin_rummy_v0
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.estimators.ensemble import EnsembleEstimator

ID = "gin_env/GinRummy-v0"


def last_legal(mask: np.ndarray) -> int:
    """Prefer passing, then the upcard, then knocking, which ends hands quickly."""
    return int(np.flatnonzero(mask)[-1])


def play_episode(env: GinRummyEnv, seed: int | None = None, choose=last_legal) -> list[tuple]:
    """Play one episode and return everything it showed."""
    observation, _ = env.reset(seed=seed)
    seen = [observation["observation"].tobytes()]
    over = False
    while not over:
        observation, reward, over, truncated, info = env.step(choose(env.action_masks()))
        assert not truncated
        seen.append((observation["observation"].tobytes(), reward, over, info.get("outcome")))
    return seen


KEYS = {"action_mask", "opponent", "outcome", "won", "points", "turns"}


def test_info_keys_never_change():
    """Replay buffers allocate a column per key, from the first info that they see."""
    env = gymnasium.make(ID, opponent="random")
    _, info = env.reset(seed=1)
    over = False
    while not over:
        assert set(info) == KEYS
        assert (info["opponent"], info["outcome"], info["won"]) == ("random", "undecided", False)
        *_, over, _, info = env.step(last_legal(info["action_mask"]))
    assert set(info) == KEYS
    assert (info["opponent"], info["outcome"] != "undecided") == ("random", True)

    batch = gymnasium.make_vec(ID, 4, opponent=["random", "simple"], autoreset_mode="NextStep")
    _, infos = batch.reset(seed=1)
    kinds = {name: value.dtype.kind for name, value in infos.items()}
    assert set(kinds) == KEYS | {f"_{name}" for name in KEYS}
    ended = 0
    for _ in range(60):
        *_, over, _, infos = batch.step(infos["action_mask"].argmax(axis=1))
        assert {name: value.dtype.kind for name, value in infos.items()} == kinds
        assert ((infos["outcome"] != "undecided") == over).all()
        assert set(infos["opponent"]) <= {"random", "simple"}
        ended += over.sum()
    assert ended


@pytest.mark.parametrize("episode", ["hand", "game"])
@pytest.mark.compiled
def test_gymnasium_checker_passes(episode):
    env = gymnasium.make(ID, opponent="simple", illegal_action="lose", episode=episode)
    check_env(env.unwrapped, skip_render_check=True)


def test_mask_is_the_same_in_observation_and_info():
    env = GinRummyEnv()
    observation, info = env.reset(seed=5)
    assert observation in env.observation_space
    assert (observation["action_mask"] == info["action_mask"]).all()
    assert (observation["action_mask"] == env.action_masks()).all()
    assert observation["action_mask"].any()


def test_seed_repeats_and_unseeded_reset_continues():
    one, two = GinRummyEnv(), GinRummyEnv()
    assert play_episode(one, seed=3) == play_episode(two, seed=3)
    following = play_episode(one)
    assert following == play_episode(two)
    assert following != play_episode(one, seed=3)


def test_illegal_action_names_the_move_and_changes_nothing():
    env = GinRummyEnv()
    env.reset(seed=4)
    before = env.seat.games.state.tobytes()
    with pytest.raises(IllegalActionError, match="discard AC"):
        env.step(0)
    assert env.seat.games.state.tobytes() == before


def test_illegal_action_can_lose_the_episode():
    env = GinRummyEnv(illegal_action="lose")
    env.reset(seed=4)
    observation, reward, over, truncated, info = env.step(0)
    assert (reward, over, truncated, info["outcome"]) == (-1.0, True, False, "illegal")
    assert not observation["action_mask"].any()
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)


@pytest.mark.parametrize("action", [1.0, float("nan"), True, None, "pass", np.array([1, 2])])
def test_actions_that_are_not_integers_are_refused(action):
    env = GinRummyEnv()
    env.reset(seed=1)
    with pytest.raises(TypeError, match="an action must be an integer"):
        env.step(action)


@pytest.mark.parametrize("action", [-1, 107, np.int64(500)])
def test_out_of_range_actions_raise_even_with_lose(action):
    env = GinRummyEnv(illegal_action="lose")
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match="0 to 106"):
        env.step(action)


@pytest.mark.parametrize("rules", ["knock_limit=5", {"knock_limit": 5}])
def test_rules_can_be_text_or_a_mapping(rules):
    assert GinRummyEnv(rules=rules).seat.games.rules == Rules(knock_limit=5)
    assert gin_rummy_v0.raw_env(rules=rules).rules == Rules(knock_limit=5)
    with pytest.raises(ValueError, match="unknown rule 'knock'; the nearest are knock"):
        GinRummyEnv(rules={"knock": 5})


def test_deck_option_fixes_the_deal():
    env = GinRummyEnv()
    env.reset(seed=1)
    before = env.seat.games.state.tobytes()
    with pytest.raises(ValueError, match="52 cards"):
        env.reset(options={"deck": list(range(51))})
    assert env.seat.games.state.tobytes() == before
    rng = np.random.default_rng(0)
    deck = rng.permutation(52).tolist()
    observation, _ = env.reset(options={"deck": deck, "dealer": 1, "whatever": "is tolerated"})
    own = gin_env.observations.observation.part(observation["observation"], "hand").ravel()
    assert set(np.flatnonzero(own)) == set(deck[0:20:2])
    assert gin_env.observations.observation.part(observation["observation"], "upcard").ravel()[deck[20]] == 1


def test_illegal_opponent_is_named():
    class Cheat:
        name = "cheat"

        def act(self, view):
            return np.full(len(view), 51)

    env = GinRummyEnv(Cheat(), episode="game")
    with pytest.raises(IllegalActionError, match="by bot 'cheat'"):
        play_episode(env, seed=0)


# --- The vector environment -----------------------------------------------------------------------------


def test_illegal_action_in_a_batch_names_its_game_and_changes_nothing():
    env = GinRummyVectorEnv(3, "simple")
    _, infos = env.reset(seed=0)
    legal = infos["action_mask"].argmax(axis=1)
    before = env.seat.games.state.tobytes()
    wrong = legal.copy()
    wrong[1] = 0
    with pytest.raises(IllegalActionError, match="in game 1: discard AC"):
        env.step(wrong)
    assert env.seat.games.state.tobytes() == before


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        (np.zeros(3), TypeError),
        (np.full(3, np.nan), TypeError),
        (np.zeros(3, bool), TypeError),
        (np.zeros(4, int), ValueError),
        (np.zeros((3, 1), int), ValueError),
        (104, ValueError),
        (np.array([104, 105, 300]), IllegalActionError),
        (np.array([104, 105, -1]), IllegalActionError),
    ],
)
def test_invalid_action_batches_change_nothing(actions, error):
    env = GinRummyVectorEnv(3)
    env.reset(seed=0)
    before = env.seat.games.state.tobytes()
    with pytest.raises(error):
        env.step(actions)
    assert env.seat.games.state.tobytes() == before


def test_list_of_seeds_must_have_one_for_each_game():
    with pytest.raises(ValueError, match="expected 2 seeds"):
        GinRummyVectorEnv(2).reset(seed=[1, 2, 3])


@pytest.mark.parametrize("make", [GinRummyEnv, lambda: GinRummyVectorEnv(3)])
@pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": 1.5}, {"seed": "1"}])
def test_refused_seed_changes_nothing(make, wrong):
    env, twin = make(), make()
    for one in (env, twin):
        one.reset(seed=5)
    with pytest.raises((TypeError, ValueError)):
        env.reset(**wrong)
    assert env.seat.games.state.tobytes() == twin.seat.games.state.tobytes()
    assert same_after_reset(env, twin)


def same_after_reset(env, twin) -> bool:
    """Return whether both continue with the same episodes and the same `np_random`."""
    env.reset(), twin.reset()
    states = [one.seat.games.state.tobytes() for one in (env, twin)]
    return states[0] == states[1] and env.np_random.random() == twin.np_random.random()


def test_seeds_beyond_64_bits_change_nothing():
    env, twin = GinRummyVectorEnv(3), GinRummyVectorEnv(3)
    env.reset(seed=5), twin.reset(seed=5)
    with pytest.raises(ValueError, match="64 bits"):
        env.reset(seed=2**64 - 2)
    assert same_after_reset(env, twin)
    env.reset(seed=2**64 - 3)


@pytest.mark.parametrize("make", [GinRummyEnv, lambda **more: GinRummyVectorEnv(3, **more)])
def test_deck_won_before_the_first_turn_raises(make):
    deck = deck_of("2C 4H 6S 8D TC QH KS 3D 5C 7H", "AC AH AS 9C 9H 9S JC JH JS KD", "JD")
    env, twin = (make(opponent=["simple", "simple:knock_at=10"]) for _ in range(2))
    for one in (env, twin):
        one.reset(seed=5)
    with pytest.raises(ValueError, match="ends the hand before the learner's first turn"):
        env.reset(seed=6, options={"deck": deck, "dealer": 0})
    for _ in range(60):
        masks = np.atleast_2d(twin.action_masks())
        assert np.array_equal(np.atleast_2d(env.action_masks()), masks)
        actions = masks.argmax(axis=1)
        for one in (env, twin):
            one.step(actions if isinstance(one, GinRummyVectorEnv) else int(actions[0]))
        if isinstance(env, GinRummyEnv) and env.seat.done[0]:
            break
    assert env.seat.games.state.tobytes() == twin.seat.games.state.tobytes()
    assert same_after_reset(env, twin)


@pytest.mark.parametrize("weights", [10**400, [10**400], ["x"], {}, [[1.0]], [np.nan], [-1], [0], [1, 1], 1j])
def test_invalid_weights_leave_the_opponents(weights):
    env = GinRummyVectorEnv(3, ["simple", "random"])
    env.reset(seed=1)
    before = env.seat._bots, env.seat._pool_shares.tolist(), env.seat._bot_of_game.tolist()
    with pytest.raises(ValueError, match="weights"):
        env.set_opponents("simple", weights)
    assert (env.seat._bots, env.seat._pool_shares.tolist(), env.seat._bot_of_game.tolist()) == before


def test_huge_weights_are_normalised():
    env = GinRummyVectorEnv(3)
    env.set_opponents(["simple", "random"], [1e308, 1e308])
    assert env.seat._pool_shares.tolist() == [0.5, 1.0]


@pytest.mark.compiled
@pytest.mark.parametrize("episode", ["hand", "game"])
def test_estimator_memory_is_cleared_each_episode(episode):
    env = GinRummyEnv(estimator=EnsembleEstimator("adaptive", ("uniform", "bayes")), episode=episode)

    def observations() -> list[bytes]:
        seen = [env.reset(seed=5)[0]]
        for _ in range(40):
            observation, _, over, _, _ = env.step(int(env.action_masks().argmax()))
            seen.append(observation)
            if over:
                break
        return [one["observation"].tobytes() for one in seen]

    assert observations() == observations()


@pytest.mark.parametrize("make", [GinRummyEnv, lambda: GinRummyVectorEnv(2)])
def test_numpy_integers_are_seeds(make):
    env = make()
    first, again = (env.reset(seed=seed)[0]["observation"] for seed in (np.int64(3), 3))
    assert np.array_equal(first, again)
