"""The games of the browser windows: one session a window, each with a save file of its own."""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gin_env.ui.human_game import HumanGame

MAX_SESSIONS = 32
"""Games in memory. The one unused for longest makes room; it is loaded from its file when needed again."""
MAX_SAVES = 100
"""Save files older than a day that are kept; more recent ones stay."""
MAX_RECENT_SAVES = 10_000
DAY = 24 * 60 * 60
TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")


@dataclass
class Session:
    """One window's game. Hold `lock` while using the game."""

    token: str
    game: HumanGame
    practice: bool = False
    """Whether moves can be taken back; such games are not recorded."""
    version: int = 0
    """Changes with every change of the game, so that an action for an earlier table is refused."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class Sessions:
    """All sessions of a server.

    Parameters
    ----------
    folder : where each window's game is saved after every action; None: nowhere.
    finished : called with each game that is played to its end, except in practice.
    opponent : the bot that the user named; a saved game against it is resumed even if it runs other code.
    """

    def __init__(
        self,
        folder: Path | None,
        finished: Callable[[HumanGame], object] | None = None,
        opponent: str | None = None,
    ) -> None:
        self._folder, self._finished, self._opponent = folder, finished, opponent
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        """By token, the one used last at the end."""
        self._lock = threading.Lock()

    def start(self, game: HumanGame, practice: bool, token: str | None = None) -> Session:
        """Return a new session, or a new game in the session of this token."""
        session = Session(token or secrets.token_urlsafe(16), game, practice)
        if token is not None:
            self._remove_save(token)
            with self._lock:
                self._sessions.pop(token, None)
        return self._keep(session)

    def find(self, token: str) -> Session | None:
        """Return the session of a token, from memory or from its file; None if there is neither.

        Raises ValueError for a save file that cannot be read, and as `gin_env.agents.make` does for its bot.
        """
        if not TOKEN.fullmatch(token):
            return None
        with self._lock:
            if token in self._sessions:
                self._sessions.move_to_end(token)
                return self._sessions[token]
        for practice, path in self._saves(token).items():
            if path.exists():
                return self._keep(Session(token, HumanGame.load(path, allowed=self._opponent), practice))
        return None

    def changed(self, session: Session) -> None:
        """Save a session after a change. Raises OSError if its file cannot be written."""
        session.version += 1
        if session.game.is_over:
            if self._finished is not None and not session.practice:
                self._finished(session.game)
            self._remove_save(session.token)
        elif self._folder is not None:
            session.game.save(self._saves(session.token)[session.practice])

    def _keep(self, session: Session) -> Session:
        """Return this session, or the one that another request has just put in its place."""
        with self._lock:
            session = self._sessions.setdefault(session.token, session)
            self._sessions.move_to_end(session.token)
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        self._limit_saves()
        return session

    def _limit_saves(self) -> None:
        """Delete the oldest save files beyond the limits, so that no visitor can fill the disk.

        A game of the last day is deleted only for one of ten thousand others.
        """
        if self._folder is None:
            return
        saves = []
        for path in self._folder.glob("window-*.json"):
            with suppress(FileNotFoundError):  # another request has just deleted it
                if path.is_file():
                    saves.append((path.stat().st_mtime, path))
        saves.sort()
        old = [save for save in saves if save[0] < time.time() - DAY]
        for _, path in {*old[:-MAX_SAVES], *saves[:-MAX_RECENT_SAVES]}:
            path.unlink(missing_ok=True)

    def _remove_save(self, token: str) -> None:
        for path in self._saves(token).values():
            path.unlink(missing_ok=True)

    def _saves(self, token: str) -> dict[bool, Path]:
        """Return the save files of a token by `Session.practice`; their names do not reveal the token."""
        if self._folder is None:
            return {}
        start = f"window-{hashlib.sha256(token.encode()).hexdigest()[:20]}"
        return {False: self._folder / f"{start}.json", True: self._folder / f"{start}-practice.json"}
