"""The batched environments: spaces, infos, rendering, autoreset modes and the SB3 interface."""

from __future__ import annotations

import time

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hand_endings import RULES, SITUATIONS, Plain, plain_action
from hands_in_words import deck_of
from stable_baselines3.common.vec_env import VecMonitor

from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.actions import DRAW_STOCK, KNOCK
from gin_env.game.rules import Rules
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.observations.parts import describe_parts
from gin_env.wrappers.sb3 import GinRummyVecEnv

IMMEDIATE = Rules(hand_size=2, knock_limit=20, opening_offer=False, max_hands=3)
"""The player who starts may knock in the first turn."""


class KnocksImmediately(Plain):
    """A bot that draws from the stock and knocks with its legal card of the highest id."""

    name = "knocks-at-once"

    def act(self, view):
        return np.array([DRAW_STOCK if mask[DRAW_STOCK] else knock(mask) for mask in view.masks()])


def knock(mask: np.ndarray) -> int:
    return KNOCK + int(np.flatnonzero(mask[KNOCK : KNOCK + 52])[-1])


def step(env, masks):
    return env.step(np.array([plain_action(mask) for mask in masks]))


# --- Gymnasium's vector environment ---------------------------------------------------------------------


def test_vector_spaces_batch_the_single_spaces():
    env = GinRummyVectorEnv(3, Plain())
    assert env.num_envs == 3
    assert env.single_action_space.n == 107
    assert env.action_space.shape == (3,)
    assert env.single_observation_space["observation"].shape == (OBSERVATION_SIZE,)
    assert env.observation_space["action_mask"].shape == (3, 107)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observation, _ = env.reset(seed=1)
    assert observation in env.observation_space
    assert env.action_space.sample() in env.action_space


def test_infos_have_masks_of_their_games():
    """Three games, of which the second ends in the first step."""
    env = GinRummyVectorEnv(3, Plain(), RULES, illegal_action="lose")
    _, infos = env.reset(seed=1)
    assert infos["_action_mask"].tolist() == [True] * 3
    actions = np.array([plain_action(mask) for mask in infos["action_mask"]])
    actions[1] = 0
    _, rewards, over, truncated, infos = env.step(actions)
    assert over.tolist() == [False, True, False]
    assert not truncated.any()
    assert truncated.dtype == over.dtype == np.bool_
    assert rewards.dtype == np.float32
    assert infos["_action_mask"].tolist() == [True] * 3
    assert infos["action_mask"].any(axis=1).all()
    for name in ("_final_obs", "_final_info"):
        assert infos[name].tolist() == over.tolist()
    assert [final is None for final in infos["final_obs"]] == [True, False, True]
    assert infos["final_obs"][1]["observation"].shape == (OBSERVATION_SIZE,)
    assert infos["final_obs"][1]["action_mask"].tolist() == [0] * 107
    for name in ("outcome", "won", "points", "turns"):
        assert infos["final_info"][f"_{name}"].tolist() == over.tolist()
        assert not infos["final_info"][name][[0, 2]].any()
    quiet = env.step(np.array([plain_action(mask) for mask in infos["action_mask"]]))
    assert quiet[2].any() or "final_info" not in quiet[4]


def test_first_reset_must_include_all_games():
    env = GinRummyVectorEnv(2, Plain())
    some, everyone = np.array([True, False]), np.ones(2, bool)
    with pytest.raises(RuntimeError, match="the first reset"):
        env.reset(options={"reset_mask": some})
    with pytest.raises(RuntimeError, match="reset"):
        env.step(np.zeros(2, int))
    env.reset(seed=3, options={"reset_mask": everyone})
    env.reset(options={"reset_mask": some})
    for wrong in (np.zeros(2, bool), np.ones(3, bool), np.ones((2, 1), bool), [1, 0]):
        with pytest.raises(ValueError, match=r"reset_mask.*\(2,\)"):
            env.reset(options={"reset_mask": wrong})


