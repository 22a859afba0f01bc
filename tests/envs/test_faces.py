"""Random sequences of calls on every environment match the reference rules (see environment_checks.py).

`make soak` runs the same state machines for longer, with different calls each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from environment_checks import DifferenceError
from environment_machine import run
from replayed_calls import FACES, replay

from gin_env.envs.gin_rummy_v0 import raw_env
from gin_env.envs.learner_seat import LearnerSeat
from gin_env.game.rules import Rules


@pytest.mark.parametrize("kind", FACES)
def test_any_sequence_of_calls_matches_the_reference(kind):
    seen = run(kind, examples=50 if kind == "vector" else 80, steps=15)
    assert seen["calls"] > 500
    assert all(seen[outcome] for outcome in ("knock", "undercut", "void")), "the calls must end hands"


# --- A difference is printed as a test ------------------------------------------------------------------


def pasted(error: BaseException) -> Any:
    """Return the test printed by a failure as a function."""
    (text,) = [note for note in error.__notes__ if note.startswith("def test_")]
    names: dict[str, Any] = {"replay": replay, "Rules": Rules, "np": np}
    exec(text, names)
    return names["test_a_failure_that_the_state_machine_found"]


def never_seat_anybody(self, games):
    """Keep the first opponent for all hands."""


def forget_to_pay(self):
    self.rewards = {"player_0": 0.0, "player_1": 0.0}
    self.games.rewards[0] = 0
    self._last_hand = self.games.results[0].copy()


@pytest.mark.parametrize(
    ("kind", "owner", "name", "broken"),
    [
        ("vector", LearnerSeat, "_seat_opponents", never_seat_anybody),
        ("raw_env", raw_env, "_end_hand", forget_to_pay),
    ],
)
def test_failure_is_printed_as_a_failing_test(monkeypatch, kind, owner, name, broken):
    with monkeypatch.context() as planted:
        planted.setattr(owner, name, broken)
        with pytest.raises(DifferenceError) as found:
            run(kind, examples=50, steps=15, shrink=False)
        test = pasted(found.value)
        with pytest.raises(DifferenceError) as again:
            test()
        assert str(again.value) == str(found.value)
    test()
