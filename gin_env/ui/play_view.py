"""Contents of the playing screen: the person's view and, after the end of a hand, both hands."""

from __future__ import annotations

from functools import partial
from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from gin_env.records import HandRecord
from gin_env.ui import play_drawing as draw
from gin_env.ui.adviser import Adviser
from gin_env.ui.human_game import PERSON, HumanGame
from gin_env.ui.reveal import describe_showdown, game_result
from gin_env.ui.review import HandReview, review_hand, review_text
from gin_env.ui.statistics import Statistics
from gin_env.ui.table_app import WIDE, TableView
from gin_env.ui.visible_table import (
    VisibleTable,
    best_knock,
    card_name,
    discard_options,
    last_turn,
    visible_table,
)

KEYS = "1234567890-"
"""Keys that choose a card, by its place in the hand."""


class CardPlace(Widget):
    """A place in the player's hand, with its card and the key that chooses it."""

    def __init__(self, place: int, letters: bool) -> None:
        super().__init__(classes="card")
        self.place = place
        self._letters = letters
        self._shown: Any = (-1, *[False] * 6)  # no card yet

    def show(
        self, card: int, first: bool, last: bool, new: bool, chosen: bool, boxes: bool, large: bool = False
    ) -> None:
        """Show a card. `first` and `last` give its position in a group; `new` marks a card just drawn."""
        self.display = True
        shown = (card, first, last, new, chosen, boxes, large)
        if shown == self._shown:
            return
        self._shown = shown
        self.styles.width = (draw.LARGE_WIDTH if large else 4) + (last and boxes)
        self.styles.margin = (0, 0, 0, 1 if first and self.place else 0)
        self.refresh(layout=True)

    def render(self) -> Text:
        card, _, last, new, chosen, _, large = self._shown
        label = Text(f" {'▲▲' if chosen else KEYS[self.place]}", f"bold {draw.GOLD}" if chosen else draw.PALE)
        if self.size.height <= 2:
            mark = ">" if chosen else "*" if new else " "
            line = draw.card_in_line(card, mark, self._letters, chosen)
            return Text("\n").join([line, label]) if self.size.height == 2 else line
        lines = draw.card_lines(card, last, self._letters, new, large)
        return Text("\n").join([*lines, label])

    async def on_click(self) -> None:
        await self.run_action(f"app.click({self.place})")


class Pile(Static):
    """The stock or the upcard; a click runs the action with the name of its id."""

    async def on_click(self) -> None:
        await self.run_action(f"app.{self.id}")