def test_render_covers_every_game_or_warns():
    texts = GinRummyVectorEnv(2, Plain(), render_mode="ansi")
    texts.reset(seed=1)
    pages = texts.render()
    assert len(pages) == 2
    assert all("player_0" in page for page in pages)
    assert pages[0] != pages[1]
    for env in (GinRummyVectorEnv(2, Plain()), GinRummyEnv(Plain())):
        env.reset(seed=1)
        with pytest.warns(UserWarning, match="needs a render_mode"):
            assert env.render() is None
    single = GinRummyEnv(Plain(), render_mode="ansi")
    single.reset(seed=1)
    assert single.render() == pages[0]
    assert texts.call("render") == pages
    assert single.render_mode == texts.render_mode == "ansi"


def test_unseeded_games_all_differ():
    decks = set()
    for env in (GinRummyVectorEnv(2, Plain()), GinRummyVectorEnv(2, Plain()), GinRummyEnv(Plain())):
        for _ in range(2):
            env.reset()
            decks |= {deck.tobytes() for deck in env.seat.games.state["hidden"]["deck"]}
    assert len(decks) == 2 * 2 + 2 * 2 + 2


# --- Hands without a learner turn -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [GinRummyVectorEnv, GinRummyVecEnv])
def test_hands_without_a_learner_turn_are_skipped(kind):
    env = kind(12, KnocksImmediately(), IMMEDIATE)
    env.reset(**({"seed": 1} if kind is GinRummyVectorEnv else {}))
    for _ in range(6):
        public = env.seat.games.state["public"]
        fresh = public["turn"] == 0
        assert (public["dealer"][fresh] == 1).all(), "if the opponent begins, the hand ends immediately"
        assert (public["to_move"] == 0).all()
        actions = [DRAW_STOCK if mask[DRAW_STOCK] else knock(mask) for mask in env.action_masks()]
        _, rewards, over, *_ = env.step(np.array(actions))
        assert (rewards[~over] == 0).all(), "nothing is left of hands that were skipped"
        assert ((rewards != 0) == over).all()
        assert over.tolist() == [action != DRAW_STOCK for action in actions]


def test_deck_with_an_immediate_knock_raises():
    deck = deck_of("2C 3H", "AC AH", "5S", rules=IMMEDIATE)
    env = GinRummyVectorEnv(2, KnocksImmediately(), IMMEDIATE)
    env.reset(seed=1)
    before = env.seat.games.state.tobytes()
    with pytest.raises(ValueError, match="before the learner's first turn"):
        env.reset(options={"deck": deck, "dealer": 0})
    assert env.seat.games.state.tobytes() == before
    env.reset(options={"deck": deck, "dealer": 1})
    assert env.seat.games.deck(1).tolist() == deck
    env.reset(seed=2, options={"dealer": 1})  # without a deck, hands that end immediately are skipped
    assert (env.seat.games.state["public"]["dealer"] == 1).all()


def test_unused_opponents_are_released():
    """The pool stays small in long training runs that change opponents repeatedly."""
    env = GinRummyVectorEnv(4, Plain(), RULES)
    env.reset(seed=1)
    for number in range(3):
        env.set_opponents([Plain(), Plain()], [number, 1])
    assert len(env.seat._bots) == 1 + 2
    masks = env.action_masks()
    for _ in range(12):
        *_, infos = step(env, masks)
        masks = infos["action_mask"]
    env.set_opponents(Plain())
    assert len(env.seat._bots) <= 2 + 1
    assert len(env.seat.games) == 4


# --- Stable-Baselines3 ----------------------------------------------------------------------------------


