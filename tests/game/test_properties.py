"""Properties of every position of every hand (for hidden information see test_information)."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import ONE_GAME
from played_positions import POLICIES, as_games, knock_immediately, played, same_records

from gin_env import agents, cards, melds
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, NUM_ACTIONS, PASS, IllegalActionError
from gin_env.game.history import next_mover, upcard_after
from gin_env.game.rules import Rules
from gin_env.game.state import (
    BIG_GIN,
    DISCARD,
    DRAW,
    GIN,
    OFFER,
    OVER,
    STOCK_ONLY,
    UNDECIDED,
    UNDERCUT,
    VOID,
)

pytestmark = pytest.mark.compiled

every_policy = pytest.mark.parametrize("name", list(POLICIES))


@every_policy
def test_play_reaches_the_rare_endings(name, capsys):
    found = played(name).reached
    with capsys.disabled():
        print(f"\n  {name}: " + ", ".join(f"{value} {key}" for key, value in found.items()))
    rare = ("knocks", "lay-offs", "gins", "undercuts", "voids")
    if name in ("knock-immediately", "knock-immediately, small deck"):
        assert all(found[kind] > 0 for kind in rare), found
    assert found["knocks"] + found["voids"] == found["hands"]


@every_policy
def test_each_card_is_in_exactly_one_place(name):
    play = played(name)
    size = play.rules.deck_size
    for state in play.states:
        public = state["public"]
        hands = [int(hand) for hand in state["private"]["hand"]]
        stock = state["hidden"]["deck"][size - public["stock_left"] : size].tolist()
        places = [*hands, int(public["pile"]), cards.mask_of(stock)]
        assert sum(places) == play.rules.deck_mask, "a sum without carries: disjoint, and nothing is missing"
        assert sum(mask.bit_count() for mask in places) == size
        drawing = public["phase"] == DISCARD
        for player in range(2):
            extra = 1 if drawing and public["to_move"] == player else 0
            assert hands[player].bit_count() == play.rules.hand_size + extra
            assert int(public["shown"][player]) & ~hands[player] == 0
            assert int(public["declined"][player]) & ~int(public["pile"]) == 0
        by = [int(mask) for mask in public["discarded"]]
        assert by[0] & by[1] == 0
        assert (by[0] | by[1]) & ~int(public["pile"]) == 0
        assert int(public["pile"]) & ~(by[0] | by[1]) in (0, 1 << int(public["first_upcard"]))


def limit_of(rules: Rules, upcard: int) -> int:
    """Return the most deadwood for a knock in a hand with this first upcard."""
    if not rules.oklahoma:
        return rules.knock_limit
    if upcard % 13 == 0 and rules.ace_needs_gin:
        return 0
    return min(upcard % 13 + 1, 10, rules.knock_limit)


@every_policy
def test_mask_follows_the_rules(name):
    """Compare the mask with an independent implementation of rules 2 to 4."""
    play = played(name)
    games = play.games()
    masks = games.masks(games.everyone)
    assert masks.dtype == np.int8
    for state, mask in zip(play.states, masks, strict=True):
        public = state["public"]
        expected = np.zeros(NUM_ACTIONS, np.int8)
        phase = public["phase"]
        expected[PASS] = phase == OFFER
        expected[DRAW_UPCARD] = phase in (OFFER, DRAW)
        expected[DRAW_STOCK] = phase in (STOCK_ONLY, DRAW)
        if phase == DISCARD:
            hand = int(state["private"]["hand"][public["to_move"]])
            limit = limit_of(play.rules, int(public["first_upcard"]))
            for card in set(cards.cards_of(hand)) - {int(public["taken"])}:
                expected[card] = 1
                expected[KNOCK + card] = melds.deadwood(hand & ~(1 << card)) <= limit
        assert mask.tolist() == expected.tolist()
        assert mask.any() == (phase != OVER), "a mask is never all zero while somebody is to move"


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
        for action in public["history"][: public["history_length"]].tolist():
            upcard = upcard_after(action, upcard)
            last, mover = mover, next_mover(action, mover)
        if public["phase"] == OVER:
            assert last == public["to_move"]
        else:
            assert mover == public["to_move"]
        lying = public["upcard"] if public["taken"] < 0 else public["taken"]
        assert lying in (upcard, -1)


@every_policy
def test_play_accepts_exactly_the_mask(name):
    play = played(name)
    for state in play.states[::29]:
        games = as_games(state[np.newaxis], play.rules)
        mask = games.masks(ONE_GAME)[0]
        before = [array.tobytes() for array in (games.state, games.rewards, games.done, games.results)]
        for action in range(NUM_ACTIONS):
            if mask[action]:
                other = as_games(state[np.newaxis], play.rules)
                other.play(ONE_GAME, np.array([action]))
                assert not same_records(other.state, games.state)
            else:
                with pytest.raises(IllegalActionError, match="illegal action"):
                    games.play(ONE_GAME, np.array([action]))
        assert [a.tobytes() for a in (games.state, games.rewards, games.done, games.results)] == before


def test_illegal_action_stops_the_whole_batch():
    games = Games(3)
    games.start(games.everyone, np.arange(3, dtype=np.uint64), np.zeros(3, np.uint64))
    before = games.state.tobytes()
    with pytest.raises(IllegalActionError, match="game 1: draw from the stock"):
        games.play(games.everyone, np.array([PASS, DRAW_STOCK, PASS]))
    assert games.state.tobytes() == before


@every_policy
def test_hand_is_scored_by_its_deadwood(name):
    play = played(name)
    ends = play.states[play.states["public"]["phase"] == OVER]
    assert len(ends) == play.reached["hands"]
    assert (play.states["public"]["outcome"] == UNDECIDED).sum() == len(play.states) - len(ends)
    for public in ends["public"]:
        knocker, winner, points = (int(public[key]) for key in ("knocker", "winner", "points"))
        if public["outcome"] == VOID:
            assert (knocker, winner, points) == (-1, -1, 0)
            assert public["stock_left"] == play.rules.stock_floor or public["turn"] == play.rules.max_turns
            continue
        own, other = int(public["deadwood"][knocker]), int(public["deadwood"][1 - knocker])
        rules = play.rules
        assert own <= limit_of(rules, int(public["first_upcard"]))
        assert (winner == knocker) == (
            own == 0 or own < other or (own == other and not rules.undercut_on_tie)
        )
        kinds = {GIN: rules.gin_bonus, BIG_GIN: rules.big_gin_bonus, UNDERCUT: rules.undercut_bonus}
        doubled = rules.spades_double and public["first_upcard"] // 13 == 2
        expected = (abs(other - own) + kinds.get(int(public["outcome"]), 0)) * (2 if doubled else 1)
        assert points == expected + (rules.box_bonus if rules.immediate_boxes else 0)
        assert (public["outcome"] in (GIN, BIG_GIN)) == (own == 0)
        assert (public["outcome"] == UNDERCUT) == (winner != knocker)
        assert rules.big_gin_bonus or public["outcome"] != BIG_GIN


# --- Rewards ------------------------------------------------------------------------------------------


def play_out(games: Games, act, log: list | None = None) -> None:
    while not games.done.all():
        waiting = np.flatnonzero(~games.done)
        movers = games.to_move()[waiting].copy()
        actions = act(games.views(waiting))
        games.play(waiting, actions)
        if log is not None:
            log += list(zip(waiting.tolist(), movers.tolist(), actions.tolist(), strict=True))


def started(count: int, first: int = 0, seed: int = 7, **options) -> Games:
    games = Games(count, **options)
    episodes = np.arange(first, first + count, dtype=np.uint64)
    games.start(games.everyone, np.full(count, seed, np.uint64), episodes)
    return games


def test_points_reward_is_paid_at_the_end_of_each_hand():
    games = started(60)
    play_out(games, knock_immediately)
    results = games.results
    sign = np.where(results["winner"] == 0, 1, -1) * (results["winner"] >= 0)
    assert {-1, 1} <= set(sign.tolist())
    assert games.rewards == pytest.approx(sign * results["points"] / 100)


def test_game_rewards_sum_to_the_score_difference():
    games = started(10, episode="game")
    play_out(games, agents.make("simple").act)
    scores = games.state["public"]["scores"].astype(int)
    assert (scores.max(axis=1) >= 100).all()
    assert (scores.min(axis=1) < 100).all()
    assert games.rewards == pytest.approx((scores[:, 0] - scores[:, 1]) / 100, abs=1e-5)


@pytest.mark.parametrize("episode", ["hand", "game"])
def test_win_reward_is_one_for_the_winner_of_the_episode(episode):
    games = started(40, episode=episode, reward="win")
    play_out(games, knock_immediately)
    if episode == "hand":
        winner = games.results["winner"].astype(int)
        assert -1 in winner, "no void hand to test"
    else:
        winner = games.state["public"]["scores"].argmax(axis=1)
    assert games.rewards.tolist() == [{0: 1.0, 1: -1.0, -1: 0.0}[who] for who in winner.tolist()]


# --- Randomness ---------------------------------------------------------------------------------------


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


def test_reused_slot_equals_a_fresh_one():
    used = started(2, first=5, episode="game")
    play_out(used, agents.make("simple").act)
    used.start(np.array([1]), np.array([7], np.uint64), np.array([6], np.uint64))
    used.rewards[:] = 0
    fresh = started(1, first=6, episode="game")
    assert not used.done[1]
    logs: list[list] = [[], []]
    for games, log in ((used, logs[0]), (fresh, logs[1])):
        play_out(games, agents.make("simple").act, log)
    assert [entry[1:] for entry in logs[0]] == [entry[1:] for entry in logs[1]]
    assert used.rewards[1] == fresh.rewards[0]


def test_hands_of_a_game_have_different_decks_and_dealers():
    games = Games(400)
    games.start(games.everyone, np.arange(400, dtype=np.uint64), np.zeros(400, np.uint64))
    dealers = games.state["public"]["dealer"]
    assert 150 < dealers.sum() < 250
    upcards = np.bincount(games.state["public"]["upcard"], minlength=52)
    assert (upcards > 0).sum() >= 48, "400 upcards miss a given card once in 2,300 times"
    game = started(1, episode="game")
    seen = set()
    play = agents.make("simple")
    while not game.done[0]:
        seen.add(tuple(game.state["hidden"]["deck"][0].tolist()))
        game.play(ONE_GAME, play.act(game.views(ONE_GAME)))
    assert len(seen) == game.state["public"]["hand_number"][0] + 1 > 2
