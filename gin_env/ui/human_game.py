"""A person's game against a bot, independent of the screen: legal actions, events, saving and resuming.

The person is player 0. A screen receives their `PlayerView` and, once a hand has ended, both hands, and
nothing else about the game.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from gin_env import agents
from gin_env.agents import AnyAgent
from gin_env.agents.turns import check_bot_actions
from gin_env.batch import Games
from gin_env.game.actions import IllegalActionError, check_action
from gin_env.game.rules import RulesLike, check_rules
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, Player, RecordedGames, read_one, resume, to_line
from gin_env.support import atomic
from gin_env.ui.opponents import find_opponent

PERSON, BOT = 0, 1
PERSON_PLAYER = Player("person")
_ONE = np.zeros(1, np.int64)


class HumanGame:
    """A person's game to the target score of `rules`.

    Parameters
    ----------
    opponent : a bot's name, or a bot.
    seed : seed of the decks, the dealer and the bot's random numbers; default: a random one.
    rules : default `Rules()`.

    Attributes
    ----------
    opponent : the text that names the bot.
    actions : the actions of both players in the game so far, in order.

    Raises as `gin_env.agents.make` does, ValueError or TypeError for an invalid seed.
    """

    def __init__(
        self, opponent: AnyAgent = "tonic", seed: int | None = None, rules: RulesLike = None
    ) -> None:
        self.bot = agents.resolve(opponent, programs=True)
        self.opponent = opponent if isinstance(opponent, str) else self.bot.name
        self._opponent_is_object = not isinstance(opponent, str)
        self.seed = fresh_seed() if seed is None else check_seed(seed)
        self.rules = check_rules(rules)
        self._start()

    def _start(self) -> None:
        """Deal the first hand."""
        self.actions: list[int] = []
        self._game = RecordedGames(1, self.rules, "game")
        self._game.start(_ONE, np.array([self.seed], np.uint64), np.zeros(1, np.uint64))
        # The game deals the next hand as soon as one ends. Each hand is therefore also played at a separate
        # table, where its end remains visible.
        self._hand = Games(1, self.rules)
        self._begin_hand()

    def _begin_hand(self) -> None:
        self._hand.state[:] = self._game.state
        self._hand.done[:] = False

    @property
    def opponent_name(self) -> str:
        """What the opponent is called at the table."""
        known = find_opponent(self.opponent)
        return self.bot.name if known is None else known.name

    @property
    def view(self) -> PlayerView:
        """The person's view of the current hand, or of the hand that has just ended."""
        return self._hand.views(_ONE, PERSON)

    @property
    def ended(self) -> tuple[int, int] | None:
        """The cards of the person and of the bot in the hand that has just ended, as masks.

        None while a hand is being played.
        """
        if not self._hand.done[0]:
            return None
        person, bot = self._hand.state["private"]["hand"][0].tolist()
        return person, bot

    @property
    def is_over(self) -> bool:
        """Whether the game, not only the hand, has ended."""
        return bool(self._game.done[0])

    @property
    def waits_for_person(self) -> bool:
        return not self._hand.done[0] and int(self._hand.to_move()[0]) == PERSON

    @property
    def waits_for_bot(self) -> bool:
        return not self._hand.done[0] and int(self._hand.to_move()[0]) == BOT

    def legal(self) -> list[int]:
        """Return the person's legal actions; none unless it is their turn."""
        return self.view.masks()[0].nonzero()[0].tolist() if self.waits_for_person else []

    def act(self, action: int) -> None:
        """Carry out an action of the person.

        Raises IllegalActionError with the reason if it is illegal or not their turn, TypeError if it is
        anything but an integer.
        """
        if not self.waits_for_person:
            raise IllegalActionError("it is not your turn")
        self._play(check_action(action))

    def make_bot_again(self) -> None:
        """Make the bot again from its name, as after an error of its program. Raises as `__init__` does."""
        if not self._opponent_is_object:
            self.bot = agents.resolve(self.opponent, programs=True)

    def let_bot_act(self) -> None:
        """Play one action of the bot. Raises as `bot_action` and `play_for_bot` do."""
        self.play_for_bot(self.bot_action())

    def bot_action(self) -> int:
        """Return the bot's next action without playing it; a thread may call this.

        Raises ValueError if it is not the bot's turn; TypeError or ValueError, naming the bot, unless it
        returns one integer.
        """
        if not self.waits_for_bot:
            raise ValueError("it is not the bot's turn")
        view = self._hand.views(_ONE, BOT)
        return int(check_bot_actions(self.bot, self.bot.act(view), 1)[0])

    def play_for_bot(self, action: int) -> None:
        """Play this action for the bot. Raises IllegalActionError, naming the bot, if it is illegal."""
        if not self.waits_for_bot:
            raise ValueError("it is not the bot's turn")
        self._play(action, who=f"bot {self.bot.name!r}")

    def next_hand(self) -> None:
        """Start the next hand. Raises ValueError if the hand has not ended or the game is over."""
        if self.ended is None or self.is_over:
            raise ValueError("there is no next hand now")
        self._begin_hand()

    def another(self) -> HumanGame:
        """Return a new game against the same bot, with the next seed."""
        game = copy(self)
        game.seed = (self.seed + 1) % 2**64
        game._start()
        return game

    def undo(self) -> None:
        """Take back the person's last action and the bot's actions since.

        The deck does not change: the same action leads to the same cards again. Raises ValueError if the
        person has not acted yet.
        """
        steps = [position for position in self.record().positions() if position.is_decision]
        own = [number for number, position in enumerate(steps) if position.player == PERSON]
        if not own:
            raise ValueError("there is nothing to take back")
        actions = self.actions[: own[-1]]
        self._start()
        for action in actions:
            self._play(action)
            if self.ended is not None:
                self.next_hand()

    def record(self) -> GameRecord:
        """Return the game so far as a record of `gin_env.records`, up to the current or just ended hand."""
        made_by = None if self._opponent_is_object else self.opponent
        record = self._game.record(0, (PERSON_PLAYER, Player(self.bot.name, made_by)))
        if self.ended is not None and not self.is_over:
            return replace(record, hands=record.hands[:-1])
        return record

    def _play(self, action: int, who: str = "") -> None:
        self._hand.play(_ONE, np.array([action]), who)
        self._game.play(_ONE, np.array([action]))
        self.actions.append(action)

    # --- Saving and resuming --------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the game's `record` as a file of `gin_env.records`, which `load` resumes.

        The file contains the hidden cards. Raises OSError.
        """
        atomic.write_text(path, to_line(self.record()) + "\n")

    @classmethod
    def load(
        cls, path: str | Path, opponent: AnyAgent | None = None, allowed: str | None = None
    ) -> HumanGame:
        """Return the game that `save` wrote, rebuilt by replaying its actions.

        Parameters
        ----------
        opponent : the bot that continues the game; default: the bot named in the file. A file must not run
            code, so ``process:COMMAND`` and ``module:Class`` are refused there.
        allowed : the name of such a bot that the file may contain, since the user has named it too.

        Raises OSError, or ValueError, naming the file, if it does not contain such a game.
        """
        saved = read_one(path, 1)
        person, bot = saved.players
        if person != PERSON_PLAYER or saved.episode != "game" or saved.finished:
            raise ValueError(
                f"{path} is not an unfinished game of a person: `gin-rummy play --save FILE` writes one"
            )
        if opponent is None:
            opponent = bot.bot or bot.name
            if opponent != allowed and agents.starts_program(opponent):
                raise ValueError(
                    f"{path} names {opponent!r}, which runs other code: pass it as --opponent to allow that"
                )
        game = cls(opponent, saved.seed, saved.rules)
        game._game = resume(saved)
        game._begin_hand()
        last = saved.positions()[-1]
        if last.over:
            game._hand.state[:] = last.state
            game._hand.done[:] = True
        game.actions = [action for hand in saved.hands for action in hand.actions]
        return game
