"""Stable-Baselines3: MaskablePPO on `GinRummyVecEnv` (--face vec) or on `gymnasium.make` (--face gym).

What it learned is saved: its path is a bot, as in `gin-rummy match policy.safetensors simple`.
"""

from pathlib import Path
from typing import Any

import gymnasium
import torch
from measure import Run
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from gin_env import agents
from gin_env.wrappers import CardPolicy, GinRummyVecEnv, save_policy

torch.set_num_threads(1)
run = Run("sb3-contrib", opponent="simple", face="vec", save="runs/sb3/policy.safetensors")


class Count(BaseCallback):
    """Counts decisions, and ends the training in time."""

    def _on_step(self):
        run.count(self.locals["action_masks"], self.locals["actions"])
        return not run.over()


if run.options.face == "vec":
    env = GinRummyVecEnv(256, "simple", seed=run.seed)  # fast: all games in one batch
    training = env.describe_training()
else:
    env = gymnasium.make("gin_env/GinRummy-v0", opponent="simple")  # SB3 puts it into a DummyVecEnv
    training = env.unwrapped.describe_training()
batch: dict[str, Any] = {
    "vec": {"n_steps": 32, "batch_size": 1024},
    "gym": {"n_steps": 1024, "batch_size": 256},
}
model = MaskablePPO(
    CardPolicy,
    env,
    learning_rate=1e-3,
    n_epochs=2,
    ent_coef=0.01,
    seed=run.seed,
    policy_kwargs={"net_arch": [128]},
    device="cpu",
    **batch[run.options.face],
)
model.gin_env = training  # stored with the policy: how it sees


def choose(observations, masks):
    if run.options.face == "gym":
        observations = {"observation": observations, "action_mask": masks}
    return model.predict(observations, action_masks=masks, deterministic=True)[0]


run.begin(choose)
model.learn(10**9, callback=Count())
run.finish()
Path(run.options.save).parent.mkdir(parents=True, exist_ok=True)
save_policy(model, run.options.save)
print(f"{run.options.save} is a bot: {agents.make(run.options.save).name}")
