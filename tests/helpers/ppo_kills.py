"""Kill examples/ppo.py at many events and resume it each time; a script of its own, since it forks.

    python tests/helpers/ppo_kills.py FOLDER

Sessions are killed before or after a random system call of those that write files, or in the middle of a
rollout or an update; each resumes from the last one. Nothing depends on the clock. The final policy
equals that of an uninterrupted run, bit for bit.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from example_scripts import load_example
from killed_sessions import FILE_EVENTS, finish, kill_session
from ppo_runs import tiny

from gin_env.agents.policies.candidate_network import load_candidate_policy
from gin_env.matches.matches import play_match
from gin_env.support.atomic import write_text
from gin_env.training import runs
from gin_env.training.learner import Learner, PPOSettings
from gin_env.training.runs import CHECKPOINT, POLICY, open_folder

KILLS = 16
LEARNING_EVENTS = [(Learner, "step"), (Learner, "loss")]


def short(run: Path) -> PPOSettings:
    """Return the settings of a run of dozens of updates, each with an evaluation and a checkpoint."""
    return replace(
        tiny(run),
        total_timesteps=7000,
        num_envs=8,
        snapshot_every=3,
        evaluate_every=0.0,
        evaluation_games=2,
        checkpoint_every=0.0,
    )


def main(folder: Path) -> None:
    example = load_example("ppo")
    torch.set_num_threads(1)
    # Games to 100 points are slow without knocks, and so are pictures: neither is tested here.
    runs.play_match = partial(play_match, episode="hand")
    runs.draw_learning_curve = lambda rows, bots, path, origin: write_text(path, f"{len(rows)} points")
    unbroken = short(folder / "unbroken")
    warm = Learner(unbroken)  # load the bots and compile once instead of in each session
    warm.begin()
    warm.collect()
    finish(example, unbroken)

    settings = short(folder / "killed")
    generator = random.Random(5)
    decisions = 0
    for number in range(KILLS):
        session = replace(settings, resume=(settings.run / CHECKPOINT).exists())
        if number % 4 == 3:
            kill_session(example, session, generator, 100, LEARNING_EVENTS)
        else:
            kill_session(example, session, generator, 20, FILE_EVENTS)
        if (settings.run / CHECKPOINT).exists():
            _, (_, metadata) = open_folder(replace(settings, resume=True))
            assert metadata["progress"]["decisions"] >= decisions
            decisions = metadata["progress"]["decisions"]
    assert 0 < decisions < settings.total_timesteps
    finish(example, replace(settings, resume=True))
    assert not list(settings.run.rglob("*.partial"))
    expected, found = (
        load_candidate_policy(run.run / POLICY)[0].state_dict() for run in (unbroken, settings)
    )
    for name, weights in expected.items():
        assert torch.equal(weights, found[name]), name
    print(f"{KILLS} kills, {decisions} decisions before the last session")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
