"""Kill examples/ppo_selfplay.py at many events and check what is left; a script of its own, since it forks.

    python tests/helpers/self_play_kills.py FOLDER

Sessions are killed before or after a random system call of those that write files, or in the middle of a
rollout or an update, and one is interrupted by Ctrl-C; each resumes from the last one. Nothing depends
on the clock.
"""

from __future__ import annotations

import csv
import os
import random
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from example_scripts import load_example
from killed_sessions import FILE_EVENTS, finish, kill_session, output_of, start

from gin_env.matches.matches import play_match
from gin_env.support.atomic import write_text
from gin_env.training import runs
from gin_env.training.checkpoints import by_prefix
from gin_env.training.runs import CHECKPOINT, open_folder
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy
from gin_env.wrappers.sb3_self_play import SelfPlayProgress, SelfPlayRun, SelfPlaySettings

KILLS = 16
MINIBATCHES = 2
ROLLOUT = 32
LEARNING_EVENTS = [(GinRummyVecEnv, "step_wait"), (torch.optim.Adam, "step")]


def tiny(run: Path) -> SelfPlaySettings:
    return SelfPlaySettings(
        run,
        total_timesteps=10**6,
        threads=1,
        num_envs=4,
        num_steps=8,
        num_minibatches=MINIBATCHES,
        hidden=8,
        bots=("simple",),
        pool_size=3,
        snapshot_every=0.0,
        evaluate_every=0.0,
        evaluation_games=2,
        final_games=2,
        checkpoint_every=0.0,
    )


def check(settings: SelfPlaySettings, before: SelfPlayProgress | None) -> SelfPlayProgress | None:
    """Return the saved progress, checked to be consistent and to have lost nothing since `before`."""
    if not (settings.run / CHECKPOINT).exists():
        assert before is None, "the checkpoint is gone"
        return None
    _, (tensors, metadata) = open_folder(replace(settings, resume=True))
    progress = SelfPlayProgress(**metadata["progress"])
    assert progress.decisions == progress.updates // settings.update_epochs * ROLLOUT
    steps = {int(value) for key, value in tensors.items() if key.endswith(".step")}
    assert steps == ({progress.updates * MINIBATCHES} if progress.updates else set())
    assert progress.pool == sorted(progress.pool)
    assert len(by_prefix(by_prefix(tensors).get("pool", {}))) == len(progress.pool) <= settings.pool_size
    decisions = [row["decisions"] for row in progress.evaluations]
    assert decisions == sorted(decisions)
    if before is not None:
        assert progress.decisions >= before.decisions
        assert progress.minutes >= before.minutes
        assert progress.evaluations[: len(before.evaluations)] == before.evaluations
    return progress


def main(run: Path) -> None:
    example = load_example("ppo_selfplay")
    torch.set_num_threads(1)
    settings = tiny(run)
    # Games to 100 points are slow without knocks, and so are pictures: neither is tested here.
    runs.play_match = partial(play_match, episode="hand")
    runs.draw_learning_curve = lambda rows, bots, path, origin: write_text(path, f"{len(rows)} points")
    play_match("random", "simple", 2, episode="hand")  # once instead of in each session
    example.make_model(replace(settings, run=run.parent / "warm")).env.reset()
    generator = random.Random(5)
    progress = None
    for number in range(KILLS):
        session = replace(settings, resume=(run / CHECKPOINT).exists())
        if number % 4 == 3:
            kill_session(example, session, generator, 12, LEARNING_EVENTS)
        else:
            kill_session(example, session, generator, 20, FILE_EVENTS)
        progress = check(settings, progress)
    assert progress is not None
    assert progress.evaluations
    assert len(progress.pool) == settings.pool_size

    def interrupt() -> None:
        """Press Ctrl-C in the middle of a rollout."""
        step = GinRummyVecEnv.step_wait

        def interrupted(env):
            os.kill(os.getpid(), signal.SIGINT)
            GinRummyVecEnv.step_wait = step
            return step(env)

        GinRummyVecEnv.step_wait = interrupted

    _, status = os.waitpid(start(example, replace(settings, resume=True), interrupt), 0)
    output = output_of(settings)
    assert os.waitstatus_to_exitcode(status) == 130, output
    assert "Traceback" not in output
    assert output.splitlines()[-1].startswith(
        "interrupted; to resume: python examples/ppo_selfplay.py --run "
    )
    decisions = progress.decisions
    progress = check(settings, progress)
    assert progress.decisions == decisions + ROLLOUT

    last = replace(settings, resume=True, total_timesteps=progress.decisions + 2 * ROLLOUT)
    finish(example, last)
    progress = check(settings, progress)
    assert progress.finished
    assert progress.decisions == last.total_timesteps
    with (run / "evaluations.csv").open() as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    assert rows == progress.evaluations
    assert not list(run.rglob("*.partial"))
    again = SelfPlayRun(last, example.make_model)  # equal networks are equal files
    save_policy(again.model, run.parent / "again.safetensors")
    assert (run / "policy.safetensors").read_bytes() == (run.parent / "again.safetensors").read_bytes()
    print(f"{KILLS} kills, {progress.decisions} decisions, {len(rows)} evaluations")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
