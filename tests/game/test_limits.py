"""Limits of ranges, and independence from the caller's arrays."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env import Rules, actions
from gin_env.batch import Games
from gin_env.game.actions import IllegalActionError
from gin_env.game.deals import check_deck
from gin_env.game.rules import BOUNDS


@pytest.mark.parametrize("action", [-1, 107, 1000])
def test_describe_refuses_invalid_actions(action):
    with pytest.raises(IllegalActionError, match=f"{action} is not an action: actions run from 0 to 106"):
        actions.describe(action)


@pytest.mark.parametrize("as_type", [np.int8, np.int64, list])
def test_checked_deck_is_independent_of_the_callers_array(as_type):
    deck = list(range(51, -1, -1)) if as_type is list else np.arange(51, -1, -1, dtype=as_type)
    checked = check_deck(deck, Rules())
    deck[0] = 0
    assert checked.tolist() == list(range(51, -1, -1))


def test_fixed_decks_are_independent_of_the_callers_arrays():
    games = Games(1, episode="game")
    games.start(seed=1)
    first, second = np.arange(52, dtype=np.int8), np.arange(51, -1, -1, dtype=np.int8)
    games.fix_deals(0, [first, second])
    second[:] = 0
    while not games.results["ended"][0]:
        games.play(games.everyone, games.masks(games.everyone).argmax(axis=1))
    assert games.deck(0).tolist() == list(range(51, -1, -1))


@pytest.mark.parametrize("name", BOUNDS)
def test_rule_limits_fit_the_record_and_are_enforced(name):
    most = BOUNDS[name][1]
    if name not in ("stock_floor", "big_gin_bonus"):  # these depend on other rules
        rules = Rules(**{name: most})
        assert Rules.from_record(rules.record()) == rules
    for value in (BOUNDS[name][0] - 1, most + 1):
        with pytest.raises(ValueError, match=rf"Rules.{name} must be from .* not {value}"):
            Rules(**{name: value})


@pytest.mark.parametrize(
    ("name", "most"),
    [("max_hands", 30_000), ("max_turns", 126), ("target_score", 10_000), ("knock_limit", 100)],
)
def test_upper_bounds_of_rules_are_enforced(name, most):
    assert getattr(Rules(**{name: most}), name) == most
    with pytest.raises(ValueError, match="must be from"):
        Rules(**{name: most + 1})