class PlayView(TableView):
    """The table, or the end of a hand.

    Parameters
    ----------
    game : the game that is shown; the attribute can be set to another game.
    hint_bot, estimator, letters : as for `TableView`.
    statistics : the results, kept in a file and shown after a hand; None: none.
    """

    def __init__(
        self,
        game: HumanGame,
        hint_bot: str | None = None,
        estimator: str = "bayes",
        letters: bool = False,
        statistics: Statistics | None = None,
    ) -> None:
        super().__init__(hint_bot, estimator, letters)
        self.statistics = statistics
        self.thinking = False
        """Whether the opponent has been thinking for a while."""
        self.game = game
        self._reviews: dict[HandRecord, HandReview] = {}
        self.chosen: int | None = None
        """Place of the card that the player has chosen."""
        self.notice = ""
        """Text shown instead of the prompt, such as the reason why a key has no effect."""

    def compose(self) -> ComposeResult:
        yield Static(id="title", markup=False)
        yield Static(id="too-small", markup=False)
        with Container(id="table"):
            with Vertical(id="left"):
                yield Static(id="theirs")
                with Container(id="middle"):
                    yield Pile(id="stock")
                    yield Pile(id="upcard")
                    yield Static(id="pile")
                yield Static(id="mine-title", markup=False)
                with Container(id="mine"):
                    for place in range(len(KEYS)):
                        yield CardPlace(place, self.letters)
                yield Static(id="captions")
                yield Static(id="prompt", markup=False)
                yield Static(id="belief", markup=False)
            with Vertical(id="side"):
                yield Static(id="hint", markup=False)
                with VerticalScroll(id="turns", can_focus=False):
                    yield Static(id="log")
                yield Static(id="sheet")
        with VerticalScroll(id="end"):
            yield Static(id="end-text")

    def show(self) -> None:
        boxes, width, ended = self._fit(), self.app.size.width, self.game.ended
        self.set_class(ended is not None, "ended")
        table = visible_table(self.game.view, self.game.opponent_name, self.letters)
        self._write("title", draw.title_line(table, self.game.opponent_name, width - 2))
        if ended is None:
            self._show_table(table, boxes)
        else:
            self._show_end(ended, width)

    def _show_table(self, table: VisibleTable, boxes: bool) -> None:
        opponent, letters, large = self.game.opponent_name, self.letters, self.has_class("large")
        self._write("theirs", draw.their_hand(table, opponent, letters, boxes, large))
        self._write("stock", draw.stock_drawing(table, boxes, large))
        self._write("upcard", draw.upcard_drawing(table, letters, boxes, large))
        room = 29 if boxes else self.app.size.width - 24
        self._write("pile", draw.pile_drawing(table, letters, boxes, room))
        cards = [card for group in table.hand for card in group.cards]
        self._write("mine-title", f"You: {len(cards)} cards, {draw.deadwood_words(table)}")
        if self.chosen is not None and not (table.my_turn and self.chosen < len(cards)):
            self.chosen = None
        places = list(self.query(CardPlace))
        for place, card in enumerate(cards):
            first = any(group.cards[0] == card for group in table.hand)
            last = any(group.cards[-1] == card for group in table.hand)
            places[place].show(card, first, last, card == table.taken, place == self.chosen, boxes, large)
        for unused in places[len(cards) :]:
            unused.display = False
        widths = (draw.LARGE_WIDTH, 2) if large else (4, 2) if boxes else (4, 1)
        self._write("captions", draw.captions(table.hand, *widths))
        self._write("prompt", self._said(table, cards, boxes))
        self._write("log", draw.turn_lines(table, opponent))
        self._write("sheet", draw.sheet_lines(self.game.record(), opponent) if large else "")
        self._show_hint(table)
        belief: Any = ""
        if self.belief_on:
            heading = Text("What they may hold, per cent", "bold")
            belief = self._belief(
                self.game.view, lambda belief: Text("\n").join([heading, draw.heat_cells(belief)])
            )
        self._write("belief", belief)
        turns = self.query_one("#turns", VerticalScroll)
        self.call_after_refresh(turns.scroll_end, animate=False)  # once the hint has its height

    def _show_hint(self, table: VisibleTable) -> None:
        text: Any = "The hint comes when it is your turn."
        if self.hint_on and table.my_turn:
            text = self._hint(self.game.view, self.game.opponent_name)
        self._write("hint", text)
        self.query_one("#hint").display = self.hint_on

    def _show_end(self, hands: tuple[int, int], width: int) -> None:
        opponent = self.game.opponent_name
        showdown = describe_showdown(self.game.view, hands, opponent, self.letters)
        large = self.has_class("large")
        text = draw.showdown_lines(showdown, opponent, self.letters, width >= WIDE, large=large)
        if self.game.is_over:
            result = game_result(self.game.record(), opponent)
            text.append(f"\n{result} Enter begins a new game.", f"bold {draw.GOLD}")
        if self.notice:
            text.append(f"\n{self.notice}", draw.GOLD)
        if self.statistics is not None:
            text.append(
                f"\nAgainst {opponent}: {self.statistics.against(self.game.opponent).text}.", draw.PALE
            )
        text.append(f"\n\n{self._review()}")
        heading = "What you could believe, per cent"
        both = partial(draw.belief_and_truth, hand=hands[1], heading=heading, wide=width >= WIDE)
        text.append("\n\n").append(self._belief(self.game.view, both))
        self._write("end-text", text)

    def _said(self, table: VisibleTable, cards: list[int], two_lines: bool) -> str:
        """Return the lines above the footer: the opponent's last turn and the player's options."""
        waiting = f"{self.game.opponent_name} is thinking ..." if self.thinking else table.prompt
        now = self.notice or self._about_chosen(cards) or waiting
        before = last_turn(table, self.game.opponent_name)
        return f"{before}\n{now}" if before and two_lines else now

    def _about_chosen(self, cards: list[int]) -> str:
        """Return what Enter would do with the chosen card; at most 52 columns while a discard is possible."""
        options = discard_options(self.game.view)
        if self.chosen is None or not options:
            return ""
        card = cards[self.chosen]
        option, name, best = options[card], card_name(card, self.letters), best_knock(options)
        if option.discard is None:
            return f"{name} was just taken from the pile: it cannot be discarded in this turn."
        if option.gin:
            return f"{name} leaves no deadwood: Enter goes {option.gin}."
        if best is not None and options[best].gin:
            gin = f"{options[best].gin} is possible with {card_name(best, self.letters)}"
            return f"{gin[0].upper()}{gin[1:]}; Enter discards {name}."
        knock = "" if option.knock is None else ", k knocks"
        return f"{name} leaves {option.deadwood} deadwood: Enter discards it{knock}."

    def _review(self) -> str:
        """Return the review of the hand, after a game that of all its hands, or why there is none yet."""
        game = self.game
        record = game.record()
        hands = [len(record.hands) - 1] if not game.is_over else list(range(len(record.hands)))

        def compute(adviser: Adviser) -> str:
            positions = record.positions()
            for hand in hands:
                if record.hands[hand] not in self._reviews:
                    review = review_hand(record, positions, hand, PERSON, adviser)
                    self._reviews[record.hands[hand]] = review
            reviews = [self._reviews[record.hands[hand]] for hand in hands]
            return review_text(record, reviews, adviser.label, letters=self.letters)

        found = self._think(self._adviser, game.view, compute)
        if found is None:
            return "Your choices are played out ..."
        return f"There is no review: {found}" if isinstance(found, Exception) else str(found)
