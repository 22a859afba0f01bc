"""The playing screen: a person's game against a bot in the terminal, or in the browser by Textual's server.

It needs Textual (``pip install "gin-env[play]"``). What is on the screen is drawn from the person's
`PlayerView` and, after the end of a hand, from both hands; see `gin_env.show.seat`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from gin_env import agents, estimators
from gin_env.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS, IllegalActionError
from gin_env.agents import Agent
from gin_env.estimators.base import Estimator, NeedsHands
from gin_env.melds import deadwood
from gin_env.play.hints import hint
from gin_env.play.human_game import EndedHand, HumanGame
from gin_env.show.seat import Seat, card_name, describe_seat, describe_showdown, heat_map
from gin_env.state import DISCARD
from gin_env.words import rules_in_words

try:
    from textual.app import App, ComposeResult
    from textual.binding import Binding
    from textual.containers import Container, Vertical, VerticalScroll
    from textual.events import Resize
    from textual.widgets import Footer, Static
except ImportError as error:
    raise ImportError('playing in the terminal needs Textual: pip install "gin-env[play]"') from error

from gin_env.show import play_drawing as draw
from gin_env.show.play_widgets import CardPlace, Choice, Page, Pile

PLACES = 11
WIDE, HIGH = 80, 24
"""Columns and lines from which cards are drawn as cards."""
NARROWEST, LOWEST = 48, 13
"""Less than this shows nothing but a request for more."""
KEYS = """\
Keys (or click on stock, upcard, cards and the words below):
  s            draw from the stock
  u            take the upcard
  p            pass
  left, right  choose a card; so do 1 to 9, 0 and -
  Enter, d     discard the card (or click on it again)
  k            knock with it
  h, H         hint of a bot; choose the bot
  b, B         belief about the other hand; choose the estimator
  q            save and quit
