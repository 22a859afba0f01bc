"""`PlayerView.from_history`: views rebuilt from actions, and refused input."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import ids, started
from recorded_games import change

from gin_env import PlayerView, Rules, agents, cards
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS, IllegalActionError

HAND = cards.parse("AC 2C 3C 4C 5C 6C 7C 8C 9C TC")
UPCARD = cards.card_id("KD")


def told_again(games, index, player):
    """Rebuild the view of a running game from what this player saw."""
    state = games.state[index]
    public, private = state["public"], state["private"][player]
    rules = Rules.from_record(public["rules"])
    deck = state["hidden"]["deck"]
    return PlayerView.from_history(
        cards.mask_of(deck[player : 2 * rules.hand_size : 2].tolist()),
        int(public["first_upcard"]),
        public["history"][: public["history_length"]].tolist(),
        private["stock_draws"][: private["num_stock_draws"]].tolist(),
        player=player,
        dealer=int(public["dealer"]),
        scores=tuple(public["scores"].tolist()),
        hand_number=int(public["hand_number"]),
        rules=rules,
        random=int(games.views([index]).array["random"][0]),
        memory=[{name: int(counts[name]) for name in counts.dtype.names} for counts in public["memory"]],
    )


@pytest.mark.parametrize(
    "rules",
    [Rules(), Rules(opening_offer=False), Rules(ranks=7, suits=3, hand_size=4, knock_limit=5)],
    ids=["standard", "no offer", "small deck"],
)
def test_view_from_history_equals_the_games_view(rules):
    games = started(12, rules, seed=3, episode="game")
    random, simple = agents.make("random"), agents.make("simple")
    compared = 0
    for _ in range(60):
        running = games.everyone[~games.done]
        view = games.views(running)
        for index, seen in zip(running.tolist(), view, strict=True):
            told = told_again(games, index, int(seen.array["player"][0]))
            for name in ("masks", "observations", "memories", "history", "stock_draws"):
                np.testing.assert_array_equal(getattr(told, name)(), getattr(seen, name)())
            assert simple.act(told) == simple.act(seen)
            compared += 1
        games.play(running, np.where(running % 2, random.act(view), simple.act(view)))
    assert compared > 500
    assert games.state["public"]["hand_number"].max() > 0


def test_view_from_history_remembers_no_earlier_hands_by_default():
    view = PlayerView.from_history(HAND, UPCARD, player=1, dealer=0, scores=(20, 30), hand_number=3)
    assert not view.memories().any()


def test_player_not_to_move_has_a_view():
    view = PlayerView.from_history(HAND, UPCARD, [PASS, DRAW_UPCARD], player=1, dealer=0)
    assert not view.masks().any()
    assert view.history()[1] == (0, DRAW_UPCARD, UPCARD)


@pytest.mark.parametrize(
    ("history", "draws", "message"),
    [
        ([PASS, PASS, PASS], "", "action 2: player 1, pass: in the phase 'draw from the stock'"),
        ([DRAW_UPCARD, UPCARD], "", "action 1: player 1, discard KD: KD was just taken"),
        ([DRAW_UPCARD, 0], "", "action 1: player 1, discard AC: that card is elsewhere"),
        ([DRAW_UPCARD, KNOCK + 20], "", "action 1: player 1, knock with 8H: a knock ends the hand"),
        ([PASS, DRAW_UPCARD, 20], "", "action 2: player 0, discard 8H: 8H is not in the hand"),
        ([PASS, PASS, DRAW_STOCK, 20, DRAW_STOCK], "8H", "action 4: player 0 drew 8H, which is not in"),
        ([PASS, PASS, DRAW_STOCK, 20, DRAW_STOCK], "AC", "action 4: player 0 drew AC, which is not in"),
        # The opponent took the king and still holds it.
        ([DRAW_UPCARD, 20, DRAW_STOCK], "KD", "action 2: player 0 drew KD, which is not in the stock"),
        ([107], "", "107 is not an action"),
    ],
)
def test_illegal_histories_are_refused(history, draws, message):
    with pytest.raises(IllegalActionError, match=f"^{message}"):
        PlayerView.from_history(HAND, UPCARD, history, ids(draws), player=0, dealer=0)


def test_opponent_whose_cards_are_all_known_discards_one_of_them():
    """Player 1 takes three upcards. Before the last discard they hold these three and no other card."""
    upcard, first, second, nine, eight, queen = ids("KD KC KH 9C 8C QS")
    history = [DRAW_UPCARD, nine, DRAW_STOCK, first, DRAW_UPCARD, eight, DRAW_STOCK, second, DRAW_UPCARD]
    given = {"stock_draws": ids("KC KH"), "dealer": 0, "rules": Rules(hand_size=2, stock_floor=0)}

    def view(discarded):
        return PlayerView.from_history(cards.parse("AC 2C"), upcard, [*history, discarded], **given)

    assert view(upcard).array["public"]["pile"][0] >> upcard & 1
    with pytest.raises(IllegalActionError, match="action 9: player 1, discard QS: all of that player's card"):
        view(queen)


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_numpy_cards_are_cards(dtype):
    expected = PlayerView.from_history(HAND, UPCARD, [])
    assert PlayerView.from_history(HAND, dtype(UPCARD), [], player=dtype(0)).array == expected.array


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"hand": HAND & ~1}, ValueError, "must hold 10 cards, not 9"),
        ({"hand": 1 << 60}, ValueError, "not a mask of cards"),
        ({"hand": "AC"}, TypeError, "integer mask"),
        ({"first_upcard": 0}, ValueError, "different cards"),
        ({"rules": Rules(ranks=10)}, ValueError, "different cards of the deck"),  # a deck without kings
        ({"first_upcard": 52}, ValueError, "first_upcard must be"),
        ({"player": 2}, ValueError, "player must be"),
        ({"dealer": None}, TypeError, "dealer must be an integer"),
        ({"scores": (0, 100)}, ValueError, "score must be"),
        ({"scores": (0,)}, ValueError, "scores must be those of players 0 and 1"),
        ({"random": -1}, ValueError, "random must be"),
        ({"stock_draws": [20]}, ValueError, "stock_draws has 1 cards, but the player drew 0 times"),
        ({"history": [PASS, PASS, DRAW_STOCK, 20, DRAW_STOCK]}, ValueError, "does not say which card"),
        ({"rules": Rules(ranks=7, hand_size=7)}, ValueError, "must hold 7 cards"),
        ({"rules": 5}, TypeError, r"rules must be a gin_env\.Rules .*, not 5"),
        ({"history": [0.5]}, TypeError, "an action must be an integer"),
        ({"memory": ({},)}, TypeError, "memory must be a mapping of counts for each player"),
        ({"memory": ({"knocks": 1}, {})}, ValueError, "knocks in memory must be from 0 to 0"),
        ({"memory": ({}, {"knock": 0}), "hand_number": 2}, ValueError, "unknown count in memory 'knock'"),
        ({"memory": ({}, {"gins": -1}), "hand_number": 2}, ValueError, "gins in memory must be from 0"),
        ({"memory": ({}, {"discards": 5}), "hand_number": 2}, ValueError, "but no first_discards"),
        (
            {"memory": ({"discards": 9, "first_discards": 3, "gins": 3}, {}), "hand_number": 2},
            ValueError,
            "no earlier hands lead to this memory: the share gins would be 1.50",
        ),
        (
            {"memory": ({}, {"discards": 9, "first_discards": 3, "knocks": 3}), "hand_number": 2},
            ValueError,
            "no earlier hands lead to this memory: the share knocks would be 1.50",
        ),
    ],
)
def test_invalid_arguments_are_refused(changed, error, message):
    given = {"hand": HAND, "first_upcard": UPCARD} | changed
    with pytest.raises(error, match=message):
        PlayerView.from_history(given.pop("hand"), given.pop("first_upcard"), **given)


DAMAGES = {
    "an impossible rule": ("public.rules.hand_size", 0),
    "no upcard to draw": ("public.upcard", -1),
    "a card that the deck lacks was shown": ("public.shown.1", 1 << 60),
    "a discard that is not in the pile": ("public.discarded.1", 1 << 20),
    "an invalid first upcard": ("public.first_upcard", -1),
    "a discard before the draw": ("public.history.2", 20),
    "a third pass": ("public.history.2", PASS),
    "a draw that brought no card": ("private.num_stock_draws", 0),
    "a pass after a draw": ("public.history.0", DRAW_STOCK),
    "an unknown action": ("public.history.0", 200),
    "more turns than discards": ("public.turn", 7),
    "more turns than the rules allow": ("public.turn", 200),
    "an invalid player to move": ("public.to_move", -1),
    "an unknown phase": ("public.phase", 9),
    "a longer history than there can be": ("public.history_length", 60_000),
    "an unknown upcard": ("public.upcard", 90),
    "an empty hand": ("private.hand", 0),
    "a hand of other cards": ("private.hand", 0x3FF << 54),
    "more draws than there can be": ("private.num_stock_draws", 200),
    "a card discarded later": ("public.discard_turn", 255),
    "no target": ("public.rules.target_score", 0),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_records_are_refused(damage):
    """Compiled code would use these values as indices outside its arrays."""
    history = [PASS, PASS, DRAW_STOCK, cards.card_id("KH"), DRAW_STOCK, cards.card_id("QH")]
    view = PlayerView.from_history(HAND, UPCARD, history, ids("KH"), player=1, dealer=0)
    records = view.array.copy()
    PlayerView(records)
    change(records[0], *DAMAGES[damage])
    with pytest.raises(ValueError, match="record 0 is not a position of a hand"):
        PlayerView(records)
