"""Text, pictures and windows: `gin_env.ui.text` and the render modes of the environments."""

from __future__ import annotations

import copy
import sys
import warnings
from itertools import combinations

import numpy as np
import pytest
from hands_in_words import Table, deck_of, ids
from python_programs import run_python

from gin_env import agents, gin_rummy_v0
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.cards import cards_of
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES
from gin_env.observations.views import PlayerView
from gin_env.ui import screen, text

with warnings.catch_warnings():  # PettingZoo 1.27's own tests still use its deprecated imports
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import render_test

pytest.importorskip("PIL", reason='pictures need Pillow: pip install "gin-env[play]"')
from gin_env.ui import picture

# Player 0: three runs and KD, one card from gin; player 1: one set and a seven to lay off.
HAND_0, HAND_1 = "AC 2C 3C 4H 5H 6H 9S TS JS KD", "4C 4S 4D 7H 2D 3D 8D TD QH QC"
both_environments = pytest.mark.parametrize("make", [gin_rummy_v0.raw_env, gin_rummy_v0.env])


@pytest.fixture
def pygame_without_screen(monkeypatch):
    pygame = pytest.importorskip("pygame", reason='the window needs pygame: pip install "gin-env[play]"')
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(gin_rummy_v0.raw_env.metadata, "render_fps", 1000)
    return pygame


def table(upcard: str = "KS", stock: str = "9D 8C", **options) -> Table:
    return Table(HAND_0, HAND_1, upcard, stock, **options)


def text_of(one: Table, viewer: int | None = None) -> list[str]:
    return text.text(one.games.state[0], viewer).split("\n")


def picture_of(one: Table, viewer: int | None = None) -> np.ndarray:
    from gin_env.ui import picture  # which a test removes

    return picture.image(one.games.state[0], viewer)


# --- Text ---------------------------------------------------------------------------------------------


def test_text_of_the_deal():
    assert text_of(table()) == [
        "Gin Rummy, hand 1, turn 1; score 0 : 0, game at 100",
        "  player_1 (dealer): 4♣ 4♠ 4♦  set  |  2♦ 3♦ 7♥ 8♦ 10♦ Q♣ Q♥  deadwood 50",
        "> player_0: A♣ 2♣ 3♣  run  |  4♥ 5♥ 6♥  run  |  9♠ 10♠ J♠  run  |  K♦  deadwood 10",
        "  stock: 31 cards; discard pile, top last: K♠",
        "  last: The cards have been dealt",
        "  now:  player_0 may take the upcard K♠ or pass",
    ]


@pytest.mark.parametrize(
    ("moves", "last", "now"),
    [
        (["pass"], "player_0 passed", "player_1 may take the upcard K♠ or pass"),
        (["pass", "pass"], "player_1 passed", "player_0 must draw from the stock: both have passed"),
        (["pass", "pass", "draw"], "player_0 drew 9♦ from the stock", "player_0 to discard"),
        (["take"], "player_0 took the upcard K♠", "player_0 to discard"),
        (["take", "KD"], "player_0 discarded K♦", "player_1 to draw: the stock, or the upcard K♦"),
    ],
)
def test_last_action_and_phase_in_words(moves, last, now):
    assert text_of(table().play(*moves))[-2:] == [f"  last: {last}", f"  now:  {now}"]


def test_discard_pile_in_words():
    def pile(*moves: str) -> str:
        return text_of(table().play(*moves))[3].split("top last: ")[1]

    assert pile("take") == "empty"
    assert pile("take", "KD") == "K♦"
    assert pile("pass", "pass", "draw", "KD") == "K♠ K♦"
    assert pile("pass", "pass", "draw", "KD", "take") == "K♠"
    assert pile("pass", "pass", "draw", "KD", "draw", "8C", "draw", "9D") == "K♠ K♦ 8♣ 9♦"


