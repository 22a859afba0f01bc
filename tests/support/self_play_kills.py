"""Kill examples/ppo_selfplay.py at many moments and check what is left; its own script, since it forks.

    python tests/support/self_play_kills.py FOLDER

Everything is imported once; each session of the run is a forked process. Most are killed before or after a
random system call of those that write files, some after a random time, one is interrupted; each goes on with
what the last one left.
"""

from __future__ import annotations

import csv
import os
import random
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from helpers import load_example
from kills import finish, kill_session, output_of, start

from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.matches.matches import play_match
from gin_env.support.atomic import write_text

KILLS, TIMED_KILLS = 20, 3
UPDATES = 2  # minibatches in a pass over the decisions of a rollout
ROLLOUT = 32


def tiny(example, run: Path):
    return example.Settings(
        run, 60.0, threads=1, num_envs=4, num_steps=8, batch_size=ROLLOUT // UPDATES, width=8,
        bots=("simple",), pool_size=3, snapshot_every=0.0005, evaluate_every=0.003, evaluation_games=2,
        final_games=2, checkpoint_every=0.0,
    )  # fmt: skip


def check(example, settings, before):
    """The progress in the folder: of one moment, and nothing lost since `before`."""
    if not (settings.run / "checkpoint.safetensors").exists():
        assert before is None, "the checkpoint is gone"
        return None
    _, progress, tensors = example.read_checkpoint(settings)
    assert progress.decisions == progress.updates // settings.num_epochs * ROLLOUT
    steps = {int(value) for key, value in tensors.items() if key.endswith(".step")}
    assert steps == ({progress.updates * UPDATES} if progress.updates else set())
    assert [int(Path(name).stem) for name in progress.pool] == sorted(
        int(Path(name).stem) for name in progress.pool
    )
    for name in progress.pool:
        assert int(Path(name).stem) <= progress.decisions
        CandidatePolicyBot.load(settings.run / "pool" / name)
    decisions = [row["decisions"] for row in progress.evaluations]
    assert decisions == sorted(decisions)
    assert all(row["minutes"] <= progress.minutes + 0.01 for row in progress.evaluations)
    if before is not None:
        assert progress.decisions >= before.decisions
        assert progress.minutes >= before.minutes
        assert progress.evaluations[: len(before.evaluations)] == before.evaluations
    return progress


def main(run: Path) -> None:
    example = load_example("ppo_selfplay")
    torch.set_num_threads(1)
    settings = tiny(example, run)
    # Games to 100 points take long while nobody knocks, and so do pictures: neither is what is tested here.
    example.play_match = lambda *bots, episode="hand", record=None: play_match(*bots, episode="hand")
    example.draw_learning_curve = lambda rows, path, origin: write_text(path, f"{len(rows)} points")
    play_match("random", "simple", 2, episode="hand")  # once, not in each session
    example.make_model(settings).env.reset()
    generator = random.Random(5)
    progress = None
    for number in range(KILLS):
        session = replace(settings, resume=run.exists())
        timed = number >= KILLS - TIMED_KILLS
        kill_session(example, session, generator, calls=30, seconds=(0.2, 2), timed=timed)
        progress = check(example, settings, progress)
    assert progress is not None
    assert progress.evaluations
    assert len(progress.pool) == settings.pool_size

    process = start(example, replace(settings, resume=True))
    # Only the checkpoint is read here: the pool that it names may have changed by the next line.
    try:
        while example.read_checkpoint(settings)[1].decisions == progress.decisions:
            time.sleep(0.05)
    finally:
        os.kill(process, signal.SIGINT)
    _, status = os.waitpid(process, 0)
    output = output_of(settings)
    assert os.waitstatus_to_exitcode(status) == 130, output
    assert "Traceback" not in output
    assert output.splitlines()[-1].startswith("interrupted; python ")
    progress = check(example, settings, progress)

    finish(example, replace(settings, resume=True, minutes=progress.minutes + 0.02))
    progress = check(example, settings, progress)
    assert progress.finished
    with (run / "evaluations.csv").open() as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    assert rows == progress.evaluations
    found = sorted(path.name for path in (run / "pool").iterdir())
    assert found == progress.pool, (found, progress.pool)
    assert not list(run.rglob("*.partial"))
    tensors = example.read_checkpoint(settings)[2]
    model = example.make_model(settings)
    example.restore_model(model, tensors)
    model.num_timesteps = progress.decisions
    example.save_policy(model, run.parent / "again.safetensors")  # equal networks are equal files
    assert (run / "policy.safetensors").read_bytes() == (run.parent / "again.safetensors").read_bytes()
    print(f"{KILLS} kills, {progress.decisions} decisions, {len(rows)} evaluations")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
