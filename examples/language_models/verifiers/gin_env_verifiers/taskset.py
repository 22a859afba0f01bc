"""One task is one hand (or game) against a bot, with the deal of its seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Literal

import verifiers.v1 as vf

from gin_env.wrappers.text import TextGinRummy


class GinRummyData(vf.TaskData):
    """The task as data."""

    info: dict[str, Any]
    """``seed``, and the arguments of `TextGinRummy`."""


class GinRummyTask(vf.Task[GinRummyData]):
    """A hand; the environment records its reward."""


class GinRummyConfig(vf.TasksetConfig):
    """Options, such as ``--taskset.opponent tonic``."""

    opponent: str = "simple"
    episode: Literal["hand", "game"] = "hand"
    reward: Literal["points", "win"] = "points"
    patience: int = 3
    """Illegal answers after which the episode is lost."""
    first_seed: int = 0


class GinRummyTaskset(vf.Taskset[GinRummyTask, GinRummyConfig]):
    """Deals without end."""

    INFINITE = True

    def load(self) -> Iterator[GinRummyTask]:
        """Yield the hand of each seed."""
        names = ("opponent", "episode", "reward", "patience")
        arguments = {name: getattr(self.config, name) for name in names}
        for index in count():
            info = {"seed": self.config.first_seed + index, "arguments": arguments}
            data = GinRummyData(idx=index, name=f"seed {info['seed']}", prompt=None, info=info)
            yield GinRummyTask(data)


class GinRummyVerifiersEnv(vf.SingleAgentEnv):
    """Plays the hand: positions are the user's turns, the model's answers are actions."""

    async def run(self, task: GinRummyTask, agents: vf.Agents) -> None:
        """Play one episode and record reward ``points`` and the metrics."""
        env = TextGinRummy(**task.data.info["arguments"])
        text, info = env.reset(seed=task.data.info["seed"])
        total, over = 0.0, False
        async with agents.agent.interaction(task) as interaction:
            while not over:
                segment = await interaction.turn(text)
                if segment.terminated:  # a limit of the run, such as its number of turns
                    break
                text, reward, over, _, info = env.step(segment.last_reply)
                total += reward
        interaction.trace.record_reward("points", total)
        interaction.trace.record_metric("illegal_answers", info["misses"])
        interaction.trace.record_metric("finished", over)
