"""Tonic with selected discard filters: single filters, all filters and their order."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from bot_positions import holding, later
from hands_in_words import Table, action_text
from unplayed_runs import UnplayedRun

from gin_env.agents.tonic import TonicBot
from gin_env.matches.matches import play_match
from research.papers.larkin2021 import tonic_depth
from research.papers.larkin2021.tonic_filters import (
    ALL,
    BASES,
    TOGETHER,
    VARIANTS,
    FilteredTonicBot,
    filtered_bots,
)


def discards(table: Table, filters: tuple[str, ...], one_by_one: bool = False) -> set[str]:
    """Return every discard that the paper's Tonic can choose with these filters."""
    views = table.games.views(np.zeros(40, np.int64))
    views.array["random"] = np.random.default_rng(3).integers(0, 2**64, 40, dtype=np.uint64)
    bot = FilteredTonicBot(filters, one_by_one, **BASES["tonic-paper"])
    return {action_text(int(number)) for number in bot.act(views)}


@pytest.mark.compiled
@pytest.mark.parametrize("base", BASES)
def test_all_filters_in_concert_equal_tonic(base):
    filtered = filtered_bots()[f"{base}, filters: {TOGETHER}"]
    mine, theirs = (play_match(bot, "simple", 60, 5) for bot in (filtered, TonicBot(**BASES[base])))
    assert np.array_equal(mine.deals, theirs.deals)


def test_knocks_are_counted_by_cell(monkeypatch):
    watched = np.zeros((30, 3), np.int64), np.arange(30) < 20
    monkeypatch.setattr(tonic_depth, "watched_positions", lambda *_: watched)
    assert tonic_depth.watch("simple", 1, 1).by_turn[0] == pytest.approx((20 + 1) / (30 + 10))


def test_clues_are_about_the_opponent():
    for discard in ("5C", "6D"):  # in the second group of ranks, and its end
        table = Table("2C 3C 4C 6H 8H TD QD KS 9S 4S", "QH QC JH JD TH TC 5C 5S 6D 7D", "AD", dealer=0)
        view = table.play("take", discard).games.views(np.zeros(1, np.int64), 0)
        assert [int(clue[0]) for clue in tonic_depth.clues(view)] == [1, 1, 1]


@pytest.mark.parametrize("expected", [False, True])
def test_knock_is_expected_by_all_clues(expected):
    """By the turn alone, its chance would be the other way round."""
    view = holding("KS KH 2C 4D 6H 8S 9C AD 3S 5C", "7D", "9H").games.views(np.zeros(1, np.int64))
    chances = np.full((20, 4, 5), float(not expected))
    by_turn = chances[:, 0, 0].copy()
    chances[tonic_depth.clues(view)] = expected
    table = tonic_depth.KnockTable(by_turn, chances)
    bot = tonic_depth.DepthTonicBot((1, 99), table, 0.5, **BASES["tonic-paper"])
    assert (action_text(int(bot.act(view)[0])) in {"KH", "KS"}) == expected


def test_predictions_have_the_losses_of_their_chances():
    table = SimpleNamespace(by_turn=np.array([0.5, 0.2]), chances=np.full((2, 1, 2), 0.1))
    table.chances[1, 0] = 0.3, 0.4
    cells, knocked = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 0, 1]]), np.arange(4) == 1
    row = tonic_depth.predictions(table, cells, knocked)
    chances = {"always": [0.75, 0.25, 0.75, 0.75], "by_turn": [0.5, 0.2, 0.8, 0.8]}
    for name, each in (chances | {"by_clues": [0.9, 0.3, 0.6, 0.6]}).items():
        assert row[name] == pytest.approx(-np.log(each).mean(), abs=1e-4), name
    assert (row["positions"], row["knocks"]) == (4, 25)


def test_tables_are_watched_on_other_hands_than_tested(tmp_path, monkeypatch):
    """The table of an opponent is here the opponent's name."""
    watched, tested = [], []
    for name, seeds in (("watch", watched), ("watched_positions", tested)):
        add = seeds.append
        monkeypatch.setattr(tonic_depth, name, lambda bot, hands, seed, add=add: add(seed) or [bot])
    monkeypatch.setattr(tonic_depth, "predictions", lambda table, bot: {"same": table == [bot]})
    run = UnplayedRun(8, tmp_path)
    assert all(row.get("same", True) for row in tonic_depth.measure_depth(run))
    assert len({8, *watched, *tested}) == 3
    for bot, match in zip(run.met, run.matches.values(), strict=True):
        assert "knock from" not in match.bots[0] or bot.table == [match.bots[1]]


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
