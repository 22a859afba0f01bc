"""Kill examples/ppo.py at many moments: it ends as if it never had been; its own script, since it forks.

    python tests/support/ppo_kills.py FOLDER

Sessions are killed before or after a random system call of those that write files, or after a random time;
each goes on with what the last one left. The policy at the end is that of an unbroken run, to the last bit.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import torch
from helpers import load_example
from kills import finish, kill_session

from gin_env.agents.policies.candidate_network import load_candidate_policy
from gin_env.matches.matches import play_match
from gin_env.support.atomic import write_text

KILLS, TIMED_KILLS = 16, 3


def tiny(example, run: Path):
    return example.Settings(
        run, decisions=7000, threads=1, tables=8, steps=24, batch_size=64, hidden=8, bots=("simple",),
        bots_share=0.2, past_share=0.3, past_size=2, snapshot_every=3, evaluate_every=0.004,
        evaluation_games=2, final_games=2, checkpoint_every=0.0,
    )  # fmt: skip


def main(folder: Path) -> None:
    example = load_example("ppo")
    torch.set_num_threads(1)
    # Games to 100 points take long while nobody knocks, and so do pictures: neither is what is tested here.
    example.play_match = lambda bot, opponent, games, seed, record: play_match(
        bot, opponent, games, seed, episode="hand", record=record
    )
    example.draw_learning_curve = lambda rows, bots, path, origin: write_text(path, f"{len(rows)} points")
    unbroken = tiny(example, folder / "unbroken")
    warm = example.Learner(unbroken)  # loads the bots and compiles: once, and not in each session
    warm.begin_games(warm.games.everyone)
    warm.seat_opponents(warm.games.everyone)
    warm.collect()
    finish(example, unbroken)

    settings = tiny(example, folder / "killed")
    generator = random.Random(5)
    decisions = 0
    for number in range(KILLS):
        session = replace(settings, resume=(settings.run / example.CHECKPOINT).exists())
        timed = number >= KILLS - TIMED_KILLS
        kill_session(example, session, generator, calls=16, seconds=(0.1, 0.6), timed=timed)
        if (settings.run / example.CHECKPOINT).exists():
            _, (_, metadata) = example.open_run(replace(settings, resume=True))
            assert metadata["progress"]["decisions"] >= decisions
            decisions = metadata["progress"]["decisions"]
    assert 0 < decisions < settings.decisions, f"{decisions} decisions: the kills came too early or too late"
    finish(example, replace(settings, resume=True))
    assert not list(settings.run.rglob("*.partial"))
    expected, found = (
        load_candidate_policy(run.run / example.POLICY)[0].state_dict() for run in (unbroken, settings)
    )
    for name, weights in expected.items():
        assert torch.equal(weights, found[name]), name
    print(f"{KILLS} kills, {decisions} decisions before the last session")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
