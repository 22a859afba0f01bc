"""The web pages in a real browser: touch, keys, drag and drop, several windows and replays."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette", reason='the server needs Starlette: pip install "gin-env[play]"')
pytest.importorskip("websockets", reason="the tests speak to Chromium with websockets")

from browser import CHROMIUM, Browser, Page
from hand_endings import person_to_discard
from screens import play_hands
from test_web_server import free_port

from gin_env.ui.human_game import HumanGame
from gin_env.ui.web.sessions import Sessions

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt install chromium"),
]
KING = "#hand [data-card='KD']"
PHONE_390 = {"width": 390, "height": 844, "phone": True}
PHONE, DESKTOP = {"width": 360, "height": 740, "phone": True}, {"width": 1280, "height": 800}
IDLE = "document.getElementById('table').getAttribute('aria-busy') === 'false'"
READY = f"{IDLE} && document.querySelector('#actions button')"
HAND = "[...document.querySelectorAll('#hand button')].map((e) => e.dataset.card)"


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def serve(tmp_path):
    """Start `gin-rummy` with these arguments and return its address."""
    servers = []

    def start(*arguments: str) -> str:
        port = free_port()
        command = [sys.executable, "-c", "from gin_env.cli import main; main()", *arguments]
        servers.append(subprocess.Popen([*command, "--web", "--port", str(port)], stderr=subprocess.PIPE))
        until = time.monotonic() + 60
        while not answers(port):
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.1)
        return f"http://127.0.0.1:{port}/"

    yield start
    for server in servers:
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=20) == 0
        server.stderr.close()


@pytest.fixture
def play_server(serve, tmp_path):
    options = ["--opponent", "random-discard", "--seed", "7", "--bot-delay", "0"]
    return serve("play", *options, "--save", str(tmp_path / "saves"))


@pytest.fixture
def browser(tmp_path):
    with Browser(tmp_path / "profile") as one:
        yield one


def keys_of_actions(page: Page) -> list[str]:
    """Wait for buttons or cards to discard, and return the keys of the buttons."""
    page.wait_for(f"{IDLE} && (document.querySelector('#actions button') || {HAND}.length === 11)")
    return page.value("[...document.querySelectorAll('#actions button')].map((e) => e.title)")


def is_over(page: Page) -> bool:
    return page.value("document.querySelector('#reveal:not([hidden]) .result') !== null")


def by_touch(page: Page, key: str) -> None:
    page.tap(f"#actions button[title={key}]")


def discard_by_touch(page: Page) -> None:
    page.tap("#hand button:last-child")
    page.wait_for("document.querySelector('#hand .selected')")
    page.tap("#hand .selected")


def discard_by_keys(page: Page) -> None:
    page.press("-")  # the last of eleven cards
    page.press("Enter")


def play(page: Page, act, discard, hands: int | None = None) -> None:
    """Play a game, or this number of hands: pass, draw, knock or discard the last card."""
    while not is_over(page):
        keys = keys_of_actions(page)
        if hands is not None and page.value("document.querySelectorAll('#sheet td a').length") >= hands:
            return
        before = page.value("document.getElementById('table').innerText")
        for key in ("K", "P", "S", "N"):
            if key in keys:
                act(page, key)
                break
        else:
            discard(page)
        page.wait_until(
            lambda: page.value("document.getElementById('table').innerText") != before,  # noqa: B023
            f"a change after {keys}",
        )


def test_phone_plays_a_whole_game_by_touch(play_server, browser):
    page = browser.open(play_server, **PHONE)
    page.wait_for(READY)
    assert page.value("document.documentElement.scrollWidth") == 360
    for name in ("hint", "belief"):
        page.tap(f"#tools button[data-panel={name}]")
        page.wait_for(f"document.querySelector('#{name}-content :is(strong, table)')")
        page.tap("#close-panel")
    play(page, by_touch, discard_by_touch, hands=1)
    page.tap("#actions button[title=N]")
    play(page, by_touch, discard_by_touch)
    assert "the game, " in page.value("document.querySelector('#reveal h2').innerText")
    assert page.problems == []


def test_keys_play_a_whole_game(play_server, browser):
    page = browser.open(play_server, **DESKTOP)
    page.wait_for(READY)
    assert page.value("document.activeElement.matches('.card:focus-visible')")
    page.press("h")
    page.wait_for("document.querySelector('#hint-content strong')")
    page.press("b")
    page.wait_for("document.querySelector('#belief-content table')")
    play(page, lambda one, key: one.press(key.lower()), discard_by_keys, hands=1)
    play(page, lambda one, key: one.press(key.lower()), discard_by_keys)
    assert "the game, " in page.value("document.querySelector('#reveal h2').innerText")
    assert page.problems == []


IN_VIEW = """(() => {
  const box = document.querySelector('#actions button').getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight;
})()"""
SCORES = "[...document.querySelectorAll('.score b')].map((e) => Number(e.innerText))"


def test_scores_change_only_after_the_reveal(play_server, browser):
    page = browser.open(play_server, **DESKTOP)
    page.wait_for(READY)
    while True:
        before = page.value(SCORES)
        keys = keys_of_actions(page)
        if page.value("document.querySelector('#reveal:not([hidden])') !== null"):
            break
        page.press(next((key for key in "kps" if key.upper() in keys), "-"))
        if not keys:
            page.press("Enter")
        page.wait_for(IDLE)
    assert page.value(SCORES) == [0, 0] == before
    page.wait_for("document.querySelectorAll('#sheet td a').length === 1")
    shown = page.value("document.querySelector('.steps li:last-child').innerText")
    mine, theirs = page.value(SCORES)
    assert f"you {mine}, Rosa {theirs};" in shown


def test_practice_game_under_other_rules_takes_moves_back(play_server, browser):
    page = browser.open(play_server, **PHONE)
    page.wait_for(READY)
    page.tap("#open-menu")
    page.wait_for("document.getElementById('menu').open")
    page.value("document.getElementById('variant').value = 'oklahoma'")
    page.value("document.getElementById('variant').dispatchEvent(new Event('change'))")
    assert "150 points win" in page.value("document.getElementById('variant-summary').innerText")
    page.tap("#levels label:nth-of-type(2)")
    page.tap("#practice")
    page.tap("#start")
    page.wait_for(f"{READY} && document.querySelector('.meter').innerText.includes('150')")
    assert page.value("document.querySelector('#score-opponent .name').innerText") == "Emil"
    assert page.value("document.getElementById('undo').disabled")
    before = page.value(HAND)
    while page.value(HAND) == before:
        by_touch(page, next(key for key in "PS" if key in keys_of_actions(page)))
        page.wait_for(f"{IDLE} && (document.querySelector('#actions button') || {HAND}.length === 11)")
    page.tap("#undo")
    page.wait_for(f"{IDLE} && {HAND}.length === 10")
    assert page.value(HAND) == before
    assert page.problems == []


def accessible(page: Page) -> list[tuple[str, str]]:
    """Return role and name of everything that a screen reader sees."""
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    return [
        (node.get("role", {}).get("value", ""), node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"]
    ]


def test_screen_reader_gets_names_and_announcements(play_server, browser):
    page = browser.open(play_server, **DESKTOP)
    page.wait_for(READY)
    shown = accessible(page)
    buttons = [name for role, name in shown if role == "button"]
    assert any(name.startswith("Stock, ") for name in buttons)
    assert any(re.match(r"Upcard, \w+ of \w+", name) for name in buttons)
    assert sum(bool(re.search(", (deadwood|in a (run|set))", name)) for name in buttons) == 10
    assert all(name and not re.search("[♣♥♠♦]", name) for name in buttons)
    assert {"region", "status", "toolbar", "complementary", "main"} <= {role for role, _ in shown}
    for key in ("p", "s"):
        page.press(key)
        page.wait_for(f"{IDLE} && (document.querySelector('#actions button') || {HAND}.length === 11)")
    page.press("-")
    said = page.value("document.getElementById('live').innerText")
    assert re.match(r"\w+ of \w+ leaves \d+ deadwood", said)
    page.press("Enter")
    page.wait_for(READY)
    assert "Rosa drew" in page.value("document.getElementById('live').innerText")


def test_unavailable_key_explains_why(play_server, browser):
    page = browser.open(play_server, **DESKTOP)
    page.wait_for(READY)
    page.press("s")
    page.wait_for("document.getElementById('live').innerText.includes('upcard is offered first')")
    page.press("z")
    page.wait_for("document.getElementById('prompt').innerText.includes('practice')")


def test_windows_keep_their_games_across_reloads(play_server, browser):
    one, other = browser.open(play_server, **DESKTOP), browser.open(play_server, **PHONE)
    for page in (one, other):
        page.wait_for(READY)
    for key in ("p", "s"):
        one.wait_for(READY)
        one.press(key)
    one.wait_for(f"{IDLE} && {HAND}.length === 11")
    discard_by_keys(one)
    one.wait_for(READY)
    shown = "document.getElementById('turns').innerText"
    before, others = one.value(shown), other.value(shown)
    assert before != others
    one.ask("Page.reload")
    one.wait_for(f"{READY} && document.readyState === 'complete'")
    one.wait_until(lambda: one.value(shown) == before)
    assert other.value(shown) == others


def test_dragging_sorts_and_discards_cards(play_server, browser):
    page = browser.open(play_server, **DESKTOP)
    page.wait_for(READY)
    first, *_, last = page.value(HAND)
    page.drag("#hand button:last-child", "#hand button:first-child")
    page.wait_for(f"{HAND}.slice(0, 2).includes('{last}')")
    assert page.value("document.getElementById('sort').innerText") == "Sort: yours"
    assert first in page.value(HAND)[:2]
    for key in ("p", "s"):
        page.wait_for(READY)
        page.press(key)
    page.wait_for(f"{IDLE} && {HAND}.length === 11")
    page.drag(f"#hand [data-card='{last}']", "#upcard")
    page.wait_for(f"{HAND}.length === 10 && !{HAND}.includes('{last}')")
    assert page.problems == []


@pytest.fixture
def at_discard(play_server, browser, tmp_path):
    """Open a window in which the player has drawn, in a situation of `hand_endings`."""

    def open_page(situation: str, number: int, **window) -> Page:
        token = f"{number:022}"
        person_to_discard(situation, "random-discard").save(Sessions(tmp_path / "saves")._saves(token)[False])
        page = browser.open(play_server, **window)
        page.wait_for(READY)
        page.value(f"sessionStorage.setItem('token', '{token}')")
        page.ask("Page.reload")
        page.wait_for(f"{IDLE} && {HAND}.length === 11")
        return page

    return open_page


def said(page: Page) -> str:
    return page.value("document.getElementById('prompt').innerText")


def test_card_that_makes_gin_goes_gin(at_discard):
    def tap(page):
        page.tap("#hand .selected")

    def drag(page):
        page.drag(KING, "#upcard")

    def press(key):
        return lambda page: page.press(key)

    ways = [(tap, PHONE_390), (drag, DESKTOP), (press("Enter"), DESKTOP), (press("d"), DESKTOP)]
    for number, (act, window) in enumerate(ways):
        page = at_discard("gin by 0", number, **window)
        assert said(page) == "Choose a card to discard, or go gin with K♦."
        if act is not drag:
            page.tap(KING) if act is tap else page.press("-")
            page.wait_for("document.querySelector('#hand .selected')")
            assert said(page) == "K♦ leaves no deadwood: tap again to go gin."
            assert page.value(IN_VIEW)
        act(page)
        page.wait_for("document.querySelector('.steps li')")
        assert page.value("document.querySelector('.steps li').innerText").startswith("You go gin")
        assert page.problems == []


def test_gin_is_given_up_only_by_its_own_button(at_discard):
    page = at_discard("gin by 0", 0, **DESKTOP)
    page.press("1")
    assert said(page) == "Gin is possible with K♦; tap A♣ again to discard it."
    page.press("x")
    assert said(page) == "X is for a chosen card that makes gin."
    page.press("-")
    assert keys_of_actions(page) == ["K", "X"]
    page.click("#actions button[title=X]")
    page.wait_for(f"{HAND}.length === 10 && !{HAND}.includes('KD')")


def test_second_press_discards_the_card_of_a_possible_knock(at_discard):
    page = at_discard("knock by 0", 0, **DESKTOP)
    page.press("-")
    assert said(page) == "K♦ leaves 2 deadwood: tap again to discard it, or knock (2)."
    assert keys_of_actions(page) == ["D", "K"]
    page.press("Enter")
    page.wait_for(f"{HAND}.length === 10 && !{HAND}.includes('KD')")


def test_game_in_progress_is_ended_only_after_a_question(play_server, browser):
    page = browser.open(play_server, **DESKTOP)
    page.wait_for(READY)
    keys = keys_of_actions(page)
    page.press("p" if "P" in keys else "s")
    page.wait_for(f"{IDLE} && document.querySelectorAll('#turns .own').length")
    before = page.value("document.getElementById('turns').innerText")
    for answer in ("no", "yes"):
        page.press("m")
        page.wait_for("document.getElementById('menu').open")
        page.click("#start")
        page.wait_for("document.getElementById('confirm').open")
        assert "The score is 0 to 0 against Rosa." in page.value(
            "document.getElementById('confirm').innerText"
        )
        page.click(f"#confirm button[value={answer}]")
        page.wait_for("!document.getElementById('confirm').open")
        if answer == "no":
            assert before in page.value("document.getElementById('turns').innerText")
    page.wait_for(f"{READY} && !document.querySelector('#turns .own')")


HAND_IN_VIEW = """(() => {
  const boxes = [...document.querySelectorAll('#hand button')].map((e) => e.getBoundingClientRect());
  const inside = (box) => box.left >= 0 && box.right <= innerWidth + 1;
  return boxes.every((box) => Math.abs(box.top - boxes[0].top) < 1 && inside(box)) && boxes[0].width >= 40
    && document.documentElement.scrollWidth <= innerWidth;
})()"""


@pytest.mark.parametrize(
    "size",
    [(1440, 900), (2560, 1440), (1024, 768), (390, 844), (360, 640), (320, 568), (844, 390), (360, 225)],
)
def test_hand_is_one_row_in_every_window(at_discard, size):
    page = at_discard("gin by 0", 0, width=size[0], height=size[1], phone=size[0] < 1000)
    assert page.value(HAND_IN_VIEW)


def reviewed(page: Page) -> str:
    page.wait_for("document.querySelector('#review .curve')")
    return page.value("document.getElementById('review').innerText")


def test_recorded_game_is_replayed_with_its_review(serve, browser, tmp_path):
    """The browser shows the numbers that the terminal prints."""
    play_hands(HumanGame("simple", 3)).save(tmp_path / "game.json")
    page = browser.open(serve("replay", str(tmp_path / "game.json"), "--judge", "simple"), **DESKTOP)
    text = reviewed(page)
    command = [sys.executable, "-c", "from gin_env.cli import main; main()", "replay", tmp_path / "game.json"]
    printed = subprocess.run(
        [*command, "--plain", "--judge", "simple"], capture_output=True, text=True, check=True
    ).stdout
    points, choices = re.search(r"You: (\S+) points\..* Choices: (\S+) ", printed).groups()
    assert f"{points} points." in text
    assert choices.rstrip(".") in text
    for lost in re.findall(r"(\d+\.\d)$", printed, re.MULTILINE)[:3]:
        assert f"−{lost}: " in text
    page.click(".costly button")
    page.wait_for("document.querySelector('#this-move .played')")
    while not page.value("document.getElementById('forward').disabled"):
        page.press("ArrowRight")
    assert page.value("document.querySelectorAll('.steps li').length") >= 2
    assert page.problems == []


def test_shared_link_opens_the_hand_in_another_browser(play_server, browser, tmp_path):
    page = browser.open(play_server, **PHONE_390)
    page.wait_for(READY)
    play(page, by_touch, discard_by_touch, hands=1)
    page.wait_for("document.querySelector('#worth .curve')")
    page.tap("#actions a")
    text = reviewed(page)
    link = page.value("new URL(document.getElementById('save-gif').href).searchParams.get('link')")
    assert len(link) < 200
    with Browser(tmp_path / "other") as another:
        other = another.open(f"{play_server}replay#{link}", **DESKTOP)
        assert reviewed(other).split("points")[0].replace("Player", "You") == text.split("points")[0]
        assert other.value("document.querySelector('#score-you .name').innerText") == "Player"
        assert other.problems == []
    assert page.problems == []


def solve(page: Page) -> None:
    """Answer the puzzle that is shown with its first card or move, and see the comparison."""
    page.wait_for("document.querySelector('#hand button')")
    if page.value("document.getElementById('prompt').innerText").startswith("What do you discard"):
        page.click("#hand button:last-child")
        page.wait_for("document.querySelector('#hand .selected')")
    page.click("#actions button")
    page.wait_for("document.querySelectorAll('#answer .values tr').length >= 3")


def test_puzzles_are_answered_on_the_page(play_server, browser):
    page = browser.open(f"{play_server}puzzle#3", **DESKTOP)
    page.wait_for("document.getElementById('title').innerText.startsWith('Puzzle 3 of')")
    solve(page)
    page.click("#actions button")
    page.wait_for("document.getElementById('title').innerText.startsWith('Puzzle 4 of')")
    assert page.problems == []


def test_board_analyses_the_cards_that_are_tapped(play_server, browser):
    page = browser.open(f"{play_server}board", **DESKTOP)
    page.wait_for("document.querySelectorAll('#deck .card').length === 52")
    for code in ["4C", "5C", "6C", "9H", "9S", "TD", "QD", "QH", "KS", "2D", "9D", "9D"]:
        page.click(f"#deck [data-card='{code}']")
    assert page.value("document.querySelector('[name=upcard]').value") == "9D"
    page.click("#position .primary")
    page.wait_for("document.querySelector('#bots li') && document.querySelector('#belief table')")
    assert "9♦ makes 9♥ 9♠ 9♦" in page.value("document.getElementById('answer').innerText")
    page.click("#deck [data-card='2D']")
    page.click("#position .primary")
    page.wait_for("document.getElementById('said').innerText.includes('hand must hold 10 cards')")
    assert not [problem for problem in page.problems if "400" not in problem]


def test_site_without_a_server_has_reviews_and_puzzles(browser, tmp_path):
    """Plain files, as the documentation site serves them."""
    pytest.importorskip("torch")
    subprocess.run([sys.executable, "docs/demo.py", tmp_path / "site"], check=True)
    port = free_port()
    command = [sys.executable, *f"-m http.server {port} --bind 127.0.0.1 --directory".split()]
    server = subprocess.Popen([*command, tmp_path / "site"], stderr=subprocess.DEVNULL)
    try:
        while not answers(port):
            time.sleep(0.1)
        page = browser.open(f"http://127.0.0.1:{port}/try/", **PHONE_390)
        page.wait_for(
            "document.readyState === 'complete' && document.querySelectorAll('.list a').length === 4"
        )
        page.tap(".list li:nth-child(2) a")
        assert "accuracy" in reviewed(page).lower()
        page.tap("#next-hand")
        page.wait_for("document.getElementById('last').innerText.startsWith('Hand 2')")
        other = browser.open(f"http://127.0.0.1:{port}/try/puzzle.html", **DESKTOP)
        solve(other)
        assert page.problems == other.problems == []
    finally:
        server.terminate()
        server.wait()
