"""Masked-PPO self-play with Stable-Baselines3: learn Gin Rummy from scratch against past selves and bots.

    python examples/ppo_selfplay.py --run runs/first                  # about five minutes
    python examples/ppo_selfplay.py --run runs/first --resume --total-timesteps 20000000
    python examples/ppo_selfplay.py --rules oklahoma --run runs/oklahoma
    tensorboard --logdir runs/first                                   # losses, win rates
    gin-rummy match runs/first/policy.safetensors simple              # the trained policy is a bot

The policy scores candidates (`gin_env.observations.candidates`). With --policy flat it reads the flat
observation and gives each of the 107 actions a logit, which learns more slowly. `SelfPlayCallback` keeps the
past selves, evaluates, and writes the files of the run; a stopped run resumes from its last evaluation.
"""

from __future__ import annotations

import os

# Threads that wait must sleep: spinning ones slow each other down. torch reads this at import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import LinearSchedule

from gin_env.support.exits import one_line_errors
from gin_env.wrappers.candidate_policy import SB3CandidatePolicy
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv
from gin_env.wrappers.sb3_callbacks import CHECKPOINT_FILE, POLICY_FILE, SelfPlayCallback


@dataclass
class Settings:
    """Settings of a run; hyperparameters have CleanRL's names."""

    run: Path = Path("runs/ppo_selfplay")
    """Folder of the run."""
    resume: bool = False
    """Continue the run in the folder, with the same settings, up to --total-timesteps."""
    total_timesteps: int = 2_000_000
    """Number of decisions to learn from."""
    seed: int = 1
    """Seed of decks, network and exploration."""
    rules: str = "eaai"
    """Rules: a preset such as oklahoma, or single rules such as knock_limit=7."""
    policy: Literal["candidate", "flat"] = "candidate"
    """`SB3CandidatePolicy`, or `CardPolicy` on the flat observation."""
    bots: tuple[str, ...] = ("simple", "simple:knock_at=0", "tonic", "generation")
    """Bots to play against, in training and in evaluations."""
    evaluate_every: int = 250_000
    """Number of decisions between two evaluations."""
    evaluation_games: int = 400
    """Number of hands of an evaluation against each bot."""
    threads: int = 2
    """Number of PyTorch threads."""

    num_envs: int = 256
    """Number of games played at the same time."""
    num_steps: int = 64
    """Number of decisions in each game between two updates."""
    num_minibatches: int = 16
    """Number of minibatches in a pass over the decisions of an update."""
    update_epochs: int = 2
    """Number of passes over the decisions of an update."""
    learning_rate: float = 1e-3
    """Initial learning rate, which falls linearly to a tenth at the end."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus."""
    gamma: float = 1.0
    """Discount factor per decision; no discount by default, since hands are short."""


def make_model(settings: Settings) -> MaskablePPO:
    """Return a new model with its games."""
    is_candidate = settings.policy == "candidate"
    env = GinRummyVecEnv(
        settings.num_envs, "random", settings.rules, seed=settings.seed, candidates=is_candidate
    )
    return MaskablePPO(
        SB3CandidatePolicy if is_candidate else CardPolicy,
        env,
        n_steps=settings.num_steps,
        batch_size=settings.num_envs * settings.num_steps // settings.num_minibatches,
        n_epochs=settings.update_epochs,
        learning_rate=LinearSchedule(settings.learning_rate, settings.learning_rate / 10, 1.0),
        ent_coef=settings.ent_coef,
        gamma=settings.gamma,
        seed=settings.seed,
        device="cpu",
        tensorboard_log=str(settings.run / "tensorboard"),
    )


def train(settings: Settings) -> None:
    """Train, evaluate and save."""
    torch.set_num_threads(settings.threads)
    if not settings.resume and (settings.run / CHECKPOINT_FILE).exists():
        raise ValueError(f"{settings.run} holds a run: choose another --run, or add --resume")
    model = make_model(settings)
    callback = SelfPlayCallback(
        settings.run,
        settings.bots,
        snapshot_every=settings.evaluate_every // 2,
        evaluate_every=settings.evaluate_every,
        games=settings.evaluation_games,
        seed=settings.seed + 1000,
    )
    if settings.resume:
        callback.restore(model)
    left = settings.total_timesteps - model.num_timesteps
    if left > 0:
        model.learn(left, callback, reset_num_timesteps=False, progress_bar=True)
    print(f"next: gin-rummy match {settings.run / POLICY_FILE} simple")


if __name__ == "__main__":
    with one_line_errors("ppo_selfplay.py"):
        train(tyro.cli(Settings, description=__doc__))
