"""A recorded game as an object: its hands, and every position of them as the engine plays it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gin_env.batch import Episode, Games
from gin_env.game.actions import describe
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES, OVER, STATE
from gin_env.observations.views import PlayerView
from gin_env.support.version import __version__

UNDECIDED, VOID = "undecided", "void"


class RecordError(ValueError):
    """A record that is damaged, or holds what the rules do not allow."""


@dataclass(frozen=True)
class Player:
    """Who sat in a seat."""

    name: str
    """As in results: a bot's name, or a person's."""
    bot: str | None = None
    """The text by which `gin_env.agents.make` makes the bot, all parameters spelled out; None for people,
    and for bots that were handed over as objects."""


@dataclass(frozen=True)
class HandRecord:
    """One hand. How it ended is what these rules give; `outcome` is ``"undecided"`` until then."""

    dealer: int
    scores: tuple[int, int]
    """Of players 0 and 1 before the hand."""
    deck: tuple[int, ...]
    """Card ids in dealing order: the hands alternately from player 0 on, the upcard, the stock."""
    actions: tuple[int, ...]
    """Action ids of both players in order."""
    outcome: str = UNDECIDED
    """One of `state.OUTCOME_NAMES`."""
    winner: int | None = None
    knocker: int | None = None
    points: int = 0
    """To the winner."""
    deadwood: tuple[int, int] | None = None
    """Of players 0 and 1 after melding and laying off; None unless somebody knocked."""
    counted: tuple[int, int] | None = None
    """(winner, points) with which the game went on, where another engine scored otherwise than these rules;
    None where it did not."""

    @property
    def scores_after(self) -> tuple[int, int]:
        """The scores with which the game went on."""
        winner, points = (self.winner, self.points) if self.counted is None else self.counted
        return self.scores[0] + points * (winner == 0), self.scores[1] + points * (winner == 1)


@dataclass(frozen=True)
class GameRecord:
    """A game, or a single hand, from its first deal on.

    Nothing is checked when one is made; `check` does, as `records.read` did with those that it returns.
    """

    players: tuple[Player, Player]
    """Of seats 0 and 1."""
    hands: tuple[HandRecord, ...]
    """At least one; only the last may be undecided."""
    rules: Rules = field(default_factory=Rules)
    episode: Episode = "game"
    """``"game"``: to the target score; ``"hand"``: a single hand."""
    seed: int = 0
    """`seed`, `number` and `twin` are those of `Games.start`: with them bots break ties as they did."""
    number: int = 0
    twin: bool = False
    clairvoyant: bool = False
    """Bots that can be told the opponent's hand were told it."""
    source: str | None = None
    """What else recorded the game, such as another engine; None: this package."""
    release: str = __version__
    """Of this package, when the record was written."""

    @property
    def scores(self) -> tuple[int, int]:
        """Of players 0 and 1 after the last hand."""
        return self.hands[-1].scores_after

    @property
    def finished(self) -> bool:
        """Whether the episode is over: a game that was broken off is not."""
        if self.hands[-1].outcome == UNDECIDED:
            return False
        at_target = max(self.scores) >= self.rules.target_score
        return self.episode == "hand" or at_target or len(self.hands) >= self.rules.max_hands

    @property
    def winner(self) -> int | None:
        """Who won the episode; None while it is not finished, and if nobody did."""
        if not self.finished:
            return None
        if self.episode == "hand":
            last = self.hands[-1]
            return last.winner if last.counted is None else last.counted[0]
        best = max(self.scores)
        return self.scores.index(best) if best >= self.rules.target_score else None

    def positions(self) -> list[Position]:
        """Every position in order, as the engine plays the hands again: the ends of hands are positions too.

        Raises RecordError, naming hand and action, for what the rules do not allow.
        """
        return [
            Position(number, step, states[[step]], (*hand.actions, None)[step])
            for number, (hand, states) in enumerate(zip(self.hands, self._states(), strict=True))
            for step in range(len(states))
        ]

    def check(self) -> None:
        """Play the game again. Raises RecordError, which names the hand, if the record is not one of it."""
        if not self.hands:
            raise RecordError("there is no hand")
        if self.episode == "hand" and len(self.hands) > 1:
            raise RecordError(f"a single hand (episode 'hand') has {len(self.hands)} hands")
        if self.episode == "game" and self.hands[0].scores != (0, 0):
            raise RecordError(f"hand 1: a game begins with scores of 0, not {list(self.hands[0].scores)}")
        for number, states in enumerate(self._states()):
            self._check_end(number, states[-1]["public"])

    def _check_end(self, number: int, public: np.void) -> None:
        """Compare how a hand ended with the engine, and with the hand after it."""
        hand, where = self.hands[number], f"hand {number + 1}"
        played = end_of_hand(public)
        for name, value in played.items():
            if getattr(hand, name) != value:
                raise RecordError(f"{where}: {name} is {getattr(hand, name)!r}, but playing gives {value!r}")
        if hand.counted is not None and played["winner"] is None:
            raise RecordError(f"{where}: points are counted, but nobody won")
        if number + 1 == len(self.hands):
            return
        following = self.hands[number + 1]
        if public["phase"] != OVER:
            raise RecordError(f"{where}: it is not over, but another hand follows")
        if max(hand.scores_after) >= self.rules.target_score or number + 1 >= self.rules.max_hands:
            raise RecordError(f"{where}: it ends the game, but another hand follows")
        if following.scores != hand.scores_after:
            raise RecordError(
                f"hand {number + 2}: the scores are {list(following.scores)}, but the hand before left "
                f"{list(hand.scores_after)}"
            )
        if following.dealer != (hand.dealer if hand.outcome == VOID else 1 - hand.dealer):
            raise RecordError(f"hand {number + 2}: the other player deals")

    def _states(self) -> list[np.ndarray]:
        """For each hand the states from its deal to its end: `STATE` records (actions + 1,).

        All hands are played side by side.
        """
        table = self._deal_all()
        lengths = np.array([len(hand.actions) for hand in self.hands])
        actions = np.zeros((len(self.hands), lengths.max() + 1), np.int64)
        for number, hand in enumerate(self.hands):
            actions[number, : len(hand.actions)] = hand.actions
        begins = np.concatenate([[0], np.cumsum(lengths + 1)])
        states = np.zeros(begins[-1], STATE)
        copied, present = as_bytes(states), as_bytes(table.state)
        for step in range(lengths.max() + 1):
            here = np.flatnonzero(step <= lengths)
            copied[begins[here] + step] = present[here]
            playing = here[step < lengths[here]]
            if not len(playing):
                continue
            illegal = playing[table.find_illegal(playing, actions[playing, step])]
            if len(illegal):
                number, action = int(illegal[0]), int(actions[illegal[0], step])
                raise RecordError(f"hand {number + 1}, action {step + 1}: {_why(table, number, action)}")
            table.play_legal(playing, actions[playing, step])
        return np.split(states, begins[1:-1])

    def _deal_all(self) -> Games:
        """A table with all hands dealt, one in each place."""
        count = len(self.hands)
        table = Games(count, self.rules)
        seeds, numbers = np.full(count, self.seed, np.uint64), np.full(count, self.number, np.uint64)
        table.start(table.everyone, seeds, numbers, np.full(count, self.twin))
        table.state["public"]["hand_number"] = table.everyone
        decisions = 0
        for number, hand in enumerate(self.hands):
            if not all(0 <= score < self.rules.target_score for score in hand.scores):
                raise RecordError(
                    f"hand {number + 1}: scores before a hand are from 0 to {self.rules.target_score - 1}, "
                    f"not {list(hand.scores)}"
                )
            table.state["public"]["scores"][number] = hand.scores
            try:
                table.set_deck(number, hand.deck, hand.dealer)
            except (ValueError, TypeError) as error:
                raise RecordError(f"hand {number + 1}: {error}") from error
            table.state["hidden"]["decisions"][number] = decisions
            decisions += len(hand.actions)
        return table


