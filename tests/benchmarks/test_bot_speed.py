"""Measuring the speed of bots: timing, threads and the result table."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from python_programs import run_python

from benchmarks import bot_speed
from gin_env import agents


class Slow:
    """A bot that plays like `simple` and uses five milliseconds of CPU time per call."""

    name = "slow"

    def __init__(self) -> None:
        self.calls = 0
        self.simple = agents.make("simple")

    def act(self, view) -> np.ndarray:
        self.calls += 1
        end = time.thread_time() + 0.005
        while time.thread_time() < end:
            pass
        return self.simple.act(view)


def test_bot_speed_counts_only_the_bots_cpu_time():
    bot = Slow()
    (speed,) = bot_speed.measure_bots([bot], repeats=2, steps=3, tables=10)
    assert bot.calls == 9  # one warm-up run and two measured ones
    assert speed.bot == "slow"
    assert 0 < speed.slowest <= speed.median <= speed.fastest <= 10 / 0.005


def test_networks_use_only_the_timed_thread():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        bot_speed.measure_bots([Slow()], repeats=1, steps=1, tables=2)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.compiled
def test_finished_games_are_followed_by_new_ones():
    """Finished games are replaced by new ones, so play never stops."""
    play = bot_speed._Play(agents.make("simple"), 4, 0, None)
    for _ in range(2000):
        assert play.step() >= 0
    assert play.begun > 8


@pytest.mark.long
def test_bot_speed_script_prints_a_table(tmp_path):
    path = tmp_path / "speed.json"
    options = ["simple", "simple:knock_at=4", "--repeats", "1", "--steps", "2", "--tables", "8"]
    run_python(bot_speed.__file__, *options, "--json", path)
    assert [row["bot"] for row in json.loads(path.read_text())] == ["simple", "simple:knock_at=4"]
