"""Estimators on the data set of hand estimation (`examples.hand_estimation`)."""

from __future__ import annotations

from examples import hand_estimation
from research.reproduce.experiment import Run, ratio_row
from research.reproduce.tables import Row


def measure_hand_estimation(run: Run) -> list[Row]:
    """Measure the log loss of each baseline on the test hands of each player; hands are independent."""
    folder, hands = run.folder / "hands", run.size(150_000, 20)
    run.say(f"making {hands:,} hands of each of {len(hand_estimation.PLAYERS)} players")
    hand_estimation.make(folder, hands, run.seed)
    members = run.some(list(hand_estimation.BASELINES), 2)
    run.estimators += members
    run.used(*hand_estimation.PLAYERS)
    rows = []
    for estimator in members:
        run.say(estimator)
        for player in hand_estimation.PLAYERS:
            score = ratio_row(*hand_estimation.sums_by_hand(estimator, folder, player))
            rows.append({"estimator": estimator, "player": player} | score)
    return rows
