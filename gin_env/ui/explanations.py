"""Explanations of actions: the hand that each action leaves, and the danger of the discarded card.

The numbers are the networks' features (`gin_env.observations.candidates`), in cards and points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gin_env.estimators import resolve
from gin_env.estimators.base import Estimator
from gin_env.estimators.risk import discard_risks
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD
from gin_env.game.cards import NUM_CARDS
from gin_env.game.state import STOCK_ONLY
from gin_env.observations.candidates import NO_ACTION, part
from gin_env.observations.views import PlayerView


@dataclass(frozen=True)
class RankedChoice:
    """A legal action with its numbers; None where a number does not apply, such as outs after a knock."""

    action: int
    deadwood: int | None = None
    """Deadwood of the hand that the action leaves; for drawing the upcard, after the best discard."""
    outs: int | None = None
    """Number of unseen cards that complete a meld and lower the deadwood."""
    knock_chance: float | None = None
    """Share of the unseen cards after which a knock is possible."""
    gin_outs: int | None = None
    """Number of unseen cards that make gin."""
    danger: int | None = None
    """Number of melds of three, at most 6, that the opponent could complete with the card that is discarded
    or left on the pile. A meld counts if the opponent might hold its other two cards."""
    risk: float | None = None
    """As `danger`, with each meld weighted by the probability that the opponent holds the other two cards
    (`gin_env.estimators.risk`)."""


def choices(view: PlayerView, estimator: str | Estimator | None = None) -> list[RankedChoice]:
    """Return every legal action of the player to move, including its `risk` if an estimator is given.

    Raises ValueError unless `view` is a single view of a player to move.
    """
    if len(view) != 1:
        raise ValueError(f"view must be of one position, not of {len(view)}")
    legal = view.masks()[0]
    if not legal.any():
        raise ValueError(
            "the player of the view must be to move; the hand is over, or the other player is to move"
        )
    risks = None
    if estimator is not None:
        risks = discard_risks(resolve(estimator).estimate(view))[0]
    public = view.array["public"][0]
    if public["phase"] == STOCK_ONLY:
        return [RankedChoice(DRAW_STOCK)]
    rows, actions, _ = view.candidates()
    ranked: list[RankedChoice] = []
    for row, (plain, knock) in zip(rows[0], actions[0].tolist(), strict=True):
        if plain == NO_ACTION:
            continue
        left = plain if plain < NUM_CARDS else int(public["upcard"])
        takes = plain == DRAW_UPCARD  # the opponent gets no card yet
        danger = _whole(row, "sets_for_opponent", 3) + _whole(row, "runs_for_opponent", 3)
        ranked.append(
            RankedChoice(
                plain,
                deadwood=_whole(row, "deadwood", 50),
                outs=_whole(row, "outs", 12),
                knock_chance=float(part(row, "knock_outs")),
                gin_outs=_whole(row, "gin_outs", 6),
                danger=None if takes else danger,
                risk=None if takes or risks is None else float(risks[left]),
            )
        )
        if knock != NO_ACTION:
            ranked.append(RankedChoice(knock, ranked[-1].deadwood))
    return ranked


def _whole(row: np.ndarray, name: str, scale: int) -> int:
    """Return a feature of the row as an integer; it was divided by `scale`."""
    return round(float(part(row, name)) * scale)
