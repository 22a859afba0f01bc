"""Self-play runs of MaskablePPO: the model, its games, and a pool of its past selves.

See ``examples/ppo_selfplay.py`` for the training loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.policy import PolicyBot
from gin_env.game.rules import Rules
from gin_env.support.checks import check_integer, check_number
from gin_env.training.checkpoints import Tensors, by_prefix, prefixed
from gin_env.training.runs import OTHER_DECKS, RunProgress, RunSettings, TrainingRun, open_folder
from gin_env.wrappers.checkpoints import model_tensors, restore_model
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy

BOTS: dict[str, type[CandidatePolicyBot] | type[PolicyBot]] = {
    "candidate": CandidatePolicyBot,
    "flat": PolicyBot,
}
"""The class of bot for each value of `SelfPlaySettings.policy`."""


@dataclass
class SelfPlaySettings(RunSettings):
    """Settings of a self-play run; hyperparameters have CleanRL's names."""

    run: Path = Path("runs/ppo_selfplay")
    """Folder of the run; a new run needs a new or empty one."""
    minutes: float = 60.0
    """Minutes of training, earlier sessions and evaluations included."""
    threads: int = 2
    """Number of PyTorch threads."""
    evaluate_every: float = 5.0
    """Minutes between evaluations."""

    policy: Literal["candidate", "flat"] = "candidate"
    """`SB3CandidatePolicy`, or `CardPolicy` on the flat observation."""
    hidden: int = 64
    """Width of the candidate policy's layers."""
    net_arch: tuple[int, ...] = (256, 256)
    """Sizes of the hidden layers of the flat policy, the same for policy and value."""

    rules: str = "eaai"
    """Rules of the hands and of the evaluations: a preset such as oklahoma, or single rules such as
    knock_limit=7."""

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
    """Initial weight of the entropy bonus, which falls like the learning rate."""
    vf_coef: float = 0.5
    """Weight of the squared error of the value."""
    gamma: float = 1.0
    """Discount factor per decision; no discount by default, since hands are short."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation."""
    clip_coef: float = 0.2
    """PPO's limit on the change of a probability ratio."""
    max_grad_norm: float = 0.5
    """Maximum norm of the gradient."""

    pool_size: int = 8
    """Maximum number of past selves kept as opponents; older ones are thinned out."""
    snapshot_every: float = 1.5
    """Minutes between two past selves."""
    newest_share: float = 0.4
    """Share of hands against the newest past self."""
    bots_share: float = 0.4
    """Share of hands against bots, all equally often; the remaining hands are against older past selves."""

    PROGRAM: ClassVar[str] = "python examples/ppo_selfplay.py"
    KIND: ClassVar[str] = "self-play checkpoint"
    VERSION: ClassVar[str] = "4"
    SESSION: ClassVar[tuple[str, ...]] = (*RunSettings.SESSION, "threads")

    def check(self) -> None:
        super().check()
        Rules.parse(self.rules)
        if not self.bots:
            raise ValueError("bots must name at least one bot")
        # Game number i has the seed plus i, and the evaluations the seed plus OTHER_DECKS.
        check_integer("num_envs", self.num_envs, 1, OTHER_DECKS)
        for name in ("threads", "hidden", "num_steps", "num_minibatches", "update_epochs", "pool_size"):
            check_integer(name, getattr(self, name), 1, 1 << 31)
        for name in ("newest_share", "bots_share"):
            check_number(name, getattr(self, name), 0, 1)
        if self.newest_share + self.bots_share > 1:
            raise ValueError(
                "newest_share and bots_share must add up to at most 1, "
                f"not {self.newest_share} and {self.bots_share}"
            )


@dataclass
class SelfPlayProgress(RunProgress):
    """Progress of a self-play run."""

    pool: list[int] = field(default_factory=list)
    """Number of decisions after which each past self was taken."""
    next_snapshot: float = 0.0
    """Time of the next snapshot, in minutes of training."""


