"""The review of a hand: the chance to win from move to move, the luck of the cards, and what choices cost.

Each choice of a player is compared with the best move by rollouts (`gin_env.ui.adviser`), from what the
player could know. The luck of the cards is measured afterwards with all cards open (`gin_env.matches.luck`),
which needs PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gin_env.matches.luck import NUM_SUMMED, chance_of, luck_of_deals
from gin_env.records import GameRecord, Position
from gin_env.support.registry import has_torch
from gin_env.ui.adviser import Advice, Adviser, Move
from gin_env.ui.human_game import PERSON, PERSON_PLAYER

SMALL = 0.5
"""Points below which a choice counts as good."""


class Choice(NamedTuple):
    """A choice between several moves, and what it was worth."""

    hand: int
    """Index of the hand in the game."""
    step: int
    """Number of actions played before it in the hand."""
    played: Move
    advice: Advice

    @property
    def lost(self) -> float:
        """Points given away; 0 unless the move is surely worse than the best."""
        if not self.advice.cost(self.played):
            return 0.0
        return max(self.advice.best.points - self.played.points, 0.0)

    @property
    def is_mistake(self) -> bool:
        """Whether the move gave away half a point or more."""
        return self.lost >= SMALL


@dataclass(frozen=True)
class HandReview:
    """The review of one hand for one player."""

    hand: int
    player: int
    choices: list[Choice]
    points: int
    """What the player scored; negative if the opponent did."""
    luck: float | None
    """Points that the deal and all draws were worth to the player; None without PyTorch."""
    chances: list[float]
    """The player's chance to win the game at the deal, after each choice, and after the hand."""

    @property
    def mistakes(self) -> list[Choice]:
        """The mistakes, the costliest first."""
        return mistakes_of([self])


def mistakes_of(reviews: Sequence[HandReview]) -> list[Choice]:
    """Return the mistakes of several hands, the costliest first."""
    found = [choice for review in reviews for choice in review.choices if choice.is_mistake]
    return sorted(found, key=lambda choice: -choice.lost)


class Totals(NamedTuple):
    """What several hands add up to."""

    points: int
    luck: float | None
    lost: float
    """Points given away by choices."""
    num_mistakes: int
    num_choices: int

    @property
    def accuracy(self) -> int:
        """Per cent of the choices that gave away less than half a point."""
        good = self.num_choices - self.num_mistakes
        return 100 if not self.num_choices else round(100 * good / self.num_choices)


def totals_of(reviews: Sequence[HandReview]) -> Totals:
    """Return the sums of several hands of one player."""
    lucks = [review.luck for review in reviews]
    mistakes = mistakes_of(reviews)
    return Totals(
        sum(review.points for review in reviews),
        None if None in lucks else sum(luck for luck in lucks if luck is not None),
        sum(choice.lost for choice in mistakes),
        len(mistakes),
        sum(len(review.choices) for review in reviews),
    )


def reviewed_players(game: GameRecord) -> tuple[int, ...]:
    """Return the players whose choices are reviewed: the person, or both bots."""
    return (PERSON,) if game.players[0] == PERSON_PLAYER else (0, 1)


def review_hand(
    game: GameRecord,
    positions: Sequence[Position],
    hand: int,
    player: int,
    adviser: Adviser,
) -> HandReview:
    """Return the review of a hand that has ended.

    Parameters
    ----------
    positions : those of the game, as `GameRecord.positions` returns them.
    hand : index of the hand.
    """
    here = [position for position in positions if position.hand == hand]
    to_judge = [
        position
        for position in here
        if position.is_decision and position.player == player and position.view().masks().sum() > 1
    ]
    choices = []
    for position in to_judge:
        advice = adviser.advise(position.view(), position.action)
        played = advice.find(int(position.action or 0))
        if played is not None:
            choices.append(Choice(hand, position.step, played, advice))
    record = game.hands[hand]
    own, other = (record.scores[one] for one in (player, 1 - player))
    own_after, other_after = (record.scores_after[one] for one in (player, 1 - player))
    chances = [
        adviser.chance_to_win(game.rules, own, other),
        *(choice.played.win for choice in choices),
        adviser.chance_to_win(game.rules, own_after, other_after),
    ]
    scored = (own_after - own) - (other_after - other)
    return HandReview(hand, player, choices, scored, luck_of(here, player), chances)


def luck_of(positions: Sequence[Position], player: int) -> float | None:
    """Return the points that the deal and the draws of one hand were worth to a player, both players' draws.

    None without PyTorch.
    """
    if not has_torch():
        return None
    from gin_env.matches.open_value import packaged_value

    states = np.concatenate([position.state for position in positions if not position.over])
    found = chance_of(states, np.full(len(states), player, np.int64))
    rules = positions[0].view().rules
    luck = luck_of_deals(found, 1, rules, whole_game=False, value=packaged_value())
    return float(luck["points"][0, :NUM_SUMMED].sum())
