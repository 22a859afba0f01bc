"""The rows of the experiments on luck: their means, errors and coverage."""

import numpy as np
import pytest

pytest.importorskip("torch")

from gin_env.matches.luck import NUM_SUMMED, Adjusted
from gin_env.matches.matches import play_match
from research.questions import luck


def test_error_is_that_of_the_mean_and_short_matches_have_their_own_luck(monkeypatch):
    match = play_match("simple", "random-discard", 40, seed=1, episode="hand", luck=True)
    total = match.luck["points"][:, :NUM_SUMMED].sum(axis=1)
    row = luck.mean_row(match, "challenge")
    assert (row["luck"], row["error"]) == pytest.approx((total.mean(), total.std(ddof=1) / 20**0.5), abs=1e-4)
    lead = match.deals["points"][:, 0] - match.deals["points"][:, 1]
    value = lead.sum() / match.deals["hands"].sum()
    short: list[tuple[np.ndarray, ...]] = []
    ends = iter([(-99.0, 99.0), (value + 0.1, 99.0), (-99.0, value - 0.1), (value - 0.1, value + 0.1)])

    def adjusted(*parts: np.ndarray) -> Adjusted:
        short.append(parts)
        return Adjusted(0.0, next(ends), 0.0)

    monkeypatch.setattr(luck, "adjusted_ratio", adjusted)
    assert luck.coverage_row(match, 4)["held"] == 50
    for parts, whole in zip(
        zip(*short, strict=True), (lead, match.deals["hands"], match.luck["points"]), strict=True
    ):
        assert np.array_equal(np.concatenate(parts), whole)
