"""What every bot must do, whatever it is: play on under any rules, and the same with the same seed."""

from __future__ import annotations

import pytest

from gin_env import Rules, agents, play_match

pytestmark = pytest.mark.compiled

VARIANTS = {
    "standard": Rules(),
    "no offer": Rules(opening_offer=False),
    "small deck": Rules(ranks=6, suits=4, hand_size=5),
    "two suits": Rules(ranks=13, suits=2, hand_size=7, knock_limit=5),
    "tiny deck": Rules(ranks=4, suits=3, hand_size=3, stock_floor=0),
    "knock with anything": Rules(knock_limit=100, gin_bonus=0),
    "long hands": Rules(knock_limit=0, stock_floor=0, max_turns=126),
}


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