@pytest.mark.parametrize(
    ("hand_1", "upcard", "now"),
    [
        (HAND_1, "KS", "player_0 knocks with 10 against 42: 32 points"),
        (HAND_1, "QS", "player_0 has gin against 50: 75 points"),
        (
            "4C 4S 4D 7H 7C 7S 7D 8D 8C 8H",
            "KS",
            "player_0 knocks with 10, player_1 undercuts with 0: 35 points",
        ),
    ],
)
def test_outcome_in_words(hand_1, upcard, now):
    lines = text_of(Table(HAND_0, hand_1, upcard).play("take", "knock KD"))
    assert lines[-1] == f"  now:  {now}"
    assert lines[-2] == "  last: player_0 discarded K♦ and knocked"


@pytest.mark.parametrize(("card", "symbol"), [("AC", "A♣"), ("2S", "2♠")])
def test_a_knock_with_any_card_is_told(card, symbol):
    """The action of the ace of clubs is the first of all knocks."""
    hand = "AC 2S 3H 4H 5H 6C 7C 8C 9S 9C"
    lines = text_of(Table(hand, HAND_1, "9D").play("take", f"knock {card}"))
    assert lines[-2] == f"  last: player_0 discarded {symbol} and knocked"


def test_lay_offs_are_shown():
    lines = text_of(table().play("take", "knock KD"))
    assert lines[1] == (
        "  player_1 (dealer) defends: 2♦ 3♦ 4♦  run  |  4♣ 7♥  laid off  |  4♠ 8♦ 10♦ Q♣ Q♥  deadwood 42"
    )
    assert lines[2].startswith("  player_0 knocked: ")


@pytest.mark.parametrize("rules", [Rules(), Rules(big_gin_bonus=31)])
def test_nothing_is_laid_off_on_gin(rules):
    one = Table("AC 2C 3C 4H 5H 6H 8S 9S TS JS", HAND_1, "KS", "QS", rules=rules)
    one.play("pass", "pass", "draw", "knock QS")
    assert "laid off" not in str(text.describe(one.games.state[0]).hands[1])


def test_deadwood_cards_shown_are_those_counted():
    env = gin_rummy_v0.raw_env()
    bot = agents.make("simple")
    endings = set()
    for seed in range(60):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            env.step(bot.act(PlayerView.from_env(env, env.agent_selection))[0])
        game = env.games.state[0]
        endings.add(OUTCOME_NAMES[game["public"]["outcome"]])
        for player, hand in enumerate(text.describe(game).hands):
            captions = [caption for _, caption in hand.groups if caption.startswith("deadwood")]
            left = int(game["public"]["deadwood"][player])
            assert captions == ([f"deadwood {left}"] if left else [])
            shown = [card for cards, _ in hand.groups for card in cards]
            assert sorted(shown) == cards_of(int(game["private"]["hand"][player]))
    assert endings >= {"knock", "gin", "undercut"}


def test_void_hand_in_words():
    env = gin_rummy_v0.raw_env(render_mode="ansi")
    env.reset(seed=1)
    while not any(env.terminations.values()):  # the first legal action is never a knock
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert env.render().endswith("now:  The hand is void: nobody scores")


def test_text_and_picture_describe_the_last_hand():
    env = gin_rummy_v0.raw_env(render_mode="ansi", episode="game")
    env.reset(options={"deck": deck_of(HAND_0, HAND_1, "KS"), "dealer": 1})
    assert "last: The cards have been dealt" in env.render()
    env.step(105)
    env.step(52 + 3 * 13 + 12)  # knock with KD
    assert "hand 2, turn 1; score 32 : 0" in env.render()
    assert "last: player_0 won 32 points in the last hand by knocking" in env.render()
    state, shown = env.get_state(), picture.image(env.games.state[0], last_hand=env.games.results[0])
    assert (shown != picture.image(env.games.state[0])).any()
    env.reset()
    assert "last: The cards have been dealt" in env.render()
    env.set_state(state)
    assert "last: player_0 won 32 points in the last hand by knocking" in env.render()


# --- Hidden cards -------------------------------------------------------------------------------------


