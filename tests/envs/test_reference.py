"""The environments agree with the slow reference rules in every step; `make soak` plays more episodes."""

from __future__ import annotations

from collections import Counter

import pytest
from environment_checks import compare_aec, compare_learners
from rule_variants import VARIANTS

from gin_env import Rules

FEW_TURNS = Rules(opening_offer=False, max_turns=1)
"""The learner has a turn in half of the hands."""


@pytest.mark.parametrize(
    ("compare", "episode", "reward"),
    [
        (compare_aec, "game", "points"),
        (compare_learners, "hand", "win"),
        pytest.param(compare_aec, "hand", "win", marks=pytest.mark.long),
        pytest.param(compare_learners, "game", "points", marks=pytest.mark.long),
    ],
)
def test_environment_agrees_with_the_reference(compare, episode, reward):
    outcomes = Counter()
    for seed, rules in enumerate([*VARIANTS.values(), FEW_TURNS]):
        outcomes += compare(rules, episode, reward, seed)
    assert outcomes.keys() >= {"knock", "gin", "undercut", "void"}
