"""The playing screen: a person's game against a bot in the terminal.

It needs Textual (``pip install "gin-env[play]"``). The screen is drawn only from the person's `PlayerView`
and, after the end of a hand, from both hands; see `gin_env.ui.visible_table`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS, IllegalActionError
from gin_env.game.words import rules_in_words
from gin_env.ui.human_game import HumanGame
from gin_env.ui.play_drawing import sheet_lines
from gin_env.ui.reveal import describe_boxes
from gin_env.ui.table_app import Page, TableApp  # first: its ImportError names what to install
from gin_env.ui.visible_table import best_knock, discard_options, visible_table

from textual.binding import Binding  # isort: skip
from textual.events import Key  # isort: skip
from textual.timer import Timer  # isort: skip

from gin_env.ui.play_view import PlayView

KEYS = """\
Keys (or click on stock, upcard, cards and the words below):
  s            draw from the stock
  u            take the upcard
  p            pass
  left, right  choose a card; so do 1 to 9, 0 and -
  Enter, d     discard the card (or click on it again); with gin: go gin
  k            knock or go gin with it, otherwise with the best card
  x            discard a card that makes gin, without going gin
  h            hint: the best moves compared
  b            what they may hold
  t            score sheet, and your results against each bot
  q            save and quit
"""
EXPLAINED = {"s": "stock", "u": "upcard", "p": "pass", "enter": "discard", "d": "discard", "k": "knock"} | {
    "x": "without_gin",
    "left": "choose", "right": "choose", **dict.fromkeys([*"1234567890", "minus"], "choose"),
    "h": "hint", "b": "belief",
}  # fmt: skip
"""Keys that show a reason when their action is not possible."""
PATIENCE = 0.3
"""Seconds after which the screen says that the bot is thinking."""


class PlayApp(TableApp):
    """One person's games against a bot.

    Parameters
    ----------
    shown : the table with the game to play.
    save_to : file to which the game is saved after each action, from the person's first action until the game
        is over. If None, the game is not saved.
    bot_delay : seconds before each action of the bot.
    finished : called with each completed game.
    resumed : whether the game comes from `save_to`. A new game is saved once the person has acted in it.
    """

    shown: PlayView
    BINDINGS: ClassVar[list[Any]] = [
        Binding("s", "stock", "Stock"),
        Binding("u", "upcard", "Upcard"),
        Binding("p", "pass", "Pass"),
        Binding("enter", "gin", "Go gin"),
        Binding("d", "gin", show=False),
        Binding("x", "without_gin", "Discard, no gin"),
        Binding("enter", "discard", "Discard"),
        Binding("enter", "next", "Next"),
        Binding("d", "discard", "Discard", show=False),
        *(Binding(key, f"explain('{action}')", show=False) for key, action in EXPLAINED.items()),
        Binding("k", "knock", "Knock"),
        Binding("left", "choose(-1)", "Left", show=False),
        Binding("right", "choose(1)", "Right", show=False),
        *(Binding(key, f"pick({place})", show=False) for place, key in enumerate("1234567890")),
        Binding("minus", "pick(10)", show=False),
        Binding("h", "hint", "Hint"),
        Binding("b", "belief", "Their cards"),
        Binding("t", "statistics", "Results", show=False),
        Binding("question_mark,f1", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(
        self,
        shown: PlayView,
        save_to: Path | None = None,
        bot_delay: float = 0.6,
        finished: Callable[[HumanGame], object] | None = None,
        resumed: bool = False,
    ) -> None:
        super().__init__(shown)
        self._impatience: Timer | None = None
        self.failure: Exception | None = None
        self._acted = resumed
        self._save_to, self._bot_delay, self._finished = save_to, bot_delay, finished
        self._enabled: list[bool | None] = []

    @property
    def game(self) -> HumanGame:
        return self.shown.game

    def on_mount(self) -> None:
        super().on_mount()
        self._continue()

    def _show(self) -> None:
        """Redraw what has changed, and update the keys in the footer."""
        super()._show()
        keys = [binding for binding in self.BINDINGS if binding.show]
        enabled = [self.check_action(binding.action, ()) for binding in keys]
        if enabled != self._enabled:
            self._enabled = enabled
            self.refresh_bindings()

    @property
    def is_kept(self) -> bool:
        """Whether this screen has saved a game that can be resumed."""
        return self._save_to is not None and self._acted and not self.game.is_over

    # --- The course of the game -----------------------------------------------------------------------

    def _continue(self) -> None:
        """Schedule the bot's action, after `bot_delay`, if it is the bot's turn."""
        if self.game.waits_for_bot:
            if self._bot_delay > 0:
                self.set_timer(self._bot_delay, self._let_bot_act)
            else:
                self.call_later(self._let_bot_act)

    def _let_bot_act(self) -> None:
        """Ask the bot in a thread, since some take seconds; after a moment the screen says that it thinks."""
        game = self.game

        def think() -> None:
            try:
                action = game.bot_action()
            except Exception as error:  # a user's own bot can raise anything
                self.call_from_thread(self._fail, error)
            else:
                self.call_from_thread(self._play_for_bot, game, action)

        self.run_worker(think, thread=True, exit_on_error=False)
        self._impatience = self.set_timer(PATIENCE, self._say_thinking)

    def _say_thinking(self) -> None:
        self.shown.thinking = True
        self._show()

    def _play_for_bot(self, game: HumanGame, action: int) -> None:
        if game is not self.game:
            return
        try:
            game.play_for_bot(action)
        except (ValueError, TypeError, OSError) as error:
            self._fail(error)
            return
        self._after_action()

    def _fail(self, error: Exception) -> None:
        """Close the screen; `failure` is the reason."""
        self.failure = error
        self.exit()

    def _act(self, action: int) -> None:
        try:
            self.game.act(action)
        except IllegalActionError as error:
            self.shown.notice = f"{str(error).removeprefix('illegal action: ')}."
            self._show()
            return
        self.shown.chosen = None
        self._acted = True
        self._after_action()

    def _after_action(self) -> None:
        if self._impatience is not None:
            self._impatience.stop()
        self.shown.notice, self.shown.thinking = "", False
        if self.game.ended is not None and self.shown.statistics is not None:
            try:
                self.shown.statistics.add(self.game)
            except (OSError, ValueError) as error:
                self.notify(str(error), severity="error", markup=False)
        try:
            if self.game.is_over and self._finished is not None:
                self._finished(self.game)
            self._save()
        except (OSError, ValueError) as error:
            self._fail(error)
            return
        self._show()
        self._continue()

    def _save(self) -> None:
        """Save the game once the person has acted in it; before that, another saved game is kept."""
        if self._save_to is None or not self._acted:
            return
        if self.game.is_over:
            self._save_to.unlink(missing_ok=True)
        else:
            self.game.save(self._save_to)

    # --- Keys -----------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key has an effect now; the footer shows only those keys."""
        at_end = self.game.ended is not None
        if action == "explain":
            return not self.check_action(str(parameters[0]), ())
        if action == "next":
            return at_end
        if action in ("hint", "belief"):
            return not at_end
        draws = {"stock": DRAW_STOCK, "upcard": DRAW_UPCARD, "pass": PASS}
        if action in draws:
            return draws[action] in self.game.legal()
        options = discard_options(self.game.view)
        if action in ("gin", "without_gin", "discard"):
            gin = bool(options) and self.shown.chosen is not None and bool(options[self._chosen_card()].gin)
            return bool(options) and not gin if action == "discard" else gin
        if action in ("choose", "pick", "click"):
            return bool(options)
        if action == "knock":
            return best_knock(options) is not None
        return True

    def _cards(self) -> list[int]:
        table = visible_table(self.game.view, self.game.opponent_name)
        return [card for group in table.hand for card in group.cards]

    def _chosen_card(self) -> int:
        """Return the chosen card. Call it only with a choice."""
        return self._cards()[self.shown.chosen or 0]

    def action_stock(self) -> None:
        self._act(DRAW_STOCK)

    def action_upcard(self) -> None:
        self._act(DRAW_UPCARD)

    def action_pass(self) -> None:
        self._act(PASS)

    def action_explain(self, action: str) -> None:
        self.shown.notice = self._why_not(action)
        self._show()

    def _why_not(self, action: str) -> str:
        if self.game.ended is not None:
            if action in ("hint", "belief"):
                return "The hand is over: the review is below, with what they may have held."
            return f"The hand is over: Enter begins a new {'game' if self.game.is_over else 'hand'}."
        if self.game.waits_for_bot:
            return f"It is {self.game.opponent_name}'s turn."
        if discard_options(self.game.view):
            if action == "without_gin":
                return "x is for a chosen card that makes gin."
            if action == "knock":
                limit = int(self.game.view.array["public"]["knock_limit"][0])
                return f"You cannot knock yet: you need {limit} deadwood or less after the discard."
            return "You have drawn already: discard a card."
        if action in ("discard", "knock", "choose", "without_gin"):
            return "Draw first."
        if action == "pass":
            return "You can pass only in the opening offer."
        if action == "stock":
            return "The upcard is offered first: take it or pass."
        return "Both have passed: draw from the stock."

    def action_discard(self) -> None:
        if self.shown.chosen is None:
            self.shown.notice = "Choose a card first: arrow keys, 1 to 9, 0, -, or a click."
            self._show()
            return
        self._act(self._chosen_card())

    def action_without_gin(self) -> None:
        """Discard the chosen card although it makes gin."""
        self.action_discard()

    def action_gin(self) -> None:
        self.action_knock()

    def action_knock(self) -> None:
        """Knock or go gin with the chosen card, otherwise with the one that leaves the least deadwood."""
        best = best_knock(discard_options(self.game.view)) if self.shown.chosen is None else None
        self._act(KNOCK + (self._chosen_card() if best is None else best))

    def action_choose(self, step: int) -> None:
        """Choose the card to the left (-1) or to the right (1)."""
        count = len(self._cards())
        start = (count if step < 0 else -1) if self.shown.chosen is None else self.shown.chosen
        self.action_pick((start + step) % count)

    def action_pick(self, place: int) -> None:
        self.shown.notice = ""
        self.shown.chosen = place
        self._show()

    def on_key(self, event: Key) -> None:
        """Say so if a key has no meaning; those with one are handled elsewhere."""
        if any(event.key in binding.key.split(",") for binding in self.BINDINGS):
            return
        self.shown.notice = f"{event.key} has no meaning here: ? shows the keys."
        self._show()

    def action_click(self, place: int) -> None:
        """Choose the clicked card; a second click acts as Enter."""
        if self.shown.chosen != place:
            self.action_pick(place)
        elif self.check_action("gin", ()):
            self.action_gin()
        else:
            self.action_discard()

    def action_next(self) -> None:
        if self.game.is_over:
            self.shown.game, self._acted = self.game.another(), False
        else:
            self.game.next_hand()
            self._acted = True
        self._after_action()

    def action_statistics(self) -> None:
        """Show the score sheet, and the results against each bot."""
        lines = [sheet_lines(self.game.record(), self.game.opponent_name).plain]
        lines += describe_boxes(self.game.view, self.game.opponent_name)
        if self.shown.statistics is not None:
            lines += ["\nResults in all games\n", self.shown.statistics.table()]
        self.push_screen(Page("\n".join(lines)))

    def action_help(self) -> None:
        self.push_screen(Page(f"{KEYS}\n{rules_in_words(self.game.view.rules)}"))

    async def action_quit(self) -> None:
        try:
            self._save()
        except OSError as error:
            self.failure = error
        self.exit()