def end_of_hand(public: np.void) -> dict[str, Any]:
    """How the hand of a `PUBLIC` record ended, as the fields of a `HandRecord`; so far, if it goes on."""
    won = public["winner"] >= 0
    return {
        "outcome": OUTCOME_NAMES[public["outcome"]],
        "winner": int(public["winner"]) if won else None,
        "knocker": int(public["knocker"]) if won else None,
        "points": int(public["points"]),
        "deadwood": tuple(public["deadwood"].tolist()) if won else None,
    }


def as_bytes(states: np.ndarray) -> np.ndarray:
    """uint8 (n, bytes): the same memory, which numpy copies much faster than records with fields."""
    return states.view(np.uint8).reshape(len(states), states.dtype.itemsize)


def _why(table: Games, number: int, action: int) -> str:
    if table.state["public"]["phase"][number] == OVER:
        return f"{describe(action)}: the hand is over"
    player = int(table.to_move()[number])
    return f"player {player}, {table.explain(number, action)}"


@dataclass(frozen=True, eq=False)
class Position:
    """A moment of a recorded game."""

    hand: int
    """Its hand, from 0."""
    step: int
    """Actions played before it in this hand."""
    state: np.ndarray
    """`STATE` record (1,), as the engine had it."""
    action: int | None
    """What was played; None at the end of a hand, or where a game was broken off."""

    @property
    def player(self) -> int:
        """Who has to decide; at the end of a hand whoever moved last."""
        return int(self.state["public"]["to_move"][0])

    @property
    def is_decision(self) -> bool:
        """Whether somebody decided here (not at the end of a hand, nor where a game was broken off)."""
        return self.action is not None

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""
        return bool(self.state["public"]["phase"][0] == OVER)

    def view(self, player: int | None = None) -> PlayerView:
        """What a player knew, by default the one who has to decide: a batch of one."""
        return views_of([self], player)


def views_of(positions: Sequence[Position], player: int | None = None) -> PlayerView:
    """The views (n,) of n positions (at least one) of one game: of a player, or of who has to decide."""
    states = np.concatenate([position.state for position in positions])
    table = Games(len(states), Rules.from_record(states["public"]["rules"][0]))
    table.state[:] = states
    return table.views(table.everyone, player)
