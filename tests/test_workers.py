"""Worker processes end with the process that they work for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PARENT = """
import os, sys, time
from gin_env.support.exits import one_line_errors
from gin_env.support.workers import process_pool

if __name__ == "__main__":
    with one_line_errors("parent"), process_pool(2, os.getpid) as executor:
        tasks = [executor.submit(time.sleep, 600) for _ in range(2)]
        while not all(task.running() for task in tasks):
            time.sleep(0.01)
        print(*executor._processes, flush=True)
        tasks[0].result()
"""


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the workers in /proc")
@pytest.mark.parametrize(("end", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_parent_that_ends_leaves_no_workers(tmp_path, end, status):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = [int(word) for word in parent.stdout.readline().split()]
    assert len(workers) == 2
    assert all(map(alive, workers))
    os.kill(parent.pid, end)
    _, errors = parent.communicate()  # waits for the workers too: they hold its stderr
    assert parent.returncode == status
    deadline = time.monotonic() + 30
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers))
    if end == signal.SIGINT:
        assert errors == "parent: interrupted\n"
