"""The web pages in a real browser: touch, keys, drag and drop, several windows and replays."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason='the server needs Starlette: pip install "gin-env[play]"')
pytest.importorskip("websockets", reason="the tests speak to Chromium with websockets")

from browser import CHROMIUM, Browser, Page

from gin_env.ui.human_game import HumanGame

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt install chromium"),
]
PHONE, DESKTOP = {"width": 360, "height": 740, "phone": True}, {"width": 1280, "height": 800}
IDLE = "document.getElementById('table').getAttribute('aria-busy') === 'false'"
READY = f"{IDLE} && document.querySelector('#actions button')"
HAND = "[...document.querySelectorAll('#hand button')].map((e) => e.dataset.card)"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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


def keep(page: Page, name: str) -> None:
    """Save a screenshot in the folder GIN_ENV_SCREENSHOTS, if set."""
    folder = os.environ.get("GIN_ENV_SCREENSHOTS")
    if folder:
        page.screenshot(Path(folder) / f"{name}.png")


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
    keep(page, "phone")
    for name in ("hint", "belief"):
        page.tap(f"#tools button[data-panel={name}]")
        page.wait_for(f"document.querySelector('#{name}-content :is(strong, table)')")
        keep(page, f"phone-{name}")
        page.tap("#close-panel")
    play(page, by_touch, discard_by_touch, hands=1)
    page.tap("#actions button[title=N]")
    play(page, by_touch, discard_by_touch)
    keep(page, "phone-end")
    assert "the game, " in page.value("document.querySelector('.result').innerText")
    assert page.problems == []


def test_keys_play_a_whole_game(play_server, browser):
    page = browser.open(play_server, **DESKTOP)
    page.wait_for(READY)
    assert page.value("document.activeElement.matches('.card:focus-visible')")
    keep(page, "desktop")
    page.press("h")
    page.wait_for("document.querySelector('#hint-content strong')")
    page.press("b")
    page.wait_for("document.querySelector('#belief-content table')")
    play(page, lambda one, key: one.press(key.lower()), discard_by_keys, hands=1)
    keep(page, "desktop-end-of-hand")
    play(page, lambda one, key: one.press(key.lower()), discard_by_keys)
    keep(page, "desktop-end")
    assert "the game, " in page.value("document.querySelector('.result').innerText")
    assert page.problems == []


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
    assert page.value("document.getElementById('sort').innerText") == "Sorted by you"
    assert first in page.value(HAND)[:2]
    for key in ("p", "s"):
        page.wait_for(READY)
        page.press(key)
    page.wait_for(f"{IDLE} && {HAND}.length === 11")
    page.drag(f"#hand [data-card='{last}']", "#upcard")
    page.wait_for(f"{HAND}.length === 10 && !{HAND}.includes('{last}')")
    assert page.problems == []


def test_recorded_game_is_replayed_with_opinions(serve, browser, tmp_path):
    game = HumanGame("simple", 3)
    while game.ended is None:
        game.let_bot_act() if game.waits_for_bot else game.act(game.legal()[0])
    game.save(tmp_path / "game.json")
    address = serve("replay", str(tmp_path / "game.json"), "--bot", "simple", "--bot", "tonic")
    page = browser.open(address, **DESKTOP)
    page.wait_for(
        "document.querySelectorAll('#opinions .view').length > 0 && !document.querySelector('.thinking')"
    )
    assert "simple" in page.value("document.getElementById('opinions').innerText")
    keep(page, "replay")
    while not page.value("document.getElementById('forward').disabled"):
        page.press("ArrowRight")
    keep(page, "replay-end")
    assert page.value("document.querySelectorAll('.steps li').length") >= 2
    assert page.problems == []
