"""The replay screen: a recorded game step by step on the screen of `gin-rummy play`, both hands open.

It needs Textual (``pip install "gin-env[play]"``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from gin_env import agents
from gin_env.agents import Agent
from gin_env.play.hints import Hint, hint
from gin_env.play.opinions import Judgement, judge
from gin_env.play.records import GameRecord, Position
from gin_env.show import replay_text
from gin_env.show.seat import Seat, Turn, action_name, describe_seat, describe_showdown, heat_map
from gin_env.show.table_app import TableApp, make_estimator
from gin_env.words import rules_in_words

# table_app says what to install where Textual is missing
from rich.text import Text  # isort: skip
from textual.app import ComposeResult  # isort: skip
from textual.binding import Binding  # isort: skip
from textual.containers import Container, Vertical, VerticalScroll  # isort: skip
from textual.widgets import Footer, Static  # isort: skip

from gin_env.show import play_drawing as draw
from gin_env.show.play_widgets import Choice, Page
from gin_env.show.replay_drawing import column_names, hand_drawing, last_move, opinion_lines

NAME_WIDTH = 14
HEAT_AND_TRUTH = 74
"""Columns from which belief and truth stand side by side."""
KEYS = """\
Keys:
  right, Enter     next move
  left, Backspace  back by one move
  down, up         next hand; beginning of this hand, hand before
  Home, End        first deal, end of the game
  w, W             the move that lost most, then the others in this
                   order; back
  t                table of mistakes: choose one to go there
  o                what every bot would have played
  h, H             one bot's opinion with its values; choose the bot
  b, B             belief about the other hand beside the truth;
                   choose the estimator
  v                whose belief: who is to move, or one player's
  PageUp, PageDown scroll what does not fit
  q                quit

