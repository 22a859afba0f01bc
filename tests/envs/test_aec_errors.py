"""Invalid input to the PettingZoo environment raises a clear error and changes nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hands_in_words import action, deck_of

from gin_env import Rules, gin_rummy_v0, gin_rummy_v4
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.actions import DRAW_STOCK, IllegalActionError
from gin_env.observations.views import PlayerView

PLAYERS = ["player_0", "player_1"]
DECK = list(range(52))
HAND_0, HAND_1 = "AC AH 3C 3H 5C 5H 7C 7H 9C 9H", "2C 2H 4C 4H 6C 6H 8C 8H TC TH"


@pytest.fixture
def env():
    """Player 0 is to move in the opening offer; the upcard is KD, and the stock starts with KS and QS."""
    env = gin_rummy_v0.raw_env()
    env.reset(seed=1, options={"deck": deck_of(HAND_0, HAND_1, "KD", "KS QS"), "dealer": 1})
    return env


def snapshot(env) -> tuple:
    """Return everything that an error must leave unchanged."""
    masks = {agent: info["action_mask"].tobytes() for agent, info in env.infos.items()}
    return env.games.state.tobytes(), env.agent_selection, list(env.agents), dict(env.rewards), masks


def expect_unchanged(env, error: type[Exception], message: str, call, *arguments, **keywords) -> None:
    """Check that `call` raises `error` with `message` and leaves the environment unchanged."""
    before = snapshot(env)
    with pytest.raises(error, match=re.escape(message)):
        call(*arguments, **keywords)
    assert snapshot(env) == before


# --- Construction -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"render_mode": "ascii"}, ValueError, "unknown render_mode 'ascii'; choose from None, "),
        ({"episode": "match"}, ValueError, "unknown episode 'match'; choose from hand, game"),
        ({"reward": "money"}, ValueError, "unknown reward 'money'; choose from points, win"),
        ({"rules": 5}, TypeError, "rules must be a gin_env.Rules or a text such as 'oklahoma', not 5"),
        ({"flat": "yes"}, TypeError, "flat"),
        ({"candidates": "rows"}, TypeError, "candidates must be True or False, not 'rows'"),
        ({"estimator": "bayse"}, ValueError, "unknown estimator 'bayse'"),
        ({"estimator": 3}, TypeError, "an estimator must be a name or an object"),
        ({"flat": True, "candidates": True}, ValueError, "flat=True cannot be combined with candidates=True"),
        ({"opponent": "simpel"}, ValueError, "unknown bot 'simpel'; the nearest are simple"),
        ({"opponent": []}, ValueError, "pool of opponents is empty"),
        ({"opponent": 42}, TypeError, "a bot must be"),
        ({"illegal_action": "ignore"}, ValueError, "unknown illegal_action 'ignore'"),
    ],
)
def test_bad_parameters_are_refused_with_the_choices(keywords, error, message):
    of_learners = keywords.keys() & {"opponent", "illegal_action"}
    for make in (GinRummyEnv, GinRummyVectorEnv, *([] if of_learners else [gin_rummy_v0.raw_env])):
        with pytest.raises(error, match=re.escape(message)):
            make(**keywords)


# --- Actions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "attempt", "reason"),
    [
        ("", "AC", "discard AC: in the phase 'opening offer' a player may draw the upcard or pass"),
        ("pass", "draw", "draw from the stock: in the phase 'opening offer' a player may draw the upcard"),
        ("pass pass", "take", "draw the upcard: in the phase 'draw from the stock' a player may draw"),
        ("take", "pass", "pass: the player has drawn already and must discard or knock"),
        ("take", "KD", "discard KD: KD was just taken from the discard pile"),
        ("take", "2C", "discard 2C: 2C is not in the hand (AC 3C 5C 7C 9C AH 3H 5H 7H 9H KD)"),
        ("take", "knock 9C", "knock with 9C: deadwood would be 51, the limit is 10"),
        ("take AC", "pass", "pass: in the phase 'draw' a player may draw from the stock or draw the upcard"),
    ],
)
def test_illegal_actions_are_explained(env, moves, attempt, reason):
    for move in moves.split():
        env.step(action(move))
    expect_unchanged(env, IllegalActionError, f"illegal action: {reason}", env.step, action(attempt))


@pytest.mark.parametrize("number", [-1, 107, 10**30, np.int64(-3), np.uint64(2**63)])
def test_actions_out_of_range_are_refused(env, number):
    expect_unchanged(
        env, IllegalActionError, f"{number} is not an action: actions run from 0", env.step, number
    )


@pytest.mark.parametrize(
    "value", [106.0, float("nan"), np.float32(106), True, np.bool_(1), "pass", None, [106]]
)
def test_actions_that_are_not_integers_are_refused(env, value):
    expect_unchanged(
        env, TypeError, f"an action must be an integer from 0 to 106, not {value!r}", env.step, value
    )


def test_illegal_action_error_is_a_value_error():
    assert issubclass(IllegalActionError, ValueError)


@pytest.mark.parametrize(
    ("module", "draw"), [(gin_rummy_v0, DRAW_STOCK), (gin_rummy_v4, 2)], ids=["v0", "v4"]
)
def test_env_ends_the_episode_after_an_illegal_action(module, draw):
    env = module.env()
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(draw)  # the upcard is still offered, or the player has eleven cards
    assert env.terminations == dict.fromkeys(PLAYERS, True)
    assert env.rewards == {agent: -1 if agent == offender else 0 for agent in PLAYERS}
    for agent in PLAYERS:
        assert not env.observe(agent)["action_mask"].any()
        assert not any(mask.any() for mask in env.infos[agent].values())
    for _ in range(2):
        env.step(None)
    env.reset(seed=1)
    assert env.observe(env.agent_selection)["action_mask"].any()


# --- Calls before reset and at the end-------------------------------------------------------------------


def test_every_call_before_reset_raises():
    env = gin_rummy_v0.raw_env(render_mode="ansi")
    for call in (
        lambda: env.step(106),
        lambda: env.observe("player_0"),
        lambda: PlayerView.from_env(env, "player_0"),
        env.render,
        env.state,
        env.get_state,
    ):
        with pytest.raises(ResetNeeded, match=re.escape("call reset() first")):
            call()


def test_actions_after_the_end_are_refused(env):
    while not any(env.terminations.values()):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    expect_unchanged(env, ValueError, "when an agent is dead, the only valid action is None", env.step, 106)
    env.step(None)
    expect_unchanged(env, ValueError, "when an agent is dead, the only valid action is None", env.step, 106)
    env.step(None)
    expect_unchanged(env, ValueError, "the episode is over; call reset()", env.step, 106)
    expect_unchanged(env, ValueError, "the episode is over; call reset()", env.step, None)


@pytest.mark.parametrize("method", ["observe", "player_view"])
def test_unknown_agents_are_refused_with_the_choices(env, method):
    message = "unknown agent 'player_2'; the agents are player_0, player_1"
    expect_unchanged(env, ValueError, message, getattr(env, method), "player_2")
    expect_unchanged(env, ValueError, message, PlayerView.from_env, env, "player_2")


# --- Seeds and options --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), (1.0, TypeError), ("1", TypeError), (True, TypeError)]
)
def test_invalid_seeds_are_refused(env, seed, error):
    expect_unchanged(env, error, "seed must be a non-negative integer, not", env.reset, seed=seed)


def test_seeds_beyond_64_bits_are_refused(env):
    expect_unchanged(env, ValueError, "seed must have at most 64 bits, not 65", env.reset, seed=1 << 64)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"deck": DECK[:51]}, ValueError, "a deck must have 52 cards, not shape (51,)"),
        ({"deck": [*DECK[:51], 0]}, ValueError, "a deck must contain each card once; duplicates: [0]"),
        ({"deck": [*DECK[:51], 52]}, ValueError, "not in this deck: [52]"),
        ({"deck": [-1, *DECK[1:]]}, ValueError, "not in this deck: [-1]"),
        ({"deck": [float(card) for card in DECK]}, TypeError, "a deck must be a sequence of card ids"),
        ({"deck": "AS TD"}, TypeError, "options['deck'] must be a sequence of card ids"),
        ({"deck": ["AS", "TD"]}, TypeError, "a deck must be a sequence of card ids (integers), not of <U2"),
        ({"deck": 7}, TypeError, "options['deck'] must be a sequence of card ids"),
        ({"deck": []}, ValueError, "options['deck'] is empty"),
        ({"deck": [DECK, DECK]}, ValueError, "make the environment with episode='game'"),
        ({"deck": DECK, "dealer": 2}, ValueError, "the dealer must be 0 or 1, not 2"),
        ({"dealer": "player_0"}, ValueError, "the dealer must be 0 or 1, not 'player_0'"),
        ({"dealer": True}, ValueError, "the dealer must be 0 or 1, not True"),
        ([DECK], TypeError, "options must be a dict such as {'dealer': 0}"),
    ],
)
def test_bad_options_are_refused(env, options, error, message):
    expect_unchanged(env, error, message, env.reset, seed=2, options=options)


def test_invalid_deck_in_a_list_raises_before_the_deal():
    env = gin_rummy_v0.raw_env(episode="game")
    env.reset(seed=1)
    expect_unchanged(env, ValueError, "shape (51,)", env.reset, options={"deck": [DECK, DECK[:51]]})


def test_failed_reset_keeps_the_next_episode(env):
    twin = gin_rummy_v0.raw_env()
    twin.reset(seed=1)
    expect_unchanged(env, ValueError, "shape (51,)", env.reset, seed=7, options={"deck": DECK[:51]})
    env.reset()
    twin.reset()
    np.testing.assert_array_equal(env.games.state["hidden"]["deck"], twin.games.state["hidden"]["deck"])


def test_full_deck_is_refused_under_small_deck_rules():
    env = gin_rummy_v0.raw_env(rules=Rules(ranks=5, hand_size=3))
    env.reset(seed=1)
    expect_unchanged(
        env, ValueError, "a deck must have 20 cards, not shape (52,)", env.reset, options={"deck": DECK}
    )


@pytest.mark.parametrize("make", [gin_rummy_v0.raw_env, gin_rummy_v0.env])
@pytest.mark.parametrize("value", [0, 1])
def test_returned_masks_are_copies(make, value):
    """Writing into a returned mask once changed the legal actions of PettingZoo's wrapper."""
    env = make()
    env.reset(seed=1)
    for _ in range(30):
        agent = env.agent_selection
        legal = env.unwrapped.games.masks(np.array([0]))[0]
        observation, _, over, _, info = env.last()
        if over:
            break
        for mask in (observation["action_mask"], info["action_mask"], env.observe(agent)["action_mask"]):
            assert np.array_equal(mask, legal)
            mask[:] = value
        assert np.array_equal(env.observe(agent)["action_mask"], legal)
        env.observe(agent)["action_mask"][:] = value
        env.step(int(legal.argmax()))
        assert not any(env.terminations.values()) or env.rewards["player_0"] == -env.rewards["player_1"]
    if make is gin_rummy_v0.env:
        env.reset(seed=1)
        env.observe("player_0")["action_mask"][:] = 1
        env.observe("player_1")["action_mask"][:] = 1
        env.step(0)
        assert set(env.rewards.values()) == {0, -1}, "illegal all the same"
