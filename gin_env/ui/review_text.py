"""A review as plain text, the same in every terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gin_env.records import GameRecord, Position
from gin_env.support.tables import table
from gin_env.ui.advice_text import why
from gin_env.ui.human_game import PERSON_PLAYER
from gin_env.ui.opponents import name_of
from gin_env.ui.review import Choice, HandReview, Totals, mistakes_of, totals_of
from gin_env.ui.seat import YOU, action_name

BARS = "▁▂▃▄▅▆▇█"
COSTLIEST = 3


def review_text(
    game: GameRecord,
    positions: Sequence[Position],
    reviews: Sequence[HandReview],
    judge: str,
    most: int = COSTLIEST,
    letters: bool = False,
) -> str:
    """Return the review of hands of one player: the sums, the chance to win, and the costliest moves."""
    player = reviews[0].player
    name, other = (player_name(game, seat) for seat in (player, 1 - player))
    lines = [summary(totals_of(reviews), name), curve(reviews)]
    mistakes = mistakes_of(reviews)
    if not mistakes:
        return "\n".join([*lines, f"No choice was clearly worse than the best. Judged by {judge}."])
    rows = [
        [
            str(step_of(positions, choice)),
            str(choice.hand + 1),
            *(moves_of(positions, choice, letters)),
            f"{choice.lost:.1f}",
        ]
        for choice in mistakes[:most]
    ]
    lines += ["", table(["step", "hand", "played", "better", "points lost"], rows, left=(2, 3))]
    lines += ["", f"Worst: {reason(positions, mistakes[0], other, letters)}"]
    return "\n".join([*lines, f"Judged by {judge}: each move is played out in possible deals."])


def summary(totals: Totals, name: str = YOU) -> str:
    """Return the sums in sentences: what the cards were worth, what the choices cost, the accuracy.

    Examples
    --------
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

    Examples
    --------
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


def position_of(positions: Sequence[Position], choice: Choice) -> Position:
    """Return the position of a choice among those of its game."""
    return next(each for each in positions if (each.hand, each.step) == (choice.hand, choice.step))


def step_of(positions: Sequence[Position], choice: Choice) -> int:
    """Return the number of a choice among the decisions of the game, from 1."""
    steps = [(each.hand, each.step) for each in positions if each.is_decision]
    return 1 + steps.index((choice.hand, choice.step))


def moves_of(positions: Sequence[Position], choice: Choice, letters: bool = False) -> tuple[str, str]:
    """Return the move that was played and the better one, in words."""
    view = position_of(positions, choice).view()
    upcard, hand = int(view.array["public"]["upcard"][0]), int(view.hands[0])
    played, best = choice.played.action, choice.advice.best.action
    return action_name(played, upcard, letters, hand), action_name(best, upcard, letters, hand)


def reason(positions: Sequence[Position], choice: Choice, opponent: str, letters: bool = False) -> str:
    """Return why the best move is better than the one that was played."""
    view = position_of(positions, choice).view()
    return why(choice.advice, view, opponent, choice.played.action, letters)
