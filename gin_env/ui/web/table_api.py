"""The requests of the pages to the server.

Each handler takes a request (a JSON object) and the window's token, and returns a status and a JSON object.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from gin_env import agents
from gin_env.agents import Agent
from gin_env.game.rules import Rules, check_rules
from gin_env.game.streams import check_seed
from gin_env.records import GameRecord, Position
from gin_env.ui.hints import hint, make_estimator
from gin_env.ui.human_game import HumanGame
from gin_env.ui.web import offers, page
from gin_env.ui.web.page import Json
from gin_env.ui.web.sessions import Session, Sessions

Answer = tuple[int, Json]
Handler = Callable[[Json, str], Answer]


class _Replayed(NamedTuple):
    """A game whose ended hands may be replayed."""

    record: GameRecord
    positions: list[Position]


@dataclass
class TableApi:
    """The games of all windows, or one recorded game, and what may be asked about them.

    Parameters
    ----------
    opponent : the bot of each window's first game.
    seed : of that game; None: a fresh one for each.
    rules : of each window's first game; default: `Rules()`.
    hint_bot, estimator : give hints and beliefs.
    bot_delay : seconds before each action of the bot.
    save_folder : where games are saved; None: nowhere.
    finished : called with each game that is played to its end.
    recorded : a recorded game to replay, instead of a table.
    bots : asked about each move of a replay; default: all bots that decide quickly.
    """

    opponent: str = "tonic"
    seed: int | None = None
    rules: Rules | None = None
    hint_bot: str = "tonic"
    estimator: str = "bayes"
    bot_delay: float = 0.6
    save_folder: Path | None = None
    finished: Callable[[HumanGame], object] | None = None
    recorded: GameRecord | None = None
    bots: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        _estimator(self.estimator)
        self._rules = check_rules(self.rules)
        if self.seed is not None:
            check_seed(self.seed)
        self._sessions = Sessions(self.save_folder, self.finished, self.opponent)
        self._bot_lock = threading.Lock()
        self._made: dict[str, Agent] = {}
        self._advisers = self.bots or agents.quick_names()
        self._recorded = (
            None if self.recorded is None else _Replayed(self.recorded, self.recorded.positions())
        )
        self.ready = threading.Event()
        """Set once the kernels that a table needs are compiled."""

    def handlers(self) -> dict[str, Handler]:
        """Return the requests by name."""
        replay: dict[str, Handler] = {"setup": self.setup, "replay": self.replay, "opinion": self.opinion}
        if self.recorded is not None:
            return replay
        table: dict[str, Handler] = {
            "new": self.new,
            "table": self.table,
            "act": self.act,
            "bot": self.bot,
            "next": self.next_hand,
            "undo": self.undo,
            "hint": self.hint,
            "belief": self.belief,
        }
        return replay | table

    def warm_up(self) -> None:
        """Compile what a table needs, in a thread."""

        def compile_kernels() -> None:
            try:
                if self._recorded is not None:
                    page.replay(self._recorded.record, self._recorded.positions, 0)
                    return
                game = HumanGame("simple", 0, self._rules)
                while game.ended is None:
                    game.let_bot_act() if game.waits_for_bot else game.act(game.legal()[-1])
                page.table(game)
            finally:  # after an error, the request that needs the kernels reports it
                self.ready.set()

        threading.Thread(target=compile_kernels, daemon=True, name="compile").start()

    # --- The table --------------------------------------------------------------------------------------

    def setup(self, request: Json, token: str) -> Answer:
        """Return what the page offers: opponents, rules, and whether kernels are still being compiled."""
        return 200, {
            "levels": offers.opponents(self.opponent),
            "variants": offers.describe_variants(self._rules),
            "opponent": self.opponent,
            "rules": self._rules.text,
            "hint_bot": self.hint_bot,
            "estimator": self.estimator,
            "bot_delay": self.bot_delay,
            "advisers": self._advisers,
            "recorded": self.recorded is not None,
            "compiling": not self.ready.is_set(),
        }

    def new(self, request: Json, token: str) -> Answer:
        """Start a new game in this window: `opponent` and `rules` (of those offered) and `practice`."""
        opponent, practice = request.get("opponent", self.opponent), request.get("practice", False) is True
        if opponent not in (*offers.LEVELS.values(), self.opponent):
            raise ValueError(f"opponent must be one of those offered, not {opponent!r}")
        name, variants = request.get("rules", self._rules.text), offers.variants(self._rules)
        if not isinstance(name, str) or name not in variants:
            raise ValueError(f"rules must be one of those offered, not {name!r}")
        rules = variants[name]
        try:
            session = self._sessions.find(token)
        except Exception:  # the save is damaged, or its bot cannot be made
            session = None
        if session is None:
            session = self._sessions.start(HumanGame(opponent, self.seed, rules), practice)
            return 200, self._answer(session)
        with session.lock:
            seed = None if self.seed is None else (session.game.seed + 1) % 2**64
            began = self._sessions.start(HumanGame(opponent, seed, rules), practice, session.token)
            session.version += 1  # a request that waits for the old game is refused
            began.version = session.version + 1
            return 200, self._answer(began)

    def table(self, request: Json, token: str) -> Answer:
        """Return the current table."""
        session = self._sessions.find(token)
        if session is None:
            return 404, {"error": "no game in this window"}
        with session.lock:
            return 200, self._answer(session)

    def act(self, request: Json, token: str) -> Answer:
        """Carry out the player's `action`, an action id."""
        return self._change(request, token, lambda session: session.game.act(request.get("action")))  # type: ignore[arg-type]

    def bot(self, request: Json, token: str) -> Answer:
        """Let the opponent act once."""

        def let_bot_act(session: Session) -> None:
            if not session.game.waits_for_bot:
                raise ValueError("it is not the bot's turn")
            try:
                session.game.let_bot_act()
            except Exception:
                session.game.make_bot_again()  # a program that has ended would never answer
                raise

        return self._change(request, token, let_bot_act)

    def next_hand(self, request: Json, token: str) -> Answer:
        """Deal the next hand."""

        def deal(session: Session) -> None:
            if session.game.ended is None or session.game.is_over:
                raise ValueError("there is no next hand now")
            session.game.next_hand()

        return self._change(request, token, deal)

    def undo(self, request: Json, token: str) -> Answer:
        """Take back the player's last move, in practice."""

        def take_back(session: Session) -> None:
            if not session.practice:
                raise ValueError("moves can be taken back only in practice")
            if session.game.is_over:
                raise ValueError("the game is over")
            try:
                session.game.undo()
            except RuntimeError as error:
                raise ValueError(str(error)) from None

        return self._change(request, token, take_back)

    def hint(self, request: Json, token: str) -> Answer:
        """Return what the hint bot would do, and why."""

        def ask(session: Session) -> Answer:
            if not session.game.waits_for_person:  # no error: the player may act while the page asks
                return 200, {"error": "a hint is given when it is your turn"}
            view = session.game.view
            return 200, page.hint(self.hint_bot, self._ask(self.hint_bot, view), view)

        return self._look(token, ask)

    def belief(self, request: Json, token: str) -> Answer:
        """Return the cards that the opponent may hold, and after the hand those that they held."""

        def ask(session: Session) -> Answer:
            game, estimator = session.game, _estimator(self.estimator)
            truth = None if game.ended is None else game.ended.hands[1]
            return 200, page.belief(self.estimator, estimator, game.view, truth)

        return self._look(token, ask)

    # --- Replays ----------------------------------------------------------------------------------------

    def replay(self, request: Json, token: str) -> Answer:
        """Return the positions of one ended `hand` (from 1)."""
        replayed = self._replayed(token)
        return 200, page.replay(replayed.record, replayed.positions, self._hand(request, replayed))

    def opinion(self, request: Json, token: str) -> Answer:
        """Return what one `bot` would have played at a `step` (from 0) of a `hand` (from 1)."""
        bot, step = request.get("bot"), request.get("step")
        if bot not in self._advisers:
            raise ValueError(f"bot must be one of those offered, not {bot!r}")
        replayed = self._replayed(token)
        hand = self._hand(request, replayed)
        for position in replayed.positions:
            if position.hand == hand and position.step == step and position.is_decision:
                return 200, page.opinion(bot, self._ask(bot, position.view()), position)
        raise ValueError("no player decides at this step")

    def _replayed(self, token: str) -> _Replayed:
        if self._recorded is not None:
            return self._recorded
        session = self._sessions.find(token)
        if session is None:
            raise ValueError("no game in this window")
        with session.lock:
            record = session.game.record()
            return _Replayed(record, _positions(record))

    def _hand(self, request: Json, replayed: _Replayed) -> int:
        """Return the hand of a request, from 0. Hands of a table can be replayed once they have ended."""
        hand = request.get("hand", 1)
        count = len(replayed.record.hands) if self._recorded is not None else len(
            page.score_sheet(replayed.record)
        )  # fmt: skip
        if not isinstance(hand, int) or isinstance(hand, bool) or not 1 <= hand <= count:
            raise ValueError(f"hand must be from 1 to {count}, not {hand!r}")
        return hand - 1

    # --- Helpers ----------------------------------------------------------------------------------------

    def _change(self, request: Json, token: str, change: Callable[[Session], Any]) -> Answer:
        """Change a window's game, if the request is about the table as it is now."""
        session = self._sessions.find(token)
        if session is None:
            return 404, {"error": "no game in this window"}
        with session.lock:
            if request.get("version") != session.version:
                return 409, self._answer(self._sessions.find(token) or session)  # perhaps of a new game
            change(session)
            try:
                self._sessions.changed(session)
            except OSError as error:
                return 200, self._answer(session) | {"error": f"This game cannot be saved: {error}"}
            return 200, self._answer(session)

    def _look(self, token: str, ask: Callable[[Session], Answer]) -> Answer:
        session = self._sessions.find(token)
        if session is None:
            return 404, {"error": "no game in this window"}
        with session.lock:
            return ask(session)

    def _answer(self, session: Session) -> Json:
        return {
            "token": session.token,
            "version": session.version,
            "practice": session.practice,
            "table": page.table(session.game),
        }

    def _ask(self, name: str, view: Any) -> Any:
        """Return a bot's opinion. One bot of each name serves all windows, one question at a time."""
        with self._bot_lock:
            if name not in self._made:
                self._made[name] = agents.make(name, programs=True)
            try:
                return hint(self._made[name], view)
            except Exception:
                del self._made[name]  # a program that has ended would never answer again
                raise


@lru_cache(4)
def _positions(record: GameRecord) -> list[Position]:
    return record.positions()


_estimator = lru_cache(4)(make_estimator)
