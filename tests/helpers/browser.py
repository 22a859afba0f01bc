"""A headless Chromium driven by the DevTools protocol: pages, keys, clicks, touches and screenshots."""

from __future__ import annotations

import base64
import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
from websockets.sync.client import ClientConnection, connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NAMED_KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowRight": 39, "-": 189, "0": 48}
PATIENCE = 30
"""Most seconds until a page has done what a test waits for."""


class Browser:
    """A running Chromium; ``with Browser(folder) as browser``."""

    def __init__(self, folder: Path) -> None:
        self._command = [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
            f"--user-data-dir={folder}", "about:blank",
        ]  # fmt: skip

    def __enter__(self) -> Browser:
        self._process = subprocess.Popen(self._command, stderr=subprocess.PIPE, text=True)
        address = None
        while address is None:
            line = self._process.stderr.readline()
            if not line:
                raise RuntimeError("Chromium did not start")
            address = re.search(r"ws://([^/]+)/", line)
        self._address = address[1]
        self._windows = ExitStack()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._windows.close()
        self._process.terminate()
        self._process.wait()
        self._process.stderr.close()

    def open(self, address: str, width: int, height: int, phone: bool = False) -> Page:
        """Open a new window; with `phone` it has a touch screen and no mouse."""
        answer = httpx2.put(f"http://{self._address}/json/new?about:blank", timeout=PATIENCE)
        socket = connect(answer.json()["webSocketDebuggerUrl"], max_size=None)
        page = Page(self._windows.enter_context(socket))
        page.ask("Runtime.enable")
        page.ask("Log.enable")
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        page.ask("Emulation.setDeviceMetricsOverride", **metrics)
        page.ask("Emulation.setTouchEmulationEnabled", enabled=phone)
        page.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        page.ask("Page.navigate", url=address)
        return page


class Page:
    """A window. `problems` lists the errors of its scripts and violations of its content security policy."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.problems: list[str] = []

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
            if message.get("method") == "Runtime.exceptionThrown":
                self.problems.append(str(message["params"]["exceptionDetails"]))
            if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
                self.problems.append(str(message["params"]["entry"]))

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Return once an expression is true; an error while the page loads counts as false."""
        careful = f"(() => {{ try {{ return Boolean({expression}) }} catch {{ return false }} }})()"

        def holds() -> bool:
            try:
                return bool(self.value(careful))
            except RuntimeError:  # the page that was asked has just been left
                return False

        self.wait_until(holds, expression)

    def wait_until(self, happened: Callable[[], Any], what: str = "it") -> Any:
        until = time.monotonic() + PATIENCE
        while not (value := happened()):
            if time.monotonic() > until:
                shown = self.value("document.querySelector('main').innerText")
                raise AssertionError(f"still waiting for {what}; {self.problems}; the page shows {shown}")
            time.sleep(0.03)
        return value

    def press(self, key: str) -> None:
        """Press a key, given by its character or its name in `NAMED_KEYS`."""
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        code = NAMED_KEYS.get(key, ord(key[0].upper()))
        pressed = {"key": key, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def place(self, selector: str) -> tuple[float, float]:
        """Scroll an element into view and return its centre once it has stopped moving."""
        self.wait_for(
            "document.getAnimations().every((e) => e.effect.getComputedTiming().iterations === Infinity)"
        )
        return tuple(
            self.value(
                f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                "e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect();"
                "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
            )
        )

    def tap(self, selector: str) -> None:
        x, y = self.place(selector)
        self.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def click(self, selector: str) -> None:
        x, y = self.place(selector)
        self._mouse("mousePressed", x, y)
        self._mouse("mouseReleased", x, y)

    def drag(self, start: str, end: str) -> None:
        """Drag an element onto another with the mouse."""
        (x, y), (to_x, to_y) = self.place(start), self.place(end)
        self._mouse("mousePressed", x, y)
        for step in range(1, 6):
            self._mouse("mouseMoved", x + (to_x - x) * step / 5, y + (to_y - y) * step / 5)
        self._mouse("mouseReleased", to_x, to_y)

    def _mouse(self, kind: str, x: float, y: float) -> None:
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def screenshot(self, path: Path) -> None:
        picture = self.ask("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(picture["data"]))