@pytest.mark.parametrize("moves", [[], ["pass", "pass", "draw"], ["pass", "pass", "draw", "KD"]])
def test_hidden_cards_do_not_affect_a_players_rendering(moves):
    # Player 1 is the viewer; player 0's cards and draw are exchanged.
    one = table(stock="9D 8C").play(*moves)
    other = Table("AH 2H 3H 5C 6C 7C 9H TC JC KD", HAND_1, "KS", "8H JD").play(*moves)
    assert text_of(one, viewer=1) == text_of(other, viewer=1)
    np.testing.assert_array_equal(picture_of(one, viewer=1), picture_of(other, viewer=1))
    assert text_of(one) != text_of(other)
    assert (picture_of(one) != picture_of(other)).any()


def test_both_hands_are_visible_after_a_knock():
    one = table().play("take", "knock KD")
    assert text_of(one, viewer=0) == text_of(one, viewer=1) == text_of(one)


# --- Picture ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "error"), [(0, ValueError), (5000, ValueError), (480.0, TypeError)])
def test_invalid_width_is_refused(width, error):
    with pytest.raises(error, match="width must be"):
        picture.image(table().games.state[0], width=width)


@pytest.mark.parametrize("width", [480, 960])
def test_cards_and_suits_differ_even_without_colours(width):
    faces = [picture._card_face(card, width) for card in range(52)]
    assert len({face.tobytes() for face in faces}) == 52
    grey = np.stack([np.asarray(face.convert("RGB").convert("L"), np.float64) for face in faces])
    inked = grey < 180  # black on white: the shapes alone
    for card, other in combinations(range(52), 2):
        share = (inked[card] ^ inked[other]).sum() / inked[card].sum()
        assert share > (0.1 if card % 13 == other % 13 else 0.02)
    for changed in ({"marked": True}, {"under": True}):
        assert picture._card_face(7, width, **changed).tobytes() != faces[7].tobytes()


@pytest.mark.parametrize("width", [480, 960])
def test_picture_shows_melds_and_the_upcard(width):
    game = table().play("take", "KD").games.state[0]
    drawn = picture.image(game, width=width)

    def shown(left: int, top: int, tile) -> bool:
        left, top = picture.scaled(left, width), picture.scaled(top, width)
        part = drawn[top : top + tile.height, left : left + tile.width]
        inside = np.asarray(tile)[..., 3] == 255
        return bool((part[inside] == np.asarray(tile)[inside][:, :3]).all())

    def face(card: str):
        return picture._card_face(ids(card)[0], width)

    step, gap = picture.CARD_STEP, picture.GROUP_GAP
    assert all(shown(32 + step * place, 392, face(card)) for place, card in enumerate(["AC", "2C", "3C"]))
    assert shown(32 + 3 * step + gap, 392, face("4H"))
    assert not shown(32 + 3 * step, 392, face("4H"))  # a gap separates the melds
    assert shown(32 + 9 * step + 3 * gap, 392, face("KS"))
    assert shown(picture.PILE_LEFT, 206, face("KD"))
    drawn = picture.image(game, viewer=0, width=width)
    assert all(shown(32 + step * place, 42, picture._card_back(width)) for place in range(10))


def test_long_names_stay_on_the_table():
    game = table().play("take", "KD").games.state[0]
    long = picture.image(game, names=["runs/1/policy.safetensors" * 4, "W" * 18])
    margin = np.asarray(picture._felt(960))[:, -14:]
    np.testing.assert_array_equal(long[:, -14:], margin)
    assert (long != picture.image(game)).any()
    assert text.describe(game, names=("ann", "bob")).last == "ann discarded K♦"
    assert text.describe(game, names=("ann", "bob")).now == "bob to draw: the stock, or the upcard K♦"


def test_suit_does_not_touch_the_text_after_it():
    pixels = np.asarray(picture._line("♣|", 60, picture.WHITE))[..., 3]
    inked = pixels.max(axis=0) > 64
    shown = "".join("x" if one else " " for one in inked).strip()
    assert len(shown.strip("x")) >= 60 // 12, "columns between the suit and the line"


