"""Properties of every position of every hand (for hidden information see test_information)."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import started
from played_positions import POLICIES, as_games, played, same_records

from gin_env import agents
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, NUM_ACTIONS
from gin_env.game.history import events, next_mover
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD, OVER

pytestmark = pytest.mark.compiled

every_policy = pytest.mark.parametrize("name", list(POLICIES))


@every_policy
def test_play_reaches_the_rare_endings(name):
    found = played(name).reached
    rare = ("knocks", "lay-offs", "gins", "undercuts", "voids")
    if name in ("knock-immediately", "knock-immediately, small deck"):
        assert all(found[kind] > 0 for kind in rare), found
    assert found["knocks"] + found["voids"] == found["hands"]


@every_policy
def test_legal_actions_match_the_mask(name):
    play = played(name)
    masks = play.games().masks(np.arange(len(play.states)))
    actions = np.arange(-3, NUM_ACTIONS + 3)
    for state, mask in zip(play.states, masks, strict=True):
        copies = as_games(np.repeat(state[np.newaxis], len(actions), axis=0), play.rules)
        legal = ~copies.find_illegal(copies.everyone, actions)
        assert legal[3:-3].tolist() == mask.astype(bool).tolist()
        assert not legal[:3].any()
        assert not legal[-3:].any()


@every_policy
def test_masked_actions_are_explained_by_the_right_reason(name):
    play = played(name)
    games = play.games()
    for number in range(0, len(play.states), 20):
        public = play.states[number]["public"]
        mask = games.masks(np.array([number]))[0]
        for action in range(-1, NUM_ACTIONS + 1):
            if 0 <= action < NUM_ACTIONS and mask[action]:
                with pytest.raises(ValueError, match="this is legal"):
                    games.explain(number, action)
                continue
            reason = games.explain(number, action)
            if not 0 <= action < NUM_ACTIONS:
                expected = f"{action} is not an action"
            elif public["phase"] == OVER:
                expected = "the hand is over"
            elif public["phase"] != DISCARD:
                expected = "a player may"
            elif action >= DRAW_STOCK:
                expected = "has drawn already"
            elif action % 52 == public["taken"]:
                expected = "was just taken"
            elif not int(play.states[number]["private"]["hand"][public["to_move"]]) >> action % 52 & 1:
                expected = "is not in the hand"
            else:
                expected = "deadwood would be"
            assert expected in reason


@every_policy
def test_history_leads_to_the_current_position(name):
    for state in played(name).states:
        public = state["public"]
        mover, upcard = 1 - int(public["dealer"]), int(public["first_upcard"])
        for last, action, card in events(public):
            mover, upcard = next_mover(action, last), card
        if public["phase"] == OVER:
            assert last == public["to_move"]
        else:
            assert mover == public["to_move"]
        lying = public["upcard"] if public["taken"] < 0 else public["taken"]
        assert lying in (upcard, -1)


# --- Randomness ---------------------------------------------------------------------------------------


def play_out(games: Games, act, log: list | None = None) -> None:
    for waiting in games.until_over():
        movers = games.to_move()[waiting].copy()
        actions = act(games.views(waiting))
        games.play(waiting, actions)
        if log is not None:
            log += list(zip(waiting.tolist(), movers.tolist(), actions.tolist(), strict=True))


@pytest.mark.parametrize("policy", ["random", "simple", "knock-immediately"])
def test_batch_plays_the_same_as_single_games(policy):
    act = POLICIES[policy][0]
    options = {"episode": "game", "rules": Rules(max_hands=3)}
    batch_log: list[tuple[int, int, int]] = []
    batch = started(8, **options)
    play_out(batch, act, batch_log)
    for game in range(8):
        log: list[tuple[int, int, int]] = []
        single = started(1, first=game, **options)
        play_out(single, act, log)
        assert [entry[1:] for entry in log] == [entry[1:] for entry in batch_log if entry[0] == game]
        assert same_records(single.state, batch.state[game : game + 1])
        assert same_records(single.results, batch.results[game : game + 1])
        assert single.rewards[0] == batch.rewards[game]


def test_seeds_determine_the_games():
    first, again, other_seed, other_episode = (
        started(4, **options) for options in ({}, {}, {"seed": 8}, {"first": 4})
    )
    for games in (first, again, other_seed, other_episode):
        play_out(games, agents.make("random").act)
    assert same_records(first.state, again.state)
    decks = [games.state["hidden"]["deck"].tolist() for games in (first, other_seed, other_episode)]
    assert len({tuple(deck) for batch in decks for deck in batch}) == 12
