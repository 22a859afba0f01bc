"""The replay screen, driven by Textual's pilot: moves, hands, the review and beliefs."""

from __future__ import annotations

import os
import re
import sys

import pytest
from recorded_games import one_hand, two_hands_of_a_game
from reference_data import DATA
from screens import LARGE, Judge, Steps, run_screen, text_of, wait_for
from typer.testing import CliRunner
from waiting_bots import WaitingJudge

pytest.importorskip("textual", reason='the replay screen needs Textual: pip install "gin-env[play]"')

from gin_env import cli, estimators, play_match, records
from gin_env.game.cards import card_id, mask_of
from gin_env.game.state import NO_CARD
from gin_env.records import GameRecord
from gin_env.ui import replay_app
from gin_env.ui.replay_app import ReplayApp
from gin_env.ui.replay_view import ReplayView
from gin_env.ui.review import Choice, game_title, mistakes_of, review_hand
from gin_env.ui.text import describe as describe_table
from gin_env.ui.visible_table import action_name


@pytest.fixture(scope="module")
def game(tmp_path_factory) -> GameRecord:
    """A hand of several turns with draws from the stock and the pile."""
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    play_match("simple", "random-discard", 2, seed=3, episode="hand", record=path)
    return records.read_one(path, 1)


def on_screen(
    steps: Steps, game: GameRecord, size: tuple[int, int] = LARGE, most: int = 10, **options
) -> ReplayApp:
    """Run these steps at a replay screen."""
    return run_screen(ReplayApp(ReplayView(game, **options), most), steps, size)


@pytest.fixture(autouse=True)
def judge(monkeypatch):
    """Advice that takes no time."""
    monkeypatch.setattr("gin_env.ui.table_app.Adviser", Judge)


def mistakes(game: GameRecord) -> list[Choice]:
    """Return the mistakes of both players, the costliest first."""
    positions = game.positions()
    return mistakes_of([review_hand(game, positions, 0, player, Judge()) for player in (0, 1)])


async def press(pilot, *keys: str) -> None:
    """Press keys, and wait until every question is answered and everything is drawn."""
    await pilot.press(*keys)
    await pilot.pause()
    await wait_for(pilot, lambda: not (pilot.app.shown.asked or pilot.app.shown.judging))


def part_of(app: ReplayApp, name: str) -> str:
    """Return the text of one part of the screen."""
    area = app.query_one(f"#{name}").region
    lines = [strip.text for strip in app.screen._compositor.render_strips()]
    return "\n".join(line[area.x : area.right] for line in lines[area.y : area.bottom])


def cards_in(text: str) -> list[int]:
    """Return the cards named in a text, in order."""
    found = re.findall(r"(10|[2-9AJQK])([♣♥♠♦])", text)
    return [card_id(rank.replace("10", "T") + "CHSD"["♣♥♠♦".index(suit)]) for rank, suit in found]


def check_position(app: ReplayApp, place: int) -> None:
    """Check that hands, pile, stock and the move shown are those of the recorded position."""
    position = app.shown.positions[place]
    table = describe_table(position.state[0])
    hands = position.state["private"]["hand"][0].tolist()
    if position.over:
        laid = [cards_in(line) for line in part_of(app, "end-text").splitlines() if "│" in line]
        assert [mask_of(cards) for cards in laid] == hands[::-1]
        return
    for player, name in enumerate(("first", "second")):
        assert mask_of(cards_in(part_of(app, name))) == hands[player]
    under = cards_in(part_of(app, "pile"))
    public = position.state["public"][0]
    assert under == [card for card in reversed(table.pile) if card != public["upcard"]][: len(under)]
    assert len(under) >= min(len(table.pile) - 1, 12)
    assert cards_in(part_of(app, "upcard")) == [card for card in (int(public["upcard"]),) if card != NO_CARD]
    assert f"Stock {table.stock}" in part_of(app, "stock")
    what = action_name(position.action, int(public["upcard"]))
    if app.size.width < 50:
        what = what.replace("draw from the stock", "stock")
    step, name = app.shown.decisions.index(place) + 1, app.shown.names[position.player]
    said = part_of(app, "prompt").split("\n")[1]
    assert said.startswith(f"Step {step} of {len(app.shown.decisions)}, {name}: {what}")


def test_moves_are_shown_forwards_and_backwards(game):
    places = range(len(game.positions()))
    assert len(places) > 12

    async def steps(app, pilot):
        for place in places:
            check_position(app, place)
            await press(pilot, "right")
        assert app.shown.place == places[-1]
        for place in reversed(places):
            check_position(app, place)
            await press(pilot, "left")
        assert app.shown.place == 0

    on_screen(steps, game)


