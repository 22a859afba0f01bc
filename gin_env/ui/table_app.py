"""Base classes of the playing screen and the replay screen, and their dialogs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from rich.text import Text

from gin_env.observations.views import PlayerView
from gin_env.ui.adviser import Adviser, Shared, estimator_of_hand
from gin_env.ui.play_drawing import advice_lines
from gin_env.ui.visible_table import HeatMap, heat_map

try:
    from textual.app import App, ComposeResult
    from textual.binding import Binding
    from textual.containers import Container, VerticalScroll
    from textual.screen import ModalScreen
    from textual.widgets import Footer, OptionList, Static
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
MAX_ANSWERS = 5_000


Question = tuple[Shared[Any], bytes]
"""An adviser or estimator, and the view that it is asked about."""


class TableView(Container):
    """A table of cards with advice and an estimator's belief: the whole screen except the footer.

    Parameters
    ----------
    hint_bot : the bot that hints and reviews play the moves out with; None for the strongest.
    estimator : estimates what the opponent holds.
    letters : write suits as C, H, S, D.
    """

    def __init__(self, hint_bot: str | None = None, estimator: str = "bayes", letters: bool = False) -> None:
        super().__init__()
        self._hint_bot, self.hint_on = hint_bot, False
        self.estimator, self.belief_on = estimator, False
        self.letters = letters
        self._written: dict[str, Any] = {}
        self._adviser = Shared(lambda: Adviser(hint_bot))
        self._estimator = Shared(lambda: estimator_of_hand(estimator))
        self._answers: dict[Question, Any] = {}
        self.asked: set[Question] = set()

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

    def _hint(self, view: PlayerView, opponent: str, played: int | None = None) -> Text:
        """Return the best moves, with the one that was played, or why there are none."""
        advice = self._think(self._adviser, view, lambda adviser: adviser.advise(view, played))
        if advice is None:
            return Text("The moves are played out ...")
        if isinstance(advice, Exception):
            return Text(f"There is no hint: {advice}")
        return advice_lines(advice, view, opponent, self.letters, played)

    def _belief(self, view: PlayerView, drawing: Callable[[HeatMap], Text]) -> Text:
        """Return the drawing of the belief about the other hand, or why there is none."""
        chances = self._think(self._estimator, view, lambda one: one.estimate(view)[0].tolist())
        if chances is None:
            return Text("The chances are worked out ...")
        if isinstance(chances, Exception):
            return Text(f"There are no chances: {chances}")
        return drawing(heat_map(chances, self.letters))

    def _think(self, source: Shared[Any], view: PlayerView, compute: Callable[[Any], Any]) -> Any:
        """Return the answer of an adviser or estimator to a view, or None while a thread computes it.

        `compute` is called with the adviser or estimator. The screen is redrawn when the answer arrives. If
        the computation fails, its exception is returned.
        """
        key = (source, view.array.tobytes())
        answer = self._answers.get(key)
        if answer is None and key not in self.asked:
            self.asked.add(key)
            self.run_worker(lambda: self._answer(key, compute), thread=True, exit_on_error=False)
        return answer

    def _answer(self, key: Question, compute: Callable[[Any], Any]) -> None:
        """Compute an answer; runs in a thread."""
        try:
            answer = key[0].ask(compute)
        except Exception as error:  # a user's own bot can raise anything
            answer = error
        self.app.call_from_thread(self._received, key, answer)

    def _received(self, key: Question, answer: Any) -> None:
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

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)  # the new size is valid only then

    def _show(self) -> None:
        self.shown.show()

    def action_hint(self) -> None:
        self.shown.hint_on = not self.shown.hint_on
        self._show()

    def action_belief(self) -> None:
        self.shown.belief_on = not self.shown.belief_on
        self._show()


class Page(ModalScreen[None]):
    """A text to read, closed by any of several common keys or a click."""

    BINDINGS = [Binding("escape,enter,q,question_mark,f1", "app.pop_screen", "Back")]  # noqa: RUF012

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Static(self._text + "\n\nEscape goes back to the game.", markup=False)

    def on_click(self) -> None:
        self.app.pop_screen()


class ChoiceDialog(ModalScreen[int | None]):
    """A dialog that returns the index of one of several names, or None if the player cancels."""

    BINDINGS = [Binding("escape,q", "dismiss", "Back")]  # noqa: RUF012

    def __init__(self, question: str, names: list[str], chosen: int) -> None:
        super().__init__()
        self._question, self._names, self._chosen = question, names, chosen

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Static(self._question, markup=False)
            yield OptionList(*self._names, markup=False)

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.highlighted = self._chosen
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)
