"""The review of a hand: the chance to win from move to move, the luck of the cards, and what choices cost.

Each choice of a player is compared with the best move by rollouts (`gin_env.ui.adviser`), from what the
player could know. The luck of the cards is measured afterwards with all cards open (`gin_env.matches.luck`),
which needs PyTorch. The module also writes reviews and recorded games as plain text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gin_env.game.actions import describe
from gin_env.matches.luck import NUM_SUMMED, chance_of, luck_of_deals
from gin_env.records import GameRecord, Position
from gin_env.support.registry import has_torch
from gin_env.support.tables import table
from gin_env.ui.adviser import Advice, Adviser, Move, why
from gin_env.ui.human_game import PERSON, PERSON_PLAYER
from gin_env.ui.opponents import name_of
from gin_env.ui.text import text
from gin_env.ui.visible_table import YOU, action_name

SMALL = 0.5
"""Points below which a choice counts as good."""
BARS = "▁▂▃▄▅▆▇█"
COSTLIEST = 3


class Choice(NamedTuple):
    """A choice between several moves, and what it was worth."""

    position: Position
    number: int
    """Number of the choice among all decisions of the game, from 1."""
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

    def moves(self, letters: bool = False) -> tuple[str, str]:
        """Return the move that was played and the better one, in words."""
        view = self.position.view()
        upcard, hand = int(view.array["public"]["upcard"][0]), int(view.hands[0])
        played, best = self.played.action, self.advice.best.action
        return action_name(played, upcard, letters, hand), action_name(best, upcard, letters, hand)


@dataclass(frozen=True)
class HandReview:
    """The review of one hand for one player."""

    player: int
    choices: list[Choice]
    points: int
    """What the player scored; negative if the opponent did."""
    luck: float | None
    """Points that the deal and all draws were worth to the player; None without PyTorch."""
    chances: list[float]
    """The player's chance to win the game at the deal, after each choice, and after the hand."""


def mistakes_of(reviews: Sequence[HandReview]) -> list[Choice]:
    """Return the mistakes of several hands, the costliest first."""
    mistakes = [choice for review in reviews for choice in review.choices if choice.is_mistake]
    return sorted(mistakes, key=lambda choice: -choice.lost)


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
    game: GameRecord, positions: Sequence[Position], hand: int, player: int, adviser: Adviser
) -> HandReview:
    """Return the review of a hand that has ended.

    Parameters
    ----------
    positions : those of the game, as `GameRecord.positions` returns them.
    hand : index of the hand.
    """
    choices = []
    decisions = [position for position in positions if position.is_decision]
    for number, position in enumerate(decisions, 1):
        if (position.hand, position.player) != (hand, player) or position.view().masks().sum() == 1:
            continue
        advice = adviser.advise(position.view(), position.action)
        played = advice.find(int(position.action or 0))
        if played is not None:
            choices.append(Choice(position, number, played, advice))
    record = game.hands[hand]
    own, other = (record.scores[one] for one in (player, 1 - player))
    own_after, other_after = (record.scores_after[one] for one in (player, 1 - player))
    chances = [
        adviser.chance_to_win(game.rules, own, other),
        *(choice.played.win for choice in choices),
        adviser.chance_to_win(game.rules, own_after, other_after),
    ]
    scored = (own_after - own) - (other_after - other)
    luck = luck_of([position for position in positions if position.hand == hand], player)
    return HandReview(player, choices, scored, luck, chances)


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


# --- In plain text, the same in every terminal ---------------------------------------------------------


def review_text(
    game: GameRecord, reviews: Sequence[HandReview], judge: str, most: int = COSTLIEST, letters: bool = False
) -> str:
    """Return the review of hands of one player: the sums, the chance to win, and the costliest moves."""
    player = reviews[0].player
    name, other = (player_name(game, one) for one in (player, 1 - player))
    lines = [summary(totals_of(reviews), name), curve(reviews)]
    mistakes = mistakes_of(reviews)
    if not mistakes:
        return "\n".join([*lines, f"No choice was clearly worse than the best. Judged by {judge}."])
    rows = [
        [str(choice.number), str(choice.position.hand + 1), *choice.moves(letters), f"{choice.lost:.1f}"]
        for choice in mistakes[:most]
    ]
    lines += ["", table(["step", "hand", "played", "better", "points lost"], rows, left=(2, 3))]
    worst = mistakes[0]
    reason = why(worst.advice, worst.position.view(), other, worst.played.action, letters)
    lines += ["", f"Worst: {reason}"]
    return "\n".join([*lines, f"Judged by {judge}: each move is played out in possible deals."])