def test_next_card_to_leave_is_marked():
    """The fourth step of this hand is a knock with the king just drawn."""
    for size, mark in ((LARGE, "╰▲▲─╯"), ((60, 20), ">K♦")):

        async def steps(app, pilot, mark=mark):
            assert mark not in text_of(app)
            await press(pilot, "right", "right", "right")
            assert mark in part_of(app, "first")
            assert "knock with K♦" in part_of(app, "prompt")

        on_screen(steps, one_hand(), size)


def test_hand_scoring_names_both_players():
    async def steps(app, pilot):
        await press(pilot, "end")
        said = text_of(app)
        for words in (
            "ann discarded K♦ and knocked.",
            "ann wins by knocking: 65 points",
            "1. ann knocks with 2 deadwood (2♦).",
            "67 − 2 deadwood = 65 for ann.",
            "Score: ann 65, bob 0; 100 points win the game.",
            "ann (player_0) against bob (player_1), a single hand: ann won, 65 : 0.",
        ):
            assert words in said
        assert game_title(one_hand()) in said

    on_screen(steps, one_hand(), (120, 40))


def test_keys_jump_between_hands_of_an_unfinished_game():
    async def steps(app, pilot):
        shown = app.shown
        second = next(place for place, position in enumerate(shown.positions) if position.hand == 1)
        acts = sum(len(hand.actions) for hand in shown.game.hands)
        assert f"Step 1 of {acts}," in text_of(app)
        await press(pilot, "down")
        assert (shown.place, "hand 2" in text_of(app)) == (second, True)
        await press(pilot, "down")
        assert shown.place == second
        await press(pilot, "end")
        assert "The game was interrupted here." in text_of(app)
        await press(pilot, "up")
        assert shown.place == second
        await press(pilot, "up")
        assert (shown.place, "hand 1" in text_of(app)) == (0, True)
        await press(pilot, "end", "home")
        assert shown.place == 0

    on_screen(steps, two_hands_of_a_game())


# --- Mistakes ---------------------------------------------------------------------------------------------


def test_keys_jump_to_the_worst_moves_in_order(game):
    worst = mistakes(game)
    assert len(worst) > 3

    async def steps(app, pilot):
        for expected in (worst[0], worst[1], worst[2]):
            await press(pilot, "w")
            place = app.shown.decisions[expected.number - 1]
            check_position(app, place)
            assert app.shown.place == place
            assert f"This loses {expected.lost:.1f} points" in part_of(app, "opinion-text")
        await press(pilot, "W")
        assert app.shown.place == app.shown.decisions[worst[1].number - 1]
        await press(pilot, *["w"] * (len(worst) + 2))
        assert app.shown.place == app.shown.decisions[worst[-1].number - 1]

    on_screen(steps, game)


def test_review_table_jumps_to_each_mistake(game):
    worst = mistakes(game)

    async def steps(app, pilot):
        await press(pilot, "t")
        said = text_of(app)
        assert "simple: " in said
        assert "accuracy" in said
        rows = [line for line in said.splitlines() if re.search(r"  \d+\.\d +▎", line)]
        assert len(rows) == 3
        for row, one in zip(rows, worst, strict=False):
            assert row.split()[2] == str(one.number)
            assert f"{one.lost:.1f}" in row
        await press(pilot, "home", "down", "enter")
        assert app.shown.place == app.shown.decisions[worst[1].number - 1]
        await press(pilot, "w")
        assert app.shown.place == app.shown.decisions[worst[2].number - 1]
        await press(pilot, "t", "escape")
        assert app.shown.place == app.shown.decisions[worst[2].number - 1]

    on_screen(steps, game, most=3)


def test_only_the_given_player_is_reviewed(game):
    async def steps(app, pilot):
        await press(pilot, "t", "escape")
        assert {one.player for one in app.shown.reviews} == {1}

    on_screen(steps, game, players=(1,))


def test_game_without_a_mistake_says_so(game, monkeypatch):
    monkeypatch.setattr("gin_env.ui.review.SMALL", 1000)

    async def steps(app, pilot):
        await press(pilot, "w", "t")
        assert {str(said.message) for said in app._notifications} == {
            "No choice was clearly worse than the best."
        }
        assert app.shown.place == 0

    on_screen(steps, game)


