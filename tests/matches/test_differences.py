"""Differences between two matches on the same decks, paired by deal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hand_endings import Plain
from made_up_matches import made_up_match

from gin_env import MatchResult, Rules, agents, play_match, records
from gin_env.matches.differences import points_difference, win_rate_difference
from gin_env.matches.intervals import deviations, mean_interval, win_rate_difference_interval
from gin_env.matches.matches import DEAL_RESULT


def result_of(bots: tuple[str, str], deals: list[tuple]) -> MatchResult:
    records = np.array(deals, DEAL_RESULT)
    sums = {name: tuple(records[name].sum(axis=0).tolist()) for name in ("wins", "points")}
    hands = int(records["hands"].sum())
    return made_up_match(bots=bots, games=2 * len(deals), hands=hands, deals=records, **sums)


FIRST = result_of(("a", "c"), [((2, 0), (50, 0), 2), ((1, 1), (30, 20), 2), ((1, 1), (40, 10), 4)])
SECOND = result_of(("b", "c"), [((1, 1), (10, 20), 2), ((0, 2), (0, 50), 2), ((1, 0), (10, 10), 4)])


def test_win_rate_difference_has_the_known_value():
    found = win_rate_difference(FIRST, SECOND, 0.9)
    assert found.value == pytest.approx(4 / 6 - 2 / 5)
    expected = win_rate_difference_interval(FIRST.wins_and_decided, SECOND.wins_and_decided, 0.9)
    assert found.interval == expected
    assert (found.bots, found.games, found.seed) == ((("a", "c"), ("b", "c")), 6, 3)
    low, high = expected
    assert str(found) == (
        f"a against c minus b against c: +0.2667 (90 % interval {low:+.4f} to {high:+.4f}), "
        "6 games each on the same decks"
    )


def test_points_difference_has_the_known_value():
    found = points_difference(FIRST, SECOND, 0.9)
    # Leads of 50, 10, 30 in 8 hands, and of -10, -50, 0.
    assert found.value == pytest.approx((90 + 60) / 8)
    of_deals = deviations(np.array([60, 60, 30]), np.array([2, 2, 4]))
    assert found.interval == pytest.approx(mean_interval(150 / 8, of_deals, 0.9))


def test_difference_of_a_match_with_itself_is_zero():
    assert points_difference(FIRST, FIRST).interval == (0, 0)
    low, high = win_rate_difference(FIRST, FIRST).interval
    assert low < 0 < high  # three equal deals do not prove that all deals are


def test_exchanging_the_matches_negates_the_difference():
    for difference in (win_rate_difference, points_difference):
        low, high = difference(FIRST, SECOND).interval
        assert difference(SECOND, FIRST).interval == pytest.approx((-high, -low))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 4}, "seed is 3 in the first and 4 in the second"),
        ({"games": 8}, "games is 6 in the first and 8"),
        ({"episode": "game"}, "episode is 'hand' in the first and 'game'"),
        ({"rules": Rules(gin_bonus=20)}, "rules is"),
        ({"deals": None}, "no per-deal results"),
    ],
)
@pytest.mark.parametrize("difference", [win_rate_difference, points_difference])
def test_matches_on_different_decks_raise(difference, change, message):
    for one, other in ((FIRST, replace(SECOND, **change)), (replace(SECOND, **change), FIRST)):
        with pytest.raises(ValueError, match=r"(seed|games|episode|rules) is|no per-deal"):
            difference(one, other)
    with pytest.raises(ValueError, match=message):
        difference(FIRST, replace(SECOND, **change))


@pytest.mark.parametrize("difference", [win_rate_difference, points_difference])
def test_invalid_confidence_is_refused(difference):
    with pytest.raises(ValueError, match="between 0 and 1"):
        difference(FIRST, SECOND, 95)


def decks_of(bot: str | agents.Agent, path: Path) -> dict[tuple[Any, int], tuple[int, ...]]:
    """Return the deck of every hand in four games of seed 5, by the game's first deck and hand number."""
    play_match(bot, bot, 4, 5, record=path)
    return {
        (game.hands[0].deck, number): hand.deck
        for game in records.read(path)
        for number, hand in enumerate(game.hands)
    }


def test_seed_deals_the_same_decks_to_any_bots(tmp_path):
    one, other = decks_of(Plain(), tmp_path / "one.jsonl"), decks_of("simple", tmp_path / "other.jsonl")
    shared = one.keys() & other.keys()
    assert len(shared) > 20
    assert all(one[key] == other[key] for key in shared)
    assert len({one[key] for key in shared}) == len(shared)
