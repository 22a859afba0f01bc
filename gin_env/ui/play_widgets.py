"""Widgets of the playing screen: a card that can be chosen, piles that can be clicked, and two dialogs."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.events import Click
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import OptionList, Static

from gin_env.ui.play_drawing import GOLD, LARGE_WIDTH, PALE, card_in_line, card_lines


class CardPlace(Widget):
    """A place in the player's hand, with its card and the key that chooses it."""

    class Clicked(Message):
        """The player clicked on a card."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, place: int, letters: bool) -> None:
        super().__init__(classes="card")
        self.place = place
        self._letters = letters
        self._card = 0
        self._last = self._new = self._chosen = self._large = False
        self._shown: tuple[object, ...] = ()

    @property
    def key(self) -> str:
        """The key that chooses this card: 1 to 9, 0, minus."""
        return "1234567890-"[self.place]

    def show(
        self, card: int, first: bool, last: bool, new: bool, chosen: bool, boxes: bool, large: bool = False
    ) -> None:
        """Show a card. `first` and `last` give its position in a group; `new` marks a card just drawn."""
        self.display = True
        shown = (card, first, last, new, chosen, boxes, large)
        if shown == self._shown:
            return
        self._shown = shown
        self._card, self._last, self._new, self._chosen = card, last, new, chosen
        self._large = large
        self.styles.width = (LARGE_WIDTH if large else 4) + (last and boxes)
        self.styles.margin = (0, 0, 0, 1 if first and self.place else 0)
        self.refresh(layout=True)

    def render(self) -> Text:
        label = Text(f" {'▲▲' if self._chosen else self.key}", f"bold {GOLD}" if self._chosen else PALE)
        if self.size.height <= 2:
            mark = ">" if self._chosen else "*" if self._new else " "
            line = card_in_line(self._card, mark, self._letters, self._chosen)
            return Text("\n").join([line, label]) if self.size.height == 2 else line
        lines = card_lines(self._card, self._last, self._letters, self._new, self._large)
        return Text("\n").join([*lines, label])

    def on_click(self) -> None:
        self.post_message(self.Clicked(self.place))


class Pile(Static):
    """The stock or the upcard; a click runs the action of that name."""

    def __init__(self, action: str, id: str) -> None:
        super().__init__(id=id)
        self._action = action

    async def on_click(self, event: Click) -> None:
        await self.run_action(f"app.{self._action}")


class Page(ModalScreen[None]):
    """A text to read, closed by any of several common keys or a click."""

    BINDINGS = [Binding("escape,enter,q,question_mark,f1", "app.pop_screen", "Back")]  # noqa: RUF012

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Static(self._text + "\n\nEscape goes back to the game.", markup=False)

    def on_click(self, event: Click) -> None:
        self.app.pop_screen()


class ChoiceDialog(ModalScreen[str | None]):
    """A dialog that returns one of several names, or None if the player cancels."""

    BINDINGS = [Binding("escape,q", "dismiss", "Back")]  # noqa: RUF012

    def __init__(self, question: str, names: list[str], chosen: str) -> None:
        super().__init__()
        self._question, self._names, self._chosen = question, names, chosen

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Static(self._question, markup=False)
            yield OptionList(*self._names, markup=False)

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.highlighted = self._names.index(self._chosen) if self._chosen in self._names else 0
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._names[event.option_index])