def test_hint_compares_the_played_move_with_the_best(game):
    async def steps(app, pilot):
        place = app.shown.decisions[mistakes(game)[0].number - 1]
        app.action_go_to(place)
        await press(pilot, "h")
        side = part_of(app, "opinion-text")
        best = Judge().advise(app.shown.position.view()).best.action
        assert action_name(best, int(app.shown.position.state["public"]["upcard"][0])) in side
        assert re.search(r"\* ", side)
        await press(pilot, "h")
        assert "win left" not in text_of(app)

    on_screen(steps, game)


@pytest.mark.parametrize(("key", "sign"), [("h", "played out"), ("w", "Hand 1 of 1")])
def test_keys_work_while_moves_are_judged(game, key, sign, monkeypatch):
    slow = WaitingJudge(Judge())
    monkeypatch.setattr("gin_env.ui.table_app.Adviser", lambda _: slow)

    async def steps(app, pilot):
        await pilot.press(key)
        await wait_for(pilot, slow.asked.is_set)
        assert sign in re.sub(r"\s+", " ", part_of(app, "opinion-text"))
        await pilot.press("right")
        await pilot.pause()
        assert app.shown.place == 1
        slow.release.set()
        await press(pilot)
        assert sign not in re.sub(r"\s+", " ", part_of(app, "opinion-text"))

    on_screen(steps, game)


def test_any_error_of_the_judge_is_shown(game, monkeypatch):
    class Failing(Judge):
        def advise(self, view, played=None):
            raise IndexError("no such value")

    monkeypatch.setattr("gin_env.ui.table_app.Adviser", Failing)

    async def steps(app, pilot):
        await pilot.press("w")
        await wait_for(pilot, lambda: not app.shown.judging)
        assert [str(said.message) for said in app._notifications] == ["no such value"]

    on_screen(steps, game)


# --- Belief -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [LARGE, (60, 30)])
def test_belief_is_shown_next_to_the_actual_hand(game, size):
    async def steps(app, pilot):
        assert "can believe" not in text_of(app)
        await press(pilot, "b", *["right"] * 5)
        for viewer, key in ((app.shown.position.player, None), (0, "v"), (1, "v")):
            if key:
                await press(pilot, key)
            position = app.shown.position
            chances = estimators.make("bayes").estimate(position.view(viewer))[0]
            said = part_of(app, "belief")
            assert f"What {app.shown.names[viewer]} can believe, per cent" in said
            assert f"hat {app.shown.names[1 - viewer]} holds" in said
            rows = [line for line in said.splitlines() if re.match(r"[♣♥♠♦] ", line)]
            cells = [re.findall(r" *(\d+|·|■)", row[2:41]) for row in rows]
            shown = [0 if cell == "·" else 100 if cell == "■" else int(cell) for row in cells for cell in row]
            assert shown == [round(100 * float(chance)) for chance in chances]
            right = [line[43:] for line in said.splitlines()[2:6]]
            below = said.splitlines()[-4:]
            truth = right if size == LARGE else below
            held = [cell == "■" for row in truth for cell in row.split()]
            hand = int(position.state["private"]["hand"][0][1 - viewer])
            assert held == [bool(hand >> card & 1) for card in range(52)]

    on_screen(steps, game, size)


# --- Sizes, help, files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "shown", "hidden"),
    [
        ((80, 24), ["╭───", "took", "Help"], ["too small"]),
        ((48, 13), ["Stock 31", "took"], ["╭───", "too small"]),
        ((47, 13), ["47 x 13 is too small"], ["Stock"]),
    ],
)
def test_layout_fits_each_terminal_size(game, size, shown, hidden):
    async def steps(app, pilot):
        said = text_of(app)
        assert [words for words in shown if words not in said] == []
        assert [words for words in hidden if words in said] == []
        if "too small" not in said:
            for place in range(4):
                check_position(app, place)
                await press(pilot, "right")

    on_screen(steps, game, size)


def test_overflowing_content_is_scrolled(game):
    async def steps(app, pilot):
        await press(pilot, "b")
        assert "♦ " not in part_of(app, "below")
        await press(pilot, "pagedown", "pagedown", "pagedown", "pagedown")
        position = app.shown.position
        held = [cell == "■" for cell in part_of(app, "below") if cell in "■·"]
        hand = int(position.state["private"]["hand"][0][1 - position.player])
        assert held == [bool(hand >> card & 1) for card in range(52)]

    on_screen(steps, game, (48, 13))


def test_suits_are_letters_on_request(game):
    async def steps(app, pilot):
        await press(pilot, "b", "o")
        for _ in range(6):
            assert not re.search("[♣♥♠♦]", text_of(app))
            await press(pilot, "right")

    on_screen(steps, game, letters=True)


