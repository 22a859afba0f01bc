"""The chance to win a game of several hands, by score.

A game to 100 points is a random walk of two scores. If both players are equally likely to win the next hand,
whatever the score, then how often a hand pays which points says how likely each score is to win. A learner
that is paid the change of that chance plays the game, not the hand: at 95 to 40 five points are as good as
thirty.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.support.compilation import kernel


def chances_to_win(hands: np.ndarray, target_score: int) -> np.ndarray:
    """How likely each score is to win, between two players of equal strength.

    Parameters
    ----------
    hands : (k,), number of hands that paid 0, 1, 2, ... points to either player; void hands pay 0.
    target_score : points that win the game.

    Returns float64 (target_score + 1, target_score + 1): at [own score, opponent's score], where
    `target_score` stands for that or more.

    Raises ValueError if no hand paid anything.
    """
    hands = np.asarray(hands, np.float64)
    if hands.ndim != 1 or (hands < 0).any() or not hands[1:].sum() > 0:
        raise ValueError("hands counts how often each number of points was paid: at least once more than 0")
    return _chances_to_win(hands[1:] / hands[1:].sum(), target_score)  # void hands change nothing


@kernel
def _chances_to_win(paid: np.ndarray, target: int) -> np.ndarray:
    """`chances_to_win`, where paid[k] is the share of the hands that pay k + 1 points."""
    chances = np.zeros((target + 1, target + 1))
    chances[target, :target] = 1
    for own in range(target - 1, -1, -1):  # from the last scores backwards
        for other in range(target - 1, -1, -1):
            for points in range(1, len(paid) + 1):
                won = chances[min(own + points, target), other]
                lost = chances[own, min(other + points, target)]
                chances[own, other] += 0.5 * paid[points - 1] * (won + lost)
    return chances
