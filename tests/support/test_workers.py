"""Worker processes: results do not depend on them, lost tasks are repeated, and none is left behind."""

from __future__ import annotations

import importlib.util
import itertools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hand_endings import SHORT, NeverKnocks, Plain
from typer.testing import CliRunner
from worker_tasks import die, die_once, die_once_each, fail, is_running, sleep_for_minutes, square

from gin_env import agents, cli, play_match
from gin_env.agents.generations.bot import GenerationNetwork, save_network
from gin_env.matches.match_log import MatchLog
from gin_env.matches.shards import shard_size
from gin_env.matches.tournaments import play_tournament
from gin_env.support import workers
from gin_env.support.workers import Workers

PARENT = """
import os, signal, time
from gin_env.support.exits import one_line_errors
from gin_env.support.workers import Workers

def sleep(task):
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore Ctrl-C
    with one_line_errors("parent"), Workers(2) as workers:
        list(workers.map(sleep, range(2)))
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the workers in /proc")
@pytest.mark.parametrize(("end", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_ended_parent_leaves_no_workers(tmp_path, end, status):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = {int(parent.stdout.readline()) for _ in range(2)}
    assert len(workers) == 2
    assert all(map(is_running, workers))
    os.kill(parent.pid, end)
    _, errors = parent.communicate()  # also waits for the workers, which hold stderr open
    assert parent.returncode == status
    deadline = time.monotonic() + 30
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))
    if end == signal.SIGINT:
        assert errors == "parent: interrupted\n"


# --- Results ------------------------------------------------------------------------------------------------


class Stateful:
    """A bot that cannot be sent to another process, for a reason of its own."""

    name = "stateful"

    def __reduce__(self):
        raise RuntimeError("its state is here")

    def act(self, view):
        return view.masks().argmax(axis=1)


@pytest.fixture(scope="module")
def two():
    """Two worker processes, shared by all tests."""
    with Workers(2) as workers:
        yield workers


def test_single_worker_runs_tasks_in_this_process():
    with Workers() as workers:
        assert workers.here
        results = workers.map(square, itertools.count())
        assert list(itertools.islice(results, 4)) == [0, 1, 4, 9]


@pytest.mark.parametrize("count", [0, -1, 5000, "al", True, 2.0, ""])
def test_invalid_number_of_workers_raises(count):
    with pytest.raises((TypeError, ValueError), match="workers"):
        Workers(count)


def test_all_workers_means_the_usable_cores(monkeypatch):
    monkeypatch.setattr("gin_env.support.workers.usable_cores", lambda: 3)
    with Workers("all") as pool:
        assert pool._pool().num_ahead == 2 * 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], (None, False)),
        (["--workers", "2"], (2, False)),
        (["--workers", "all"], ("all", False)),
        (["--ray", "auto"], (None, True)),
        (["--ray", "auto", "--workers", "3"], (3, True)),
        (["--ray", "a:1"], (None, "a:1")),
        (["--ray=a:1", "--hands"], (None, "a:1")),
    ],
)
@pytest.mark.parametrize("command", ["match", "tournament"])
def test_commands_pass_on_workers_and_ray_address(monkeypatch, command, options, expected):
    asked = []

    class Noted(Workers):
        def __init__(self, count, ray):
            asked.append((count, ray))
            super().__init__()

    monkeypatch.setattr(workers, "Workers", Noted)
    done = CliRunner().invoke(cli.app, [command, "random", "simple", "--games", "2", "--seed", "0", *options])
    assert done.exit_code == 0, done.output
    assert asked == [expected]


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_missing_ray_names_the_extra():
    with Workers(ray=True) as crew, pytest.raises(ImportError, match=r'pip install "gin-env\[ray\]"'):
        list(crew.map(square, [1]))


@pytest.mark.long
def test_processes_yield_results_in_task_order_until_closed(two):
    assert list(two.map(square, range(20))) == [number**2 for number in range(20)]
    results = two.map(square, itertools.count())
    assert list(itertools.islice(results, 5)) == [0, 1, 4, 9, 16]
    results.close()
    assert list(two.map(square, [])) == []


@pytest.mark.long
def test_worker_errors_propagate(two):
    with pytest.raises(ValueError, match=r"^the task is wrong$"):
        list(two.map(fail, [0, 0]))
    with pytest.raises(RuntimeError, match=r"^Uncopied: one and two$"):
        list(two.map(fail, [1]))
    assert list(two.map(square, [3])) == [9]


@pytest.mark.long
def test_tasks_of_a_lost_worker_are_repeated_and_counted_once(tmp_path):
    with Workers(2) as crew:
        results = list(crew.map(die_once, [(tmp_path, number) for number in range(6)]))
    assert results == [0, 1, 4, 9, 16, 25]
    assert len(list(tmp_path.glob("2-*"))) == 2


@pytest.mark.long
def test_results_reset_the_count_of_lost_workers(tmp_path):
    with Workers(2) as crew:
        results = list(crew.map(die_once_each, [(tmp_path, number) for number in range(8)]))
    assert results == [number**2 for number in range(8)]
    assert len(list(tmp_path.iterdir())) == 8, "more than the losses that one result may cost"


@pytest.mark.long
def test_worker_killed_during_startup_is_replaced():
    killed = []

    def kill_first() -> None:
        while not killed:
            for process in multiprocessing.active_children():
                process.kill()
                killed.append(process.pid)
                break

    killer = threading.Thread(target=kill_first)
    killer.start()
    with Workers(2) as crew:
        assert list(crew.map(square, range(6))) == [0, 1, 4, 9, 16, 25]
    killer.join()
    assert killed


@pytest.mark.long
def test_abandoned_work_is_stopped(two):
    before = set(multiprocessing.active_children())
    results = two.map(sleep_for_minutes, [0, 600, 600])
    assert next(results) == 0
    start = time.monotonic()
    results.close()
    assert time.monotonic() - start < 60
    assert not before & set(multiprocessing.active_children())
    assert list(two.map(square, [3])) == [9]


@pytest.mark.long
def test_task_that_keeps_losing_workers_raises():
    with Workers(2) as crew, pytest.raises(ChildProcessError, match=r"lost 4 times .* try fewer workers"):
        list(crew.map(die, [1]))


@pytest.mark.long
def test_script_without_main_guard_gets_a_hint(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from gin_env import play_match\nplay_match('simple', 'random', 20, 0, workers=2)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    # The error of the script itself; Python's own warnings may follow it.
    errors = [line for line in done.stderr.splitlines() if line.startswith("ChildProcessError: ")]
    assert 'code below  if __name__ == "__main__":' in errors[-1]


# --- Matches, tournaments, data -----------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "given",
    [
        ("simple", "random"),
        ("tonic", "tonic"),
        (agents.make("simple"), "random"),
        ("hand_endings:Plain", "random"),
    ],
)
def test_match_and_record_do_not_depend_on_workers(two, tmp_path, given):
    results, reported = [], []
    for name, crew in (("here", 1), ("there", two)):
        match = play_match(*given, 70, seed=4, record=tmp_path / name, workers=crew, progress=reported.append)
        results.append(match)
    assert results[0] == results[1]
    assert np.array_equal(results[0].deals, results[1].deals)
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()
    assert sum(reported) == 2 * 70


@pytest.mark.long
def test_tournament_and_log_do_not_depend_on_workers(two, tmp_path):
    bots = ("simple", "random", "simple:knock_at=4")
    here = play_tournament(bots, 20, seed=3, log=MatchLog(tmp_path / "here"))
    there = play_tournament(bots, 20, seed=3, log=MatchLog(tmp_path / "there"), workers=two)
    assert here == there
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()


@pytest.mark.long
def test_file_changed_between_matches_is_read_again(two, tmp_path):
    """Workers cache bots for the duration of one match only."""
    command = tmp_path / "policy.safetensors"
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        save_network(GenerationNetwork(8, 8), command, {})
        results.append([play_match(str(command), "random", 20, 5, workers=crew).points for crew in (1, two)])
    assert results[0][0] == results[0][1]
    assert results[1][0] == results[1][1]
    assert results[0] != results[1]


@pytest.mark.long
def test_unpicklable_objects_raise_with_a_hint(two):
    with pytest.raises(ValueError, match=r"bot 'stateful' cannot be sent .* pass its name or path"):
        play_match(Stateful(), "random", 20, 0, workers=two)
    with pytest.raises(ValueError, match="unknown bot"):
        play_match("nobody", "random", 20, 0, workers=two)


def test_parts_depend_only_on_the_number_of_games():
    sizes = {2: 16, 200: 16, 1600: 100, 32_768: 2048, 10**6: 2048, 4 * 10**6: 7812, 10**8: 16_384}
    assert {games: shard_size(games) for games in sizes} == sizes


def test_parts_add_up_to_the_match(monkeypatch):
    """The parts are played in this process, and deals are split between parts."""

    class Here(Workers):
        here = False

        def map(self, function, tasks):
            tasks = [pickle.loads(pickle.dumps(task)) for task in tasks]
            assert [len(task.order) for task in tasks] == [16, 9, 16, 9]
            return map(function, tasks)

    whole = play_match(Plain(), NeverKnocks(), 50, seed=5, rules=SHORT)
    with Here() as crew:
        parts = play_match(Plain(), NeverKnocks(), 50, seed=5, rules=SHORT, workers=crew)
    assert parts == whole
    assert np.array_equal(parts.deals, whole.deals)
