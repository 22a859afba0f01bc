"""The playing screen, driven by Textual's pilot: keys, mouse, hints, beliefs, sizes, colours and saves."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from hand_endings import Plain, person_to_discard, plain_action

pytest.importorskip("textual", reason='the playing screen needs Textual: pip install "gin-env[play]"')

from screens import LARGE, SEED, Judge, Raises, Steps, play_hands, run_screen, text_of, to_move, wait_for
from waiting_bots import WaitingBot, WaitingJudge

from gin_env import estimators
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import card_id
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD
from gin_env.records import read_one
from gin_env.ui.human_game import HumanGame
from gin_env.ui.play_app import PlayApp
from gin_env.ui.play_drawing import heat_style
from gin_env.ui.play_view import PlayView
from gin_env.ui.statistics import Statistics
from gin_env.ui.visible_table import action_name, visible_table


@pytest.fixture(autouse=True)
def judge(monkeypatch):
    """Advice that takes no time."""
    monkeypatch.setattr("gin_env.ui.table_app.Adviser", Judge)


def on_screen(
    steps: Steps, game: HumanGame | None = None, size: tuple[int, int] = LARGE, **options
) -> PlayApp:
    """Run these steps at a playing screen."""

    async def settled(app: PlayApp, pilot) -> None:
        await settle(app, pilot)
        await steps(app, pilot)

    of_app = {name: options.pop(name) for name in ("save_to", "finished", "resumed") if name in options}
    table = PlayView(game or HumanGame("simple", SEED), **options)
    return run_screen(PlayApp(table, bot_delay=0, **of_app), settled, size)


async def settle(app: PlayApp, pilot) -> None:
    """Wait until the bot has acted and everything is drawn."""
    await pilot.pause()
    await wait_for(pilot, lambda: not (app.game.waits_for_bot or app.shown.asked) or app.failure)


async def press(app: PlayApp, pilot, *keys: str) -> None:
    await pilot.press(*keys)
    await settle(app, pilot)


def keys_of(game: HumanGame, action: int) -> list[str]:
    """Return the keys that carry out an action."""
    simple = {DRAW_STOCK: "s", DRAW_UPCARD: "u", PASS: "p"}
    if action in simple:
        return [simple[action]]
    cards = [card for group in visible_table(game.view, "").hand for card in group.cards]
    return [
        "1234567890-"[cards.index(action % KNOCK)].replace("-", "minus"),
        "k" if action >= KNOCK else "enter",
    ]


async def to_discard(app: PlayApp, pilot) -> None:
    """Draw from the stock, once the opening offer is over."""
    while app.game.view.array["public"]["phase"][0] != DISCARD:
        await press(app, pilot, "p" if PASS in app.game.legal() else "s")


@pytest.mark.long
@pytest.mark.compiled
def test_hand_played_with_hints_ends_with_its_scoring_and_review():
    async def steps(app, pilot):
        await press(app, pilot, "h")
        while app.game.ended is None:
            view = app.game.view
            best = Judge().advise(view).best.action
            upcard = int(view.array["public"]["upcard"][0])
            assert f"→ {action_name(best, upcard, hand=int(view.hands[0]))}" in text_of(app)
            await press(app, pilot, *keys_of(app.game, plain_action(view.masks()[0])))
        public = app.game.view.array["public"][0]
        scores, dealer = public["scores"].tolist(), int(public["dealer"])
        await pilot.pause()
        said = text_of(app)
        assert f"{public['points']} for {'you' if scores[0] else 'Nora'}." in said
        assert f"Score: you {scores[0]}, Nora {scores[1]}; 100 points win the game." in said
        assert "points lost" in said
        assert "Judged by judge" in said
        assert "What you could believe" in said
        assert "what was held" in said
        await press(app, pilot, "enter")
        assert app.game.view.array["public"]["dealer"][0] == 1 - dealer
        await pilot.pause()
        assert f"You {scores[0]} : {scores[1]} Nora" in text_of(app)
        assert "Stock" in text_of(app), "the table of the next hand"

    on_screen(steps, HumanGame("simple", SEED), size=(120, 60))


def test_keys_draw_select_and_discard():
    async def steps(app, pilot):
        await to_discard(app, pilot)
        assert "Choose a card" in text_of(app)
        await press(app, pilot, "enter")
        assert "Choose a card first" in text_of(app)
        await press(app, pilot, "left", "right", "left")
        chosen = [card for group in visible_table(app.game.view, "").hand for card in group.cards][-1]
        assert "Enter discards it" in text_of(app)
        await press(app, pilot, "d")
        assert chosen in app.game.actions

    on_screen(steps)


def test_mouse_draws_selects_and_discards():
    async def steps(app, pilot):
        while PASS in app.game.legal():
            await press(app, pilot, "p")
        assert await pilot.click("#stock")
        await settle(app, pilot)
        assert app.game.actions[-1] == DRAW_STOCK
        cards = [card for group in visible_table(app.game.view, "").hand for card in group.cards]
        for _ in range(2):
            await pilot.click(".card", offset=(4 * 10 + 2, 1))
            await settle(app, pilot)
        places = [place for place in app.query(".card") if place.display]
        assert len(cards) in (10, 11)
        assert cards[10] in app.game.actions
        assert len(places) == 10
        if DRAW_UPCARD in app.game.legal():
            await pilot.click("#upcard")
            await settle(app, pilot)
            assert app.game.actions[-1] == DRAW_UPCARD

    on_screen(steps, HumanGame(Plain(), 1))


@pytest.mark.parametrize("way", ["enter", "d", "k", "click"])
def test_card_that_makes_gin_goes_gin(way):
    async def steps(app, pilot):
        assert "Choose a card to discard, or go gin with K♦." in text_of(app)
        await press(app, pilot, "h", "minus")
        said = text_of(app)
        assert "→ go gin with K♦" in said.replace("knock", "go gin")
        assert "K♦ leaves no deadwood: Enter goes gin." in said
        assert re.search("Go gin.*Discard, no gin", said.splitlines()[-1])
        if way == "click":
            assert await pilot.click(app.query(".card").last())
            await settle(app, pilot)
        else:
            await press(app, pilot, way)
        assert "You go gin" in text_of(app)

    on_screen(steps, person_to_discard("gin by 0", "simple"))


def test_gin_is_given_up_only_by_its_own_key():
    async def steps(app, pilot):
        await press(app, pilot, "1")
        assert "Gin is possible with K♦; Enter discards A♣." in text_of(app)
        await press(app, pilot, "x")
        assert "x is for a chosen card that makes gin." in text_of(app)
        await press(app, pilot, "minus", "x")
        assert app.game.actions[3] == card_id("KD")

    on_screen(steps, person_to_discard("gin by 0", "simple"))


@pytest.mark.parametrize(
    ("keys", "action"), [(("minus", "enter"), card_id("KD")), (("k",), KNOCK + card_id("KD"))]
)
def test_possible_knock_is_made_by_its_own_key_with_the_best_card(keys, action):
    async def steps(app, pilot):
        if len(keys) > 1:
            await press(app, pilot, keys[0])
            assert "K♦ leaves 2 deadwood: Enter discards it, k knocks." in text_of(app)
        await press(app, pilot, keys[-1])
        assert app.game.actions[3:4] == [action]

    on_screen(steps, person_to_discard("knock by 0", "simple"))


def test_discarding_the_card_just_taken_shows_a_message():
    async def steps(app, pilot):
        while DRAW_UPCARD not in app.game.legal():
            await press(app, pilot, "s")
        taken = int(app.game.view.array["public"]["upcard"][0])
        await press(app, pilot, "u")
        await press(app, pilot, *keys_of(app.game, taken))
        assert "was just taken from the discard pile" in text_of(app)
        assert app.game.actions[-1] == DRAW_UPCARD

    on_screen(steps)


def test_hint_compares_three_moves_and_says_why():
    async def steps(app, pilot):
        await press(app, pilot, "h")
        said = text_of(app)
        assert re.search(r"→ pass +53 +\d+ +\d+", said)
        assert re.search(r"take \S+ +52 +\d+ +\d+", said)
        assert re.search("win left help +risk", said)

    on_screen(steps, to_move(HumanGame("simple", SEED)), size=(120, 40))


def test_heat_map_shows_the_estimator_probabilities():
    async def steps(app, pilot):
        assert "  A  2  3" not in text_of(app)
        await press(app, pilot, "b")
        chances = estimators.make("bayes").estimate(app.game.view)[0]
        rows = {line[1]: line for line in text_of(app).splitlines() if re.match(r" [♣♥♠♦] ", line)}
        assert len(rows) == 4
        for suit, symbol in enumerate("♣♥♠♦"):
            cells = re.findall(r" *(\d+|·|■)", rows[symbol][2:42])
            shown = [0 if cell == "·" else 100 if cell == "■" else int(cell) for cell in cells]
            assert shown == [round(100 * float(chance)) for chance in chances[13 * suit : 13 * suit + 13]]
        await press(app, pilot, "b")
        assert "  A  2  3" not in text_of(app)

    on_screen(steps)


def test_clairvoyant_estimator_is_refused():
    async def steps(app, pilot):
        await press(app, pilot, "b")
        assert "sees the opponent's hand" in " ".join(text_of(app).split())

    on_screen(steps, estimator="omniscient")


def test_heat_map_cells_brighten_with_the_probability():
    """Brightness alone shows the probability, without colours."""
    light = [sum(heat_style(per_cent).bgcolor.triplet) for per_cent in range(0, 101, 10)]
    assert light == sorted(light)
    assert len(set(light)) == len(light)


def test_saved_game_shows_the_same_screen(tmp_path):
    save = tmp_path / "game.json"
    shown = []

    async def first(app, pilot):
        await to_discard(app, pilot)
        await press(app, pilot, "b", "left", "enter")
        shown.append(text_of(app))
        await pilot.press("q")

    async def again(app, pilot):
        await press(app, pilot, "b")
        shown.append(text_of(app))

    on_screen(first, save_to=save)
    on_screen(again, HumanGame.load(save))
    assert shown[0] == shown[1]
    assert "discard" in shown[0]


def test_opening_a_new_game_keeps_the_saved_game(tmp_path):
    save = tmp_path / "game.json"
    save.write_text("kept before")

    async def steps(app, pilot):
        await press(app, pilot, "h", "q")

    app = on_screen(steps, HumanGame(Plain(), SEED), save_to=save)
    assert app.game.actions  # of the bot, which begins
    assert not app.is_kept
    assert save.read_text() == "kept before"


def test_resumed_game_is_saved_after_the_bot_has_acted(tmp_path):
    save = tmp_path / "game.json"
    game = HumanGame(Plain(), SEED)
    assert game.waits_for_bot
    game.save(save)

    async def nothing(app, pilot):
        pass

    app = on_screen(nothing, game, save_to=save, resumed=True)
    assert app.is_kept
    assert list(read_one(save, 1).hands[-1].actions) == app.game.actions[-1:] != []


@pytest.mark.long
def test_finished_game_is_returned_and_its_save_removed(tmp_path):
    done, save = [], tmp_path / "game.json"
    game = HumanGame(Plain(), SEED)
    for table in (game._game, game._hand):
        table.state["public"]["scores"] = 99

    async def steps(app, pilot):
        while not app.game.is_over:
            app._act(int(Plain().act(app.game.view)[0]))
            await settle(app, pilot)
            if not app.game.is_over:
                assert save.exists()
        assert not save.exists()
        assert "the game, " in text_of(app)
        before = app.game.seed
        await press(app, pilot, "enter")
        assert (app.game.seed, app.game.is_over) == (before + 1, False)

    on_screen(steps, game, save_to=save, finished=done.append)
    assert done == [game]


@pytest.mark.parametrize(
    ("size", "shown", "hidden"),
    [
        ((120, 40), ["╭─────", "took", "hand    You  Nora  outcome", "Quit"], ["too small"]),
        ((80, 24), ["╭───", "took", "Quit"], ["too small"]),
        ((79, 24), ["Stock ", "Upcard ", "took"], ["╭───", "too small"]),
        ((48, 13), ["Stock ", "Upcard ", "deadwood"], ["╭───", "too small"]),
        ((47, 13), ["47 x 13 is too small"], ["Stock"]),
        ((30, 8), ["30 x 8 is too small"], ["Stock"]),
    ],
)
def test_layout_fits_each_terminal_size(size, shown, hidden):
    async def steps(app, pilot):
        said = text_of(app)
        assert [words for words in shown if words not in said] == []
        assert [words for words in hidden if words in said] == []
        if "too small" not in said:
            cards = [card for group in visible_table(app.game.view, "", True).hand for card in group.cards]
            assert len([place for place in app.query(".card") if place.region.right <= size[0]]) >= len(cards)

    on_screen(steps, size=size)


def test_enlarged_window_shows_the_cards():
    async def steps(app, pilot):
        assert "╭───" not in text_of(app)
        await pilot.resize_terminal(*LARGE)
        await settle(app, pilot)
        assert "╭───" in text_of(app)

    on_screen(steps, size=(60, 20))


def test_suits_are_letters_on_request():
    async def steps(app, pilot):
        await press(app, pilot, "b", "h")
        said = text_of(app)
        assert not re.search("[♣♥♠♦]", said)
        assert all(f"{suit} " in said for suit in "CHSD")

    on_screen(steps, letters=True)


class Broken:
    name = "broken"

    def act(self, view):
        return np.array([card_id("AC")])


@pytest.mark.parametrize(
    ("bot", "message"), [(Broken(), "illegal action by bot 'broken'"), (Raises(), "gin-env[train]")]
)
def test_any_error_of_the_opponent_closes_the_screen(bot, message):
    async def steps(app, pilot):
        while app.failure is None:
            await press(app, pilot, *keys_of(app.game, app.game.legal()[-1]))

    assert message in str(on_screen(steps, HumanGame(bot, 1)).failure)


@pytest.mark.parametrize("key", ["h", "b"])
def test_any_error_of_a_hint_or_belief_is_shown(monkeypatch, key):
    """The brackets of its message are no markup."""

    def fail(name):
        raise ImportError("install gin-env[train] for [/tmp/x]")

    for name in ("Adviser", "estimator_of_hand"):
        monkeypatch.setattr(f"gin_env.ui.table_app.{name}", fail)

    async def steps(app, pilot):
        await press(app, pilot, key)
        assert "gin-env[train]" in text_of(app)
        assert "[/tmp/x]" in text_of(app)
        assert app.shown._adviser.made is app.shown._estimator.made is None, (
            "it is made again for the next question"
        )

    on_screen(steps)


@pytest.mark.parametrize("key", ["p", "q"])
def test_game_that_cannot_be_saved_closes_the_screen(tmp_path, key):
    folder = tmp_path / "saves"
    folder.mkdir()

    async def steps(app, pilot):
        while PASS not in app.game.legal():
            await press(app, pilot, "enter")
        if key == "q":
            await press(app, pilot, "p")
        shutil.rmtree(folder)
        await pilot.press(key)

    app = on_screen(steps, save_to=folder / "game.json")
    assert isinstance(app.failure, OSError)


@pytest.mark.long
def test_game_that_cannot_be_recorded_closes_the_screen():
    def finished(game):
        raise OSError("the disk is full")

    async def steps(app, pilot):
        while not app.game.is_over:
            app._act(int(Plain().act(app.game.view)[0]))
            await settle(app, pilot)

    game = HumanGame(Plain(), SEED, Rules(max_hands=1))
    assert str(on_screen(steps, game, finished=finished).failure) == "the disk is full"


def test_help_lists_keys_and_rules():
    async def steps(app, pilot):
        await press(app, pilot, "question_mark")
        assert "draw from the stock" in text_of(app)
        await press(app, pilot, "escape")
        assert "Upcard" in text_of(app) or "upcard" in text_of(app)

    on_screen(steps)


def test_unavailable_key_explains_why():
    async def steps(app, pilot):
        before = list(app.game.actions)
        for key, reason in (
            ("s", "The upcard is offered first: take it or pass."),
            *((key, "Draw first.") for key in ("k", "d", "enter", "3", "left")),
            ("z", "z has no meaning here: ? shows the keys."),
        ):
            await press(app, pilot, key)
            assert reason in text_of(app)
            assert app.game.actions == before

    on_screen(steps, to_move(HumanGame("simple", SEED)))


def test_refused_knock_names_the_limit_of_the_hand():
    async def steps(app, pilot):
        await to_discard(app, pilot)
        await press(app, pilot, "k")
        assert f"you need {limit} deadwood or less" in text_of(app)

    game = HumanGame("simple", 3, Rules.preset("oklahoma"))
    limit = int(game.view.array["public"]["knock_limit"][0])
    assert limit < game.rules.knock_limit
    on_screen(steps, game)


def test_keys_at_the_end_of_a_hand_explain_why():
    async def steps(app, pilot):
        for key, reason in (("s", "Enter begins a new hand"), ("h", "The hand is over")):
            await press(app, pilot, key)
            assert reason in text_of(app)

    on_screen(steps, play_hands(HumanGame("simple", SEED)))


def test_slow_opponent_does_not_block_the_screen():
    slow = WaitingBot(Plain())

    async def steps(app, pilot):
        while app.game.waits_for_person:
            await pilot.press("p")
        await wait_for(pilot, slow.asked.is_set)
        before = list(app.game.actions)
        await wait_for(pilot, lambda: "plain is thinking" in text_of(app))
        await pilot.press("s")
        await pilot.pause()
        assert "It is plain's turn." in text_of(app)
        assert app.game.actions == before
        slow.release.set()
        await settle(app, pilot)
        assert len(app.game.actions) > len(before)
        assert "is thinking" not in text_of(app)

    run_screen(PlayApp(PlayView(HumanGame(slow, SEED)), bot_delay=0), steps)


# --- Statistics -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_results_are_counted_kept_and_shown(tmp_path):
    path = tmp_path / "statistics.json"

    async def play_on(app, pilot):
        while not app.game.is_over:
            app._act(int(Plain().act(app.game.view)[0]))
            await settle(app, pilot)
        last = app.game.record()
        won = [sum(hand.winner == player for hand in last.hands) for player in (0, 1)]
        expected = f"games won {int(last.winner == 0)}, lost {int(last.winner == 1)}; "
        expected += f"hands won {won[0]}, lost {won[1]}"
        assert f"Against Nora: {expected}" in text_of(app)
        assert Statistics(path).against("simple").text.startswith(expected)
        await press(app, pilot, "t")
        shown = text_of(app)
        assert f"simple: {expected}" in shown
        assert len(re.findall(r"(knock|gin|undercut) \d+", shown)) == sum(won)

    on_screen(play_on, HumanGame("simple", SEED, Rules(max_hands=1)), statistics=Statistics(path))
    before = path.read_text()
    game = play_hands(HumanGame("simple", SEED))
    on_screen(lambda app, pilot: press(app, pilot, "h"), game, statistics=Statistics(path))
    assert path.read_text() == before  # the end of a hand that was counted before is not counted again


@pytest.mark.parametrize(
    "content",
    [
        *("{", "[]", '{"simple": 5}', '{"simple": {"hands_won": -1}}', "\x00"),
        *('{"simple": {"points": {}}}', '{"simple": {"points": [1000001]}}', '{"\\u001b[2J": {}}'),
    ],
)
def test_damaged_statistics_are_refused_and_kept(tmp_path, content):
    path = tmp_path / "statistics.json"
    path.write_text(content)
    with pytest.raises(ValueError, match="statistics"):
        Statistics(path)
    assert path.read_text() == content


def test_keys_work_while_a_hint_is_computed(monkeypatch):
    """A slow hint does not block the screen: a message says that it is computed, and keys work."""
    slow = WaitingJudge(Judge())
    monkeypatch.setattr("gin_env.ui.table_app.Adviser", lambda _: slow)

    async def steps(app, pilot):
        await pilot.press("h")
        await wait_for(pilot, slow.asked.is_set)
        assert "The moves are played out" in text_of(app)
        app.shown.show()
        assert len(app.workers) == 1, "asked once for all drawings of the screen"
        await pilot.press("p")
        await pilot.pause()
        assert app.game.actions[-1:] or app.game.waits_for_bot
        assert len(app.game.actions) > before
        slow.release.set()
        await settle(app, pilot)

    game = to_move(HumanGame("simple", SEED))
    before = len(game.actions)
    on_screen(steps, game)


@pytest.mark.parametrize("size", [(60, 20), (120, 40)])
def test_cards_have_keys_and_captions_at_every_size(size):
    async def steps(app, pilot):
        shown = text_of(app)
        assert "deadwood" in shown.split("cards, deadwood")[1]  # below the cards, not only in the title
        assert re.search(r"1 +2 +3 +4 +5 +6 +7 +8 +9 +0", shown)
        assert max(map(len, shown.splitlines())) <= size[0]

    on_screen(steps, to_move(HumanGame("simple", SEED)), size=size)
