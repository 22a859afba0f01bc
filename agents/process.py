"""A bot that is another program: ``process:COMMAND`` starts it and asks it, a line of JSON for each decision.

The lines are those of `gin_env.protocol`. Naming such a bot runs the command, as you would run it in a shell
(but without one): only name commands that you would run yourself.

>>> bot = agents.make("process:gin-rummy serve-bot simple")
"""

from __future__ import annotations

import contextlib
import queue
import shlex
import subprocess
import threading
import time
import weakref
from typing import Any, NoReturn, TextIO

import numpy as np

from gin_env import protocol
from gin_env.actions import describe
from gin_env.protocol import ProtocolError
from gin_env.support.checks import check_number
from gin_env.views import PlayerView

PREFIX = "process:"


class ProcessBotError(ChildProcessError):
    """The other program did not start, stopped, was too slow, or gave an answer that cannot be played."""


class ProcessBot:
    """Asks a program for every decision; it is started at once and stopped with this object.

    Parameters
    ----------
    command : the program and its arguments, as one text.
    seconds : the most that it may take for a decision.
    start_seconds : the most that it may take until it is ready.

    Raises ProcessBotError, naming the command, if the program does not start or does not say that it is
    ready, and in `act` for whatever goes wrong there. After an error it is stopped.
    """

    def __init__(self, command: str, seconds: float = 10.0, start_seconds: float = 120.0) -> None:
        self.command = command
        self.name = PREFIX + command
        self.seconds = check_number("seconds", seconds, 0.0, 1e6)
        start_seconds = check_number("start_seconds", start_seconds, 0.0, 1e6)
        try:
            arguments = shlex.split(command)
        except ValueError as error:
            raise ProcessBotError(f"{self.name}: the command cannot be read: {error}") from error
        if not arguments:
            raise ProcessBotError(f"{PREFIX} needs a command, such as {PREFIX}gin-rummy serve-bot simple")
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                bufsize=1,
            )
        except OSError as error:
            raise ProcessBotError(f"{self.name}: it does not start: {error}") from error
        self._lines: queue.Queue[str] = queue.Queue()
        # A thread reads, since no other way of waiting for a line with a time limit works everywhere.
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        self.close = weakref.finalize(self, _stop, self._process)
        self._number = 0
        ready = self._ask({"type": "hello", "protocol": protocol.VERSION}, start_seconds)
        if ready.get("type") != "ready" or ready.get("protocol") != protocol.VERSION:
            self._fail(f'it is not ready: {{"type": "ready", "protocol": {protocol.VERSION}}} was expected')

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        masks = view.masks()
        actions = np.empty(len(view), np.int64)
        for index in range(len(view)):
            self._number += 1
            reply = self._ask(protocol.question(view[index], self._number), self.seconds)
            try:
                action = protocol.read_answer(reply, self._number)
            except ProtocolError as error:
                self._fail(f"its answer cannot be read: {error}")
            if not masks[index, action]:
                legal = ", ".join(map(describe, masks[index].nonzero()[0].tolist()))
                self._fail(f"it answered {describe(action)!r}, which is illegal; legal: {legal}")
            actions[index] = action
        return actions

    def _ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply to a message, within so many seconds."""
        end = time.monotonic() + seconds
        try:
            self._process.stdin.write(protocol.line(message))  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
            text = self._lines.get(timeout=max(end - time.monotonic(), 0))
        except queue.Empty:
            self._fail(f"no answer in {seconds:g} seconds")
        except (OSError, ValueError):
            text = ""
        if not text:
            self._fail(f"it has ended, with status {self._status()}")
        try:
            return protocol.read_line(text)
        except ProtocolError as error:
            self._fail(f"its answer cannot be read: {error}")

    def _status(self) -> int | None:
        try:
            return self._process.wait(1)
        except subprocess.TimeoutExpired:
            return None

    def _fail(self, what: str) -> NoReturn:
        self.close()
        raise ProcessBotError(f"{self.name}: {what}")


def _read(stream: TextIO, lines: queue.Queue[str]) -> None:
    """Pass the lines of a program on; an empty text is the end."""
    with stream:
        while text := stream.readline(protocol.MOST_CHARACTERS + 1):
            lines.put(text)
    lines.put("")


def _stop(process: subprocess.Popen[str]) -> None:
    """End a program: it should by itself when its input ends, and is killed if it does not."""
    with contextlib.suppress(OSError):
        process.stdin.close()  # type: ignore[union-attr]
    try:
        process.wait(0.2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
