"""`gin_env.envs.gin_rummy_v4`: PettingZoo's removed environment, move by move."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hand_endings import ALSO_LOOSE, LOOSE, NO_DEADWOOD, THREE_RUNS
from hands_in_words import deck_of, ids
from reference_data import DATA
from v4_replay import replays

from gin_env.envs import gin_rummy_v4
from gin_env.envs.gin_rummy_v4 import NUM_ACTIONS, V4_ID, describe
from gin_env.game.actions import IllegalActionError

PLAYERS = ["player_0", "player_1"]
NUMBER = {describe(action): action for action in range(NUM_ACTIONS)}
NO_MELDS = "5C 6C 2H 3S 5S 9C 8H JD QC KS"  # deadwood 68
LAYS_OFF_TWO = "4C 7H 2H 3S 5D 7D 9D JD QH KS"  # deadwood 67, on THREE_RUNS 56


def dealt(hand_0: str, hand_1: str, eleventh: str, stock: str = "", **keywords) -> gin_rummy_v4.raw_env:
    """Return an environment in which player 0 starts with eleven cards."""
    env = gin_rummy_v4.raw_env(**keywords)
    env.reset(options={"deck": deck_of(hand_0, hand_1, eleventh, stock), "dealer": 1})
    return env


def do(env, *words: str) -> None:
    for action in words:
        env.step(NUMBER[action])


def score(env) -> tuple[float, float]:
    do(env, "score player_0", "score player_1")
    return env.rewards["player_0"], env.rewards["player_1"]


def legal(env) -> set[str]:
    mask = env.observe(env.agent_selection)["action_mask"]
    return {describe(action) for action in np.flatnonzero(mask).tolist()}


def discards(cards: str) -> set[str]:
    return {f"discard {card}" for card in cards.split()}


def plane(env, agent: str, number: int) -> set[int]:
    """Return the package's ids of the cards in one plane of the agent's observation."""
    (shown,) = np.nonzero(env.observe(agent)["observation"][number])
    return {card for card in range(52) if V4_ID[card] in shown}


# --- The old release ----------------------------------------------------------------------------------


def test_recorded_games_of_the_old_release_are_equal():
    games = list(replays(DATA / "gin_rummy_v4.npz"))
    assert [(number, game.differences) for number, game in enumerate(games) if game.differences] == []
    assert len(games) == 36
    assert sum(game.steps for game in games) == 3095
    ends = {(game.kind, game.end) for game in games}
    assert ends >= {("random", "dead hand"), ("random", "knock"), ("tidy", "knock"), ("patient", "gin")}


def test_cards_are_in_the_order_of_the_old_release():
    discards_of = {6: "AS", 18: "KS", 19: "AH", 32: "AD", 57: "KC"}
    assert {action: describe(action).removeprefix("discard ") for action in discards_of} == discards_of
    others = {0: "score player_0", 1: "score player_1", 2: "draw", 3: "pick up", 4: "declare the hand dead"}
    others |= {5: "gin", 58: "knock with AS", 109: "knock with KC"}
    assert {action: describe(action) for action in others} == others


# --- The rules, case by case --------------------------------------------------------------------------


def test_non_dealer_starts_with_eleven_cards():
    env = dealt(THREE_RUNS, LOOSE, "QS")
    assert env.agent_selection == "player_0"
    assert plane(env, "player_0", 0) == set(ids(f"{THREE_RUNS} QS"))
    assert legal(env) == discards(f"{THREE_RUNS} QS") | {"knock with KD", "knock with QS"}


def test_picked_up_card_may_be_knocked_not_discarded():
    env = dealt(LOOSE, THREE_RUNS, "QS")
    do(env, "discard QS", "pick up")
    assert legal(env) == discards(THREE_RUNS) | {"knock with KD", "knock with QS"}
    do(env, "knock with QS")
    assert score(env) == (-0.67, 0.5)


def test_gin_must_be_declared():
    assert legal(dealt(NO_DEADWOOD, NO_MELDS, "KC")) == {"gin"}
    env = dealt(NO_DEADWOOD, NO_MELDS, "9D", gin_reward=2)
    assert legal(env) == {"gin"}
    do(env, "gin")
    assert plane(env, "player_0", 0) == set(ids(f"{NO_DEADWOOD} 9D")) - set(ids("5D"))
    assert score(env) == (2, -0.68)


def test_knock_pays_even_if_undercut():
    env = dealt(THREE_RUNS, NO_DEADWOOD, "QS", knock_reward=0.3)
    do(env, "knock with QS")
    assert score(env) == (0.3, 0)


@pytest.mark.parametrize(("layoffs", "left"), [(False, -0.67), (True, -0.56)])
def test_lay_offs_count_only_with_the_option(layoffs, left):
    env = dealt(THREE_RUNS, LAYS_OFF_TWO, "QS", layoffs=layoffs)
    do(env, "knock with QS")
    assert score(env) == (0.5, left)


def test_gin_allows_no_lay_offs():
    env = dealt(NO_DEADWOOD, NO_MELDS.replace("5C", "KH"), "KC", layoffs=True)
    do(env, "gin")
    assert score(env) == (1, -0.73)


def test_each_player_scores_their_hand():
    env = dealt(LOOSE, THREE_RUNS, "QS")
    do(env, "discard QS", "pick up", "knock with QS")
    assert (env.agent_selection, legal(env)) == ("player_0", {"score player_0"})
    do(env, "score player_0")
    assert (env.agent_selection, legal(env)) == ("player_1", {"score player_1"})
    assert not any(env.terminations.values())
    do(env, "score player_1")
    assert all(env.terminations.values())
    assert env.last()[1] == -0.67
    env.step(None)
    assert (env.agent_selection, env.last()[1]) == ("player_1", 0.5)
    env.step(None)
    assert env.agents == []


def until_two_cards_are_left(env) -> None:
    """Both players draw and discard the card drawn."""
    do(env, "discard QC")
    while "draw" in legal(env):
        held = plane(env, env.agent_selection, 0)
        do(env, "draw")
        (drawn,) = plane(env, env.agent_selection, 0) - held
        env.step(6 + int(V4_ID[drawn]))


def test_dead_hand_costs_both_their_deadwood():
    env = dealt(LOOSE, ALSO_LOOSE, "QC", layoffs=True)
    until_two_cards_are_left(env)
    do(env, "declare the hand dead")
    assert score(env) == (-0.67, -0.57)


def test_hand_without_draws_ends_after_126_discards():
    env = dealt(LOOSE, ALSO_LOOSE, "QC")
    count = 0
    while "score player_0" not in legal(env):
        do(env, "pick up") if "pick up" in legal(env) else None
        env.step(min(NUMBER[words] for words in legal(env) if words.startswith("discard")))
        count += 1
    assert count == 126
    assert all(reward < 0 for reward in score(env))


# --- Observations -------------------------------------------------------------------------------------


def test_planes_follow_the_cards():
    env = dealt(LOOSE, THREE_RUNS, "QS", "4S", opponents_hand_visible=True)
    do(env, "discard QS", "draw", "discard KD")
    assert plane(env, "player_0", 1) == set(ids("KD"))
    assert plane(env, "player_0", 2) == set(ids("QS"))
    assert plane(env, "player_0", 3) == set()
    do(env, "pick up", "discard 2H")
    assert plane(env, "player_1", 1) == set(ids("2H"))
    assert plane(env, "player_1", 3) == set(ids("KD"))
    for agent in PLAYERS:
        everywhere = [card for number in range(5) for card in plane(env, agent, number)]
        assert sorted(everywhere) == list(range(52))
    assert set(ids(THREE_RUNS)) - set(ids("KD")) <= plane(env, "player_0", 4)


def test_waiting_player_sees_own_hand_without_mask():
    """The old release showed the hand and the actions of the player to move."""
    env = dealt(LOOSE, THREE_RUNS, "QS")
    assert plane(env, "player_1", 0) == set(ids(THREE_RUNS))
    assert not env.observe("player_1")["action_mask"].any()


def test_hidden_cards_change_nothing():
    """Two games that differ only in the opponent's hand and the stock."""
    one = dealt(LOOSE, THREE_RUNS, "QS", "6D", opponents_hand_visible=True)
    other = dealt(LOOSE, ALSO_LOOSE, "QS", "6D", opponents_hand_visible=True)
    for env in (one, other):
        do(env, "discard QS", "draw", "discard 6D")
    for name, seen in one.observe("player_0").items():
        np.testing.assert_array_equal(seen, other.observe("player_0")[name])


