"""What every bot must do, whatever it is: play on under any rules, and the same with the same seed."""

from __future__ import annotations

import pytest
from variants import VARIANTS

from gin_env import agents, play_match

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", agents.quick_names())
def test_every_bot_survives_300_hands(name, variant):
    result = play_match(name, "simple", games=300, seed=4, episode="hand", rules=VARIANTS[variant])
    assert result.hands == 300


@pytest.mark.parametrize("name", agents.quick_names())
def test_seeds_reproduce(name):
    first = play_match(name, name, games=20, seed=6, episode="hand")
    assert first == play_match(name, name, games=20, seed=6, episode="hand")
    assert first != play_match(name, name, games=20, seed=7, episode="hand")
