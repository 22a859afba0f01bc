"""Masked-PPO self-play with Stable-Baselines3: learn Gin Rummy from scratch against past selves and bots.

    python examples/ppo_selfplay.py --minutes 10 --run runs/first     # watch it learn
    python examples/ppo_selfplay.py --minutes 60 --run runs/first --resume
    python examples/ppo_selfplay.py --rules oklahoma --run runs/oklahoma
    tensorboard --logdir runs/first                                   # losses, win rates
    gin-rummy match runs/first/policy.safetensors simple              # the trained policy is a bot

The policy scores candidates (`gin_env.observations.candidates`). With --policy flat it reads the flat
observation and gives each of the 107 actions a logit, which learns more slowly.

The files of a run are those of examples/ppo.py. A stopped run resumes from its last checkpoint, which is at
most about one minute old.
"""

from __future__ import annotations

import os

# Threads that wait must sleep: spinning ones slow each other down. torch reads this at import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import FloatSchedule

from gin_env.game.rules import Rules
from gin_env.support.exits import one_line_errors
from gin_env.wrappers.candidate_policy import SB3CandidatePolicy
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv
from gin_env.wrappers.sb3_self_play import SelfPlayRun, SelfPlaySettings


def make_model(settings: SelfPlaySettings) -> MaskablePPO:
    """Return a new model with its games."""
    candidates = settings.policy == "candidate"
    rules = Rules.parse(settings.rules)
    env = GinRummyVecEnv(settings.num_envs, "random", rules, seed=settings.seed, candidates=candidates)
    model = MaskablePPO(
        SB3CandidatePolicy if candidates else CardPolicy,
        env,
        n_steps=settings.num_steps,
        batch_size=settings.num_envs * settings.num_steps // settings.num_minibatches,
        n_epochs=settings.update_epochs,
        learning_rate=settings.learning_rate,
        ent_coef=settings.ent_coef,
        vf_coef=settings.vf_coef,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_coef,
        max_grad_norm=settings.max_grad_norm,
        policy_kwargs={"hidden": settings.hidden} if candidates else {"net_arch": list(settings.net_arch)},
        seed=settings.seed,
        device="cpu",
    )
    model.set_logger(configure(str(settings.run / "tensorboard"), ["tensorboard"]))
    model.gin_env = env.describe_training()
    return model


def train(settings: SelfPlaySettings) -> None:
    """Train, evaluate and save."""
    with SelfPlayRun(settings, make_model) as run:
        model, settings = run.model, run.settings
        while run.share < 1:
            # The past selves in the pool are the opponents, with some bots.
            if run.minutes >= run.progress.next_snapshot:
                run.add_past_self()

            # One update of MaskablePPO: num_steps decisions in each of num_envs games, then update_epochs
            # passes over them. Learning rate and entropy bonus fall with the share of training left.
            annealing = max(1 - run.share, 0.1)
            model.lr_schedule = FloatSchedule(settings.learning_rate * annealing)
            model.ent_coef = settings.ent_coef * annealing
            model.learn(settings.num_envs * settings.num_steps, reset_num_timesteps=False)

            # Now and then: play matches against bots, write a checkpoint and the policy.
            run.count()
            run.end_update({})
        run.finish()
    run.announce()


if __name__ == "__main__":
    with one_line_errors("ppo_selfplay.py"):
        train(tyro.cli(SelfPlaySettings, description=__doc__))
