"""gin-env's own measurements: `workloads`, training, first use, memory, scaling over cores.

It follows the protocol of the peers (`peers/worker.py`) and runs in the Python in which gin-env is installed.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))

from worker import main

CORES_AT_START = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
"""Cores available before this process is pinned to one of them."""

FIRST_STEP = """
import time; start = time.perf_counter()
import gin_env; imported = time.perf_counter() - start
import gymnasium
env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=8, opponent="simple")
_, infos = env.reset(seed=0)
env.step(infos["action_mask"].argmax(axis=1))
print(imported, time.perf_counter() - start - imported)
"""


def first_step(cache: str) -> tuple[float, float]:
    """Return the seconds to import, and from there to the first step, in a new process with this cache."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_STEP],
        env={**os.environ, "GIN_ENV_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    imported, first = map(float, done.stdout.split())
    return imported, first


def first() -> dict[str, float]:
    """Measure first use with a filled cache; an unmeasured process fills it if necessary."""
    cache = os.environ.get("GIN_ENV_CACHE", "")
    first_step(cache)
    imported, seconds = first_step(cache)
    return {"import seconds": imported, "first step seconds": seconds}


def cold() -> dict[str, float]:
    """Measure first use with an empty cache: everything that a first step needs is compiled."""
    with tempfile.TemporaryDirectory() as folder:
        return {"first step, cold cache seconds": first_step(folder)[1]}


PLAYER = """
import sys
from workloads import simple_match
work = simple_match()
work(1)
print("ready", flush=True)
rounds = int(sys.stdin.readline())
work(rounds)
print("done", flush=True)
"""


def seconds_of_threads(works: list, rounds: int) -> float:
    """Return the seconds until all have finished their work, each in its own thread."""
    running = [threading.Thread(target=work, args=(rounds,)) for work in works]
    start = time.perf_counter()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return time.perf_counter() - start


def seconds_of_processes(number: int, rounds: int) -> float:
    """Return the seconds in which that many started and compiled processes all play the same matches."""
    command = [sys.executable, "-c", PLAYER]
    players = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(number)
    ]
    try:
        for player in players:
            if player.stdout.readline() != "ready\n":
                raise RuntimeError("a process that should play has ended")
        start = time.perf_counter()
        for player in players:
            print(rounds, file=player.stdin, flush=True)
        for player in players:
            if player.stdout.readline() != "done\n":
                raise RuntimeError("a process that should play has ended")
        return time.perf_counter() - start
    finally:
        for player in players:
            player.communicate()


def scaling(seconds: float = 1.0) -> dict[str, float]:
    """Measure the speed-up of two workers, and of one per core, over one, each with its own work.

    Threads play randomly in one kernel; processes, the usual way to use several cores, play matches with the
    Python part and the memory traffic that belong to them.
    """
    from timing import rounds_for
    from workloads import fused_play, simple_match

    if len(CORES_AT_START) < 2:
        raise RuntimeError("one core only")
    os.sched_setaffinity(0, CORES_AT_START)  # threads and processes inherit it
    works = [fused_play(first=index << 32) for index in range(len(CORES_AT_START))]
    rounds, matches = rounds_for(works[0], seconds), rounds_for(simple_match(), seconds)
    counts = sorted({2, len(CORES_AT_START)})
    one_thread, one_process = seconds_of_threads(works[:1], rounds), seconds_of_processes(1, matches)
    figures = {}
    for count in counts:
        figures[f"{count} threads over one"] = count * one_thread / seconds_of_threads(works[:count], rounds)
        figures[f"{count} processes over one"] = count * one_process / seconds_of_processes(count, matches)
    return figures


def training(free: bool):
    """Train MaskablePPO on GinRummyVecEnv or a free environment; a round is a rollout and its epochs."""
    import numpy as np
    import torch
    from sb3_contrib import MaskablePPO

    from gin_env.wrappers.sb3 import GinRummyVecEnv

    class FreeEnv(GinRummyVecEnv):
        """No computation: the same observation and mask forever, an episode ends every 13 steps."""

        count = 0

        def reset(self):
            self.first = super().reset()
            return self.first

        def step_async(self, actions):
            pass

        def step_wait(self):
            self.count += 1
            over = np.full(self.num_envs, self.count % 13 == 0)
            return self.first, np.zeros(self.num_envs, np.float32), over, [{} for _ in over]

    torch.set_num_threads(1)
    num_games, steps = 256, 64
    model = MaskablePPO(
        "MlpPolicy",
        (FreeEnv if free else GinRummyVecEnv)(num_games, "simple", seed=1),
        n_steps=steps,
        batch_size=2048,
        n_epochs=4,
        policy_kwargs={"net_arch": [64, 64]},
        device="cpu",
        seed=1,
    )

    def work(rounds: int) -> dict[str, float]:
        model.learn(rounds * num_games * steps)
        return {"steps": rounds * num_games * steps}

    return work


def load():
    """See `worker`."""
    from timing import memory_per_game
    from workloads import WORKLOADS

    rates = {name: workload.make for name, workload in WORKLOADS.items()}
    if importlib.util.find_spec("sb3_contrib"):
        rates["training"] = lambda: training(free=False)
        rates["training_free"] = lambda: training(free=True)
    return rates, {"first": first, "cold": cold, "memory": memory_per_game, "scaling": scaling}


if __name__ == "__main__":
    main(load)
