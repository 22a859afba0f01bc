"""The observation's layout, parts, errors and selected values (see also test_information)."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import Table

from gin_env import cards, observation
from gin_env.observations.observation import LAYOUT, NUM_PLANES, OBSERVATION_SIZE, PLANES, SCALARS

HAND_0 = "KC QH JS 9D 8H 7S 6C 5H 4D 3H"
HAND_1 = "KD QS JC TH 9C 8S 2H 4C AH 6D"


def see(table: Table, player: int) -> np.ndarray:
    return table.games.observations(np.array([0]), player)[0]


def test_layout_covers_the_vector_without_gap_or_overlap():
    assert list(LAYOUT) == [*PLANES, *SCALARS]
    place = 0
    for part in LAYOUT.values():
        assert part.slice.start == place
        place = part.slice.stop
        assert part.slice.stop - part.slice.start == int(np.prod(part.shape))
        assert part.meaning
    assert place == OBSERVATION_SIZE == NUM_PLANES * 52 + len(SCALARS)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_planes_scalars_and_parts_share_memory(batch):
    vector = np.arange(int(np.prod((*batch, OBSERVATION_SIZE))), dtype=np.float32)
    vector = vector.reshape(*batch, OBSERVATION_SIZE)
    planes, scalars = observation.planes(vector), observation.scalars(vector)
    assert planes.shape == (*batch, NUM_PLANES, 4, 13)
    assert scalars.shape == (*batch, len(SCALARS))
    assert np.shares_memory(planes, vector)
    assert np.shares_memory(scalars, vector)
    for index, name in enumerate(LAYOUT):
        part = observation.part(vector, name)
        assert np.shares_memory(part, vector)
        if name in PLANES:
            assert np.array_equal(part, planes[..., index, :, :])
        else:
            assert np.array_equal(part, scalars[..., index - NUM_PLANES])
    planes[..., 0, 0, 0] = -1
    assert (vector[..., 0] == -1).all(), "writing to the view writes to the vector"


def test_plane_rows_are_suits_and_columns_are_ranks():
    table = Table(HAND_0, HAND_1, upcard="TS")
    plane = observation.part(see(table, 0), "upcard")
    assert np.argwhere(plane).tolist() == [[cards.SUITS.index("S"), cards.RANKS.index("T")]]


def test_wrong_shape_is_named_in_the_error():
    for function in (observation.planes, observation.scalars, lambda bad: observation.part(bad, "hand")):
        for shape in ((OBSERVATION_SIZE - 1,), (OBSERVATION_SIZE, 2), ()):
            with pytest.raises(ValueError, match=rf"must have shape \(\.\.\., {OBSERVATION_SIZE}\), not"):
                function(np.zeros(shape, np.float32))


def test_unknown_part_lists_the_choices():
    with pytest.raises(ValueError, match=r"unknown part 'colour'; .* hand, upcard, .*opponent_score"):
        observation.part(np.zeros(OBSERVATION_SIZE, np.float32), "colour")


# --- Values that are easy to get wrong ----------------------------------------------------------------


def test_swapped_seats_swap_the_observations():
    """Swapping the seats swaps the observations."""
    table = Table(HAND_0, HAND_1, upcard="7D", stock="2C 2D 3S", dealer=1)
    mirror = Table(HAND_1, HAND_0, upcard="7D", stock="2C 2D 3S", dealer=0)
    table.public["scores"], mirror.public["scores"] = (30, 70), (70, 30)
    moves = ["pass", "pass", "draw", "KC", "take", "KD", "draw", "2D", "draw", "3S"]
    for move in ["", *moves]:
        if move:
            table.play(move)
            mirror.play(move)
        for player in range(2):
            assert np.array_equal(see(table, player), see(mirror, 1 - player)), move
