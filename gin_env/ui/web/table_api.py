"""The requests of the pages to the server.

Each handler takes a request (a JSON object) and the window's token, and returns a status and a JSON object.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gin_env import agents
from gin_env.agents.turns import chosen_actions
from gin_env.game.rules import Rules, check_rules
from gin_env.game.streams import check_seed
from gin_env.records import GameRecord, Position
from gin_env.support.registry import has_torch
from gin_env.ui.adviser import Adviser, Shared, estimator_of_hand
from gin_env.ui.human_game import HumanGame
from gin_env.ui.links import hand_of
from gin_env.ui.opinions import position_in_text
from gin_env.ui.opponents import OPPONENTS
from gin_env.ui.review import HandReview, review_hand, reviewed_players
from gin_env.ui.visible_table import YOU, action_name
from gin_env.ui.web import page
from gin_env.ui.web.page import Json
from gin_env.ui.web.sessions import Session, Sessions

Answer = tuple[int, Json]
Handler = Callable[[Json, str], Answer]


ANYONE = "Player"
"""What a person is called in a hand from a link."""
MAX_REVIEWS = 200
"""Reviews in memory."""


@dataclass
class TableApi:
    """The games of all windows, or one recorded game, and what may be asked about them.

    Parameters
    ----------
    opponent : the bot of each window's first game.
    seed : of that game; None: a fresh one for each.
    rules : of each window's first game; default: `Rules()`.
    hint_bot : the bot that hints and reviews play the moves out with; None for the strongest.
    estimator : estimates what the opponent holds.
    bot_delay : seconds before each action of the bot.
    save_folder : where games are saved; None: nowhere.
    finished : called with each game that is played to its end.
    recorded : a recorded game to replay, instead of a table.
    """

    opponent: str = "tonic"
    seed: int | None = None
    rules: Rules | None = None
    hint_bot: str | None = None
    estimator: str = "bayes"
    bot_delay: float = 0.6
    save_folder: Path | None = None
    finished: Callable[[HumanGame], object] | None = None
    recorded: GameRecord | None = None

    def __post_init__(self) -> None:
        _estimator(self.estimator)
        self._rules = check_rules(self.rules)
        if self.seed is not None:
            check_seed(self.seed)
        self._sessions = Sessions(self.save_folder, self.finished, self.opponent)
        self._hints, self._reviews = (Shared(lambda: Adviser(self.hint_bot)) for _ in range(2))
        self._reviewed: dict[tuple[Any, ...], list[HandReview]] = {}
        self.ready = threading.Event()
        """Set once the kernels that a table needs are compiled."""

    def handlers(self) -> dict[str, Handler]:
        """Return the requests by name."""
        handlers: dict[str, Handler] = {
            "setup": self.setup, "replay": self.replay, "review": self.review, "analyse": self.analyse
        }  # fmt: skip
        if self.recorded is None:
            handlers |= {
                "new": self.new, "table": self.table, "act": self.act, "bot": self.bot,
                "next": self.next_hand, "undo": self.undo, "hint": self.hint, "belief": self.belief,
            }  # fmt: skip
        return handlers

    def warm_up(self) -> None:
        """Compile what a table needs, in a thread."""

        def compile_kernels() -> None:
            try:
                if self.recorded is not None:
                    page.replay(self.recorded, _positions(self.recorded), 0)
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
            "levels": page.opponents(self.opponent),
            "variants": page.describe_variants(self._rules),
            "opponent": self.opponent,
            "rules": self._rules.text,
            "bot_delay": self.bot_delay,
            "recorded": self.recorded is not None,
            "compiling": not self.ready.is_set(),
        }

    def new(self, request: Json, token: str) -> Answer:
        """Start a new game in this window: `opponent` and `rules` (of those offered) and `practice`."""
        opponent, practice = request.get("opponent", self.opponent), request.get("practice", False) is True
        if opponent not in (*(one.bot for one in OPPONENTS), self.opponent):
            raise ValueError(f"opponent must be one of those offered, not {opponent!r}")
        name, variants = request.get("rules", self._rules.text), page.variants(self._rules)
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
        return self._look(token, lambda session: (200, self._answer(session)))

    def act(self, request: Json, token: str) -> Answer:
        """Carry out the player's `action`, an action id."""
        return self._change(request, token, lambda session: session.game.act(request.get("action")))  # type: ignore[arg-type]

    def bot(self, request: Json, token: str) -> Answer:
        """Let the opponent act once."""

        def let_bot_act(session: Session) -> None:
            if not session.game.waits_for_bot:  # no reason to make the bot again
                raise ValueError("it is not the bot's turn")
            try:
                session.game.let_bot_act()
            except Exception:
                session.game.make_bot_again()  # a program that has ended would never answer
                raise

        return self._change(request, token, let_bot_act)

    def next_hand(self, request: Json, token: str) -> Answer:
        return self._change(request, token, lambda session: session.game.next_hand())

    def undo(self, request: Json, token: str) -> Answer:
        """Take back the player's last move, in practice."""

        def take_back(session: Session) -> None:
            if not session.practice:
                raise ValueError("moves can be taken back only in practice")
            if session.game.is_over:
                raise ValueError("the game is over")
            session.game.undo()

        return self._change(request, token, take_back)

    def hint(self, request: Json, token: str) -> Answer:
        """Return the best moves compared, and why the first is the best."""

        def ask(session: Session) -> Answer:
            if not session.game.waits_for_person:  # no error: the player may act while the page asks
                return 200, {"error": "a hint is given when it is your turn"}
            view = session.game.view
            advice = self._hints.ask(lambda adviser: adviser.advise(view))
            return 200, page.hint(advice, view, session.game.opponent_name)

        return self._look(token, ask)

    def belief(self, request: Json, token: str) -> Answer:
        """Return the cards that the opponent may hold, and after the hand those that they held."""

        def ask(session: Session) -> Answer:
            game, estimator = session.game, _estimator(self.estimator)
            truth = None if game.ended is None else game.ended[1]
            return 200, page.belief(estimator, game.view, truth)

        return self._look(token, ask)

    # --- Replays ----------------------------------------------------------------------------------------

    def replay(self, request: Json, token: str) -> Answer:
        """Return the positions of one ended `hand` (from 1), or of the hand in a `link`."""
        record, hand = self._replayed(request, token)
        return 200, page.replay(record, _positions(record), hand, ANYONE if "link" in request else YOU)

    def review(self, request: Json, token: str) -> Answer:
        """Return what cards and choices were worth in a `hand` (from 1), for the person or for both."""
        record, hand = self._replayed(request, token)
        players = reviewed_players(record)

        def judge(adviser: Adviser) -> Json:
            key = record.hands[hand], record.rules, hand, players
            if key not in self._reviewed:
                if len(self._reviewed) >= MAX_REVIEWS:
                    self._reviewed.clear()
                positions = _positions(record)
                self._reviewed[key] = [
                    review_hand(record, positions, hand, player, adviser) for player in players
                ]
            return page.review(record, self._reviewed[key], adviser)

        return 200, self._reviews.ask(judge)

    def analyse(self, request: Json, token: str) -> Answer:
        """Return what bots and adviser say of a position in text, and what the opponent may hold."""
        words = {name: str(request.get(name, "")) for name in ("hand", "upcard", "history", "drew")}
        scores, dealt = str(request.get("scores") or "0 0"), request.get("you_deal") is True
        view = position_in_text(**words, scores=scores, you_deal=dealt, rules=self._rules)
        advice = self._hints.ask(lambda adviser: adviser.advise(view))
        by_move: dict[str, list[str]] = {}
        upcard, hand = int(view.array["public"]["upcard"][0]), int(view.hands[0])
        loadable = agents.names(needs_torch=None if has_torch() else False)
        for name in [name for name in agents.quick_names() if name in loadable]:
            action = int(chosen_actions(_bot(name), view)[0])
            by_move.setdefault(action_name(action, upcard, hand=hand), []).append(name)
        answer = page.hint(advice, view, "your opponent")
        answer["bots"] = [{"text": text, "bots": bots} for text, bots in by_move.items()]
        return 200, answer | {"belief": page.belief(_estimator(self.estimator), view)}

    def picture(self, link: str, kind: str) -> bytes:
        """Return a hand as an animated GIF, or its end as a PNG. Raises ValueError for a bad link."""
        from gin_env.ui.animation import as_gif, as_png, recorded_pictures

        pictures = list(recorded_pictures(hand_of(link), 0))
        return as_gif(pictures) if kind == "gif" else as_png(pictures[-1])

    def _replayed(self, request: Json, token: str) -> tuple[GameRecord, int]:
        """Return a game and one of its hands, from 0; of a table only hands that have ended."""
        record = hand_of(request["link"]) if "link" in request else self.recorded
        if record is None:
            session = self._sessions.find(token)
            if session is None:
                raise ValueError("no game in this window")
            with session.lock:
                record = session.game.record()
            count = len(page.score_sheet(record))
        else:
            count = len(record.hands)
        hand = request.get("hand", 1)
        if not isinstance(hand, int) or isinstance(hand, bool) or not 1 <= hand <= count:
            raise ValueError(f"hand must be from 1 to {count}, not {hand!r}")
        return record, hand - 1

    # --- Helpers ----------------------------------------------------------------------------------------

    def _change(self, request: Json, token: str, change: Callable[[Session], Any]) -> Answer:
        """Change a window's game, if the request is about the table as it is now."""

        def change_now(session: Session) -> Answer:
            if request.get("version") != session.version:
                return 409, self._answer(self._sessions.find(token) or session)  # perhaps of a new game
            change(session)
            try:
                self._sessions.changed(session)
            except OSError as error:
                return 200, self._answer(session) | {"error": f"This game cannot be saved: {error}"}
            return 200, self._answer(session)

        return self._look(token, change_now)

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


@lru_cache(16)
def _positions(record: GameRecord) -> list[Position]:
    return record.positions()


_estimator = lru_cache(4)(estimator_of_hand)
_bot = lru_cache(64)(agents.make)
