"""Public calls with random odd arguments, on a fixed budget: each succeeds or raises a typed error."""

from __future__ import annotations

import pytest
from fuzzing import Fuzzer

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("seed", range(2))
def test_odd_arguments_raise_typed_errors_and_change_nothing(seed):
    fuzzer = Fuzzer(seed)
    fuzzer.run(1000)
    assert sum(fuzzer.made.values()) > 1000
    assert 0 < sum(fuzzer.refused.values()) < sum(fuzzer.made.values())
