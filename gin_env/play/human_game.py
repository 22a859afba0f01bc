"""A person's game against a bot, without a screen: what may be done, what has happened, saved and resumed.

The person is player 0. What she is shown is a `PlayerView` and, once a hand has ended, both hands; nothing
else of the game leaves this module.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gin_env import agents
from gin_env.actions import NUM_ACTIONS, IllegalActionError, check_action
from gin_env.agents import Agent
from gin_env.agents.process import PREFIX
from gin_env.batch import Games
from gin_env.play.records import GameRecord, Player, RecordedGames
from gin_env.play.turns import play_bot
from gin_env.rules import MAX_TURNS
from gin_env.streams import check_seed, fresh_seed
from gin_env.support import atomic
from gin_env.support.checks import is_integer
from gin_env.support.version import __version__
from gin_env.views import PlayerView

PERSON, BOT = 0, 1
KIND = "gin-rummy game"
FILE_VERSION = 1
MOST_ACTIONS = 1000 * (2 * MAX_TURNS + 4)
"""More than a game has: the most hands, each with the most acts."""
_ONE = np.zeros(1, np.int64)


class EndedHand(NamedTuple):
    """A hand that has ended, of which everything may be shown."""

    view: PlayerView
    """The person's, whose public part says how the hand ended."""
    hands: tuple[int, int]
    """The cards of the person and of the bot, as masks."""


