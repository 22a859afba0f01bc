"""Tonic with selected discard filters: single filters, all filters and their order."""

from __future__ import annotations

import numpy as np
import pytest
from bot_positions import holding, later
from hands_in_words import Table, action_text

from gin_env.matches.matches import play_match
from research.papers.larkin2021 import tonic_depth
from research.papers.larkin2021.tonic_filters import ALL, BASES, VARIANTS, FilteredTonicBot


def discards(table: Table, filters: tuple[str, ...], one_by_one: bool = False) -> set[str]:
    """Return every discard that the paper's Tonic can choose with these filters."""
    views = table.games.views(np.zeros(40, np.int64))
    views.array["random"] = np.random.default_rng(3).integers(0, 2**64, 40, dtype=np.uint64)
    bot = FilteredTonicBot(filters, one_by_one, **BASES["tonic-paper"])
    return {action_text(int(number)) for number in bot.act(views)}


@pytest.mark.compiled
@pytest.mark.parametrize("base", BASES)
def test_all_filters_in_concert_equal_tonic(base):
    from gin_env.agents.tonic import TonicBot

    filtered = FilteredTonicBot(ALL, False, **BASES[base])
    mine, theirs = (play_match(bot, "simple", 60, 5) for bot in (filtered, TonicBot(**BASES[base])))
    assert np.array_equal(mine.deals, theirs.deals)


def test_knocks_are_counted_by_cell(monkeypatch):
    watched = np.zeros((30, 3), np.int64), np.arange(30) < 20
    monkeypatch.setattr(tonic_depth, "watched_positions", lambda *_: watched)
    assert tonic_depth.watch("simple", 1, 1).by_turn[0] == pytest.approx((20 + 1) / (30 + 10))


def test_pairs_filter_keeps_a_pair_of_kings():
    table = holding("KS KH 2C 4D 6H 8S TC AD 3S 5C", "7D", "9H")
    assert discards(table, ()) == {"KH", "KS"}
    assert discards(table, ("pairs",)) == {"TC"}


def test_runs_filter_applies_only_in_the_first_two_turns():
    table = holding("4C 5C 6C 8C 7H 5H AS 3D 4S 2D", "6S", "QH")
    assert discards(table, ()) == {"8C"}
    assert discards(table, ("runs",)) == {"7H"}
    assert discards(later(table, 2), ("runs",)) == {"8C"}


def test_filter_that_leaves_no_card_is_skipped_in_sequence():
    """Every unmelded card is in a pair: in concert any can go; in sequence the runs filter still keeps 8C."""
    table = holding("4C 5C 6C 8C 8H 7H 7D 3S 3D 2S", "2H", "QH")
    assert discards(table, ("pairs", "runs")) == {"8C", "8H"}
    assert discards(table, ("pairs", "runs"), one_by_one=True) == {"8H"}


def test_every_filter_order_is_a_variant():
    orders = [filters for filters, one_by_one in VARIANTS.values() if one_by_one]
    assert len(orders) == len(set(orders)) == 6
    assert all(sorted(order) == sorted(ALL) for order in orders)


def test_tonic_options_conflict_with_chosen_filters():
    with pytest.raises(ValueError, match="break_pairs and filtered_fallback are not for"):
        FilteredTonicBot(ALL, False, break_pairs=True)
