"""Recorded games: their hands, and every position as the engine replays it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gin_env.batch import Episode, Games
from gin_env.game.actions import describe
from gin_env.game.earlier_hands import remember_hand
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES, OVER, PUBLIC, STATE
from gin_env.observations.views import PlayerView
from gin_env.support.version import __version__

UNDECIDED = "undecided"
MAX_ACTIONS = PUBLIC["history"].shape[0]
"""Maximum number of actions of a hand under any rules."""
MAX_TEXT = 4096
"""Maximum number of characters of a name or another text in a record."""


class RecordError(ValueError):
    """A record is damaged, or breaks the rules of the game."""


def check_text(what: str, text: str) -> str:
    """Return a text that can be shown in a terminal: printable, at most `MAX_TEXT` characters.

    Raises RecordError, with `what` as the name of the text, for any other.
    """
    if len(text) > MAX_TEXT or not text.isprintable():
        raise RecordError(
            f"{what} must be a printable text of at most {MAX_TEXT:,} characters, not {text[:40]!r}"
        )
    return text


@dataclass(frozen=True)
class Player:
    """A player of a recorded game."""

    name: str
    """Name of the bot or person, as in results."""
    bot: str | None = None
    """Text from which `gin_env.agents.make` makes the bot, with all parameters; None for people and for bots
    that were passed as objects."""


@dataclass(frozen=True)
class HandRecord:
    """One hand. The fields on its end follow from the rules; `outcome` is ``"undecided"`` until then."""

    dealer: int
    scores: tuple[int, int]
    """Scores of players 0 and 1 before the hand."""
    deck: tuple[int, ...]
    """Card ids in dealing order: both hands alternately, player 0 first, the upcard, the stock."""
    actions: tuple[int, ...]
    """Action ids of both players, in order."""
    outcome: str = UNDECIDED
    """One of `state.OUTCOME_NAMES`."""
    winner: int | None = None
    knocker: int | None = None
    points: int = 0
    """Points scored by the winner."""
    deadwood: tuple[int, int] | None = None
    """Deadwood of players 0 and 1 after melding and laying off; None unless a player knocked."""
    counted: tuple[int, int] | None = None
    """(winner, points) that count for the score if another engine scored the hand differently, else None."""

    @property
    def result(self) -> tuple[int | None, int]:
        """The winner and the points that count for the score."""
        return (self.winner, self.points) if self.counted is None else self.counted

    @property
    def scores_after(self) -> tuple[int, int]:
        """Scores of players 0 and 1 after the hand."""
        winner, points = self.result
        return self.scores[0] + points * (winner == 0), self.scores[1] + points * (winner == 1)


@dataclass(frozen=True)
class GameRecord:
    """A game, or a single hand, from its first deal.

    Creating a record checks nothing; call `check`, as `records.read` does.
    """

    players: tuple[Player, Player]
    """Players 0 and 1."""
    hands: tuple[HandRecord, ...]
    """At least one; only the last may be undecided."""
    rules: Rules = field(default_factory=Rules)
    episode: Episode = "game"
    """``"game"``: to the target score; ``"hand"``: a single hand."""
    seed: int = 0
    """`seed`, `number` and `twin` are those of `Games.start`; with them bots break ties as they did."""
    number: int = 0
    twin: bool = False
    source: str | None = None
    """Name of another engine that recorded the game; None: this package."""
    release: str = __version__
    """Release of this package that wrote the record."""

    @property
    def scores(self) -> tuple[int, int]:
        """Scores of players 0 and 1 after the last hand."""
        return self.hands[-1].scores_after

    @property
    def finished(self) -> bool:
        """Whether the episode is over; False for an interrupted game."""
        if self.hands[-1].outcome == UNDECIDED:
            return False
        at_target = max(self.scores) >= self.rules.target_score
        return self.episode == "hand" or at_target or len(self.hands) >= self.rules.max_hands

    @property
    def winner(self) -> int | None:
        """The player who won the episode; None if it is unfinished or undecided."""
        if not self.finished:
            return None
        if self.episode == "hand":
            return self.hands[-1].result[0]
        best = max(self.scores)
        return self.scores.index(best) if best >= self.rules.target_score else None

    def positions(self) -> list[Position]:
        """Return every position in order, including the end of each hand.

        Raises RecordError, naming hand and action, for an illegal action.
        """
        return [
            Position(index, step, states[[step]], (*hand.actions, None)[step])
            for index, (hand, states) in enumerate(zip(self.hands, self._states(), strict=True))
            for step in range(len(states))
        ]

    def check(self) -> None:
        """Replay the game. Raises RecordError, naming the hand, if the record contradicts the rules."""
        if not self.hands:
            raise RecordError("the game has no hands")
        if self.episode == "hand" and len(self.hands) > 1:
            raise RecordError(f"episode 'hand' must have one hand, not {len(self.hands)}")
        if self.episode == "game" and self.hands[0].scores != (0, 0):
            raise RecordError(f"hand 1: scores must start at 0, not {list(self.hands[0].scores)}")
        for index, player in enumerate(self.players):
            check_text(f"the name of player {index}", player.name)
            check_text(f"the bot of player {index}", player.bot or "")
        check_text("source", self.source or "")
        check_text("release", self.release)
        for number, (hand, following) in enumerate(pairwise(self.hands), 1):  # before anything is replayed
            if hand.outcome == UNDECIDED:
                raise RecordError(f"hand {number}: is not over, but another hand follows")
            if max(hand.scores_after) >= self.rules.target_score or number >= self.rules.max_hands:
                raise RecordError(f"hand {number}: ends the game, but another hand follows")
            if following.scores != hand.scores_after:
                raise RecordError(
                    f"hand {number + 1}: scores are {list(following.scores)}, but the previous hand left "
                    f"{list(hand.scores_after)}"
                )
            if following.dealer != self.rules.dealer_after(hand.dealer, hand.result[0]):
                raise RecordError(f"hand {number + 1}: the dealer must be player {1 - following.dealer}")
        for number, (hand, states) in enumerate(zip(self.hands, self._states(), strict=True), 1):
            played = end_of_hand(states[-1]["public"])
            for name, value in played.items():
                if (recorded := getattr(hand, name)) != value:
                    raise RecordError(f"hand {number}: {name} is {recorded!r}, but replaying gives {value!r}")
            if hand.counted is not None and played["winner"] is None:
                raise RecordError(f"hand {number}: has counted points, but no winner")

    def _states(self) -> list[np.ndarray]:
        """Return the states of each hand from its deal to its end: `STATE` (num_actions + 1,).

        All hands are replayed in one batch.
        """
        games = self._deal_all()
        lengths = np.array([len(hand.actions) for hand in self.hands])
        actions = np.zeros((len(self.hands), lengths.max() + 1), np.int64)
        for index, hand in enumerate(self.hands):
            actions[index, : len(hand.actions)] = hand.actions
        starts = np.concatenate([[0], np.cumsum(lengths + 1)])
        states = np.zeros(starts[-1], STATE)
        copied, current = as_bytes(states), as_bytes(games.state)
        for step in range(lengths.max() + 1):
            reached = np.flatnonzero(step <= lengths)
            copied[starts[reached] + step] = current[reached]
            playing = reached[step < lengths[reached]]
            if not len(playing):
                continue
            illegal = playing[games.find_illegal(playing, actions[playing, step])]
            if len(illegal):
                index, action = int(illegal[0]), int(actions[illegal[0], step])
                if games.state["public"]["phase"][index] == OVER:
                    reason = f"{describe(action)}: the hand is over"
                else:
                    reason = f"player {games.to_move()[index]}, {games.explain(index, action)}"
                raise RecordError(f"hand {index + 1}, action {step + 1}: {reason}")
            games.play_legal(playing, actions[playing, step])
        parts = np.split(states, starts[1:-1])
        for before, after in pairwise(parts):
            ended = before[-1:].copy()
            remember_hand(ended[0])
            after["public"]["memory"] = ended["public"]["memory"]
        return parts

    def _deal_all(self) -> Games:
        """Return a batch with every hand dealt."""
        num_hands = len(self.hands)
        games = Games(num_hands, self.rules)
        seeds, numbers = np.full(num_hands, self.seed, np.uint64), np.full(num_hands, self.number, np.uint64)
        games.start(games.everyone, seeds, numbers, np.full(num_hands, self.twin))
        games.state["public"]["hand_number"] = games.everyone
        num_decisions, boxes = 0, [0, 0]
        for index, hand in enumerate(self.hands):
            if not all(0 <= score < self.rules.target_score for score in hand.scores):
                raise RecordError(
                    f"hand {index + 1}: scores must be from 0 to {self.rules.target_score - 1}, "
                    f"not {list(hand.scores)}"
                )
            if len(hand.actions) > MAX_ACTIONS:
                raise RecordError(
                    f"hand {index + 1}: actions must have at most {MAX_ACTIONS} entries, "
                    f"not {len(hand.actions):,}"
                )
            games.state["public"]["scores"][index] = hand.scores
            games.state["public"]["boxes"][index] = boxes
            try:
                games.set_deck(index, hand.deck, hand.dealer)
            except (ValueError, TypeError) as error:
                raise RecordError(f"hand {index + 1}: {error}") from error
            games.state["hidden"]["decisions"][index] = num_decisions
            num_decisions += len(hand.actions)
            if (winner := hand.result[0]) is not None:
                boxes[winner] += 1
        return games


def end_of_hand(public: np.void) -> dict[str, Any]:
    """Return the outcome of a public state (`PUBLIC`) as the fields of a `HandRecord`."""
    won = public["winner"] >= 0
    return {
        "outcome": OUTCOME_NAMES[public["outcome"]],
        "winner": int(public["winner"]) if won else None,
        "knocker": int(public["knocker"]) if won else None,
        "points": int(public["points"]),
        "deadwood": tuple(public["deadwood"].tolist()) if won else None,
    }


def with_end(hand: HandRecord, rules: Rules) -> HandRecord:
    """Return a hand with the outcome that replaying it gives. Raises RecordError for an illegal action."""
    game = GameRecord((Player(""), Player("")), (hand,), rules, episode="hand")
    return replace(hand, **end_of_hand(game.positions()[-1].state["public"][0]))


def as_bytes(states: np.ndarray) -> np.ndarray:
    """View states as uint8 (n, num_bytes), which numpy copies much faster."""
    return states.view(np.uint8).reshape(len(states), states.dtype.itemsize)


@dataclass(frozen=True, eq=False)
class Position:
    """A position of a recorded game."""

    hand: int
    """Index of its hand."""
    step: int
    """Number of actions played before it in this hand."""
    state: np.ndarray
    """The state, `STATE` of shape (1,)."""
    action: int | None
    """The action played; None at the end of a hand or of an interrupted game."""

    @property
    def player(self) -> int:
        """The player to decide; at the end of a hand the player who moved last."""
        return int(self.state["public"]["to_move"][0])

    @property
    def is_decision(self) -> bool:
        """Whether a player decided here; False at the end of a hand or of an interrupted game."""
        return self.action is not None

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""
        return bool(self.state["public"]["phase"][0] == OVER)

    def view(self, player: int | None = None) -> PlayerView:
        """Return the view of a player, by default the one to decide, as a batch of one."""
        return views_of([self], player)


def views_of(positions: Sequence[Position], player: int | None = None) -> PlayerView:
    """Return the views (n,) of n > 0 positions of one game, by default of the player to decide."""
    states = np.concatenate([position.state for position in positions])
    games = Games(len(states), Rules.from_record(states["public"]["rules"][0]))
    games.state[:] = states
    return games.views(games.everyone, player)
