"""The probability of winning a game of several hands, by score.

A game to 100 points is a random walk of two scores. Assume that both players are equally likely to win
the next hand, whatever the score. The distribution of the points per hand then determines the probability
of winning from each score. A learner rewarded with the change of that probability learns to win the game
rather than the hand: at 95 to 40, five points are worth as much as thirty.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.support.compilation import kernel


def chances_to_win(hands: np.ndarray, target_score: int) -> np.ndarray:
    """Return the probability of winning from each score, between two players of equal strength.

    Parameters
    ----------
    hands : (k,), number of hands that paid 0, 1, 2, ... points to either player; void hands pay 0.
    target_score : points that win the game.

    Returns
    -------
    float64 (target_score + 1, target_score + 1), indexed by [own score, opponent's score]. The index
    `target_score` means that score or more.

    Raises
    ------
    ValueError
        If no hand paid any points.
    """
    hands = np.asarray(hands, np.float64)
    if hands.ndim != 1 or (hands < 0).any() or not hands[1:].sum() > 0:
        raise ValueError("hands must count at least one hand of more than 0 points")
    return _chances_to_win(hands[1:] / hands[1:].sum(), target_score)  # void hands change nothing


def chances_after(
    chances: np.ndarray, own: np.ndarray | int, other: np.ndarray | int, points: np.ndarray
) -> np.ndarray:
    """Return the probability of winning after a hand, float64 in the shape of all arguments together.

    `chances` are those of `chances_to_win`, `own` and `other` the scores before the hand, and `points` what
    it pays, negative to the opponent.
    """
    last = len(chances) - 1
    won, lost = np.maximum(points, 0), np.maximum(-points, 0)
    return chances[np.minimum(own + won, last), np.minimum(other + lost, last)]


@kernel
def _chances_to_win(paid: np.ndarray, target: int) -> np.ndarray:
    """Compute `chances_to_win`, where paid[k] is the share of the hands that pay k + 1 points."""
    chances = np.zeros((target + 1, target + 1))
    chances[target, :target] = 1
    for own in range(target - 1, -1, -1):  # from the last scores backwards
        for other in range(target - 1, -1, -1):
            for points in range(1, len(paid) + 1):
                won = chances[min(own + points, target), other]
                lost = chances[own, min(other + points, target)]
                chances[own, other] += 0.5 * paid[points - 1] * (won + lost)
    return chances