"""


def make_estimator(name: str) -> Estimator:
    """As `gin_env.estimators.make`; ValueError for one that is told the hands."""
    estimator = estimators.make(name)
    if isinstance(estimator, NeedsHands):
        raise ValueError(f"{name} is told the other hand: choose an estimator that works it out")
    return estimator


class PlayApp(App[None]):
    """One person's games against a bot.

    Parameters
    ----------
    game : the game to play.
    save_to : where the game is kept after each action, from the person's first on, until it is over; None:
        nowhere.
    hint_bot : the bot whose hint is shown first.
    estimator : whose belief is shown first.
    bot_delay : seconds before each action of the bot.
    letters : write suits as C, H, S, D.
    finished : called with each game that is played to its end.
    """

    CSS_PATH = "play.tcss"
    TITLE = "Gin Rummy"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = [
        Binding("s", "stock", "Stock"),
        Binding("u", "upcard", "Upcard"),
        Binding("p", "pass", "Pass"),
        Binding("enter", "discard", "Discard"),
        Binding("enter", "next", "Next"),
        Binding("d", "discard", "Discard", show=False),
        Binding("k", "knock", "Knock"),
        Binding("left", "choose(-1)", "Left", show=False),
        Binding("right", "choose(1)", "Right", show=False),
        *(Binding(key, f"pick({place})", show=False) for place, key in enumerate("1234567890")),
        Binding("minus", "pick(10)", show=False),
        Binding("h", "hint", "Hint"),
        Binding("H", "choose_hint", "Bot", show=False),
        Binding("b", "belief", "Belief"),
        Binding("B", "choose_belief", "Estimator", show=False),
        Binding("question_mark,f1", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(
        self,
        game: HumanGame,
        save_to: Path | None = None,
        hint_bot: str = "tonic",
        estimator: str = "bayes",
        bot_delay: float = 0.6,
        letters: bool = False,
        finished: Callable[[HumanGame], None] | None = None,
    ) -> None:
        super().__init__()
        self.game = game
        self.failure: Exception | None = None
        self._acted = False
        self._save_to, self._bot_delay, self._letters, self._finished = save_to, bot_delay, letters, finished
        self._hint_bot, self._hint_on = hint_bot, False
        self._estimator, self._belief_on = estimator, False
        self._made: dict[str, Agent | Estimator] = {}
        self._chosen: int | None = None
        self._told = ""
        self._written: dict[str, Any] = {}
        self._enabled: list[bool | None] = []

    # --- What is on the screen ------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Static(id="title", markup=False)
        yield Static(id="too-small", markup=False)
        with Container(id="table"):
            with Vertical(id="left"):
                yield Static(id="theirs")
                with Container(id="middle"):
                    yield Pile("stock", id="stock")
                    yield Pile("upcard", id="upcard")
                    yield Static(id="pile")
                yield Static(id="mine-title", markup=False)
                with Container(id="mine"):
                    for place in range(PLACES):
                        yield CardPlace(place, self._letters)
                yield Static(id="captions")
                yield Static(id="prompt", markup=False)
                yield Static(id="belief")
            with Vertical(id="side"):
                yield Static(id="hint")
                with VerticalScroll(id="turns", can_focus=False):
                    yield Static(id="log")
        with VerticalScroll(id="end"):
            yield Static(id="end-text")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self._show()
        self._go_on()

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show)  # by then the size is the new one

    def _show(self) -> None:
        """Draw everything anew."""
        width, height = self.size
        tiny = width < NARROWEST or height < LOWEST
        boxes = width >= WIDE and height >= HIGH
        screen = self.screen_stack[0]
        ended = self.game.ended
        screen.set_class(tiny, "tiny")
        screen.set_class(not boxes, "compact")
        screen.set_class(ended is not None, "ended")
        seat = describe_seat(self.game.view, self.game.opponent, self._letters)
        wanted = f"please enlarge the window to {WIDE} x {HIGH} (at least {NARROWEST} x {LOWEST})."
        self._write("too-small", f"{width} x {height} is too small: {wanted}")
        self._write("title", draw.title_line(seat, self.game.opponent, width - 2))
        if ended is None:
            self._show_table(seat, boxes)
        else:
            self._show_end(ended, width)
        keys = [binding for binding in self.BINDINGS if binding.show]
        enabled = [self.check_action(binding.action, ()) for binding in keys]
        if enabled != self._enabled:
            self._enabled = enabled
            self.refresh_bindings()

    def _show_table(self, seat: Seat, boxes: bool) -> None:
        opponent, letters = self.game.opponent, self._letters
        self._write("theirs", draw.their_hand(seat, opponent, letters, boxes))
        self._write("stock", draw.stock_drawing(seat, boxes))
        self._write("upcard", draw.upcard_drawing(seat, letters, boxes))
        self._write("pile", draw.pile_drawing(seat, letters, boxes, 29 if boxes else self.size.width - 24))
        self._write("mine-title", f"You: {sum(len(group.cards) for group in seat.hand)} cards, "
                    f"deadwood {seat.deadwood}")  # fmt: skip
        cards = [card for group in seat.hand for card in group.cards]
        if self._chosen is not None and not (seat.my_turn and self._chosen < len(cards)):
            self._chosen = None
        places = list(self.screen_stack[0].query(CardPlace))
        for place, card in enumerate(cards):
            first = any(group.cards[0] == card for group in seat.hand)
            last = any(group.cards[-1] == card for group in seat.hand)
            places[place].show(card, first, last, card == seat.taken, place == self._chosen, boxes)
        for unused in places[len(cards) :]:
            unused.display = False
        self._write("captions", draw.captions(seat.hand))
        self._write("prompt", self._said(seat, cards, boxes))
        self._write("log", draw.turn_lines(seat, opponent))
        self._show_hint(seat)
        belief = self._belief()
        self._write("belief", draw.belief_lines(belief, self._estimator) if belief else "")
        self.screen_stack[0].query_one("#turns", VerticalScroll).scroll_end(animate=False)

    def _show_hint(self, seat: Seat) -> None:
        text: Any = ""
        if self._hint_on:
            text = f"{self._hint_bot}: the hint comes when it is your turn"
            bot = self._make(self._hint_bot, agents.make)
            if seat.my_turn and bot is not None:
                try:
                    hinted = hint(bot, self.game.view)
                    text = draw.hint_lines(hinted, self._hint_bot, seat.upcard, self._letters)
                except (ValueError, TypeError, OSError) as error:
                    text = f"{self._hint_bot} has no hint: {error}"
        self._write("hint", text)
        self.screen_stack[0].query_one("#hint").display = self._hint_on

    def _show_end(self, ended: EndedHand, width: int) -> None:
        opponent = self.game.opponent
        showdown = describe_showdown(ended.view, ended.hands, opponent, self._letters)
        text = draw.showdown_lines(showdown, opponent, self._letters, width >= WIDE)
        if self.game.is_over:
            text.append(f"\n{self._game_result()} Enter begins a new game.", f"bold {draw.GOLD}")
        belief = self._belief(always=True)
        if belief is not None:
            text.append("\n\n")
            heading = f"What {self._estimator} believed, per cent"
            text.append(draw.belief_and_truth(belief, ended.hands[1], heading, width >= WIDE))
        self._write("end-text", text)

    def _game_result(self) -> str:
        scores = self.game.view.records["public"]["scores"][0].tolist()
        who = "You win" if scores[0] > scores[1] else f"{self.game.opponent} wins"
        return f"{who} the game, {max(scores)} to {min(scores)}."

    def _said(self, seat: Seat, cards: list[int], two_lines: bool) -> str:
        """The lines above the footer: what the opponent has done, what the player may do."""
        now = self._told or self._about_chosen(cards) or seat.prompt
        last = seat.turns[-1] if seat.turns else None
        if not two_lines or last is None or last.mine:
            return now
        did = {"pass": "passed", "stock": "drew from the stock"}.get(last.took, f"took {last.took}")
        discarded = f" and discarded {last.discarded}" if last.discarded else ""
        return f"{self.game.opponent} {did}{discarded}.\n{now}"

    def _about_chosen(self, cards: list[int]) -> str:
        """What the chosen card would leave, and what may be done with it."""
        if self._chosen is None:
            return ""
        card = cards[self._chosen]
        name, legal = card_name(card, self._letters), self.game.legal()
        left = deadwood(int(self.game.view.hands[0]) & ~(1 << card))
        if card not in legal:
            return f"{name} was just taken: it may not be discarded now."
        knock = f", k knocks{' with gin' if left == 0 else ''}" if KNOCK + card in legal else ""
        return f"{name} leaves deadwood {left}: Enter discards it{knock}."

    def _belief(self, always: bool = False) -> Any:
        if not (self._belief_on or always):
            return None
        estimator = self._make(self._estimator, make_estimator)
        if estimator is None:
            return None
        return heat_map(estimator.estimate(self.game.view)[0].tolist(), self._letters)

    def _make(self, name: str, make: Callable[[str], Any]) -> Any:
        """The bot or estimator of this name; None, with a message, if it cannot be had."""
        key = f"{make.__module__} {name}"
        if key not in self._made:
            try:
                self._made[key] = make(name)
            except (ImportError, ValueError, TypeError, OSError) as error:
                self.notify(str(error), severity="error", markup=False)
                return None
        return self._made[key]

    def _write(self, name: str, text: Any) -> None:
        """Change a text, if it is another one: each change lays the screen out anew."""
        if self._written.get(name) != text:
            self._written[name] = text
            self.screen_stack[0].query_one(f"#{name}", Static).update(text)

    @property
    def is_kept(self) -> bool:
        """Whether this screen has kept a game that can be gone on with."""
        return self._save_to is not None and self._acted and not self.game.is_over

    # --- The course of the game -----------------------------------------------------------------------

    def _go_on(self) -> None:
        """Let the bot act, after a while, if it is its turn."""
        if self.game.waits_for_bot:
            if self._bot_delay > 0:
                self.set_timer(self._bot_delay, self._let_bot_act)
            else:
                self.call_later(self._let_bot_act)

    def _let_bot_act(self) -> None:
        try:
            self.game.let_bot_act()
        except (ValueError, TypeError, OSError) as error:
            self.failure = error
            self.exit()
            return
        self._after_action()

    def _act(self, action: int) -> None:
        try:
            self.game.act(action)
        except IllegalActionError as error:
            self._told = f"{str(error).removeprefix('illegal action: ')}."
            self._show()
            return
        self._chosen = None
        self._acted = True
        self._after_action()

    def _after_action(self) -> None:
        self._told = ""
        self._save()
        if self.game.is_over and self._finished is not None:
            self._finished(self.game)
        self._show()
        self._go_on()

    def _save(self) -> None:
        """Keep the game once the person has done something in it: one kept before is not lost for a look."""
        if self._save_to is None or not self._acted:
            return
        if self.game.is_over:
            self._save_to.unlink(missing_ok=True)
        else:
            self.game.save(self._save_to)

    # --- Keys -----------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys do something now: the footer shows those."""
        at_end = self.game.ended is not None
        if action == "next":
            return at_end
        if action in ("stock", "upcard", "pass", "hint", "choose_hint", "belief") and at_end:
            return False
        legal = self.game.legal()
        if action in ("stock", "upcard", "pass"):
            return {"stock": DRAW_STOCK, "upcard": DRAW_UPCARD, "pass": PASS}[action] in legal
        if action in ("discard", "choose", "pick"):
            return self._may_discard()
        if action == "knock":
            return any(number >= KNOCK and number < DRAW_STOCK for number in legal)
        return True

    def _may_discard(self) -> bool:
        return self.game.waits_for_person and int(self.game.view.records["public"]["phase"][0]) == DISCARD

    def _cards(self) -> list[int]:
        seat = describe_seat(self.game.view, self.game.opponent)
        return [card for group in seat.hand for card in group.cards]

    def action_stock(self) -> None:
        """Draw from the stock."""
        self._act(DRAW_STOCK)

    def action_upcard(self) -> None:
        """Take the upcard."""
        self._act(DRAW_UPCARD)

    def action_pass(self) -> None:
        """Pass."""
        self._act(PASS)

    def action_discard(self) -> None:
        """Discard the chosen card."""
        self._with_chosen(0)

    def action_knock(self) -> None:
        """Knock with the chosen card."""
        self._with_chosen(KNOCK)

    def _with_chosen(self, offset: int) -> None:
        if self._chosen is None:
            self._told = "Choose a card first: arrow keys, 1 to 9, 0, -, or a click."
            self._show()
            return
        self._act(offset + self._cards()[self._chosen])

    def action_choose(self, step: int) -> None:
        """Choose the card to the left (-1) or to the right (1)."""
        count = len(self._cards())
        start = (count if step < 0 else -1) if self._chosen is None else self._chosen
        self.action_pick((start + step) % count)

    def action_pick(self, place: int) -> None:
        """Choose the card in a place of the hand."""
        self._told = ""
        self._chosen = place
        self._show()

    def on_card_place_clicked(self, event: CardPlace.Clicked) -> None:
        """A click chooses a card, a second one discards it."""
        if not self._may_discard():
            return
        if self._chosen == event.place:
            self.action_discard()
        else:
            self.action_pick(event.place)

    def action_next(self) -> None:
        """Go on to the next hand, or to a new game."""
        if self.game.is_over:
            self.game, self._acted = self.game.another(), False
        else:
            self.game.next_hand()
            self._acted = True
        self._after_action()

    def action_hint(self) -> None:
        """Show or hide the hint."""
        self._hint_on = not self._hint_on
        self._show()

    def action_belief(self) -> None:
        """Show or hide the belief about the other hand."""
        self._belief_on = not self._belief_on
        self._show()

    def action_choose_hint(self) -> None:
        """Choose the bot that gives hints."""

        def chosen(name: str | None) -> None:
            if name is not None:
                self._hint_bot, self._hint_on = name, True
                self._show()

        self.push_screen(Choice("Whose hint?", agents.names(), self._hint_bot), chosen)

    def action_choose_belief(self) -> None:
        """Choose the estimator whose belief is shown."""
        names = [name for name in estimators.names() if name != "omniscient"]

        def chosen(name: str | None) -> None:
            if name is not None:
                self._estimator, self._belief_on = name, True
                self._show()

        self.push_screen(Choice("Whose belief about the other hand?", names, self._estimator), chosen)

    def action_help(self) -> None:
        """The rules and the keys."""
        self.push_screen(Page(f"{KEYS}\n{rules_in_words(self.game.view.rules)}"))

    async def action_quit(self) -> None:
        """Save the game and quit."""
        self._save()
        self.exit()
