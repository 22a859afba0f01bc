"""A headless Chromium, driven by its own protocol: pages, keys, screenshots."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NAMED_KEYS = {"Enter": 13, "Escape": 27, "-": 189}


class Browser:
    """One page of one window; ``async with Browser(folder, width, height) as browser``."""

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self._command = [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-port=0",
            f"--user-data-dir={folder}",
            f"--window-size={width},{height}",
            "about:blank",
        ]
        self._numbers = itertools.count(1)

    async def __aenter__(self) -> Browser:
        self._process = subprocess.Popen(self._command, stderr=subprocess.PIPE, text=True)
        address = None
        while address is None:
            line = await asyncio.to_thread(self._process.stderr.readline)
            if not line:
                raise RuntimeError("Chromium did not start")
            address = re.search(r"ws://([^/]+)/", line)
        self._session = aiohttp.ClientSession()
        async with self._session.get(f"http://{address[1]}/json") as answer:
            pages = [page for page in await answer.json() if page["type"] == "page"]
        self._socket = await self._session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._session.close()
        self._process.terminate()
        await asyncio.to_thread(self._process.wait)
        self._process.stderr.close()

    async def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            message = json.loads((await self._socket.receive()).data)
            if message.get("id") == number:
                return message["result"]

    async def open(self, address: str) -> None:
        await self._ask("Page.navigate", url=address)

    async def press(self, key: str) -> None:
        """A key by its character, or by its name in `NAMED_KEYS`."""
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        code = NAMED_KEYS.get(key, ord(key[0].upper()))
        pressed = {"key": key, "windowsVirtualKeyCode": code}
        await self._ask("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
        await self._ask("Input.dispatchKeyEvent", type="keyUp", **pressed)

    async def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            await self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def screenshot(self, path: Path) -> None:
        picture = await self._ask("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(picture["data"]))