@pytest.mark.parametrize("width", [240, 480, 960])
def test_long_lines_are_written_smaller(width):
    sheet = picture._Sheet(width)
    sheet.write((picture.MARGIN, 566), "W" * 70, 25, picture.GOLD)
    margin = slice(-picture.scaled(picture.MARGIN, width) + 1, None)
    np.testing.assert_array_equal(
        np.asarray(sheet.picture)[:, margin], np.asarray(picture._felt(width))[:, margin]
    )


# --- Render modes of the environment ------------------------------------------------------------------


@both_environments
def test_pettingzoo_render_check_passes(make, pygame_without_screen):
    render_test(make)


@both_environments
def test_render_without_a_mode_warns(make):
    env = make()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render\\(\\) needs a render_mode"):
        assert env.render() is None


def test_window_shows_each_step_and_closes(pygame_without_screen):
    env = gin_rummy_v0.raw_env(render_mode="human")
    env.reset(seed=1)
    shown = pygame_without_screen.surfarray.array3d(pygame_without_screen.display.get_surface())
    np.testing.assert_array_equal(shown.swapaxes(0, 1), picture_of(env))
    env.step(106)
    shown = pygame_without_screen.surfarray.array3d(pygame_without_screen.display.get_surface())
    np.testing.assert_array_equal(shown.swapaxes(0, 1), picture_of(env))
    env.close()
    assert not pygame_without_screen.display.get_init()
    pygame_without_screen.display.init()  # by the program of the user
    env.close()
    assert pygame_without_screen.display.get_init()


def test_copied_environment_opens_its_own_window(pygame_without_screen):
    env = gin_rummy_v0.raw_env(render_mode="human")
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    twin.step(106)
    assert twin.games.state["public"]["history_length"][0] == 1
    assert twin._screen._window is not env._screen._window
    twin.close()
    env.close()


def test_game_continues_after_the_window_is_closed(pygame_without_screen):
    env = gin_rummy_v0.raw_env(render_mode="human")
    env.reset(seed=1)
    pygame_without_screen.event.post(pygame_without_screen.event.Event(pygame_without_screen.QUIT))
    env.step(106)
    assert not pygame_without_screen.display.get_init()
    env.step(106)
    assert not pygame_without_screen.display.get_init()
    assert env.games.state["public"]["history_length"][0] == 2


@pytest.mark.parametrize("environment", [gin_rummy_v0.raw_env, GinRummyEnv, GinRummyVectorEnv])
def test_every_environment_has_render_fps(environment):
    assert "rgb_array" in environment.metadata["render_modes"]
    assert environment.metadata["render_fps"] == 2


def test_gymnasium_environments_draw_the_same_picture():
    one, two = GinRummyEnv(render_mode="rgb_array"), GinRummyVectorEnv(2, render_mode="rgb_array")
    one.reset(seed=5)
    two.reset(seed=4)
    drawn = two.render()
    assert len(drawn) == 2
    np.testing.assert_array_equal(one.render(), drawn[1])
    np.testing.assert_array_equal(drawn[0], picture.image(two.seat.games.state[0]))


# --- Imports ------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.compiled
def test_playing_imports_no_renderer():
    code = (
        "import sys\n"
        "from gin_env import gin_rummy_v0\n"
        "env = gin_rummy_v0.env(render_mode='rgb_array')\n"
        "env.reset(seed=1)\n"
        "env.step(106)\n"
        "print({'PIL', 'pygame', 'gin_env.ui.text', 'gin_env.ui.picture'} & set(sys.modules))\n"
    )
    assert run_python("-c", code).stdout.strip() == "set()"


def test_missing_package_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "gin_env.ui.picture", raising=False)
    monkeypatch.delattr("gin_env.ui.picture", raising=False)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match='a picture needs Pillow: pip install "gin-env\\[play\\]"'):
        picture_of(table())
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match='a window needs pygame: pip install "gin-env\\[play\\]"'):
        screen.Window(2)
    assert text_of(table())[0].startswith("Gin Rummy")  # text needs neither
