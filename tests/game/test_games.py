"""`Games`: selecting games, writing into the caller's arrays, copies and refused arguments."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
from hand_endings import LOOSE, THREE_RUNS
from hands_in_words import ONE_GAME, Table, deck_of, started
from played_positions import same_records
from recorded_games import settled

from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS, IllegalActionError
from gin_env.game.batch_kernels import PAY_POINTS
from gin_env.game.rules import Rules
from gin_env.game.state import OVER
from gin_env.observations.observation import OBSERVATION_SIZE


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_games": 0}, ValueError, "num_games must be at least 1, not 0"),
        ({"num_games": -1}, ValueError, "num_games must be at least 1, not -1"),
        ({"num_games": 2.0}, TypeError, "num_games must be an integer, not 2.0"),
        ({"num_games": True}, TypeError, "num_games must be an integer, not True"),
        ({"rules": 5}, TypeError, "rules must be a gin_env.Rules or a text such as 'oklahoma', not 5"),
        ({"episode": "match"}, ValueError, "unknown episode 'match'; choose from hand, game"),
        ({"reward": "money"}, ValueError, "unknown reward 'money'; choose from points, win"),
        ({"reward": "score"}, ValueError, "reward 'score' needs episode='game'"),
    ],
)
def test_invalid_arguments_are_named_in_the_error(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Games(**arguments)


def test_games_are_over_before_the_first_start():
    games = Games(2, Rules(knock_limit=3))
    assert len(games) == 2
    assert games.done.tolist() == [True, True]
    assert games.state["public"]["phase"].tolist() == [OVER] * 2
    assert games.state["public"]["rules"]["knock_limit"].tolist() == [3, 3]
    assert not games.masks(games.everyone).any()
    assert not games.waiting_for(0, games.everyone).size
    assert (games.whole_game, games.pays) == (False, PAY_POINTS)
    assert not games.results["ended"].any()


def test_rows_follow_the_order_of_the_selected_games():
    games = started(4)
    some = np.array([3, 1])
    games.play(np.array([1]), np.array([PASS]))
    hands = games.state["private"]["hand"]
    assert games.views(some, 1).hands.tolist() == hands[some, 1].tolist()
    mover = games.to_move()[some]
    assert games.views(some).hands.tolist() == hands[some, mover].tolist()
    assert games.views(some).array["player"].tolist() == mover.tolist()
    for every, given, row in (
        (games.masks(games.everyone), games.masks(some), 107),
        (games.observations(games.everyone, 1), games.observations(some, 1), OBSERVATION_SIZE),
    ):
        assert np.array_equal(given, every[some])
        assert given.shape == (2, row)
    for player in (0, 1):
        waiting = games.waiting_for(player, some)
        assert waiting.tolist() == [game for game in (3, 1) if games.to_move()[game] == player]
    games.done[3] = True
    assert games.waiting_for(int(games.to_move()[3]), np.array([3])).tolist() == []


def test_output_arrays_are_written_and_returned():
    games = started(2)
    masks, seen = np.full((2, 107), 9, np.int8), np.full((2, OBSERVATION_SIZE), 9, np.float32)
    assert games.masks(games.everyone, masks) is masks
    assert games.observations(games.everyone, 0, seen) is seen
    assert np.array_equal(masks, games.masks(games.everyone))
    assert np.array_equal(seen, games.observations(games.everyone, 0))


def test_illegal_action_is_named_and_not_played():
    games = started(3)
    actions = np.array([PASS, DRAW_STOCK, DRAW_UPCARD])  # the upcard is on offer
    assert games.find_illegal(games.everyone, actions).tolist() == [False, True, False]
    assert games.find_illegal(np.array([2, 0]), np.array([KNOCK, PASS])).tolist() == [True, False]
    before = games.state.tobytes()
    message = "illegal action by me in game 1: draw from the stock: in the phase 'opening offer'"
    with pytest.raises(IllegalActionError, match=message):
        games.play(games.everyone, actions, who="me")
    with pytest.raises(IllegalActionError, match=r"illegal action in game 2: .* not an action"):
        games.play(np.array([2]), np.array([107]))
    with pytest.raises(IllegalActionError, match=r"^illegal action: draw from the stock"):
        started(1).play(ONE_GAME, np.array([DRAW_STOCK]))
    assert games.explain(1, DRAW_STOCK).startswith("draw from the stock: in the phase")
    with pytest.raises(ValueError, match="this is legal"):
        games.explain(1, PASS)
    assert games.state.tobytes() == before


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda games: pickle.loads(pickle.dumps(games))])
def test_copy_has_its_own_player_to_move(clone):
    games = started(2)
    twin = clone(games)
    first = games.to_move().tolist()
    twin.play(twin.everyone, np.full(2, PASS))
    assert games.to_move().tolist() == first
    assert twin.to_move().tolist() == [1 - player for player in first]
    assert np.shares_memory(twin.to_move(), twin.state)


def test_restarted_game_equals_a_new_one():
    """Restarting clears the scores, hand number, dealer, piles and decision count."""
    new, used = (started(4, episode="game", rules=Rules(max_turns=5)) for _ in range(2))
    used.start(used.everyone, np.full(4, 8, np.uint64), np.arange(4, dtype=np.uint64), np.ones(4, bool))
    used.state["public"]["scores"] = (30, 40)
    for _ in range(25):
        used.play(used.everyone, used.masks(used.everyone).argmax(axis=1))
    assert (used.state["public"]["hand_number"] > 0).all()
    used.start(used.everyone, np.full(4, 7, np.uint64), np.arange(4, dtype=np.uint64))
    assert same_records(settled(used.state), settled(new.state))
    random = [games.views(games.everyone).array["random"].tolist() for games in (used, new)]
    assert random[0] == random[1]


def test_rewards_accumulate_and_each_hand_ends_once():
    """Two hands of a game, one won by each player, and the results in between."""
    table = Table(THREE_RUNS, LOOSE, "KC", "2D", dealer=1, episode="game", rules=Rules(target_score=500))
    games = table.games
    table.play("pass", "pass", "draw")
    assert not games.results["ended"][0]
    table.play("knock KD")
    assert games.results["ended"][0]
    assert (games.rewards[0], games.done[0]) == (pytest.approx(0.65), False)
    public = games.state["public"][0]
    assert (public["hand_number"], public["dealer"], games.results["dealer"][0]) == (1, 0, 1)
    table.deal(LOOSE, THREE_RUNS, "KC", "2D")
    table.play("pass", "pass")
    assert not games.results["ended"][0]
    assert games.results["points"][0] == 65, "the last hand's until the next has ended"
    table.play("draw", "knock KD")
    assert games.rewards[0] == pytest.approx(0, abs=1e-6)
    assert public["scores"].tolist() == [65, 65]


def test_next_hand_starts_from_a_clean_public_state():
    table = Table(THREE_RUNS, LOOSE, "KC", "2D", dealer=1, episode="game")
    table.play("pass", "pass", "draw", "knock KD")
    games, public = table.games, table.public
    upcard = int(games.deck(0)[20])
    expected = {
        "phase": 0, "to_move": 1, "dealer": 0, "first_upcard": upcard, "upcard": upcard, "taken": -1,
        "stock_left": 31, "turn": 0, "hand_number": 1, "scores": [65, 0], "pile": 1 << upcard,
        "discarded": [0, 0], "declined": [0, 0], "shown": [0, 0], "history_length": 0, "outcome": 0,
        "winner": -1, "knocker": -1, "points": 0, "deadwood": [0, 0],
    }  # fmt: skip
    assert {name: public[name].tolist() for name in expected} == expected
    assert public["discard_turn"][upcard] == 0
    assert games.state["private"]["num_stock_draws"].tolist() == [[0, 0]]


def test_fixed_decks_are_dealt_in_order_then_the_seed_continues():
    """With max_turns=1 every hand is void, so the same player deals again."""
    games, unfixed = (started(2, episode="game", rules=Rules(max_turns=1)) for _ in range(2))
    decks = [np.array(deck_of(THREE_RUNS, LOOSE, upcard, "2D")) for upcard in ("KC", "QC", "JC")]
    games.state["public"]["scores"] = unfixed.state["public"]["scores"] = (7, 30)
    for table in (games, unfixed):
        table.fix_deals(1, decks if table is games else [], 1)
    for deck in (*decks, None):
        expected = unfixed.deck(1) if deck is None else deck
        assert games.deck(1).tolist() == expected.tolist()
        assert games.deck(0).tolist() == unfixed.deck(0).tolist() != expected.tolist()
        assert games.state["public"]["dealer"][1] == 1
        for table in (games, unfixed):
            for action in (PASS, PASS, DRAW_STOCK):
                table.play(table.everyone, np.full(2, action))
            table.play(table.everyone, table.masks(table.everyone).argmax(axis=1))
    games.state["public"]["memory"][1] = unfixed.state["public"]["memory"][1]  # of other cards
    assert games.state.tobytes() == unfixed.state.tobytes()
    assert games.state["public"]["scores"].tolist() == [[7, 30]] * 2
    games.deck(1)[:] = 0
    assert games.deck(1).tolist() == unfixed.deck(1).tolist()


def test_start_requires_only_a_seed():
    games, other = Games(3), Games(3)
    games.start(seed=5)
    other.start(other.everyone, np.full(3, 5, np.uint64), np.arange(3, dtype=np.uint64))
    assert games.state.tobytes() == other.state.tobytes()
    games.start(np.array([2]), seed=5)  # the same episode again
    assert games.state.tobytes() == other.state.tobytes()
    with pytest.raises(TypeError, match="takes seeds or seed, not both"):
        games.start(games.everyone, np.zeros(3, np.uint64), seed=1)


def test_start_without_a_seed_draws_a_random_one():
    games, other = Games(), Games()
    games.start()
    other.start()
    assert games.deck(0).tolist() != other.deck(0).tolist()


def test_until_over_yields_unfinished_games():
    games = started(20)
    chosen, steps = np.arange(0, 20, 2), 0
    for playing in games.until_over(chosen):
        assert set(playing) == {game for game in chosen if not games.done[game]}
        games.play(playing, games.masks(playing).argmax(axis=1))
        steps += 1
    assert steps > 0
    assert games.done[chosen].all()
    assert list(games.until_over(chosen)) == []


def test_unchecked_play_still_refuses_an_illegal_action():
    games = started(2)
    before = games.state.copy()
    with pytest.raises(IllegalActionError, match="in game 1"):
        games.play(games.everyone, np.array([PASS, DRAW_STOCK]), checked=False)
    assert (games.state == before).all()
