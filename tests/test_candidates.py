"""The candidates as an observation: equal from games and views, in the caller's arrays, no hidden cards."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector.utils import batch_space
from positions import POLICIES, played

from gin_env import candidates
from gin_env.batch import Games
from gin_env.spaces import candidate_spaces
from gin_env.state import DISCARD, OVER
from gin_env.views import PlayerView

pytestmark = pytest.mark.compiled


def test_the_layout_covers_a_row_without_gaps():
    ends = [0]
    for part in candidates.LAYOUT.values():
        assert part.start == ends[-1]
        ends.append(part.stop)
    assert ends[-1] == candidates.NUM_FEATURES
    assert len(candidates.TABLE) == candidates.NUM_TABLE
    assert list(candidates.MEANINGS) == list(candidates.LAYOUT)


def test_every_part_stands_in_the_table_for_the_documentation():
    lines = candidates.layout_table().splitlines()[2:]
    assert [line.split("`")[1] for line in lines] == [*candidates.LAYOUT, *candidates.TABLE]
    assert lines[0] == "| `deadwood` | row | 0 | of the hand: deadwood / 50 |"
    assert lines[12].startswith("| `rank` | row | 12:25 |")
    assert lines[-1] == "| `opponent_score` | table | 5 | opponent's score / 100 |"


def test_parts_of_rows_are_views_by_name():
    rows = np.arange(2 * 11 * candidates.NUM_FEATURES, dtype=np.float32).reshape(2, 11, -1)
    knock_outs, ranks = candidates.part(rows, "knock_outs"), candidates.part(rows, "rank")
    assert (knock_outs.shape, ranks.shape) == ((2, 11), (2, 11, 13))
    np.testing.assert_array_equal(knock_outs, rows[:, :, 5])
    np.testing.assert_array_equal(ranks, rows[:, :, 12:25])
    assert np.shares_memory(knock_outs, rows)
    assert np.shares_memory(ranks, rows)
    with pytest.raises(ValueError, match="no part 'luck' in a row; the parts are deadwood, may_knock"):
        candidates.part(rows, "luck")
    with pytest.raises(ValueError, match=r"a row has 58 numbers, not shape \(2, 11, 13\)"):
        candidates.part(ranks, "rank")


@pytest.mark.parametrize("name", list(POLICIES))
def test_the_spaces_hold_the_candidates_of_all_positions_for_both_players(name):
    games = played(name).games()
    spaces = candidate_spaces()
    for player in (0, 1):
        arrays = games.candidates(games.everyone, player=player)
        for entry, array in zip(candidates.ENTRIES, arrays, strict=True):
            assert batch_space(spaces[entry], len(games)).contains(array)
            assert array.max() > 0


def test_the_candidates_of_one_player_are_those_of_her_view():
    games = played("simple").games()
    for player in (0, 1):
        expected = games.views(games.everyone, player).candidates()
        for ours, theirs in zip(games.candidates(games.everyone, player=player), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(ValueError, match="player = 2 is out of range"):
        games.candidates(games.everyone, player=2)


def test_games_and_views_write_the_same_candidates_and_offer_exactly_the_legal_actions():
    games = played("simple").games()
    rows, actions, table = games.candidates(games.everyone)
    view = games.views(games.everyone)
    for ours, theirs in zip((rows, actions, table), view.candidates(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    offered = np.zeros((len(games), 108), np.int8)
    np.put_along_axis(offered, actions.reshape(len(games), -1), 1, axis=1)  # no action: the last column
    np.testing.assert_array_equal(offered[:, :107], games.masks(games.everyone))
    assert not rows[(actions == candidates.NO_ACTION).all(axis=2)].any()


def test_candidates_are_written_into_the_arrays_of_the_caller_whatever_was_there_before():
    games = played("simple").games()
    expected = games.candidates(games.everyone)
    arrays = [np.full_like(array, 7) for array in expected]
    for array, returned, right in zip(
        arrays, games.candidates(games.everyone, *arrays), expected, strict=True
    ):
        assert returned is array
        np.testing.assert_array_equal(array, right)


def test_two_rows_are_enough_where_nobody_has_to_discard():
    games = played("simple").games()
    phase = games.state["public"]["phase"]
    drawing = np.flatnonzero((phase != DISCARD) & (phase != OVER))
    few = [
        np.empty((len(drawing), 2, size), dtype)
        for size, dtype in ((candidates.NUM_FEATURES, np.float32), (2, np.int64))
    ]
    rows, actions, _ = games.candidates(drawing, *few)
    full_rows, full_actions, _ = games.candidates(drawing)
    np.testing.assert_array_equal(rows, full_rows[:, :2])
    np.testing.assert_array_equal(actions, full_actions[:, :2])
    with pytest.raises(ValueError, match="11 rows"):
        games.candidates(np.flatnonzero(phase == DISCARD)[:1], few[0][:1], few[1][:1])


@pytest.mark.parametrize("which", range(3))
def test_arrays_that_do_not_fit_are_refused(which):
    games = played("simple").games()
    arrays = list(games.candidates(games.everyone))
    for wrong in (arrays[which][:-1], arrays[which].astype(np.float64), arrays[which][:, ::-1]):
        with pytest.raises(ValueError, match="must be a contiguous"):
            games.candidates(
                games.everyone, *(wrong if each == which else array for each, array in enumerate(arrays))
            )


def test_the_cards_that_a_player_cannot_see_change_nothing():
    games = played("simple").games()
    before = games.candidates(games.everyone)
    hidden = Games(len(games))
    hidden.state[:] = games.state
    random = np.random.default_rng(1)
    changed = 0
    for game in games.everyone:
        state = hidden.state[game]
        mover = int(state["public"]["to_move"])
        shown = int(state["public"]["shown"][1 - mover])
        held = int(state["private"]["hand"][1 - mover])
        left = int(state["public"]["stock_left"])
        stock = state["hidden"]["deck"][52 - left :].tolist()
        unknown = [card for card in range(52) if (held & ~shown) >> card & 1]
        cards = random.permutation(unknown + stock)
        new = shown | sum(1 << int(card) for card in cards[: len(unknown)])
        changed += new != held
        state["private"]["hand"][1 - mover] = new
        state["hidden"]["deck"][52 - left :] = cards[len(unknown) :]
    assert changed > len(games) / 2
    for old, new in zip(before, hidden.candidates(hidden.everyone), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_player_who_is_not_to_move_has_no_candidates():
    games = played("simple").games()
    waiting = games.views(games.everyone, 0).records
    waiting = PlayerView(waiting[waiting["public"]["to_move"] == 1])
    rows, actions, _ = waiting.candidates()
    assert len(waiting)
    assert not rows.any()
    assert (actions == candidates.NO_ACTION).all()