def test_finished_hand_has_no_legal_actions():
    env = dealt(THREE_RUNS, LOOSE, "QS")
    do(env, "knock with QS")
    score(env)
    for agent, hand in zip(PLAYERS, (THREE_RUNS, LOOSE), strict=True):
        assert not env.observe(agent)["action_mask"].any()
        assert plane(env, agent, 0) == set(ids(hand))
    for _ in PLAYERS:
        env.step(None)
    assert env.agents == []
    for agent, hand in zip(PLAYERS, (THREE_RUNS, LOOSE), strict=True):
        assert plane(env, agent, 0) == set(ids(hand))


@pytest.mark.parametrize(("visible", "planes"), [(False, 4), (None, 4), (True, 5)])
def test_spaces_match_the_old_release(visible, planes):
    env = gin_rummy_v4.env(opponents_hand_visible=visible)
    for agent in PLAYERS:
        space = env.observation_space(agent)
        assert (space["observation"].shape, space["observation"].dtype) == ((planes, 52), np.int8)
        assert (space["action_mask"].shape, space["action_mask"].dtype) == ((110,), np.int8)
        for entry in space.values():
            assert (entry.low.min(), entry.low.max(), entry.high.min(), entry.high.max()) == (0, 0, 1, 1)
        assert env.action_space(agent).n == 110
        assert space is env.observation_space(agent)
    assert (env.metadata["name"], env.metadata["is_parallelizable"]) == ("gin_rummy_v4", False)


