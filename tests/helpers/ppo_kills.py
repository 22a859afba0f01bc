"""Kill a PPO training at many events and resume it each time; a script of its own, since it forks.

    python tests/helpers/ppo_kills.py FOLDER

Sessions are killed before or after a random system call of those that write files, or in the middle of a
rollout or an update; each resumes from the last one. Nothing depends on the clock. The final policy
equals that of an uninterrupted run, bit for bit.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from killed_sessions import FILE_EVENTS, fork, kill_at
from ppo_runs import tiny

from gin_env.agents.policies.candidate_network import load_candidate_policy
from gin_env.matches.matches import play_match
from gin_env.support.atomic import write_text
from gin_env.training import ppo
from gin_env.training.learner import Learner
from gin_env.training.ppo import train
from gin_env.training.runs import CHECKPOINT, POLICY, open_folder
from gin_env.training.settings import PPOSettings

KILLS = 16
LEARNING_EVENTS = [(Learner, "step"), (Learner, "loss")]


def short(run: Path) -> PPOSettings:
    """Return the settings of a run of dozens of updates, each with an evaluation and a checkpoint."""
    return replace(
        tiny(run), total_timesteps=7000, num_envs=8, snapshot_every=3, evaluate_every=0.0, evaluation_games=2,
        checkpoint_every=0.0,
    )  # fmt: skip


def session(settings: PPOSettings, *killed: object) -> int:
    """Train in a fork, which may be killed at (count, before, events); return its status."""

    def work() -> None:
        if killed:
            kill_at(*killed)
        train(settings)

    return os.waitstatus_to_exitcode(os.waitpid(fork(work, settings.run.with_suffix(".txt")), 0)[1])


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    # Games to 100 points are slow without knocks, and so are pictures: neither is tested here.
    ppo.play_match = partial(play_match, episode="hand")
    ppo.draw_learning_curve = lambda rows, bots, path, origin: write_text(path, f"{len(rows)} points")
    unbroken, settings = short(folder / "unbroken"), short(folder / "killed")
    warm = Learner(unbroken)  # load the bots and compile once instead of in each session
    warm.begin()
    warm.collect()
    assert session(unbroken) == 0
    generator = random.Random(5)
    decisions = 0
    for number in range(KILLS):
        most, events = (100, LEARNING_EVENTS) if number % 4 == 3 else (20, FILE_EVENTS)
        again = replace(settings, resume=(settings.run / CHECKPOINT).exists())
        assert session(again, generator.randint(1, most), generator.random() < 0.5, events) < 0
        if (settings.run / CHECKPOINT).exists():
            _, (_, metadata) = open_folder(replace(settings, resume=True))
            assert metadata["progress"]["decisions"] >= decisions
            decisions = metadata["progress"]["decisions"]
    assert 0 < decisions < settings.total_timesteps
    assert session(replace(settings, resume=True)) == 0
    assert not list(settings.run.rglob("*.partial"))
    expected, found = (
        load_candidate_policy(run.run / POLICY)[0].state_dict() for run in (unbroken, settings)
    )
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
