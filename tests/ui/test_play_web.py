"""The playing screen in a real browser: a hand is played to its end, and its scoring is there."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from situations import plain_action

pytest.importorskip("textual_serve", reason='the browser needs textual-serve: pip install "gin-env[play]"')

from browser import CHROMIUM, Browser
from test_play_app import keys_of

from gin_env.ui.human_game import HumanGame

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt install chromium"),
]
START = 60
"""Most seconds until the page, or the bot, has answered."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def wait_for(what) -> None:
    until = time.monotonic() + START
    while not what():
        assert time.monotonic() < until, "nothing has happened"
        await asyncio.sleep(0.1)


def kept(save: Path) -> HumanGame:
    return HumanGame.load(save) if save.exists() else HumanGame("simple", 7)


async def play_a_hand(address: str, save: Path, folder: Path) -> None:
    async with Browser(folder / "profile", 1000, 640) as browser:
        await browser.open(address)
        asked = time.monotonic()
        while not save.exists():  # the first act, once the page is there: player 0 begins with this seed
            assert time.monotonic() < asked + START
            await asyncio.sleep(1)
            await browser.click(800, 400)
            await browser.press("p")
        await browser.press("h")
        await browser.press("b")
        while kept(save).ended is None:
            await wait_for(lambda: not kept(save).waits_for_bot)
            game = kept(save)
            if game.ended is not None:
                break
            action = plain_action(game.view.masks()[0])
            for key in keys_of(game, action):
                await browser.press({"minus": "-", "enter": "Enter"}.get(key, key))
            await wait_for(lambda: len(kept(save).actions) > len(game.actions))  # noqa: B023
            await browser.screenshot(folder / "table.png")
        await asyncio.sleep(1)
        await browser.screenshot(folder / "end.png")
        await browser.press("Enter")
        await wait_for(lambda: len(kept(save).actions) > 0 and kept(save).ended is None)


def test_a_hand_is_played_to_its_end_in_a_browser(tmp_path):
    port, save = free_port(), tmp_path / "game.json"
    program = "from gin_env.cli import main; main()"
    options = ["--opponent", "simple", "--seed", "7", "--bot-delay", "0", "--save", str(save)]
    folder = Path(os.environ.get("GIN_ENV_SCREENSHOTS", tmp_path))
    server = subprocess.Popen(
        [sys.executable, "-c", program, "play", "--web", "--port", str(port), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + START
        while not answers(port):
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.2)
        asyncio.run(play_a_hand(f"http://127.0.0.1:{port}/", save, folder))
    finally:
        server.terminate()
        server.wait()
    assert (folder / "end.png").stat().st_size > 10_000