class HumanGame:
    """A game to 100 points.

    Parameters
    ----------
    opponent : a bot's name, or a bot.
    seed : of decks, dealer and the bot's random numbers; default: a fresh one.

    Attributes
    ----------
    opponent : the text that names the bot.
    actions : the actions of both players since the beginning of the game, in order.

    Raises as `gin_env.agents.make` does, ValueError or TypeError for a seed that cannot be.
    """

    def __init__(self, opponent: str | Agent = "tonic", seed: int | None = None) -> None:
        self.bot = agents.resolve(opponent)
        self.opponent = opponent if isinstance(opponent, str) else opponent.name
        self._opponent_is_object = not isinstance(opponent, str)
        self.seed = fresh_seed() if seed is None else check_seed(seed)
        self.actions: list[int] = []
        self._game = RecordedGames(1, episode="game")
        self._game.start(_ONE, np.array([self.seed], np.uint64), np.zeros(1, np.uint64))
        # The game deals the next hand as soon as one ends. Each hand is played first at a table of its own,
        # where its end stays to be looked at.
        self._hand = Games(1)
        self._begin_hand()

    def _begin_hand(self) -> None:
        self._hand.state[:] = self._game.state
        self._hand.done[:] = False

    @property
    def view(self) -> PlayerView:
        """What the person sees: the hand that goes on, or the one that has just ended."""
        return self._hand.views(_ONE, PERSON)

    @property
    def ended(self) -> EndedHand | None:
        """The hand that has just ended, until `next_hand` is called."""
        if not self._hand.done[0]:
            return None
        person, bot = self._hand.state["private"]["hand"][0].tolist()
        return EndedHand(self.view, (person, bot))

    @property
    def is_over(self) -> bool:
        """Whether the game, not only the hand, has ended."""
        return bool(self._game.done[0])

    @property
    def waits_for_person(self) -> bool:
        """Whether the person has to act in the hand."""
        return not self._hand.done[0] and int(self._hand.to_move()[0]) == PERSON

    @property
    def waits_for_bot(self) -> bool:
        """Whether the bot has to act in the hand."""
        return not self._hand.done[0] and int(self._hand.to_move()[0]) == BOT

    def legal(self) -> list[int]:
        """What the person may do now; nothing while it is not her turn."""
        return self.view.masks()[0].nonzero()[0].tolist() if self.waits_for_person else []

    def act(self, action: int) -> None:
        """Carry out an action of the person's.

        Raises IllegalActionError, which says why, if it is not allowed or not her turn; TypeError for what is
        no integer.
        """
        if not self.waits_for_person:
            raise IllegalActionError("it is not your turn")
        self._play(check_action(action))

    def let_bot_act(self) -> None:
        """Let the bot carry out one action. Raises as `play_bot` does; RuntimeError if it is not its turn."""
        if not self.waits_for_bot:
            raise RuntimeError("it is not the bot's turn")
        play_bot(self._hand, self.bot, _ONE)
        public = self._hand.state["public"][0]
        self._follow(int(public["history"][public["history_length"] - 1]))

    def next_hand(self) -> None:
        """Leave the hand that has ended. Raises RuntimeError if none has, or if the game is over."""
        if self.ended is None or self.is_over:
            raise RuntimeError("there is no next hand to go on to")
        self._begin_hand()

    def another(self) -> HumanGame:
        """A new game against the same bot, with the next seed."""
        game = HumanGame(self.bot, (self.seed + 1) % 2**64)
        game.opponent, game._opponent_is_object = self.opponent, self._opponent_is_object
        return game

    def record(self) -> GameRecord:
        """The game so far, as `gin_env.play.records` writes it."""
        made_by = None if self._opponent_is_object else self.opponent
        return self._game.record(0, (Player("person"), Player(self.bot.name, made_by)))

    def _play(self, action: int) -> None:
        self._hand.play(_ONE, np.array([action]))
        self._follow(action)

    def _follow(self, action: int) -> None:
        """What has been played in the hand is played in the game."""
        self._game.play(_ONE, np.array([action]))
        self.actions.append(action)

    # --- Saving and resuming --------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the game to a JSON file, from which `load` goes on. Raises OSError.

        Whoever reads the file can work out the hidden cards: it holds the seed.
        """
        content = {
            "kind": KIND,
            "version": FILE_VERSION,
            "gin_env": __version__,
            "opponent": self.opponent,
            "seed": self.seed,
            "actions": self.actions,
            "hand_end_shown": self.ended is not None,
        }
        atomic.write_text(path, json.dumps(content) + "\n")

    @classmethod
    def load(cls, path: str | Path, opponent: str | Agent | None = None) -> HumanGame:
        """The game that `save` wrote, played again act by act.

        Parameters
        ----------
        opponent : who plays on; default: the bot that the file names, unless that is a program
            (``process:COMMAND``): a file does not get to run commands.

        Raises OSError, or ValueError, naming the file, for one that holds no such game.
        """
        saved = _read(Path(path))
        if opponent is None:
            named: str = saved["opponent"]
            if named.startswith(PREFIX):
                raise ValueError(f"{path} names the program {named!r}: start it with --opponent yourself")
            opponent = named
        game = cls(opponent, saved["seed"])
        for number, action in enumerate(saved["actions"]):
            if game.is_over:
                raise ValueError(f"{path} is damaged: action {number} comes after the end of the game")
            if game.ended is not None:
                game.next_hand()
            try:
                game._play(action)
            except IllegalActionError as error:
                raise ValueError(f"{path} is damaged: action {number}: {error}") from error
        if game.ended is not None and not saved["hand_end_shown"] and not game.is_over:
            game.next_hand()
        return game


def _read(path: Path) -> dict[str, Any]:
    """The content of a saved game, checked. Raises OSError or ValueError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no saved game: it is not JSON") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise ValueError(f"{path} is no saved game: `gin-rummy play --save FILE` writes one")
    if content.get("version") != FILE_VERSION:
        raise ValueError(
            f"{path} is a saved game of version {content.get('version')!r}; this release reads "
            f"version {FILE_VERSION}"
        )
    actions = content.get("actions")
    sound = {
        "opponent": isinstance(content.get("opponent"), str),
        "seed": is_integer(content.get("seed")),
        "actions": isinstance(actions, list)
        and len(actions) <= MOST_ACTIONS
        and all(is_integer(action) and 0 <= action < NUM_ACTIONS for action in actions),
        "hand_end_shown": isinstance(content.get("hand_end_shown"), bool),
    }
    for name, is_sound in sound.items():
        if not is_sound:
            raise ValueError(f"{path} is damaged: {name!r} is missing or cannot be")
    return content