def test_returned_arrays_are_copies():
    env = dealt(LOOSE, THREE_RUNS, "QS")
    env.observe("player_0")["action_mask"][:] = 0
    env.observe("player_0")["observation"][:] = 0
    assert legal(env) == discards(f"{LOOSE} QS")
    assert plane(env, "player_0", 0) == set(ids(f"{LOOSE} QS"))


# --- Errors and pictures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (NUMBER["discard KC"], "illegal action by player_0: discard KC; legal now: discard 3S, "),
        (NUMBER["draw"], "illegal action by player_0: draw; legal now: discard "),
        (110, "action must be from 0 to 109, not 110"),
        (-1, "action must be from 0 to 109, not -1"),
    ],
)
def test_illegal_action_raises_with_the_legal_ones(action, reason):
    env = dealt(LOOSE, THREE_RUNS, "QS")
    before = env.games.state.copy()
    with pytest.raises(IllegalActionError, match=f"^{reason}"):
        env.step(action)
    assert env.games.state == before
    assert env.agent_selection == "player_0"


@pytest.mark.parametrize("action", [None, 6.0, True, "gin", np.array([6, 7])])
def test_non_integer_action_raises(action):
    with pytest.raises(TypeError, match="action must be an integer from 0 to 109"):
        dealt(LOOSE, THREE_RUNS, "QS").step(action)


def test_numpy_integers_are_actions():
    env = dealt(LOOSE, THREE_RUNS, "QS")
    env.step(np.array(NUMBER["discard QS"]))
    env.step(np.int8(NUMBER["pick up"]))
    assert plane(env, "player_1", 0) == set(ids(f"{THREE_RUNS} QS"))


def test_calls_before_reset_or_after_the_end_raise():
    env = gin_rummy_v4.raw_env(render_mode="ansi")
    for call in (lambda: env.step(2), env.render, lambda: env.observe("player_0"), env.get_state):
        with pytest.raises(ResetNeeded):
            call()
    env.reset(options={"deck": deck_of(THREE_RUNS, LOOSE, "QS"), "dealer": 1})
    with pytest.raises(ValueError, match="unknown agent 'nobody'; the agents are player_0, player_1"):
        env.observe("nobody")
    do(env, "knock with QS")
    score(env)
    env.step(None)
    env.step(None)
    with pytest.raises(ValueError, match="the episode is over"):
        env.step(2)


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"knock_reward": "0.5"}, TypeError, "knock_reward must be a number"),
        ({"gin_reward": float("nan")}, ValueError, "gin_reward must be from .* not nan"),
        ({"opponents_hand_visible": 1}, TypeError, "opponents_hand_visible must be True or False"),
        ({"layoffs": "yes"}, TypeError, "layoffs must be True or False"),
        ({"render_mode": "picture"}, ValueError, "unknown render_mode"),
        ({"screen_height": 500}, ValueError, "screen_height must be None"),
    ],
)
def test_invalid_keywords_are_named(keywords, error, message):
    with pytest.raises(error, match=message):
        gin_rummy_v4.env(**keywords)


def test_invalid_reset_changes_nothing():
    env = dealt(LOOSE, THREE_RUNS, "QS")
    before = env.games.state.copy()
    for arguments in ({"seed": -1}, {"options": {"deck": [1, 2]}}, {"options": {"dealer": 2}}):
        with pytest.raises(ValueError, match=r"seed|deck|dealer"):
            env.reset(**arguments)
    assert env.games.state == before


def test_render_works_throughout_the_hand():
    env = dealt(THREE_RUNS, LOOSE, "QS", render_mode="ansi")
    assert "Q♠" in env.render()
    do(env, "knock with QS")
    assert "knock" in env.render()
    assert gin_rummy_v4.raw_env().render_mode is None


def test_picture_shows_the_first_discard():
    pytest.importorskip("PIL")
    env = dealt(THREE_RUNS, LOOSE, "QS", render_mode="rgb_array")
    image = env.render()
    assert (image.shape, image.dtype) == ((640, 960, 3), np.uint8)
    env.close()


@pytest.mark.parametrize("dealer", [0, 1])
def test_dealer_option_fixes_the_dealer(dealer):
    env = gin_rummy_v4.raw_env()
    for seed in range(6):
        env.reset(seed=seed, options={"dealer": dealer})
        assert env.agent_selection == PLAYERS[1 - dealer]
