"""Compact observations: expansion to full observations, hidden information and refused input."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import ONE_GAME, Table
from played_positions import POLICIES, played

from gin_env.batch import Games
from gin_env.game.rules import Rules
from gin_env.observations.compact import COMPACT, expand, expand_masks
from gin_env.observations.observation import OBSERVATION_SIZE

HAND_0, HAND_1 = "2C 3C 4C 5H 6H 7H 9C KS AD 2D", "KH KC JS 8C 8H 4D 5D QD 2S 6S"


@pytest.mark.parametrize("dealer", [0, 1])
def test_record_matches_the_state_after_every_action(dealer):
    hands = (HAND_0, HAND_1) if dealer else (HAND_1, HAND_0)
    table = Table(*hands, "TD", "TS 3H", dealer, Rules(target_score=90, knock_limit=60, max_turns=50))
    table.public["scores"] = (20, 35)
    for move in ("", "pass", "pass", "draw", "KS", "take", "QD", "draw", "TS", "draw", "KS", "take"):
        table.play(*move.split())
        for player in (0, 1):
            record = table.games.compact_observations(ONE_GAME, player)
            for name in set(COMPACT.names) - {"player", "hand"}:
                assert record[name][0].tolist() == table.public[name].tolist(), name
            assert record["hand"][0] == table.games.state["private"]["hand"][0, player]
            assert record["player"][0] == player
            assert np.array_equal(expand(record), table.games.observations(ONE_GAME, player))
            to_move = player == table.public["to_move"]
            expected = table.games.masks(ONE_GAME) if to_move else np.zeros((1, 107))
            assert np.array_equal(expand_masks(record), expected)
            if to_move:
                assert table.games.compact_observations(ONE_GAME).tobytes() == record.tobytes()


def test_batched_records_are_independent_and_errors_name_the_index():
    games = Games(3)
    games.start(games.everyone, np.full(3, 4, np.uint64), np.arange(3, dtype=np.uint64))
    some = np.array([2, 0])
    records = games.compact_observations(some, 1)
    assert np.array_equal(records["hand"], games.state["private"]["hand"][some, 1])
    assert np.array_equal(expand(records), games.observations(some, 1))
    given = np.empty((2, OBSERVATION_SIZE), np.float32)
    assert expand(records, given) is given
    for damaged in (0, 1):
        copy = records.copy()
        copy["hand"][damaged] = 0
        for function in (expand, expand_masks):
            with pytest.raises(ValueError, match=f"record {damaged} is not a position"):
                function(copy)


every_policy = pytest.mark.parametrize("name", list(POLICIES))


@every_policy
@pytest.mark.compiled
def test_record_expands_to_the_full_observation_and_mask(name):
    games = played(name).games()
    for player in range(2):
        records = games.compact_observations(games.everyone, player)
        assert records.dtype == COMPACT
        views = games.views(games.everyone, player)
        assert np.array_equal(expand(records), games.observations(games.everyone, player))
        assert np.array_equal(expand_masks(records), views.masks())
        if name == "random":
            assert np.ptp(expand(records), axis=0).any()


@pytest.mark.compiled
def test_player_defaults_to_the_player_to_move():
    games = played("random").games()
    records = games.compact_observations(games.everyone)
    assert np.array_equal(records["player"], games.to_move())
    assert np.array_equal(expand_masks(records), games.masks(games.everyone))


@pytest.mark.compiled
def test_output_arrays_are_written_and_returned():
    games = played("random").games()
    records = np.empty(len(games), COMPACT)
    observations = np.empty((len(games), OBSERVATION_SIZE), np.float32)
    assert games.compact_observations(games.everyone, 0, records) is records
    assert expand(records, observations) is observations
    assert np.array_equal(observations, games.observations(games.everyone, 0))
    assert COMPACT.itemsize * 14 > 4 * OBSERVATION_SIZE > COMPACT.itemsize * 12


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((2, 2), COMPACT), [1, 2]])
def test_other_dtypes_and_shapes_are_refused(wrong):
    for function in (expand, expand_masks):
        with pytest.raises(TypeError, match="COMPACT"):
            function(wrong)
