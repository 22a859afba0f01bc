"""Bots and judges that answer only when a test lets them."""

from __future__ import annotations

import threading
from typing import Any

from screens import Judge


class WaitingBot:
    """Answers like `bot` once `release` is set; `asked` is set when the first question comes."""

    def __init__(self, bot: Any) -> None:
        self.bot, self.name = bot, bot.name
        self.asked, self.release = threading.Event(), threading.Event()

    def act(self, view):
        self.wait()
        return self.bot.act(view)

    def wait(self) -> None:
        self.asked.set()
        self.release.wait(30)


class WaitingJudge(WaitingBot, Judge):
    def advise(self, view, played=None):
        self.wait()
        return self.bot.advise(view, played)
