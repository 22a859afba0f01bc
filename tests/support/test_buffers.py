"""Buffers reuse an array only when neither the array nor a view of it is referenced."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.envs.learner_seat import LearnerSeat
from gin_env.support.buffers import Buffers


def test_dropped_array_is_reused():
    buffers = Buffers((3, 2), np.int64)
    address = buffers.take().ctypes.data
    assert buffers.take().ctypes.data == address
    assert buffers.take().shape == (3, 2)
    assert buffers.take().dtype == np.int64


@pytest.mark.parametrize(
    "hold",
    [lambda array: array, lambda array: array[1:], memoryview, lambda array: {"observation": array}],
    ids=["the array", "a part", "a memory view", "in a dictionary"],
)
def test_referenced_array_is_never_reused(hold):
    buffers = Buffers((4,), np.float32)
    array = buffers.take()
    array[:] = 1
    held = hold(array)
    address = array.ctypes.data
    del array
    for _ in range(6):
        other = buffers.take()
        other[:] = 2
        assert other.ctypes.data != address
    del held


def test_tensors_keep_their_arrays_alive():
    torch = pytest.importorskip("torch")
    buffers = Buffers((4,), np.float32)
    held = torch.from_numpy(buffers.take())
    held[:] = 1
    buffers.take()[:] = 2
    assert held.tolist() == [1, 1, 1, 1]


def test_buffer_allocates_when_arrays_are_held_and_keeps_few():
    buffers = Buffers((2,), np.int64)
    held = [buffers.take() for _ in range(8)]
    assert len({array.ctypes.data for array in held}) == 8
    kept = {array.ctypes.data for array in held[-3:]}
    del held
    assert buffers.take().ctypes.data in kept


@pytest.mark.compiled
def test_seat_reuses_only_dropped_observations():
    def seen(seat):
        observation = seat.observe(seat.masks())
        return observation["observation"], observation["candidate_rows"]

    seat = LearnerSeat(4, candidates=True)
    seat.reset(seat.games.everyone, np.arange(4))
    first, rows = seen(seat)
    before, rows_before = first.copy(), rows.copy()
    seat.step(seat.masks().argmax(axis=1))
    later, later_rows = seen(seat)
    assert not np.shares_memory(later, first)
    assert not np.shares_memory(later_rows, rows)
    assert np.array_equal(first, before)
    assert np.array_equal(rows, rows_before)
    del later, later_rows
    address = seen(seat)[0].ctypes.data
    assert seen(seat)[0].ctypes.data == address