The card that is played next is marked ▲▲ (or >), the one just drawn
"new" (or *).
Behind a bot's name stands what the move that was played is worth to
it: points less than its own choice, or how probable it would be.
"""


class ReplayApp(TableApp):
    """One recorded game.

    Parameters
    ----------
    game : the game.
    bots : who is asked about each move; those that cannot be made are left out with a message.
    judge : the bot by whose values the worst moves are found; None: they are not.
    most : most lines in the table of mistakes.
    estimator : whose belief is shown first.
    letters : write suits as C, H, S, D.

    Attributes
    ----------
    place : the position that is shown, an index of `positions`.
    """

    CSS_PATH: ClassVar[Any] = ["play.tcss", "replay.tcss"]
    BINDINGS: ClassVar[list[Any]] = [
        Binding("right,enter,space", "move(1)", "Next", key_display="→"),
        Binding("left,backspace", "move(-1)", "Back", key_display="←"),
        Binding("down", "hand(1)", "Hand", key_display="↓"),
        Binding("up", "hand(-1)", show=False),
        Binding("home", "go_to(0)", show=False),
        Binding("end", "go_to(-1)", show=False),
        Binding("w", "worst(1)", "Worst"),
        Binding("W", "worst(-1)", show=False),
        Binding("t", "mistakes", "Table"),
        Binding("o", "opinions", "Opinions"),
        Binding("h", "hint", "Hint"),
        Binding("H", "choose_hint", show=False),
        Binding("b", "belief", "Belief"),
        Binding("B", "choose_belief", show=False),
        Binding("v", "viewer", show=False),
        Binding("pagedown", "scroll_page(1)", show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("question_mark,f1", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(
        self,
        game: GameRecord,
        bots: Sequence[str] = (),
        judge: Agent | None = None,
        most: int = 10,
        estimator: str = "bayes",
        letters: bool = False,
    ) -> None:
        super().__init__(judge.name if judge is not None else "tonic", estimator, letters)
        self.game = game
        self.positions = game.positions()
        self.place = 0
        first, second = (draw.short_name(name, NAME_WIDTH) for name in replay_text.names(game))
        self.names = (first, second)
        self._decisions = [place for place, position in enumerate(self.positions) if position.is_decision]
        self._judge, self._most = judge, most
        if judge is not None:
            self._made[f"{agents.make.__module__} {judge.name}"] = judge
        self._judgements: dict[int, Judgement] | None = None  # by place
        self._bots = list(bots or agents.names())
        self._opinions: dict[tuple[str, int], Hint] = {}  # by bot and place
        self._opinions_on = self._asking = False
        self._viewer: int | None = None  # None: who is to move
        self._rank = -1  # of the mistake last gone to, from 0

    @property
    def position(self) -> Position:
        """What is shown."""
        return self.positions[self.place]

    # --- What is on the screen ------------------------------------------------------------------------

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
            yield Static(id="belief")
        yield Footer(show_command_palette=False, compact=True)

    def _show(self) -> None:
        boxes = self._fit()
        position, screen = self.position, self.screen_stack[0]
        mine = describe_seat(position.view(0), self.names[1], self._letters)
        theirs = describe_seat(position.view(1), self.names[0], self._letters)
        screen.set_class(position.over, "ended")
        screen.set_class(self._belief_on, "believing")
        self._write("title", draw.title_line(mine, self.names[1], self.size.width - 2, self.names[0]))
        turns = [
            own if own.mine else other._replace(mine=False)
            for own, other in zip(mine.turns, theirs.turns, strict=True)
        ]
        if position.over:
            self._show_end(turns, boxes)
        else:
            self._show_table((mine, theirs), turns, boxes)
        self._show_belief()

    def _show_table(self, seats: tuple[Seat, Seat], turns: list[Turn], boxes: bool) -> None:
        letters, position = self._letters, self.position
        for player, place in enumerate(("first", "second")):
            here = position.is_decision and position.player == player
            played = position.action if here else None
            self._write(place, hand_drawing(self.names[player], seats[player], here, played, letters, boxes))
        self._write("stock", draw.stock_drawing(seats[0], boxes))
        self._write("upcard", draw.upcard_drawing(seats[0], letters, boxes))
        width = 29 if boxes else self.size.width - 24
        self._write("pile", draw.pile_drawing(seats[0], letters, boxes, width))
        self._write("prompt", f"{last_move(turns, self.names)}\n{self._next_move(seats[0].upcard)}")
        first, second = column_names(self.names)
        self._write("log", draw.turn_lines(replace(seats[0], turns=turns), second, first))
        about = self._about_move(seats[0].upcard)
        self._write("opinion-text", about)
        self.screen_stack[0].set_class(bool(about), "asked")
        self.screen_stack[0].query_one("#turns", VerticalScroll).scroll_end(animate=False)

    def _show_end(self, turns: list[Turn], boxes: bool) -> None:
        first, second = self.position.state["private"]["hand"][0].tolist()
        me, other = self.names
        shown = describe_showdown(self.position.view(0), (first, second), other, self._letters, me)
        text = Text(f"{last_move(turns, self.names)}\n")
        text.append(draw.showdown_lines(shown, other, self._letters, boxes, me))
        for line in replay_text.counted(self.game, self.position):
            text.append(f"\n{line.strip()}.")
        if self.place == len(self.positions) - 1:
            text.append(f"\n{replay_text.title(self.game)}", f"bold {draw.GOLD}")
        self._write("end-text", text)

    def _show_belief(self) -> None:
        if not self._belief_on:
            return
        viewer = self.position.player if self._viewer is None else self._viewer
        estimator = self._make(self._estimator, make_estimator)
        if estimator is None:
            self._write("belief", f"{self._estimator} cannot be asked")
            return
        belief = heat_map(estimator.estimate(self.position.view(viewer))[0].tolist(), self._letters)
        hand = int(self.position.state["private"]["hand"][0][1 - viewer])
        heading = f"{self.names[viewer]} may believe ({self._estimator}), per cent"
        truth = f"what {self.names[1 - viewer]} holds"
        wide = self.size.width >= HEAT_AND_TRUTH
        self._write("belief", draw.belief_and_truth(belief, hand, heading, wide, truth))

    def _next_move(self, upcard: int) -> str:
        """What is played in this position."""
        action = self.position.action
        if action is None:
            return "The game was broken off here."
        step = self._decisions.index(self.place) + 1
        what = action_name(action, upcard, self._letters)
        return f"Step {step} of {len(self._decisions)}, {self.names[self.position.player]}: {what}"

    def _about_move(self, upcard: int) -> Text:
        """What bots think of it, as far as they are asked."""
        parts, action = [], self.position.action
        judged = (self._judgements or {}).get(self.place)
        if judged is not None and self._judge is not None:
            best = action_name(judged.best, upcard, self._letters)
            lost = f"this loses {judged.loss:.1f} points, {best} is better" if judged.loss else "this is best"
            parts.append(Text(f"{self._judge.name}: {lost}", draw.GOLD))
        if action is None and (self._opinions_on or self._hint_on):
            parts.append(Text("Nobody decides here."))
        elif action is not None and self._opinions_on:
            asked = {name: self._opinions.get((name, self.place)) for name in self._bots}
            parts.append(opinion_lines(action, asked, upcard, self._letters))
            self._ask_on()
        elif action is not None and self._hint_on:
            found = self._opinion(self._hint_bot)
            if found is not None:
                parts.append(draw.hint_lines(found, self._hint_bot, upcard, self._letters))
        return Text("\n").join([*parts, Text("")]) if parts else Text("")

    # --- Asking bots ----------------------------------------------------------------------------------

    def _opinion(self, name: str) -> Hint | None:
        """A bot's opinion of this position; None, with a message, if it cannot be asked."""
        key = (name, self.place)
        if key not in self._opinions:
            bot = self._make(name, agents.make)
            if bot is None:
                return None
            try:
                self._opinions[key] = hint(bot, self.position.view())
            except (ValueError, TypeError, OSError) as error:
                self.notify(f"{name}: {error}", severity="error", markup=False)
                return None
        return self._opinions[key]

    def _ask_on(self) -> None:
        """Ask the bots that have not been asked yet, one after the other: some take a second at first."""
        if not self._asking and any((name, self.place) not in self._opinions for name in self._bots):
            self._asking = True
            self.call_after_refresh(self._ask_one)

    def _ask_one(self) -> None:
        self._asking = False
        if self.position.is_decision:
            name = next((one for one in self._bots if (one, self.place) not in self._opinions), None)
            if name is not None and self._opinion(name) is None:
                self._bots.remove(name)
        self._show()

    def _judged(self) -> list[Judgement]:
        """The moves that lost points, the dearest first; none, with a message, if nobody can judge."""
        if self._judge is None:
            self.notify("Mistakes are not counted: --judge names a bot with values.", markup=False)
            return []
        if self._judgements is None:
            try:
                found = judge([self.positions[place] for place in self._decisions], self._judge)
            except (ValueError, TypeError, OSError) as error:
                self.notify(str(error), severity="error", markup=False)
                return []
            self._judgements = {self._decisions[one.step - 1]: one for one in found}
        worst = replay_text.worst_moves(list(self._judgements.values()))
        if not worst:
            self.notify(f"No move lost points by the values of {self._judge.name}.", markup=False)
        return worst

    # --- Keys -----------------------------------------------------------------------------------------

    def action_go_to(self, place: int) -> None:
        """Go to a position; -1 is the last."""
        self.place = range(len(self.positions))[place]
        self._show()

    def action_move(self, step: int) -> None:
        """Go on (1) or back (-1) by one position."""
        self.action_go_to(min(max(self.place + step, 0), len(self.positions) - 1))

    def action_hand(self, step: int) -> None:
        """Go to the deal of the next hand (1), or of this one, or of the one before (-1)."""
        deals = [place for place, position in enumerate(self.positions) if position.step == 0]
        if step > 0:
            self.action_go_to(min((deal for deal in deals if deal > self.place), default=self.place))
        else:
            self.action_go_to(max((deal for deal in deals if deal < self.place), default=0))

    def action_worst(self, step: int) -> None:
        """Go to the move that lost most, then to the others in this order (1); or back (-1)."""
        places = [self._decisions[one.step - 1] for one in self._judged()]
        if places:
            self._rank = min(max(self._rank + step, 0), len(places) - 1)
            self.action_go_to(places[self._rank])

    def action_mistakes(self) -> None:
        """The table of mistakes, from which one can go there."""
        worst = self._judged()[: self._most]
        if not worst or self._judge is None:
            return
        header = ["step", "hand", "player", "played", "best", "lost"]
        rows = [
            [str(one.step), str(one.hand + 1), draw.short_name(self.names[one.player], 8),
             self._short(one, one.played), self._short(one, one.best), f"{one.loss:.1f}"]
            for one in worst
        ]  # fmt: skip
        heading, *lines = replay_text.table(header, rows, left=(2, 3, 4)).split("\n")
        totals = replay_text.losses_by_player(
            self.game, list((self._judgements or {}).values()), self._judge.name
        )
        places = [self._decisions[one.step - 1] for one in worst]
        here = lines[places.index(self.place)] if self.place in places else lines[0]

        def chosen(line: str | None) -> None:
            if line is not None:
                self._rank = lines.index(line)
                self.action_go_to(places[self._rank])

        self.push_screen(Choice("\n".join([*totals, "", f"  {heading}"]), lines, here), chosen)

    def _short(self, one: Judgement, action: int) -> str:
        """An action in a few letters."""
        public = self.positions[self._decisions[one.step - 1]].state["public"][0]
        return action_name(action, int(public["upcard"]), self._letters).replace("draw from the ", "")

    def action_opinions(self) -> None:
        """Show or hide what every bot would have played."""
        self._opinions_on, self._hint_on = not self._opinions_on, False
        self._show()

    def action_hint(self) -> None:
        """Show or hide one bot's opinion, with its values."""
        self._opinions_on = False
        super().action_hint()

    def action_viewer(self) -> None:
        """Show the belief of who is to move, of the one player, of the other."""
        self._viewer = {None: 0, 0: 1, 1: None}[self._viewer]
        self._belief_on = True
        self._show()

    def action_scroll_page(self, step: int) -> None:
        """Scroll whatever does not fit."""
        for part in self.screen_stack[0].query(VerticalScroll):
            part.scroll_relative(y=step * max(1, part.size.height - 1), animate=False)

    def action_help(self) -> None:
        """The keys and the rules."""
        self.push_screen(Page(f"{KEYS}\n{rules_in_words(self.game.rules)}"))
