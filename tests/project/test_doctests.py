"""Examples in docstrings: public functions have one, and they print what they show."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module

import pytest

pytestmark = pytest.mark.compiled

MODULES = (
    "gin_env.agents",
    "gin_env.estimators",
    "gin_env.estimators.base",
    "gin_env.estimators.public_history",
    "gin_env.game.actions",
    "gin_env.game.cards",
    "gin_env.game.melds",
    "gin_env.game.rules",
    "gin_env.matches.differences",
    "gin_env.matches.intervals",
    "gin_env.matches.matches",
    "gin_env.matches.tournaments",
    "gin_env.observations.views",
    "research.papers.francis2021.suit_orders",
    "research.recipes",
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_of_a_module_run(name):
    results = doctest.testmod(import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


WRITES_FILES = {"draw_heat_map", "save_network"}
WITHOUT_ALL = ("gin_env.estimators.public_history",)
"""Modules with examples of some functions only."""


@pytest.mark.parametrize("name", [name for name in MODULES if name not in WITHOUT_ALL])
def test_public_functions_of_a_module_have_examples(name):
    module = import_module(name)
    functions = {
        key: inspect.unwrap(value)
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == name
    }
    lacking = {
        key
        for key, function in functions.items()
        if inspect.isfunction(function) and ">>> " not in (function.__doc__ or "")
    }
    assert lacking <= WRITES_FILES