def test_sb3_methods_take_game_indices():
    env = GinRummyVecEnv(4, Plain(), RULES, seed=1)
    assert env.action_masks().tolist() == [[0] * 107] * 4
    assert env.render_mode is None
    env.reset()
    masks = env.action_masks()
    assert masks.tolist() == env.seat.masks().tolist()
    env.action_masks()[:] = 1
    assert masks.tolist() == env.action_masks().tolist()
    for indices, rows in ((None, [0, 1, 2, 3]), (2, [2]), ([3, 0], [3, 0])):
        asked = env.env_method("action_masks", indices=indices)
        assert [row.tolist() for row in asked] == masks[rows].tolist()
        assert env.get_attr("num_envs", indices) == [4] * len(rows)
        assert env.env_is_wrapped(VecMonitor, indices) == [False] * len(rows)
    with pytest.raises(AttributeError, match="'fly', only 'action_masks'"):
        env.env_method("fly")
    assert env.has_attr("num_envs")
    assert not env.has_attr("wings")
    with pytest.raises(AttributeError, match="set_opponents"):
        env.set_attr("opponent", "random")
    env.close()


def test_sb3_step_async_is_completed_by_step_wait():
    env = GinRummyVecEnv(2, Plain(), RULES, seed=1)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step_async(np.zeros(2, int))
    env.reset()
    with pytest.raises(RuntimeError, match="step_async"):
        env.step_wait()
    for _ in range(2):
        env.step_async(np.array([plain_action(mask) for mask in env.action_masks()]))
        env.step_wait()
        with pytest.raises(RuntimeError, match="step_async"):
            env.step_wait()
    with pytest.raises(ValueError, match=r"actions must have shape \(2,\)"):
        env.step_async(np.zeros(3, int))


def test_sb3_infos_include_the_elapsed_time():
    start = time.time()
    situation = SITUATIONS["gin by 0"]
    env = GinRummyVecEnv(1, Plain(), RULES)
    env.seat.reset(np.array([0]), [1], [np.array(situation.deck)], situation.dealer)
    env._begun = True
    over, seconds = [False], -1.0
    while not over[0]:
        _, rewards, over, infos = step(env, env.seat.masks())
    seconds = infos[0]["episode"]["t"]
    assert 0 <= seconds <= time.time() - start + 1e-6
    assert rewards[0] == pytest.approx(infos[0]["points"] / 100)
    assert infos[0]["outcome"] == "gin"


def test_sb3_describes_observation_rules_and_episode():
    rules = Rules(knock_limit=5)
    assert GinRummyVecEnv(1, Plain(), rules, episode="game", estimator="bayes").describe_training() == {
        "reads": describe_parts("observation"),
        "estimator": "bayes",
        "rules": {name: getattr(rules, name) for name in rules.__dataclass_fields__},
        "episode": "game",
    }
    assert GinRummyVecEnv(1, Plain()).describe_training()["episode"] == "hand"