def test_help_lists_the_keys_and_fits(game):
    assert max(map(len, replay_app.KEYS.splitlines())) <= 68

    async def steps(app, pilot):
        await press(pilot, "question_mark")
        assert "the worst move" in text_of(app)
        await press(pilot, "escape")
        assert "Step 1 of" in text_of(app)

    on_screen(steps, game)


def test_help_is_scrolled_on_a_small_screen(game):
    async def steps(app, pilot):
        await press(pilot, "question_mark")
        assert "Escape goes back" not in text_of(app)
        await press(pilot, "end")
        assert "Escape goes back" in text_of(app)

    on_screen(steps, game, (70, 14))


def test_reference_log_is_replayed_with_its_own_scores():
    logged = next(
        game
        for game in records.read(DATA / "games.jsonl")
        if any(hand.counted is not None for hand in game.hands)
    )
    number = next(index for index, hand in enumerate(logged.hands) if hand.counted is not None)

    async def steps(app, pilot):
        check_position(app, 0)
        await press(pilot, *["down"] * number)
        end = max(place for place, one in enumerate(app.shown.positions) if one.hand == number)
        app.action_go_to(end)
        await pilot.pause()
        winner, points = logged.hands[number].counted
        said = f"{logged.source} counted {points} points for {logged.players[winner].name}."
        assert said in text_of(app)

    on_screen(steps, logged, (120, 40))


# --- The command ------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path, game):
    path = tmp_path / "games.jsonl"
    with records.Recorder(path) as recorder:
        recorder.add(game)
    return path


def test_command_opens_the_screen_in_a_terminal(file, game, monkeypatch):
    opened: list[ReplayApp] = []

    def run(app: ReplayApp) -> None:
        opened.append(app)

    monkeypatch.setattr(ReplayApp, "run", run)
    monkeypatch.setenv("TEXTUAL_DRIVER", "any")
    result = CliRunner().invoke(cli.app, ["replay", str(file), "--judge", "none", "--estimator", "uniform"])
    assert (result.exception, result.output) == (None, "")
    assert [app.shown.game for app in opened] == [game]
    options = "--judge simple --estimator uniform --letters --worst 3"
    CliRunner().invoke(cli.app, ["replay", str(file), *options.split()])
    given = [(app.shown._hint_bot, app.shown.estimator, app.shown.letters, app._most) for app in opened]
    assert given == [(None, "uniform", False, 10), ("simple", "uniform", True, 3)]
    opened.pop()
    said = CliRunner().invoke(cli.app, ["replay", str(file), "--judge", "none", "--plain"])
    assert said.output.startswith(game_title(game))
    assert len(opened) == 1


@pytest.mark.parametrize("options", [["--estimator", "uniform"], ["--worst", "3"], ["--letters"]])
def test_browser_replay_refuses_options_of_the_screen(file, options):
    pytest.importorskip("starlette")
    said = CliRunner().invoke(cli.app, ["replay", str(file), "--web", *options])
    assert str(said.exception) == f"the page of --web has no such choice: omit {options[0]}"


def test_browser_replay_is_served_at_the_given_address(file, monkeypatch):
    server = pytest.importorskip("gin_env.ui.web.server", exc_type=ImportError)
    served = []
    monkeypatch.setattr(server, "serve", lambda *arguments: served.append(arguments))
    with records.Recorder(file) as recorder:
        recorder.add(one_hand())
    options = ["--host", "::1", "--port", "8080", "--game", "2"]
    for judge, bot in (("simple", "simple"), ("none", None)):  # nothing is judged unless the page asks
        CliRunner().invoke(cli.app, ["replay", str(file), "--web", "--judge", judge, *options])
        api, *address = served.pop()
        assert (api.recorded, api.hint_bot, address) == (one_hand(), bot, ["::1", 8080])


def test_missing_terminal_prints_the_text_and_the_reason(file, game, monkeypatch):
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)
    said = CliRunner().invoke(cli.app, ["replay", str(file), "--judge", "none"])
    assert said.stdout.startswith(game_title(game))
    assert said.stderr == "plain text: the screen needs a terminal for input and output\n"


def test_missing_textual_prints_the_text_and_names_the_extra(file, game, monkeypatch):
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setitem(os.environ, "TEXTUAL_DRIVER", "any")
    said = CliRunner().invoke(cli.app, ["replay", str(file), "--judge", "none"])
    assert said.stdout.startswith(game_title(game))
    assert said.stderr == 'plain text: the screen needs Textual (pip install "gin-env[play]")\n'
