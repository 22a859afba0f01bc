"""Views: history, public card sets, scores, random numbers and indexing."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import ONE_GAME, Table, action, ids, started

from gin_env import cards
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS
from gin_env.game.rules import Rules
from gin_env.observations.views import Event, PlayerView

HAND_0, HAND_1 = "2C 3C 4C 5H 6H 7H 9C KS AD 2D", "KH KC JS 8C 8H 4D 5D QD 2S 6S"


def seen_by(table: Table, player: int):
    return table.games.views(ONE_GAME, player)


def test_history_lists_every_action_and_visible_card():
    """Both pass; player 0 draws and discards; player 1 takes the discard and discards; player 0 draws."""
    table = Table(HAND_0, HAND_1, "TD", "TS 3H", dealer=1)
    table.play("pass", "pass", "draw", "KS", "take", "QD", "draw")
    ten, king, queen = ids("TD KS QD")
    expected = [
        Event(0, PASS, ten),
        Event(1, PASS, ten),
        Event(0, DRAW_STOCK, -1),
        Event(0, king, king),
        Event(1, DRAW_UPCARD, king),
        Event(1, queen, queen),
        Event(0, DRAW_STOCK, -1),
    ]
    for player in (0, 1):
        assert seen_by(table, player).history() == expected
    assert seen_by(table, 0).stock_draws() == ids("TS 3H")
    assert seen_by(table, 1).stock_draws() == []


def test_history_starts_with_player_1_when_player_0_deals():
    table = Table(HAND_0, HAND_1, "TD", "TS 3H", dealer=0).play("pass", "take", "KS")
    ten, king = ids("TD KS")
    assert seen_by(table, 0).history() == [
        Event(1, PASS, ten),
        Event(0, DRAW_UPCARD, ten),
        Event(0, king, king),
    ]


def test_history_of_a_knock_names_the_discard():
    table = Table("AC 2C 3C 4H 5H 6H 7S 8S 9S KD", HAND_1.replace("8C", "JC"), "TD", "2H", dealer=1)
    table.play("pass", "pass", "draw", "knock KD")
    assert seen_by(table, 1).history()[-1] == Event(0, action("knock KD"), ids("KD")[0])


def test_public_card_sets_follow_each_action():
    """Player 0 begins. KS is discarded, taken, and discarded again after QD."""
    table = Table(HAND_0, HAND_1, "TD", "TS 3H", dealer=1)
    public = table.public

    def seen() -> dict[str, object]:
        masks = {
            name: tuple(cards.format(int(mask)) for mask in public[name])
            for name in ("shown", "discarded", "declined")
        }
        return masks | {"pile": cards.format(int(public["pile"]))}

    table.play("pass", "pass", "draw", "KS")
    assert seen() == {"shown": ("", ""), "discarded": ("KS", ""), "declined": ("TD", "TD"), "pile": "KS TD"}
    table.play("take")
    assert seen() == {"shown": ("", "KS"), "discarded": ("", ""), "declined": ("TD", "TD"), "pile": "TD"}
    assert (public["upcard"], public["taken"]) == (-1, ids("KS")[0])
    table.play("QD")
    assert seen() == {"shown": ("", "KS"), "discarded": ("", "QD"), "declined": ("TD", "TD"), "pile": "TD QD"}
    assert (public["upcard"], public["taken"]) == (ids("QD")[0], -1)
    table.play("draw", "TS", "draw", "KS")
    assert seen() == {
        "shown": ("", ""),
        "discarded": ("TS", "KS QD"),
        "declined": ("TD QD", "TS TD"),
        "pile": "TS KS TD QD",
    }
    assert [int(public["discard_turn"][card]) for card in ids("TD QD TS KS")] == [0, 2, 3, 4]
    assert (public["turn"], public["stock_left"]) == (4, 31 - 3)


def test_every_decision_has_its_own_random_number():
    """Numbers differ by player, decision, episode and twin, although twins share the deck's ranks."""
    games = Games(4)
    twins = np.array([False, True, False, True])
    games.start(games.everyone, np.full(4, 7, np.uint64), np.array([0, 0, 1, 1], np.uint64), twins)
    numbers = []
    for move in (PASS, PASS, DRAW_STOCK):
        for player in (0, 1):
            numbers += games.views(games.everyone, player).array["random"].tolist()
        games.play(games.everyone, np.full(4, move))
    assert len(set(numbers)) == len(numbers) == 24
    decks = games.state["hidden"]["deck"] % 13
    assert np.array_equal(decks[0], decks[1])
    assert not np.array_equal(decks[0], decks[2])


def test_indexed_views_belong_to_the_selected_games():
    games = started(3, Rules(knock_limit=7))
    games.play(np.array([1]), np.array([PASS]))
    games.play(np.array([2]), np.array([DRAW_UPCARD]))
    view = games.views(games.everyone, 1)
    hands = games.state["private"]["hand"][:, 1].tolist()
    assert (len(view), view.hands.tolist(), view.rules) == (3, hands, Rules(knock_limit=7))
    mask = np.array([True, False, True])
    for index, rows in (
        (1, [1]),
        (-1, [2]),
        (np.int64(0), [0]),
        ([2, 0], [2, 0]),
        (slice(1, None), [1, 2]),
        (mask, [0, 2]),
    ):
        assert view[index].hands.tolist() == [hands[row] for row in rows]
    assert [one.hands.tolist() for one in view] == [[hand] for hand in hands]
    to_move = games.to_move() == 1
    assert np.array_equal(view.masks(), games.masks(games.everyone) * to_move[:, None])
    assert np.array_equal(view.observations(), games.observations(games.everyone, 1))
    assert [len(view.history(index)) for index in (0, 1, 2)] == [0, 1, 1]
    assert view.history(2)[0].action == DRAW_UPCARD
    others = games.views(games.everyone, 0)
    assert len({*view.array["random"].tolist(), *others.array["random"].tolist()}) == 6


def test_damaged_view_is_named_by_its_index():
    games = started(3)
    for damaged in (0, 2):
        for field, value in (("hand", 0), ("num_stock_draws", 9), ("player", 2)):
            records = games.views(games.everyone, 0).array.copy()
            (records if field == "player" else records["private"])[field][damaged] = value
            with pytest.raises(ValueError, match=f"record {damaged} is not a position of a hand"):
                PlayerView(records)
    for wrong in (records.reshape(3, 1), records["public"], list(records)):
        with pytest.raises(TypeError, match="one-dimensional array of dtype"):
            PlayerView(wrong)


def test_stock_draws_belong_to_the_selected_game():
    table = Table(HAND_0, HAND_1, "TD", "TS 3H", dealer=1).play("pass", "pass", "draw")
    games = started(2)
    games.state[1] = table.games.state[0]
    view = games.views(games.everyone, 0)
    assert (view.stock_draws(), view.stock_draws(1)) == ([], ids("TS"))
