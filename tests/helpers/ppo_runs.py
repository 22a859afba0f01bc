"""Small PPO runs."""

from __future__ import annotations

from pathlib import Path

from gin_env.training.settings import PPOSettings

QUICK = {
    "total_timesteps": 1000, "workers": 1, "num_envs": 32, "num_steps": 24, "num_minibatches": 3, "hidden": 8,
    "evaluation_games": 2, "final_games": 2,
}  # fmt: skip
"""Settings of a training that only tries the command."""


def tiny(run: Path) -> PPOSettings:
    """A run of a second."""
    return PPOSettings(
        run, total_timesteps=3000, num_envs=32, num_steps=24, num_minibatches=3, hidden=8, bots=("simple",),
        bots_share=0.2, past_share=0.3, past_size=2, snapshot_every=1, evaluate_every=1e9, final_games=2,
        checkpoint_every=1e9, workers=1, bfloat16=False,
    )  # fmt: skip
