"""A bot that runs in another program: ``process:COMMAND`` starts it and asks it for every decision.

Each question and each answer is a line of JSON; see `gin_env.agents.protocol`. The command runs directly,
without a shell, and with your permissions. Only use commands that you would run yourself.

>>> bot = agents.make("process:gin-rummy serve-bot simple", programs=True)
"""

from __future__ import annotations

import codecs
import contextlib
import os
import queue
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
import weakref
from typing import IO, Any, NoReturn

import numpy as np

from gin_env.agents import protocol
from gin_env.agents.protocol import ProtocolError
from gin_env.game.actions import describe
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number
from gin_env.support.exits import stop_at_end
from gin_env.support.specs import NamedObject

PREFIX = "process:"
KEPT_VARIABLES = re.compile(
    "PATH|HOME|TZ|LANG|LANGUAGE|LC_.*|TMPDIR|TEMP|TMP|VIRTUAL_ENV|PYTHON.*|GIN_ENV_CACHE|XDG_CACHE_HOME"
    "|OMP_NUM_THREADS|NUMBA_.*"
    "|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA"
)
"""Names of the environment variables that a program inherits."""
CHECK_SECONDS = 0.1
"""Interval, in seconds, between checks whether a program that has not answered has exited."""
START_SECONDS = 120.0
"""Seconds that a program has to become ready."""
EXIT_SECONDS = 0.2
"""Seconds that a program has to exit by itself after its input is closed."""
MAX_BYTES = 4 * protocol.MAX_CHARACTERS
"""Maximum bytes to read for a line; any longer line has more than `protocol.MAX_CHARACTERS` characters."""
MAX_MESSAGE_BYTES = 1_000_000
"""Maximum bytes of a program's standard error to show."""


class ProcessBotError(ChildProcessError):
    """Raised if the program does not start, exits, is too slow, or gives an invalid answer."""


class ProcessBot(NamedObject):
    """Asks a program for every decision; starts it immediately and stops it when this object is deleted.

    The program runs in its own process group. The whole group is killed, so processes that the program starts
    end with it. It inherits only the environment variables that match `KEPT_VARIABLES`. Its standard error is
    shown on ours, without control characters and up to `MAX_MESSAGE_BYTES`.

    Parameters
    ----------
    command : the program and its arguments, as one string.
    seconds : time limit for a decision, from the first byte of the question to the last byte of the answer.

    A copy (`copy.deepcopy`) starts the program again.

    Raises ProcessBotError, with the command, if the program does not start or does not report that it is
    ready, and in `act` for any failure of the program. The program is killed after an error, or after Ctrl-C
    during a decision.
    """

    def __init__(self, command: str, seconds: float = 10.0) -> None:
        self.command = command
        self.name = PREFIX + command
        self.seconds = check_number("seconds", seconds, 0.0, 1e6)
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
                stderr=subprocess.PIPE,
                bufsize=0,
                env={
                    name: value
                    for name, value in os.environ.items()
                    if KEPT_VARIABLES.fullmatch(name.upper())
                },
                **_OWN_GROUP,
            )
        except (OSError, ValueError) as error:
            raise ProcessBotError(f"{self.name}: it does not start: {error}") from error
        self._questions: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        stopped = threading.Event()
        # Reads and writes can block forever. A thread keeps them from blocking the caller on every platform.
        threading.Thread(
            target=_exchange,
            args=(self._process.stdin, self._process.stdout, self._questions, self._replies, stopped),
            daemon=True,
        ).start()
        messages = threading.Thread(
            target=_show_messages, args=(self._process.stderr, self.name, stopped), daemon=True
        )
        messages.start()
        self.close = weakref.finalize(
            self, _stop, self._process, self._questions, messages, stopped, os.getpid()
        )
        stop_at_end(self.close)
        self._number = 0
        ready = self._ask({"type": "hello", "protocol": protocol.VERSION}, START_SECONDS)
        self._version = ready.get("protocol")
        if ready.get("type") != "ready" or self._version not in protocol.VERSIONS:
            self._fail(f'it is not ready: {{"type": "ready", "protocol": {protocol.VERSION}}} was expected')

    def __deepcopy__(self, memo: dict[int, Any]) -> ProcessBot:
        return ProcessBot(self.command, self.seconds)

    def act(self, view: PlayerView) -> np.ndarray:
        masks = view.masks()
        actions = np.empty(len(view), np.int64)
        for index in range(len(view)):
            self._number += 1
            question = protocol.question(view[index], self._number)
            if self._version == 1:
                del question["memory"]
            reply = self._ask(question, self.seconds)
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
        """Return the reply to a message; fail if none arrives within `seconds`."""
        if not self.close.alive:
            self._fail(f"it has ended, with status {self._process.returncode}")
        end = time.monotonic() + seconds
        self._questions.put(protocol.line(message).encode())
        try:
            reply = self._reply(end)
        except queue.Empty:
            self._fail(f"no answer in {seconds:g} seconds")
        except BaseException:  # Ctrl-C: a late reply would be taken for the next one
            self.close()
            raise
        if not reply:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(min(max(end - time.monotonic(), 0), 1))
            self._fail(f"it has ended, with status {self._process.returncode}")
        try:
            return protocol.read_line(reply.decode(errors="replace"))
        except ProtocolError as error:
            self._fail(f"its answer cannot be read: {error}")

    def _reply(self, end: float) -> bytes:
        """Return the next line, empty if the program has exited. Raises queue.Empty if `end` passes first."""
        while True:
            left = max(end - time.monotonic(), 0)
            has_ended = self._process.poll() is not None
            try:
                return self._replies.get(timeout=min(left, CHECK_SECONDS))
            except queue.Empty:
                if has_ended:  # a process that it started may still hold its output open
                    return b""
                if left <= CHECK_SECONDS:
                    raise

    def _fail(self, what: str) -> NoReturn:
        self.close()
        raise ProcessBotError(f"{self.name}: {what}")


