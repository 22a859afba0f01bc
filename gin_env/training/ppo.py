"""PPO on candidates: a run that learns Gin Rummy from scratch, in plain PyTorch.

>>> run = train(PPOSettings(Path("runs/first"), minutes=6))
>>> play_match(run.bot(), "simple", 1000, seed=7)

``examples/ppo.py`` is the same as a script. A player's decisions in one hand are a chain of their own: no
reward crosses the end of a hand or goes from one player to the other. A run that was stopped resumes exactly
as if it had not been. (What the clock decides, the learning rate and the end, differs from run to run; with
`total_timesteps` instead of `minutes` nothing does.)
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from gin_env.agents.policies.candidate_network import find_candidate_policy, save_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.matches.provenance import describe_bot
from gin_env.training.checkpoints import Tensors
from gin_env.training.learner import Learner, PPOSettings
from gin_env.training.ranks import Ranks, launch
from gin_env.training.runs import POLICY, Checkpoint, RunProgress, TrainingRun, open_folder

Start = tuple[Tensors, dict[str, Any]]
"""(weights, `describe_bot` of their policy)."""

__all__ = ["POLICY", "Learner", "PPOProgress", "PPORun", "PPOSettings", "train"]


@dataclass
class PPOProgress(RunProgress):
    """How far a PPO run has come."""

    start: dict[str, Any] | None = None
    """`describe_bot` of the policy whose weights it started with, as it was then; None: random weights."""


class PPORun(TrainingRun[PPOSettings, PPOProgress]):
    """A run of `Learner` in its folder: a new one, or with `resume` the one in the folder.

    Raises as `open_folder` does, and ValueError or FileNotFoundError for a policy that it cannot start with,
    before anything is written.
    """

    def __init__(
        self, settings: PPOSettings, ranks: Ranks | None = None, resume_command: str | None = None
    ) -> None:
        ranks = ranks or Ranks()
        torch.set_num_threads(1)
        opened = _open(settings) if ranks.rank == 0 else None  # rank 0 alone needs the files
        settings, checkpoint, start = ranks.broadcast(opened)  # type: ignore[misc]
        settings = replace(settings, workers=ranks.size)
        self.learner = Learner(settings, ranks)
        if checkpoint is None:
            progress = PPOProgress(next_evaluation=settings.evaluate_every)
            super().__init__(settings, progress, resume_command, ranks)
            if start is not None:
                weights, self.progress.start = start
                self.learner.network.load_state_dict(weights)
            self.learner.begin()
            self.save()
        else:
            tensors, metadata = checkpoint
            super().__init__(settings, PPOProgress(**metadata["progress"]), resume_command, ranks)
            self.learner.restore(tensors, metadata["learner"])

    def learn(self) -> dict[str, float]:
        """One update: collect and learn. Returns what to log."""
        learner, settings, progress = self.learner, self.settings, self.progress
        learner.collect()
        num_decisions, log = learner.update(1 - self.share)
        progress.decisions += num_decisions
        progress.updates += 1
        if settings.past_share and progress.updates % settings.snapshot_every == 0:
            learner.add_past_self()
        return log | learner.league.log()

    def tensors(self) -> Tensors:
        return self.learner.tensors()

    def state(self) -> dict[str, Any]:
        return {"learner": self.learner.state()}

    def bot(self) -> CandidatePolicyBot:
        return CandidatePolicyBot(copy.deepcopy(self.learner.network).cpu().eval())

    def save_policy(self, path: Path) -> None:
        provenance = self.provenance() | {"start": self.progress.start}
        network = copy.deepcopy(self.learner.network).cpu()
        save_candidate_policy(path, network, self.learner.games.rules, provenance)


def train(settings: PPOSettings, resume_command: str | None = None) -> PPORun:
    """Train with `workers` processes, evaluate and save.

    After Ctrl-C the run is saved, `resume_command` is printed and SystemExit raised.
    """
    return launch(partial(_train, resume_command=resume_command), settings, settings.workers, settings.device)


def _train(settings: PPOSettings, ranks: Ranks, resume_command: str | None) -> PPORun:
    with PPORun(settings, ranks, resume_command) as run:
        while run.share < 1:
            run.end_update(run.learn())
        run.finish()
    return run


def _open(settings: PPOSettings) -> tuple[PPOSettings, Checkpoint | None, Start | None]:
    """(settings, checkpoint, start) of a run."""
    # A resumed run has weights of its own; others are read before anything is written.
    start = None if settings.resume else load_start(settings)
    return *open_folder(settings), start


def load_start(settings: PPOSettings) -> Start | None:
    """(the weights that a new run starts with, what identifies them); None for random weights.

    Raises ValueError for anything but a candidate policy that this run can continue, and FileNotFoundError.
    """
    if settings.start is None:
        return None
    network, _, episode = find_candidate_policy(settings.start)
    if network.hidden != settings.hidden:
        raise ValueError(
            f"start: {settings.start} has layers of {network.hidden} units, this run of {settings.hidden}: "
            f"set hidden to {network.hidden}, or start with other weights"
        )
    if episode != "game":
        raise ValueError(
            f"start: {settings.start} was trained on single hands and has seen no scores: "
            "start with a policy that was trained on games"
        )
    return network.state_dict(), describe_bot(settings.start)
