"""Masked PPO on candidates: learn Gin Rummy from scratch in plain PyTorch.

    python examples/ppo.py --minutes 6 --run runs/first          # watch it learn
    python examples/ppo.py --minutes 60 --run runs/first --resume
    python examples/ppo.py --workers 8 --num-envs 8192           # on eight cores
    python examples/ppo.py --start policy --memory --run runs/m  # remember the earlier hands of a game
    torchrun --nnodes 2 ... -- examples/ppo.py --run runs/first  # on a cluster
    tensorboard --logdir runs/first                              # losses, win rates
    gin-rummy match runs/first/policy.safetensors simple         # the trained policy is a bot

A run folder holds checkpoint.safetensors, policy.safetensors (a bot by its path), evaluations.csv,
learning_curve.png and TensorBoard logs. You can stop a run at any time: even `kill -9` loses at most about
one minute of training, and a resumed run continues exactly as if it had not been stopped.

To change the algorithm, start with examples/frameworks/cleanrl.py, which is PPO in one loop. This script is
the fast learner, from `gin_env.training`: experience.py (decisions and advantages), league.py (opponents),
learner.py (games, loss and updates), ppo.py (runs, evaluations), ranks.py (processes), runs.py (folders).
"""

from __future__ import annotations

import os

# Threads that wait must sleep: spinning ones slow each other down. torch reads this at import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from gin_env.support.exits import one_line_errors
from gin_env.training.ppo import PPORun, PPOSettings
from gin_env.training.ranks import Ranks, launch
from gin_env.training.runs import read_command


def train(settings: PPOSettings, ranks: Ranks) -> None:
    """Train, evaluate and save. Each rank, a process, plays its share of the games."""
    with PPORun(settings, ranks, settings.resume_command("python examples/ppo.py")) as run:
        learner, progress, settings = run.learner, run.progress, run.settings
        while run.share < 1:
            # Play num_steps actions in each of num_envs games. Most games are against the learner itself, and
            # both players' decisions are kept; a hand ends with its reward, and advantages are estimated
            # backwards from there.
            learner.collect()

            # update_epochs passes over these decisions in minibatches, each a step of Adam on the clipped
            # loss, with the gradient of all ranks' decisions; learning rate and entropy bonus fall with the
            # remaining share of the training.
            num_decisions, log = learner.update(1 - run.share)
            progress.decisions += num_decisions
            progress.updates += 1

            # The learner's past selves are opponents too, besides bots, which are sampled more often the more
            # hands they win.
            if settings.past_share and progress.updates % settings.snapshot_every == 0:
                learner.add_past_self()

            # Log; from time to time, play matches against bots, write a checkpoint and the policy.
            run.end_update(log | learner.league.log())
        run.finish()
    run.announce()


if __name__ == "__main__":
    with one_line_errors("ppo.py"):
        settings = read_command("ppo.py", __doc__)
        settings.check()
        launch(train, settings, settings.workers, settings.device)
