"""The data set of hand estimation: its positions, its split and its scores."""

from __future__ import annotations

import numpy as np
import pytest

from examples import hand_estimation
from gin_env.training.estimators.evaluation import evaluate_estimators

pytest.importorskip("pyarrow")
HANDS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hands")
    hand_estimation.make(folder, HANDS, seed=3)
    return folder


@pytest.mark.long
def test_scores_are_those_of_the_evaluation_on_the_same_hands(folder):
    """The files hold no views: a hand that replays wrongly would score differently."""
    for player in ("simple", "policy"):
        parts = [
            hand_estimation.sums_by_hand("bayes", folder, player, part) for part in hand_estimation.SPLITS
        ]
        total, count = (sum(part[column].sum() for part in parts) for column in (0, 1))
        expected = evaluate_estimators(["bayes"], HANDS, seed=3, opponent=player)
        assert count == expected.counts.sum()
        assert total / count == pytest.approx(expected.overall("log_loss")[0])


def test_parts_have_different_hands(folder):
    numbers = {
        part: {int(n) for some, _ in hand_estimation.positions(folder, "tonic", part) for n in some}
        for part in hand_estimation.SPLITS
    }
    assert max(numbers["train"]) < 48 <= min(numbers["validation"])
    assert max(numbers["validation"]) < 54 <= min(numbers["test"])


def test_error_of_a_score_counts_hands_not_positions(folder, monkeypatch):
    sums, counts = np.array([1.0, 6.0, 2.0]), np.array([2.0, 4.0, 2.0])
    monkeypatch.setattr(hand_estimation, "sums_by_hand", lambda *_: (sums, counts))
    mean, error = hand_estimation.log_loss("uniform", folder, "simple")
    assert mean == 9 / 8
    assert error == pytest.approx(np.sqrt(np.square([-1.25, 1.5, -0.25]).sum() * 3 / 2) / 8)


def test_card_and_table_name_every_player(folder):
    text = hand_estimation.card(folder, HANDS, 3)
    for name in (*hand_estimation.PLAYERS, *hand_estimation.BASELINES):
        assert f"`{name}`" in text
    assert "--hands 60 --seed 3" in text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda folder: hand_estimation.make(folder, 55), ValueError, "multiple of 10"),
        (lambda folder: next(hand_estimation.positions(folder, "nobody")), ValueError, "unknown player"),
        (
            lambda folder: next(hand_estimation.positions(folder, "simple", "all")),
            ValueError,
            "unknown split",
        ),
        (
            lambda folder: next(hand_estimation.positions(folder / "no", "simple")),
            FileNotFoundError,
            "0 files of simple",
        ),
    ],
)
def test_wrong_calls_say_what_is_wrong(folder, call, error, message):
    with pytest.raises(error, match=message):
        call(folder)