class SelfPlayRun(TrainingRun[SelfPlaySettings, SelfPlayProgress]):
    """A self-play run in its folder, with the model and the pool of its past selves.

    Parameters
    ----------
    settings : settings of a new run or, with `resume`, of the run in the folder.
    make_model : returns a new model on a `GinRummyVecEnv`, given the settings.

    Raises as `open_folder` and `restore_model` do.
    """

    def __init__(
        self, settings: SelfPlaySettings, make_model: Callable[[SelfPlaySettings], MaskablePPO]
    ) -> None:
        settings, checkpoint = open_folder(settings)
        torch.set_num_threads(settings.threads)
        self.model = make_model(settings)
        self.env = cast(GinRummyVecEnv, self.model.env)
        self.pool: list[tuple[CandidatePolicyBot | PolicyBot, Tensors]] = []
        if checkpoint is None:
            super().__init__(settings, SelfPlayProgress(next_evaluation=settings.evaluate_every))
            self.save()
            return
        tensors, metadata = checkpoint
        super().__init__(settings, SelfPlayProgress(**metadata["progress"]))
        groups = by_prefix(tensors)
        for _, weights in sorted(
            (int(index), each) for index, each in by_prefix(groups.get("pool", {})).items()
        ):
            self.model.policy.load_state_dict(weights)
            self.pool.append((self._frozen(), weights))
        restore_model(
            self.model, {name: each for name, each in tensors.items() if not name.startswith("pool.")}
        )
        self.model.num_timesteps, self.model._n_updates = self.progress.decisions, self.progress.updates
        self.env.seed(settings.seed + self.progress.decisions)  # different decks from those before
        self.choose_opponents()

    def count(self) -> None:
        """Update the progress from the model."""
        self.progress.decisions, self.progress.updates = self.model.num_timesteps, self.model._n_updates

    def add_past_self(self) -> None:
        """Add the current policy to the pool; from a full pool, drop the one closest to its neighbours."""
        progress = self.progress
        progress.next_snapshot = self.minutes + self.settings.snapshot_every
        weights = {name: tensor.clone() for name, tensor in self.model.policy.state_dict().items()}
        progress.pool.append(progress.decisions)
        self.pool.append((self._frozen(), weights))
        if len(self.pool) > self.settings.pool_size:
            closest = index_to_drop(progress.pool)
            del progress.pool[closest], self.pool[closest]
        self.choose_opponents()

    def choose_opponents(self) -> None:
        """Set the newest past self, older ones and bots as opponents."""
        if not self.pool:
            return
        settings, num_older = self.settings, len(self.pool) - 1
        older = [(1 - settings.newest_share - settings.bots_share) / max(num_older, 1)] * num_older
        bots = [settings.bots_share / len(settings.bots)] * len(settings.bots)
        opponents = [*(bot for bot, _ in self.pool), *settings.bots]
        self.env.set_opponents(opponents, [*older, settings.newest_share, *bots])

    def _frozen(self) -> CandidatePolicyBot | PolicyBot:
        return BOTS[self.settings.policy].snapshot(self.model, deterministic=False, name="past")

    def tensors(self) -> Tensors:
        tensors = model_tensors(self.model)
        for index, (_, weights) in enumerate(self.pool):
            tensors |= prefixed(f"pool.{index}", weights)
        return tensors

    def bot(self) -> CandidatePolicyBot | PolicyBot:
        return BOTS[self.settings.policy].snapshot(self.model, deterministic=True, name="policy")

    @property
    def evaluation_rules(self) -> Rules:
        return Rules.parse(self.settings.rules)

    def save_policy(self, path: Path) -> None:
        save_policy(self.model, path)


def index_to_drop(taken_after: Sequence[int]) -> int:
    """Return the index of the past self that is closest to its neighbours, relative to its age.

    `taken_after` has the number of decisions after which each was taken, in ascending order.
    """
    steps = np.array(taken_after)
    gaps = (steps[2:] - steps[:-2]) / np.maximum(steps[-1] - steps[1:-1], 1)
    return 1 + int(np.argmin(gaps)) if len(gaps) else 0