def summary(totals: Totals, name: str = YOU) -> str:
    """Return the sums in sentences: what the cards were worth, what the choices cost, the accuracy.

    >>> summary(Totals(points=7, luck=21.4, lost=14.2, num_mistakes=6, num_choices=34))
    'You: +7 points. Cards: +21. Choices: −14 in 6 mistakes of 34 (accuracy 82 %).'
    """
    cards = "" if totals.luck is None else f" Cards: {signed(totals.luck)}."
    mistakes = f"{totals.num_mistakes} mistake{'s' * (totals.num_mistakes != 1)}"
    choices = f"Choices: {signed(-totals.lost)} in {mistakes} of {totals.num_choices}"
    if not totals.num_mistakes:
        choices = "Choices: no mistake"
    return f"{name}: {signed(totals.points)} points.{cards} {choices} (accuracy {totals.accuracy} %)."


def signed(points: float) -> str:
    """Return whole points with their sign.

    >>> signed(2.6), signed(-14.2), signed(-0.2)
    ('+3', '−14', '0')
    """
    number = round(points)
    return "0" if number == 0 else f"{number:+d}".replace("-", "−")


def curve(reviews: Sequence[HandReview]) -> str:
    """Return the chance to win from move to move as a line of bars."""
    chances = [chance for review in reviews for chance in review.chances]
    bars = "".join(BARS[min(int(chance * len(BARS)), len(BARS) - 1)] for chance in chances)
    return f"Chance to win: {100 * chances[0]:.0f} % {bars} {100 * chances[-1]:.0f} %"


def player_name(game: GameRecord, player: int, me: str = YOU) -> str:
    """Return what a player is called: a person `me`, their opponent by its name, others as in the record."""
    one, other = game.players[player], game.players[1 - player]
    if one == PERSON_PLAYER:
        return me
    return name_of(one.bot or one.name) if other == PERSON_PLAYER else one.name


def player_names(game: GameRecord, me: str = YOU) -> tuple[str, str]:
    """Return what both players are called, with numbers if that is the same."""
    first, second = player_name(game, 0, me), player_name(game, 1, me)
    return (first, second) if first != second else (f"{first} 1", f"{second} 2")


# --- Recorded games in plain text ----------------------------------------------------------------------


def game_title(game: GameRecord) -> str:
    """Return the title of a game: the players and the result."""
    first, second = names_as_recorded(game)
    kind = "a single hand" if game.episode == "hand" else f"a game to {game.rules.target_score}"
    if not game.finished:
        end = "interrupted"
    elif game.winner is None:
        end = "nobody won"
    else:
        end = f"{(first, second)[game.winner]} won"
    words = [
        f"{first} (player_0) against {second} (player_1), {kind}: {end}, {game.scores[0]} : {game.scores[1]}."
    ]
    if game.source is not None:
        words.append(f"Recorded by {game.source}.")
    return " ".join(words)


def names_as_recorded(game: GameRecord) -> tuple[str, str]:
    """Return the players' names as recorded; player_0 and player_1 if they are the same."""
    first, second = (player.name for player in game.players)
    return (first, second) if first != second else ("player_0", "player_1")


def position_text(game: GameRecord, position: Position, step: int) -> str:
    """Return both hands and the table, then the action played.

    `step` is the number of the decision in the game, from 1; at the end of a hand, that of the last decision.
    """
    lines = [text(position.state[0], names=names_as_recorded(game))]
    if position.action is not None:
        lines.append(
            f"  step {step}: {names_as_recorded(game)[position.player]} plays: {describe(position.action)}"
        )
    elif position.over:
        lines += counted(game, position)
    else:
        lines.append("  the game was interrupted here")
    return "\n".join(lines)


def counted(game: GameRecord, position: Position) -> list[str]:
    """Return a line with the points recorded by another engine, if it counted differently."""
    result = game.hands[position.hand].counted
    if result is None:
        return []
    return [f"  {game.source} counted {result[1]} points for {names_as_recorded(game)[result[0]]}"]
