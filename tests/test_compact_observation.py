"""The compact observation expands to the ordinary one, on all positions of whole hands."""

from __future__ import annotations

import numpy as np
import pytest
from positions import POLICIES, played

from gin_env.compact_observation import COMPACT, expand, expand_masks
from gin_env.observation import OBSERVATION_SIZE

every_policy = pytest.mark.parametrize("name", list(POLICIES))


@every_policy
def test_it_expands_to_the_ordinary_observation_and_mask(name):
    games = played(name).games()
    for player in range(2):
        records = games.compact_observations(games.everyone, player)
        assert records.dtype == COMPACT
        views = games.views(games.everyone, player)
        assert np.array_equal(expand(records), games.observations(games.everyone, player))
        assert np.array_equal(expand_masks(records), views.masks())
        if name == "random":
            assert np.ptp(expand(records), axis=0).any()


def test_without_a_player_the_players_to_move_observe():
    games = played("random").games()
    records = games.compact_observations(games.everyone)
    assert np.array_equal(records["player"], games.to_move())
    assert np.array_equal(expand_masks(records), games.masks(games.everyone))


@every_policy
def test_it_holds_nothing_hidden(name):
    """The opponent's hand, the stock and its order change nothing."""
    games = played(name).games()
    for player in range(2):
        records = games.compact_observations(games.everyone, player)
        games.state["private"]["hand"][:, 1 - player] = 0
        games.state["private"]["stock_draws"][:, 1 - player] = 0
        games.state["hidden"] = np.zeros((), games.state["hidden"].dtype)
        again = games.compact_observations(games.everyone, player)
        assert all(np.array_equal(records[field], again[field]) for field in COMPACT.names)
        games = played(name).games()


def test_given_arrays_are_written_into():
    games = played("random").games()
    records = np.empty(len(games), COMPACT)
    observations = np.empty((len(games), OBSERVATION_SIZE), np.float32)
    assert games.compact_observations(games.everyone, 0, records) is records
    assert expand(records, observations) is observations
    assert np.array_equal(observations, games.observations(games.everyone, 0))
    assert COMPACT.itemsize * 14 > 4 * OBSERVATION_SIZE > COMPACT.itemsize * 12


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((2, 2), COMPACT), [1, 2]])
def test_anything_else_is_refused(wrong):
    for function in (expand, expand_masks):
        with pytest.raises(TypeError, match="COMPACT"):
            function(wrong)
