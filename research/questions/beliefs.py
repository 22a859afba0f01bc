"""The quality of beliefs: hands sampled from each belief, scored against the true hands.

There are three proper scores, and lower is better for each:

- the log loss of each unseen card;
- the energy score of the whole hand (Gneiting and Raftery, "Strictly Proper Scoring Rules, Prediction, and
  Estimation", JASA 2007, equation 22), with the Euclidean distance between hands as vectors of 52 zeros and
  ones. Unlike the log loss, it depends on which cards occur together;
- the continuous ranked probability score of the hand's deadwood (equation 21).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from gin_env import agents
from gin_env.estimators.public_history import known_cards
from gin_env.game.cards import card_columns
from gin_env.game.melds import deadwood
from gin_env.observations.views import PlayerView
from research.questions.one_step import positions, view_of
from research.questions.whole_hands import WholeHands
from research.reproduce.experiment import Run, ratio_row
from research.reproduce.tables import Row

POSITIONS = 2000
HANDS = 256
SCORES = ("log_loss", "energy", "deadwood")


def measure_beliefs(
    run: Run, opponents: Sequence[str], beliefs: Mapping[str, Mapping[str, Any]]
) -> list[Row]:
    """Measure every belief in the same positions of `policy-1` against each opponent.

    `beliefs` are the settings of `WholeHands` by name.
    """
    policy = agents.make("policy-1")
    made = {name: WholeHands("policy-1", **settings) for name, settings in beliefs.items()}
    rows = []
    for opponent in run.some(opponents, 1):
        run.used("policy-1", opponent)
        run.say(f"against {opponent}")
        states = positions(agents.make(opponent), policy, run.size(POSITIONS, 4), run.seed)
        views = [view_of(state) for state in states]
        hands = [int(state["private"]["hand"][1]) for state in states]
        for name, belief in made.items():
            began = perf_counter()
            drawn = [
                belief.sample(view, run.size(HANDS, 16), np.random.default_rng([run.seed, number]))
                for number, view in enumerate(views)
            ]
            seconds = perf_counter() - began
            scores = np.array([score(*one) for one in zip(views, drawn, hands, strict=True)])
            row = {"opponent": opponent, "belief": name, "positions": len(states), "hands": len(drawn[0])}
            for key, values in zip(SCORES, scores.T, strict=True):
                row |= ratio_row(values, digits=4, name=key)
            rows.append(row | {"a_second": round(len(states) * len(drawn[0]) / seconds)})
    return rows


def score(view: PlayerView, drawn: np.ndarray, true: int) -> tuple[float, float, float]:
    """Return the scores of sampled hands, masks uint64 (n,), in the order of `SCORES`.

    These are the log loss of an unseen card, the energy score and the ranked probability score of the
    deadwood.
    """
    (unseen,) = known_cards(view)[1]
    held, (truth,) = (
        card_columns(hands)[:, unseen].astype(np.float32) for hands in (drawn, np.array([true], np.uint64))
    )
    share = (held.sum(axis=0) + 0.5) / (len(drawn) + 1)  # a card that no sample has is still possible
    log_loss = -np.log(np.where(truth == 1, share, 1 - share)).mean()
    # All these hands have the same number of unseen cards. Of any two hands, the first therefore lacks as
    # many cards of the second as the second lacks of the first.
    energy = np.sqrt(2 * (truth.sum() - held @ truth)).mean()
    energy -= _spread(np.sqrt(2 * (truth.sum() - held @ held.T)))
    points = np.array([deadwood(int(hand)) for hand in drawn], np.float64)
    ranked = np.abs(points - deadwood(true)).mean() - _spread(np.abs(points[:, None] - points[None]))
    return float(log_loss), float(energy), float(ranked)


def _spread(distances: np.ndarray) -> float:
    """Return half the mean distance between two different samples, from all distances (n, n)."""
    number = len(distances)
    return float(distances.sum() / (2 * number * (number - 1)))
