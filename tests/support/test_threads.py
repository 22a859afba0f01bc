"""The warning that torch has more threads than there are idle cores."""

from __future__ import annotations

import os
import warnings

import pytest
import torch

from gin_env.support import threads


@pytest.fixture
def machine(monkeypatch):
    """Pretend a number of cores, a load, and a number of torch threads."""

    def pretend(cores, load, torch_threads):
        monkeypatch.setattr(threads, "usable_cores", lambda: cores)
        monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load), raising=False)
        monkeypatch.setattr(torch, "get_num_threads", lambda: torch_threads)
        monkeypatch.setattr(threads, "_warned", False)

    return pretend


@pytest.mark.parametrize(
    ("cores", "load", "torch_threads", "idle"),
    [(2, 9.0, 2, "1 of 2 cores is"), (8, 5.0, 8, "4 of 8 cores are"), (2, 0.0, 16, "2 of 2 cores are")],
)
def test_threads_that_compete_are_warned_about_once(cores, load, torch_threads, idle, machine):
    machine(cores, load, torch_threads)
    with pytest.warns(UserWarning, match=rf"only {idle} idle.*call torch\.set_num_threads\(1\)"):
        threads.warn_if_threads_compete()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads.warn_if_threads_compete()


@pytest.mark.parametrize(("cores", "load", "torch_threads"), [(2, 9.0, 1), (8, 1.2, 8), (8, 5.0, 4)])
def test_threads_that_have_cores_are_not_warned_about(cores, load, torch_threads, machine):
    machine(cores, load, torch_threads)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads.warn_if_threads_compete()


@pytest.mark.parametrize(
    ("text", "cores"), [("max 100000", 4), ("150000 100000", 2), ("10000 100000", 1), ("", 4)]
)
def test_quota_of_a_container_limits_the_cores(text, cores, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(threads, "_QUOTA", tmp_path / "cpu.max")
    assert threads.usable_cores() == cores
    monkeypatch.delattr(os, "sched_getaffinity")  # macOS and Windows
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert threads.usable_cores() == cores


def test_number_of_threads_is_that_of_the_block_only():
    before = torch.get_num_threads()
    with threads.torch_threads(before + 3):
        assert torch.get_num_threads() == before + 3
    assert torch.get_num_threads() == before
