"""The examples in docstrings run and print what they show."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

pytestmark = pytest.mark.compiled

MODULES = (
    "gin_env.estimators",
    "gin_env.estimators.public_history",
    "gin_env.game.actions",
    "gin_env.game.cards",
    "gin_env.game.melds",
    "gin_env.game.rules",
    "gin_env.matches.differences",
    "gin_env.matches.intervals",
    "gin_env.matches.matches",
    "gin_env.matches.ratings",
    "gin_env.matches.tournaments",
    "gin_env.observations.views",
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_of_a_module_run(name):
    results = doctest.testmod(import_module(name))
    assert results.attempted > 0
    assert results.failed == 0
