"""Decisions a second of all ranks together."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from benchmarks import learning_speed

pytestmark = pytest.mark.long


def test_rates_are_those_of_all_ranks(monkeypatch):
    """Two ranks; collecting takes one of the two seconds of each update."""

    class Learner:
        batch = SimpleNamespace(count=10)

        def __init__(self, settings, ranks) -> None: ...

        def update(self, left) -> tuple[int, dict]:
            return 18, {}  # of both ranks

        begin = collect = add_past_self = lambda self: None

    monkeypatch.setattr(learning_speed, "Learner", Learner)
    monkeypatch.setattr(learning_speed.time, "perf_counter", count().__next__)
    ranks = SimpleNamespace(size=2, sum=lambda numbers: 2 * numbers)
    rates = learning_speed.collect_and_learn(SimpleNamespace(num_envs=512), ranks)
    collected, learned = rates.values()
    assert collected == 20
    assert learned == 18 / 2
