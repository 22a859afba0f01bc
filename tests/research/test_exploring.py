"""Data sets of Truong and Neller 2021 explored by a bot, compared with the compiled explorers."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env import agents
from research.recipes.hand_strength import exploring
from research.recipes.hand_strength.data_sets import generate
from research.recipes.hand_strength.exploring import explore, explore_samples

pytestmark = pytest.mark.compiled


def test_random_discard_bot_matches_the_random_explorer(monkeypatch):
    monkeypatch.setattr(exploring, "_TABLES_PER_BATCH", 16 * 100)  # several batches
    mine = explore(agents.make("random-discard"), 16, 300, seed=4)
    theirs = generate("random-16", 300, seed=4)
    for name in ("hands", "estimates", "scores", "counts"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name
    for key in ("observations", "samples", "stages", "estimator", "seed"):
        assert mine.metadata[key] == theirs.metadata[key]
    assert mine.metadata["explorer"] == "random-discard"


def test_more_samples_of_a_deal_raise_the_best_score():
    """The two samples are the first two of the sixteen, so their best cannot be better."""
    bot = agents.make("simple")
    (*_, two, _), (*_, many, _) = (explore_samples(bot, 7, 0, 50, samples) for samples in (2, 16))
    assert len(many) == 50
    assert len(two) <= 50
    assert many.mean() > two.mean() + 5


def test_single_sample_raises():
    with pytest.raises(ValueError, match="samples"):
        explore(agents.make("simple"), 1, 10)