def _exchange(
    stdin: IO[bytes],
    stdout: IO[bytes],
    questions: queue.SimpleQueue[bytes | None],
    replies: queue.SimpleQueue[bytes],
    stopped: threading.Event,
) -> None:
    """Write each question to the program and put one line of its output in `replies`.

    An empty reply means that the program has exited. Output is read only after a question, so a program that
    writes too much fills its pipe and blocks.
    """
    unread = bytearray()
    with stdout:
        while question := questions.get():
            try:
                while question:
                    question = question[stdin.write(question) :]
                replies.put(_read_line(stdout, unread, stopped))
            except (OSError, ValueError):  # the program no longer reads, or is being stopped
                replies.put(b"")


def _show_messages(stderr: IO[bytes], name: str, stopped: threading.Event) -> None:
    """Copy a program's standard error to ours, without control characters and up to `MAX_MESSAGE_BYTES`.

    The rest is read and dropped, so that the program does not block.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    left = MAX_MESSAGE_BYTES
    with stderr, contextlib.suppress(OSError, ValueError):  # the program is being stopped
        while chunk := _read(stderr, stopped):
            text = decoder.decode(chunk[:left])
            if 0 < left <= len(chunk):
                text += f"\ngin-env: nothing more of the standard error of {name} is shown\n"
            left = max(left - len(chunk), 0)
            with contextlib.suppress(AttributeError, OSError, ValueError):  # ours is closed, or there is none
                sys.stderr.write("".join(each for each in text if each.isprintable() or each in "\n\t"))
                sys.stderr.flush()


def _read_line(stream: IO[bytes], unread: bytearray, stopped: threading.Event) -> bytes:
    """Return the next line, or the remaining bytes if the stream ends or the line is too long.

    Bytes after the line stay in `unread`.
    """
    searched = 0
    while (end := unread.find(b"\n", searched) + 1) == 0 and len(unread) <= MAX_BYTES:
        searched = len(unread)
        chunk = _read(stream, stopped)
        if not chunk:
            break
        unread += chunk
    line = bytes(unread[: end or len(unread)])
    del unread[: len(line)]
    return line


def _read(stream: IO[bytes], stopped: threading.Event) -> bytes:
    """Return the next bytes of a pipe; nothing at its end, or soon after `stopped` (not on Windows)."""
    while sys.platform != "win32" and not select.select([stream], [], [], EXIT_SECONDS)[0]:
        if stopped.is_set():
            return b""
    return stream.read(1 << 16)


def _stop(
    process: subprocess.Popen[bytes],
    questions: queue.SimpleQueue[bytes | None],
    messages: threading.Thread,
    stopped: threading.Event,
    owner: int,
) -> None:
    """Stop a program and all processes that it started.

    Its input is closed first, so that it can exit by itself within `EXIT_SECONDS`; then its group is killed.
    The threads end too, even if a process that left the group still holds the output open.
    """
    if os.getpid() != owner:  # a fork, which does not own the program
        return
    questions.put(None)
    with contextlib.suppress(OSError):
        process.stdin.close()  # type: ignore[union-attr]  # a raw pipe has nothing to flush
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(EXIT_SECONDS)
    _kill_group(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    stopped.set()
    with contextlib.suppress(RuntimeError):  # called by the garbage collector in that thread
        # Let it show the last messages; a thread that prints must not outlive the interpreter.
        messages.join(EXIT_SECONDS)


if sys.platform == "win32":
    _OWN_GROUP: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def _kill_group(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            subprocess.run(tree, capture_output=True, timeout=5, check=False)
        process.kill()

else:
    _OWN_GROUP: dict[str, Any] = {"start_new_session": True}

    def _kill_group(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