def test_make_vec_takes_the_arguments_of_the_environment():
    env = gymnasium.make_vec(
        "gin_env/GinRummy-v0", 2, opponent=Plain(), rules=RULES, episode="game", reward="win"
    )
    assert isinstance(env.unwrapped, GinRummyVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.reset(seed=0)[0] in env.observation_space
    games = env.unwrapped.seat.games
    assert (games.rules, games.whole_game, games.pays, len(games)) == (RULES, True, 1, 2)


@pytest.mark.parametrize(
    ("seed", "error"), [("three", TypeError), (1.5, TypeError), (-1, ValueError), (2**64 - 2, ValueError)]
)
def test_invalid_sb3_seed_raises_and_the_next_reset_works(seed, error):
    env, other = GinRummyVecEnv(3, seed=5), GinRummyVecEnv(3, seed=5)
    with pytest.raises(error):
        env.seed(seed)
    np.testing.assert_array_equal(env.reset(), other.reset())


# --- Autoreset modes and flat observations --------------------------------------------------------------


def first_legal(masks):
    return np.where(masks.any(axis=1), masks.argmax(axis=1), 0)


@pytest.mark.compiled
@pytest.mark.parametrize("illegal_action", ["raise", "lose"])
def test_next_step_and_same_step_show_the_same_episodes(illegal_action):
    """Compare rewards, observations, results and episode starts of each game."""
    same = GinRummyVectorEnv(5, "simple", illegal_action=illegal_action)
    later = GinRummyVectorEnv(5, "simple", illegal_action=illegal_action, autoreset_mode="NextStep")
    assert later.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert same.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    told, kept = {game: [] for game in range(5)}, []
    observation, infos = same.reset(seed=3)
    for _ in range(60):
        observation, rewards, over, _, infos = same.step(first_legal(infos["action_mask"]))
        kept.append((rewards, rewards.copy()))
        for game in range(5):
            if over[game]:
                last = infos["final_obs"][game]["observation"]
                told[game].append((float(rewards[game]), True, last.tolist()))
                assert infos["final_info"]["_won"][game]
                told[game].append((0.0, False, observation["observation"][game].tolist()))
            else:
                told[game].append((float(rewards[game]), False, observation["observation"][game].tolist()))
    assert all((rewards == before).all() for rewards, before in kept)
    observation, infos = later.reset(seed=3)
    ended = 0
    for step_number in range(60):
        observation, rewards, over, truncated, infos = later.step(first_legal(infos["action_mask"]))
        assert not truncated.any()
        for game in range(5):
            found = (float(rewards[game]), bool(over[game]), observation["observation"][game].tolist())
            assert found == told[game][step_number]
            assert infos["action_mask"][game].any() == (not over[game])
        if over.any():
            ended += int(over.sum())
            assert (infos["outcome"] != "undecided").tolist() == over.tolist()
            assert "final_obs" not in infos
    assert ended > 5


def test_disabled_autoreset_waits_for_reset_of_each_finished_game():
    env = GinRummyVectorEnv(3, KnocksImmediately(), IMMEDIATE, autoreset_mode=AutoresetMode.DISABLED)
    _, infos = env.reset(seed=1)
    over = np.zeros(3, bool)
    while not over.any():
        observation, _, over, _, infos = env.step(first_legal(infos["action_mask"]))
    assert over.all()
    for game in range(3):
        with pytest.raises(RuntimeError, match=f"^{3 - game} games are over; call reset.*'reset_mask'"):
            env.step(np.zeros(3, np.int64))
        before, one = observation["observation"], np.arange(3) == game
        observation, infos = env.reset(options={"reset_mask": one})
        assert np.array_equal(observation["observation"][~one], before[~one])
    assert infos["action_mask"].any(axis=1).all()
    env.step(first_legal(infos["action_mask"]))


def test_flat_observations_equal_those_of_the_dict():
    dicts, flat = GinRummyVectorEnv(4, Plain()), GinRummyVectorEnv(4, Plain(), flat=True)
    assert flat.single_observation_space.shape == (OBSERVATION_SIZE,)
    (both, infos), (alone, _) = dicts.reset(seed=2), flat.reset(seed=2)
    for _ in range(30):
        assert alone in flat.observation_space
        assert np.array_equal(alone, both["observation"])
        assert np.array_equal(flat.action_masks(), infos["action_mask"])
        actions = first_legal(infos["action_mask"])
        (both, _, over, _, infos), (alone, _, _, _, flat_infos) = dicts.step(actions), flat.step(actions)
        for game in np.flatnonzero(over):
            last = infos["final_obs"][game]["observation"]
            assert np.array_equal(flat_infos["final_obs"][game], last)
    single = GinRummyEnv(Plain(), flat=True)
    observation, info = single.reset(seed=2)
    assert observation in single.observation_space
    assert np.array_equal(info["action_mask"], single.action_masks())
    observation, *_ = single.step(int(info["action_mask"].argmax()))
    assert observation.shape == (OBSERVATION_SIZE,)


def test_unknown_autoreset_mode_is_refused():
    with pytest.raises(ValueError, match="unknown autoreset_mode 'later'; choose from NextStep"):
        GinRummyVectorEnv(2, autoreset_mode="later")


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_truncation_matches_time_limit(mode):
    singles = [
        gymnasium.make("gin_env/GinRummy-v0", opponent="simple", max_episode_steps=4) for _ in range(2)
    ]
    firsts = [single.reset(seed=7 + number)[0] for number, single in enumerate(singles)]
    env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=2, max_episode_steps=4, autoreset_mode=mode)
    observation, _ = env.reset(seed=7)
    np.testing.assert_array_equal(observation["observation"], [each["observation"] for each in firsts])
    for number in range(1, 5):
        actions = [plain_action(mask) for mask in observation["action_mask"]]
        expected = [single.step(action) for single, action in zip(singles, actions, strict=True)]
        observation, _, terminated, truncated, infos = env.step(np.array(actions))
        assert not terminated.any()
        assert truncated.tolist() == [each[3] for each in expected] == [number == 4] * 2
    last = list(infos["final_obs"]) if mode == "SameStep" else None
    for game, (theirs, *_) in enumerate(expected):
        mine = last[game] if last else {name: entry[game] for name, entry in observation.items()}
        for name in theirs:
            np.testing.assert_array_equal(mine[name], theirs[name], name)
    last_infos = infos["final_info"] if mode == "SameStep" else infos
    assert last_infos["outcome"].tolist() == ["undecided"] * 2, "the hand has not ended"
    if mode == "Disabled":
        env.reset(options={"reset_mask": np.ones(2, np.bool_)})
    num_steps = 5 if mode == "NextStep" else 4  # the first begins the next hand
    truncated = [step(env, env.call("action_masks"))[3].tolist() for _ in range(num_steps)]
    assert truncated == [[False] * 2] * (num_steps - 1) + [[True] * 2]


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_game_that_ends_at_the_step_limit_is_not_truncated(mode):
    """The other game is, in the same step, and its hand stays undecided."""

    def end(limit: int) -> tuple[int, list[bool], list[bool]]:
        env = GinRummyVectorEnv(2, Plain(), autoreset_mode=mode, max_episode_steps=limit)
        env.reset(seed=1)
        number, terminated, truncated = 0, np.zeros(2, bool), np.zeros(2, bool)
        while not (terminated | truncated).any():
            number += 1
            _, _, terminated, truncated, infos = step(env, env.action_masks())
        outcomes = infos.get("final_info", infos)["outcome"]
        assert [outcome in ("", "undecided") for outcome in outcomes] == (~terminated).tolist()
        return number, terminated.tolist(), truncated.tolist()

    steps, over, _ = end(10_000)
    assert sorted(over) == [False, True]
    assert end(steps) == (steps, over, over[::-1])
    assert end(steps - 1) == (steps - 1, [False] * 2, [True] * 2)


def test_resetting_some_games_restarts_their_step_limit_alone():
    env = GinRummyVectorEnv(2, Plain(), max_episode_steps=3)
    env.reset(seed=1)
    step(env, env.action_masks())
    env.reset(options={"reset_mask": np.array([False, True])})
    assert not step(env, env.action_masks())[3].any()
    assert step(env, env.action_masks())[3].tolist() == [True, False]


def test_step_limit_must_be_positive():
    with pytest.raises(ValueError, match="max_episode_steps"):
        GinRummyVectorEnv(2, max_episode_steps=0)
    with pytest.raises(TypeError, match="max_episode_steps"):
        GinRummyVectorEnv(2, max_episode_steps="4")


def test_call_returns_a_result_for_each_game():
    env = GinRummyVectorEnv(3)
    env.reset(seed=1)
    rows = env.call("action_masks")
    assert len(rows) == 3
    np.testing.assert_array_equal(np.stack(rows), env.action_masks())
    assert env.call("num_envs") == (3, 3, 3)
    with pytest.raises(AttributeError):
        env.call("nothing_of_this_name")
    with pytest.raises(TypeError, match="options must be a dict such as"):
        env.reset(options=5)
