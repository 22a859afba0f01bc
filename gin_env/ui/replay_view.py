"""Contents of the replay screen: a position of a recorded game with both hands open, opinions, belief."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from gin_env import agents
from gin_env.agents import Agent
from gin_env.records import GameRecord, Position
from gin_env.ui import play_drawing as draw
from gin_env.ui import replay_text
from gin_env.ui.hints import Hint, hint
from gin_env.ui.opinions import Judgement, judge
from gin_env.ui.replay_drawing import column_names, hand_drawing, last_move, opinion_lines
from gin_env.ui.reveal import describe_showdown
from gin_env.ui.seat import Seat, Turn, action_name, both_turns, describe_seat, heat_map
from gin_env.ui.table_app import BOT, ESTIMATOR, TableView

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
    bots : bots whose opinion of each move is shown; one that cannot be made is left out with a message.
    judge : the bot whose values determine the worst moves; None for no such list.
    estimator, letters : as for `TableView`.

    Attributes
    ----------
    positions : all positions of the game, in order.
    decisions : the indices of the positions in which a player made a decision: the steps.
    place : index in `positions` of the position that is shown.
    names : the players' labels.
    judgements : judgements of the steps by their place, once `ask_worst` has been answered.
    judging : whether a thread computes them.
    opinions_on : whether every bot's opinion is shown.
    viewer : the player whose belief is shown; None for the player to move.
    """

    def __init__(
        self, game: GameRecord, bots: Sequence[str], judge: Agent | None, estimator: str, letters: bool
    ) -> None:
        super().__init__(judge.name if judge is not None else "tonic", estimator, letters)
        if judge is not None:
            self._advisers[BOT, judge.name] = judge
        self.game = game
        self.positions = game.positions()
        self.decisions = [place for place, position in enumerate(self.positions) if position.is_decision]
        self.place = 0
        first, second = (draw.short_name(name, NAME_WIDTH) for name in replay_text.names(game))
        self.names = (first, second)
        self.judge = judge
        self.judgements: dict[int, Judgement] = {}
        self.judging = self._judged = False
        self._waiting: list[Callable[[list[Judgement]], None]] = []
        self._bots = list(bots or agents.quick_names())
        self.opinions_on = False
        self.viewer: int | None = None

    @property
    def position(self) -> Position:
        """The position that is shown."""
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
        """Redraw what has changed."""
        boxes = self._fit()
        position = self.position
        first = describe_seat(position.view(0), self.names[1], self._letters)
        second = describe_seat(position.view(1), self.names[0], self._letters)
        self.set_class(position.over, "ended")
        self.set_class(self.belief_on, "believing")
        self._write("title", draw.title_line(first, self.names[1], self.app.size.width - 2, self.names[0]))
        turns = both_turns(first, second)
        if position.over:
            self._show_end(turns, boxes)
        else:
            self._show_table((first, second), turns, boxes)
        self._show_belief()

    def _show_table(self, seats: tuple[Seat, Seat], turns: list[Turn], boxes: bool) -> None:
        letters, position = self._letters, self.position
        for player, place in enumerate(("first", "second")):
            here = position.is_decision and position.player == player
            played = position.action if here else None
            self._write(place, hand_drawing(self.names[player], seats[player], here, played, letters, boxes))
        self._write("stock", draw.stock_drawing(seats[0], boxes))
        self._write("upcard", draw.upcard_drawing(seats[0], letters, boxes))
        width = 29 if boxes else self.app.size.width - 24
        self._write("pile", draw.pile_drawing(seats[0], letters, boxes, width))
        self._write("prompt", f"{last_move(turns, self.names)}\n{self._next_move(seats[0].upcard)}")
        first, second = column_names(self.names)
        self._write("log", draw.turn_lines(replace(seats[0], turns=turns), second, first))
        about = self._about_move(seats[0].upcard)
        self._write("opinion-text", about)
        self.set_class(bool(about), "asked")
        self.query_one("#turns", VerticalScroll).scroll_end(animate=False)

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
        if not self.belief_on:
            return
        viewer = self.position.player if self.viewer is None else self.viewer
        view = self.position.view(viewer)
        chances = self._think(ESTIMATOR, self.estimator, view, lambda one: one.estimate(view)[0].tolist())
        if chances is None:
            self._write("belief", f"{self.estimator} is thinking ...")
            return
        if isinstance(chances, Exception):
            self._write("belief", f"{self.estimator} failed: {chances}")
            return
        belief = heat_map(chances, self._letters)
        hand = int(self.position.state["private"]["hand"][0][1 - viewer])
        heading = f"What {self.names[viewer]} believes ({self.estimator}), per cent"
        truth = f"what {self.names[1 - viewer]} holds"
        wide = self.app.size.width >= HEAT_AND_TRUTH
        self._write("belief", draw.belief_and_truth(belief, hand, heading, wide, truth))

    def _next_move(self, upcard: int) -> str:
        """Return a description of the move played in this position."""
        action = self.position.action
        if action is None:
            return "The game was interrupted here."
        step = self.decisions.index(self.place) + 1
        what = action_name(action, upcard, self._letters)
        if self.app.size.width < LONG_LINES:
            what = what.replace("draw from the ", "")
        return f"Step {step} of {len(self.decisions)}, {self.names[self.position.player]}: {what}"

    def _about_move(self, upcard: int) -> Text:
        """Return the bots' opinions of the move, for the bots that are shown."""
        parts, action = [], self.position.action
        judged = self.judgements.get(self.place)
        if judged is not None and self.judge is not None:
            best = action_name(judged.best, upcard, self._letters)
            lost = f"this loses {judged.loss:.1f} points, {best} is better" if judged.loss else "this is best"
            parts.append(Text(f"{self.judge.name}: {lost}", draw.GOLD))
        if self.judging and self.judge is not None:
            parts.append(Text(f"{self.judge.name} is judging all {len(self.decisions)} moves ...", draw.GOLD))
        if action is None and (self.opinions_on or self.hint_on):
            parts.append(Text("Nobody decides here."))
        elif action is not None and self.opinions_on:
            parts.append(opinion_lines(action, self._ask_all(), upcard, self._letters))
        elif action is not None and self.hint_on:
            opinion = self._opinion(self.hint_bot)
            if opinion is None:
                parts.append(Text(f"{self.hint_bot} is thinking ..."))
            elif isinstance(opinion, Exception):
                parts.append(Text(f"{self.hint_bot} failed: {opinion}"))
            else:
                parts.append(draw.hint_lines(opinion, self.hint_bot, upcard, self._letters))
        return Text("\n").join([*parts, Text("")]) if parts else Text("")

    # --- Asking bots ----------------------------------------------------------------------------------

    def _opinion(self, name: str) -> Hint | Exception | None:
        """Return a bot's opinion of this position, None while a thread asks it, or why there is none."""
        view = self.position.view()
        answer: Hint | Exception | None = self._think(BOT, name, view, lambda bot: hint(bot, view))
        return answer

    def _ask_all(self) -> dict[str, Hint | None]:
        """Return the opinions so far, and ask the next bot: one at a time, for the position that is shown.

        A bot that cannot be asked is left out from then on, with a message.
        """
        view, asked, asking = self.position.view(), dict[str, Hint | None](), False
        for name in list(self._bots):
            answer = self._answer_of(BOT, name, view) if asking else self._opinion(name)
            asking = asking or answer is None
            if isinstance(answer, Exception):
                self._bots.remove(name)
                self.notify(f"{name}: {answer}", severity="error", markup=False)
            else:
                asked[name] = answer
        return asked

    def ask_worst(self, then: Callable[[list[Judgement]], None]) -> None:
        """Call `then` with the moves that lost points, the worst first, once a thread has judged all moves.

        It is not called without a judge, if no move lost points, or if the judge fails; a message says so.
        """
        if self.judge is None:
            self.notify("Mistakes are not counted: --judge names a bot with values.", markup=False)
            return
        self._waiting.append(then)
        if self._judged:
            self._answer_worst()
        elif not self.judging:
            self.judging = True
            self.show()
            self.run_worker(self._judge_all, thread=True, exit_on_error=False)

    def _judge_all(self) -> None:
        """Judge all moves; runs in a thread."""
        judging = self.judge
        if judging is None:
            return
        judgements: list[Judgement] | Exception
        try:
            with self._thinking:
                judgements = judge([self.positions[place] for place in self.decisions], judging)
        except Exception as error:  # a user's own bot can raise anything
            judgements = error
        self.app.call_from_thread(self._judged_all, judgements)

    def _judged_all(self, judgements: list[Judgement] | Exception) -> None:
        self.judging = False
        if isinstance(judgements, Exception):
            self._waiting.clear()
            self.notify(str(judgements), severity="error", markup=False)
        else:
            self._judged = True
            self.judgements = {self.decisions[one.step - 1]: one for one in judgements}
            self._answer_worst()
        self.show()

    def _answer_worst(self) -> None:
        worst = replay_text.worst_moves(list(self.judgements.values()))
        waiting, self._waiting = self._waiting, []
        if not worst and self.judge is not None:
            self.notify(f"No move lost points by the values of {self.judge.name}.", markup=False)
            return
        for then in waiting:
            then(worst)
