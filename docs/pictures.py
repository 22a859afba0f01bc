"""Draw the pictures of docs/play.md and docs/rules.md.

One moment of a game in the terminal, on a phone and on a desktop, and a hand after a knock.

Run ``make pictures``; it needs Chromium.
"""

from __future__ import annotations

import asyncio
import io
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser, Page
from hands_in_words import Table
from PIL import Image

from gin_env import agents
from gin_env.ui.human_game import HumanGame
from gin_env.ui.picture import image
from gin_env.ui.play_app import PlayApp
from gin_env.ui.seat import describe_seat
from gin_env.ui.web.sessions import Sessions

DOCS = Path(__file__).parent
SEED, REVIEWED_SEED = 14, 2
TERMINALS = {"play.png": (80, 24), "play_small.png": (60, 20), "play_large.png": (120, 40)}
PAGES = {
    "play_phone.png": {"width": 390, "height": 780, "phone": True},
    "play_desktop.png": {"width": 1280, "height": 800},
}
CHARACTER_WIDTH = 9
"""Pixels of a column in the pictures of terminals."""


def moment() -> HumanGame:
    """Return a game in its second hand, when the player may knock."""
    game, adviser = HumanGame("tonic", SEED), agents.make("simple")
    while True:
        if game.ended is not None:
            game.next_hand()
        elif game.waits_for_bot:
            game.let_bot_act()
        else:
            melds = [group for group in describe_seat(game.view, "").hand if group.caption in ("set", "run")]
            if game.view.array["public"]["hand_number"][0] == 1 and len(melds) >= 2:
                return game
            game.act(int(adviser.act(game.view)[0]))


def ended_hand() -> HumanGame:
    """Return a game after its first hand, in which the player made mistakes."""
    game, player = HumanGame("tonic", REVIEWED_SEED), agents.make("simple")
    while game.ended is None:
        if game.waits_for_bot:
            game.let_bot_act()
        else:
            game.act(int(player.act(game.view)[0]))
    return game


def draw_knock() -> None:
    """Save the picture of a hand after a knock, with cards that were laid off."""
    hands = "7H 8H 9H QC QD QS 3S 4S 5S KC", "6H TH JH KD KS KH 2S 4D 8C 9C"
    table = Table(*hands, "JS", "2C").play("pass", "pass", "draw", "knock KC")
    picture = io.BytesIO()
    Image.fromarray(image(table.games.state[0], names=("Ann", "Bob"))).save(picture, "PNG")
    save(picture.getvalue(), "knock.png", 720)


def save(picture: bytes, name: str, width: int) -> None:
    """Save a picture with few colours, at most this wide."""
    drawn = Image.open(io.BytesIO(picture)).convert("RGB")
    if drawn.width > width:
        drawn = drawn.resize((width, round(drawn.height * width / drawn.width)), Image.Resampling.LANCZOS)
    drawn.quantize(256, kmeans=3, dither=Image.Dither.NONE).save(DOCS / name, optimize=True)


async def draw_terminal(size: tuple[int, int]) -> str:
    """Return the playing screen with a hint and a belief as SVG."""
    app = PlayApp(moment(), bot_delay=0)
    async with app.run_test(size=size) as pilot:
        await pilot.press("h", *(["b"] if size[1] >= 24 else []), "left")
        await pilot.pause()
        while app.shown.asked:
            await pilot.pause(0.05)
        await pilot.pause()
        drawing = app.export_screenshot(title="gin-rummy play")
    drawing = re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL)  # fonts of another site
    return drawing.replace("Fira Code", "DejaVu Sans Mono")


def photograph_terminals(browser: Browser, folder: Path) -> None:
    """Save the pictures of the terminal."""
    for name, size in TERMINALS.items():
        file = folder / "terminal.svg"
        file.write_text(asyncio.run(draw_terminal(size)))
        page = browser.open(file.as_uri(), 1600, 1200)
        page.wait_until(lambda: page.value("document.documentElement.viewBox.baseVal.width"))  # noqa: B023
        width, height = page.value(
            "(({width, height}) => [width, height])(document.documentElement.viewBox.baseVal)"
        )
        page.ask(
            "Emulation.setDeviceMetricsOverride",
            width=round(width), height=round(height), deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        save(photograph(page, folder), name, CHARACTER_WIDTH * size[0])


def photograph_pages(browser: Browser, folder: Path) -> None:
    """Save the pictures of the page, which resumes the game of `moment`."""
    sessions = Sessions(folder / "saves")
    session = sessions.start(moment(), practice=False)
    sessions.changed(session)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--web", "--port", str(port), "--save", str(folder / "saves")]
    server = subprocess.Popen(
        [sys.executable, "-c", "from gin_env.cli import main; main()", "play", *options]
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        while server.poll() is None and socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            time.sleep(0.1)
        for name, window in PAGES.items():
            page = browser.open(f"{address}style.css", **window)
            page.wait_for("location.pathname === '/style.css'")
            page.value(f"sessionStorage.setItem('token', '{session.token}')")
            page.ask("Page.navigate", url=address)
            page.wait_for("document.querySelector('#hand button')")
            if not window.get("phone"):
                for panel in ("hint", "belief"):
                    page.click(f"#tools [data-panel={panel}]")
                    page.wait_for(f"document.querySelector('#{panel}-content :is(strong, table)')")
            page.wait_for("document.getAnimations().length === 0")
            save(photograph(page, folder), name, window["width"])
        reviewed = sessions.start(ended_hand(), practice=False)
        sessions.changed(reviewed)
        page.value(f"sessionStorage.setItem('token', '{reviewed.token}')")
        page.ask("Page.navigate", url=f"{address}replay?hand=1")
        page.wait_for("document.querySelector('.costly button')")
        page.click(".costly button")
        page.wait_for("document.querySelector('#this-move .values')")
        save(photograph(page, folder), "play_review.png", window["width"])
    finally:
        server.terminate()
        server.wait()


def photograph(page: Page, folder: Path) -> bytes:
    """Return a picture of a window."""
    page.screenshot(folder / "picture.png")
    return (folder / "picture.png").read_bytes()


if __name__ == "__main__":
    draw_knock()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "saves").mkdir()
        with Browser(folder / "profile") as browser:
            photograph_terminals(browser, folder)
            photograph_pages(browser, folder)
