"""The replay screen: a recorded game step by step, with both hands open, in the layout of `gin-rummy play`.

It needs Textual (``pip install "gin-env[play]"``).
"""

from __future__ import annotations

from typing import Any, ClassVar

from gin_env.game.words import rules_in_words
from gin_env.support.tables import table
from gin_env.ui.review import Choice, mistakes_of, summary, totals_of
from gin_env.ui.table_app import ChoiceDialog, Page, TableApp  # first: its ImportError names what to install

from textual.binding import Binding  # isort: skip
from textual.containers import VerticalScroll  # isort: skip

from gin_env.ui import play_drawing as draw
from gin_env.ui.replay_view import ReplayView

KEYS = """\
Keys:
  right, Enter     next move
  left, Backspace  back by one move
  down, up         next hand; start of this hand, then hand before
  Home, End        first deal, end of the game
  w, W             the worst move, then the next worst; back
  t                review: what cards and choices were worth, and a
                   table of mistakes: choose one to go there
  h                the best moves compared with the one played
  b                what the other player may hold, and the truth
  v                belief of the player to move, or of one player
  PageUp, PageDown scroll
  q                quit

The card that is played next is marked ▲▲ (or >), the one just drawn
"new" (or *).
"""


class ReplayApp(TableApp):
    """The screen of a `ReplayView`; `most` is the maximum number of lines in its table of mistakes."""

    CSS_PATH: ClassVar[Any] = ["play.tcss", "replay.tcss"]
    shown: ReplayView
    BINDINGS: ClassVar[list[Any]] = [
        Binding("right,enter,space", "move(1)", "Next", key_display="→"),
        Binding("left,backspace", "move(-1)", "Back", key_display="←"),
        Binding("down", "hand(1)", "Hand", key_display="↓"),
        Binding("up", "hand(-1)", show=False),
        Binding("home", "go_to(0)", show=False),
        Binding("end", "go_to(-1)", show=False),
        Binding("w", "worst(1)", "Worst"),
        Binding("W", "worst(-1)", show=False),
        Binding("t", "mistakes", "Review"),
        Binding("h", "hint", "Hint"),
        Binding("b", "belief", "Their cards"),
        Binding("v", "viewer", show=False),
        Binding("pagedown", "scroll_page(1)", show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("question_mark,f1", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(self, shown: ReplayView, most: int = 10) -> None:
        super().__init__(shown)
        self._most = most
        self._rank = -1  # index of the mistake shown last

    def action_go_to(self, place: int) -> None:
        """Go to a position; -1 is the last."""
        self.shown.place = range(len(self.shown.positions))[place]
        self._show()

    def action_move(self, step: int) -> None:
        """Go forward (1) or back (-1) by one position."""
        self.action_go_to(min(max(self.shown.place + step, 0), len(self.shown.positions) - 1))

    def action_hand(self, step: int) -> None:
        """Go to the deal of the next hand (1); back to this hand's deal or, from there, the previous (-1)."""
        here = self.shown.place
        deals = [place for place, position in enumerate(self.shown.positions) if position.step == 0]
        if step > 0:
            self.action_go_to(min((deal for deal in deals if deal > here), default=here))
        else:
            self.action_go_to(max((deal for deal in deals if deal < here), default=0))

    def action_worst(self, step: int) -> None:
        """Go to the move with the largest loss, then to the others in order of loss (1), or back (-1)."""

        def go() -> None:
            worst = self._worst()
            if worst:
                self._rank = min(max(self._rank + step, 0), len(worst) - 1)
                self.action_go_to(self.shown.positions.index(worst[self._rank].position))

        self.shown.ask_reviews(go)

    def _worst(self) -> list[Choice]:
        """Return the mistakes, and say so if there are none."""
        worst = mistakes_of(self.shown.reviews)
        if not worst:
            self.shown.notify("No choice was clearly worse than the best.", markup=False)
        return worst

    def action_mistakes(self) -> None:
        """Show the review; choosing a mistake goes to its position."""
        self.shown.ask_reviews(self._show_mistakes)

    def _show_mistakes(self) -> None:
        worst = self._worst()[: self._most]
        if not worst:
            return
        names, places = self.shown.names, [self.shown.positions.index(one.position) for one in worst]
        rows = [
            [
                str(one.number),
                str(one.position.hand + 1),
                draw.short_name(names[one.position.player], 8),
                *(name.replace("draw from the ", "") for name in one.moves(self.shown.letters)),
                f"{one.lost:.1f}",
            ]
            for one in worst
        ]
        header = ["step", "hand", "player", "played", "better", "lost"]
        heading, *lines = table(header, rows, left=(2, 3, 4)).split("\n")
        here = places.index(self.shown.place) if self.shown.place in places else 0
        totals = [
            summary(totals_of([one for one in self.shown.reviews if one.player == player]), names[player])
            for player in self.shown.players
        ]

        def go_to(rank: int | None) -> None:
            if rank is not None:
                self._rank = rank
                self.action_go_to(places[rank])

        self.push_screen(ChoiceDialog("\n".join([*totals, "", f"  {heading}"]), lines, here), go_to)

    def action_viewer(self) -> None:
        """Show the belief of the player to move, of player 0, or of player 1."""
        self.shown.viewer = {None: 0, 0: 1, 1: None}[self.shown.viewer]
        self.shown.belief_on = True
        self._show()

    def action_scroll_page(self, step: int) -> None:
        """Scroll the parts that do not fit on the screen."""
        for part in self.shown.query(VerticalScroll):
            part.scroll_relative(y=step * max(1, part.size.height - 1), animate=False)

    def action_help(self) -> None:
        self.push_screen(Page(f"{KEYS}\n{rules_in_words(self.shown.game.rules)}"))
