"""PPO as a program: ``gin-rummy train``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gin_env.training import ppo


@dataclass
class Settings(ppo.PPOSettings):
    """Train a policy by masked PPO and self-play.

    The policy in RUN/policy.safetensors is a bot by its path. A run can be stopped at any time; --resume
    continues it.
    """

    PROGRAM: ClassVar[str] = "gin-rummy train"
