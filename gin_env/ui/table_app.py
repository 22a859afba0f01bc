"""Base classes of the playing screen and the replay screen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

from gin_env.observations.views import PlayerView
from gin_env.ui.adviser import Adviser, estimator_of_hand

try:
    from textual.app import App, ComposeResult
    from textual.containers import Container
    from textual.events import Resize
    from textual.widgets import Footer, Static
except ImportError as error:
    raise ImportError('a screen in the terminal needs Textual: pip install "gin-env[play]"') from error

WIDE, HIGH = 80, 24
"""Minimum columns and lines for cards drawn as boxes."""
LARGE_WIDE, LARGE_HIGH = 116, 36
"""Minimum columns and lines for large drawings of cards, and for the score sheet next to them."""
LOW = 18
"""Minimum number of lines for the keys and captions below the cards."""
NARROWEST, LOWEST = 48, 13
"""Minimum columns and lines; a smaller screen shows only a request to enlarge it."""


ADVISER, ESTIMATOR = "adviser", "estimator"
MAX_ANSWERS = 5_000


class TableView(Container):
    """A table of cards with advice and an estimator's belief: the whole screen except the footer.

    Parameters
    ----------
    hint_bot : the bot of the `Adviser` whose hint is shown if `hint_on`; None for the strongest.
    estimator : the estimator whose belief is shown if `belief_on`.
    letters : write suits as C, H, S, D.
    """

    def __init__(self, hint_bot: str | None, estimator: str, letters: bool) -> None:
        super().__init__()
        self._hint_bot, self.hint_on = hint_bot, False
        self.estimator, self.belief_on = estimator, False
        self._letters = letters
        self._written: dict[str, Any] = {}
        self._thinking = threading.Lock()
        self._advisers: dict[str, Any] = {}
        self._answers: dict[tuple[str, bytes], Any] = {}
        self.asked: set[tuple[str, bytes]] = set()

    def show(self) -> None:
        """Redraw what has changed."""
        raise NotImplementedError

    def _fit(self) -> bool:
        """Adapt to the size of the screen, and return whether cards are drawn as boxes."""
        width, height = self.app.size
        boxes = width >= WIDE and height >= HIGH
        self.set_class(width < NARROWEST or height < LOWEST, "tiny")
        self.set_class(not boxes, "compact")
        self.set_class(height < LOW, "low")
        self.set_class(width >= LARGE_WIDE and height >= LARGE_HIGH, "large")
        wanted = f"please enlarge the window to {WIDE} x {HIGH} (at least {NARROWEST} x {LOWEST})."
        self._write("too-small", f"{width} x {height} is too small: {wanted}")
        return boxes

    def _ask_adviser(self, view: PlayerView, compute: Callable[[Adviser], Any]) -> Any:
        """Return the adviser's answer as `_think` does."""
        return self._think(ADVISER, view, compute)

    def _think(self, kind: str, view: PlayerView, compute: Callable[[Any], Any]) -> Any:
        """Return the answer of an adviser or estimator to a view, or None while a thread computes it.

        `compute` is called with the adviser or estimator. The screen is redrawn when the answer arrives. If
        the computation fails, its exception is returned.
        """
        key = (kind, view.array.tobytes())
        answer = self._answers.get(key)
        if answer is None and key not in self.asked:
            self.asked.add(key)
            self.run_worker(lambda: self._answer(key, compute), thread=True, exit_on_error=False)
        return answer

    def _adviser_of(self, kind: str) -> Any:
        """Return the adviser or the estimator, made when it is first asked."""
        if kind not in self._advisers:
            made = Adviser(self._hint_bot) if kind == ADVISER else estimator_of_hand(self.estimator)
            self._advisers[kind] = made
        return self._advisers[kind]

    def _answer(self, key: tuple[str, bytes], compute: Callable[[Any], Any]) -> None:
        """Compute an answer; runs in a thread, one question at a time."""
        try:
            with self._thinking:
                answer = compute(self._adviser_of(key[0]))
        except Exception as error:  # a user's own bot can raise anything
            answer = error
            self._advisers.pop(key[0], None)  # a program that has ended would never answer again
        self.app.call_from_thread(self._received, key, answer)

    def _received(self, key: tuple[str, bytes], answer: Any) -> None:
        if len(self._answers) > MAX_ANSWERS:
            self._answers.clear()
        self.asked.discard(key)
        self._answers[key] = answer
        self.show()

    def _write(self, name: str, text: Any) -> None:
        """Set a text only if it differs, since each change triggers a new layout of the screen."""
        if self._written.get(name) != text:
            self._written[name] = text
            self.query_one(f"#{name}", Static).update(text)


class TableApp(App[None]):
    """A screen of a `TableView` and a footer with the keys."""

    CSS_PATH: ClassVar[Any] = "play.tcss"
    TITLE = "Gin Rummy"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, shown: TableView) -> None:
        super().__init__()
        self.shown = shown

    def compose(self) -> ComposeResult:
        yield self.shown
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self._show()

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show)  # the new size is valid only then

    def _show(self) -> None:
        self.shown.show()

    def action_hint(self) -> None:
        """Show or hide the hint."""
        self.shown.hint_on = not self.shown.hint_on
        self._show()

    def action_belief(self) -> None:
        """Show or hide the belief about the other hand."""
        self.shown.belief_on = not self.shown.belief_on
        self._show()
