"""PPO as a program: ``gin-rummy train``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gin_env.training import ppo


@dataclass
class Settings(ppo.PPOSettings):
    """Settings of ``gin-rummy train``."""

    PROGRAM: ClassVar[str] = "gin-rummy train"
