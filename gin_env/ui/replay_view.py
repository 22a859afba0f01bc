"""Contents of the replay screen: a position of a recorded game with both hands open, its review, belief."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from gin_env.game.cards import NUM_CARDS
from gin_env.records import GameRecord, Position
from gin_env.ui import play_drawing as draw
from gin_env.ui.adviser import Adviser
from gin_env.ui.reveal import describe_showdown
from gin_env.ui.review import HandReview, counted, game_title, mistakes_of, names_as_recorded, review_hand
from gin_env.ui.table_app import TableView
from gin_env.ui.visible_table import Turn, VisibleTable, action_name, both_turns, visible_table

NAME_WIDTH = 14
LONG_LINES = 54
"""Minimum number of columns for full descriptions of steps."""
HEAT_AND_TRUTH = 74
"""Minimum number of columns for belief and truth side by side."""


class ReplayView(TableView):
    """One position of a recorded game.

    Parameters
    ----------
    game : the game.
    judge, estimator, letters : as `hint_bot`, `estimator` and `letters` of `TableView`.
    players : the players whose choices are reviewed.

    Attributes
    ----------
    positions : all positions of the game, in order.
    decisions : the indices of the positions in which a player made a decision: the steps.
    place : index in `positions` of the position that is shown.
    names : the players' names_as_recorded.
    reviews : the reviews of all hands for each of `players`, once `ask_reviews` has been answered.
    judging : whether a thread computes them.
    viewer : the player whose belief is shown; None for the player to move.
    """

    def __init__(
        self,
        game: GameRecord,
        judge: str | None = None,
        players: Sequence[int] = (0, 1),
        estimator: str = "bayes",
        letters: bool = False,
    ) -> None:
        super().__init__(judge, estimator, letters)
        self.game = game
        self.positions = game.positions()
        self.decisions = [place for place, position in enumerate(self.positions) if position.is_decision]
        self.place = 0
        first, second = (draw.short_name(name, NAME_WIDTH) for name in names_as_recorded(game))
        self.names = (first, second)
        self.players = players
        self.reviews: list[HandReview] = []
        self.judging = False
        self._progress = ""
        self._waiting: list[Callable[[], None]] = []
        self.viewer: int | None = None

    @property
    def position(self) -> Position:
        return self.positions[self.place]

    def compose(self) -> ComposeResult:
        yield Static(id="title", markup=False)
        yield Static(id="too-small", markup=False)
        with Container(id="table"):
            with Vertical(id="left"):
                yield Static(id="second", classes="hand")
                with Container(id="middle"):
                    yield Static(id="stock")
                    yield Static(id="upcard")
                    yield Static(id="pile")
                yield Static(id="first", classes="hand")
                yield Static(id="prompt", markup=False)
            with Vertical(id="side"):
                with VerticalScroll(id="opinion", can_focus=False):
                    yield Static(id="opinion-text")
                with VerticalScroll(id="turns", can_focus=False):
                    yield Static(id="log")
        with VerticalScroll(id="end", can_focus=False):
            yield Static(id="end-text")
        with VerticalScroll(id="below", can_focus=False):
            yield Static(id="belief", markup=False)

    def show(self) -> None:
        boxes = self._fit()
        position = self.position
        first = visible_table(position.view(0), self.names[1], self.letters)
        second = visible_table(position.view(1), self.names[0], self.letters)
        self.set_class(position.over, "ended")
        self.set_class(self.belief_on, "believing")
        self._write("title", draw.title_line(first, self.names[1], self.app.size.width - 2, self.names[0]))
        turns = both_turns(first, second)
        if position.over:
            self._show_end(turns, boxes)
        else:
            self._show_table((first, second), turns, boxes)
        self._show_belief()

    def _show_table(self, tables: tuple[VisibleTable, VisibleTable], turns: list[Turn], boxes: bool) -> None:
        letters, position = self.letters, self.position
        for player, place in enumerate(("first", "second")):
            here = position.is_decision and position.player == player
            played = position.action if here else None
            self._write(place, hand_drawing(self.names[player], tables[player], here, played, letters, boxes))
        self._write("stock", draw.stock_drawing(tables[0], boxes))
        self._write("upcard", draw.upcard_drawing(tables[0], letters, boxes))
        width = 29 if boxes else self.app.size.width - 24
        self._write("pile", draw.pile_drawing(tables[0], letters, boxes, width))
        self._write("prompt", f"{last_move(turns, self.names)}\n{self._next_move(tables[0].upcard)}")
        first, second = column_names(self.names)
        self._write("log", draw.turn_lines(replace(tables[0], turns=turns), second, first))
        about = self._about_move(tables[0].upcard)
        self._write("opinion-text", about)
        self.set_class(bool(about), "asked")
        self.query_one("#turns", VerticalScroll).scroll_end(animate=False)

    def _show_end(self, turns: list[Turn], boxes: bool) -> None:
        first, second = self.position.state["private"]["hand"][0].tolist()
        me, other = self.names
        shown = describe_showdown(self.position.view(0), (first, second), other, self.letters, me)
        text = Text(f"{last_move(turns, self.names)}\n")
        text.append(draw.showdown_lines(shown, other, self.letters, boxes, me))
        for line in counted(self.game, self.position):
            text.append(f"\n{line.strip()}.")
        if self.place == len(self.positions) - 1:
            text.append(f"\n{game_title(self.game)}", f"bold {draw.GOLD}")
        self._write("end-text", text)

    def _show_belief(self) -> None:
        if not self.belief_on:
            return
        viewer = self.position.player if self.viewer is None else self.viewer
        hand = int(self.position.state["private"]["hand"][0][1 - viewer])
        heading = f"What {self.names[viewer]} can believe, per cent"
        truth = f"what {self.names[1 - viewer]} holds"
        wide = self.app.size.width >= HEAT_AND_TRUTH
        both = partial(draw.belief_and_truth, hand=hand, heading=heading, wide=wide, truth=truth)
        self._write("belief", self._belief(self.position.view(viewer), both))

    def _next_move(self, upcard: int) -> str:
        """Return a description of the move played in this position."""
        action = self.position.action
        if action is None:
            return "The game was interrupted here."
        step = self.decisions.index(self.place) + 1
        what = action_name(action, upcard, self.letters)
        if self.app.size.width < LONG_LINES:
            what = what.replace("draw from the ", "")
        return f"Step {step} of {len(self.decisions)}, {self.names[self.position.player]}: {what}"

    def _about_move(self, upcard: int) -> Text:
        """Return the advice for this position, and what the move that was played lost."""
        parts, action = [], self.position.action
        if self.judging:
            parts.append(Text(self._progress, draw.GOLD))
        mistake = next((one for one in mistakes_of(self.reviews) if one.position is self.position), None)
        if mistake is not None:
            parts.append(Text(f"This loses {mistake.lost:.1f} points.", draw.GOLD))
        if action is None and self.hint_on:
            parts.append(Text("Nobody decides here."))
        elif action is not None and self.hint_on:
            opponent = self.names[1 - self.position.player]
            parts.append(self._hint(self.position.view(), opponent, action))
        return Text("\n").join([*parts, Text("")]) if parts else Text("")

    # --- Reviews --------------------------------------------------------------------------------------

    def ask_reviews(self, then: Callable[[], None]) -> None:
        """Call `then` once a thread has reviewed all hands; it is not called if that fails."""
        if self.reviews:
            then()
            return
        self._waiting.append(then)
        if not self.judging:
            self.judging = True
            self._progress = "The choices are played out ..."
            self.show()
            self.run_worker(self._review_all, thread=True, exit_on_error=False)

    def _review_all(self) -> None:
        """Review all hands; runs in a thread."""

        def review(adviser: Adviser) -> list[HandReview]:
            reviews = []
            for hand in range(len(self.game.hands)):
                text = f"Hand {hand + 1} of {len(self.game.hands)} is played out ..."
                self.app.call_from_thread(self._show_progress, text)
                for player in self.players:
                    reviews.append(review_hand(self.game, self.positions, hand, player, adviser))
            return reviews

        found: list[HandReview] | Exception
        try:
            found = self._adviser.ask(review)
        except Exception as error:  # a user's own bot can raise anything
            found = error
        self.app.call_from_thread(self._reviewed, found)

    def _show_progress(self, text: str) -> None:
        self._progress = text
        self.show()

    def _reviewed(self, found: list[HandReview] | Exception) -> None:
        self.judging = False
        waiting, self._waiting = self._waiting, []
        if isinstance(found, Exception):
            self.notify(str(found), severity="error", markup=False)
        else:
            self.reviews = found
            for then in waiting:
                then()
        self.show()


# --- Drawings -------------------------------------------------------------------------------------------


def hand_drawing(
    name: str, table: VisibleTable, to_move: bool, played: int | None, letters: bool, boxes: bool
) -> Text:
    """Return a hand, face up, with a mark on the card that is discarded next."""
    count = sum(len(group.cards) for group in table.hand)
    title = Text(f"{'>' if to_move else ' '} {name}: {count} cards, deadwood {table.deadwood}", "bold")
    leaves = played % NUM_CARDS if played is not None and played < 2 * NUM_CARDS else None
    drawings, line = [], Text(no_wrap=True)
    for cards, _ in table.hand:
        for card in cards:
            drawn = draw.card_lines(card, card == cards[-1], letters, card == table.taken)
            if card == leaves:
                drawn[2] = Text("╰▲▲" + drawn[2].plain[3:], drawn[2].style)
                drawn[2].stylize(Style(color=draw.BLACK_INK), 1, 3)
            drawings.append(drawn)
            mark = ">" if card == leaves else "*" if card == table.taken else " "
            one = draw.card_in_line(card, mark, letters, card == leaves)
            line.append(one + Text(" " * (4 - len(one))))
        drawings.append([Text(" ")] * 3)
        line.append(" ")
    if not boxes:
        line.rstrip()
        return Text("\n").join([title, line])
    return Text("\n").join([title, draw.side_by_side(drawings), draw.captions(table.hand)])


def last_move(turns: Sequence[Turn], names: tuple[str, str]) -> str:
    """Return the last move in words."""
    if not turns:
        return "The cards have been dealt."
    turn = turns[-1]
    if turn.discarded:
        did = f"discarded {turn.discarded.replace(' knock', ' and knocked').replace(' gin', ' and went gin')}"
    elif turn.took.startswith("stock "):
        did = f"drew {turn.took.removeprefix('stock ')} from the stock"
    else:
        did = "passed" if turn.took == "pass" else f"took the upcard {turn.took}"
    return f"Last: {names[0] if turn.by_viewer else names[1]} {did}."


def column_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return the names for narrow columns; names with the same beginning are cut to their ends."""
    width = draw.NAME_WIDTH - 1
    first, second = (draw.short_name(name, width) for name in names)
    if first != second:
        return first, second
    return "…" + names[0][1 - width :], "…" + names[1][1 - width :]
