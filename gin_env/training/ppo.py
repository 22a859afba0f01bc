"""Training runs of PPO on candidates, in plain PyTorch.

>>> run = train(PPOSettings(Path("runs/first"), minutes=6))
>>> play_match(run.bot(), "simple", 1000, seed=7)

``examples/ppo.py`` is the same as a script. The decisions of one player in one hand are a separate chain: no
reward is passed on to another hand or to the other player. A resumed run continues exactly like an
uninterrupted one. With `minutes`, the learning rate and the end depend on the clock and vary from run to run;
with `total_timesteps`, runs are reproducible.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from gin_env.agents.policies.candidate_network import load_candidate_policy, save_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.game.rules import Rules
from gin_env.matches.provenance import describe_bot
from gin_env.support.threads import torch_threads
from gin_env.training.checkpoints import Tensors
from gin_env.training.learner import Learner, PPOSettings
from gin_env.training.ranks import Ranks, launch
from gin_env.training.runs import POLICY, Checkpoint, RunProgress, TrainingRun, open_folder

Start = tuple[Tensors, dict[str, Any]]
"""(weights, `describe_bot` of their policy)."""

__all__ = ["POLICY", "Learner", "PPOProgress", "PPORun", "PPOSettings", "train"]


@dataclass
class PPOProgress(RunProgress):
    """Progress of a PPO run, stored in its checkpoint."""

    start: dict[str, Any] | None = None
    """`describe_bot`, at the start of the run, of the policy it started from; None: random weights."""


class PPORun(TrainingRun[PPOSettings, PPOProgress]):
    """A run of `Learner` in its folder: a new run, or with `resume` the run in the folder.

    Raises the errors of `open_folder`, and ValueError or FileNotFoundError for an unsuitable initial policy,
    before anything is written.
    """

    def __init__(
        self, settings: PPOSettings, ranks: Ranks | None = None, resume_command: str | None = None
    ) -> None:
        ranks = ranks or Ranks()
        torch.set_num_threads(1)
        opened: Any = None
        tensors: Tensors = {}
        if ranks.rank == 0:  # only rank 0 needs the files
            settings, checkpoint, start = _open(settings)
            tensors, metadata = checkpoint or start or ({}, None)
            opened = settings.as_json(), checkpoint is not None, metadata
        stored, is_resumed, metadata = ranks.broadcast(opened)
        tensors = ranks.broadcast_tensors(tensors)
        settings = replace(type(settings).from_json(stored), workers=ranks.size)
        self.learner = Learner(settings, ranks)
        if not is_resumed:
            progress = PPOProgress(next_evaluation=settings.evaluate_every, start=metadata)
            super().__init__(settings, progress, resume_command, ranks)
            # Weights for the memory, if the initial policy has none, add nothing at first.
            self.learner.network.load_state_dict(self.learner.network.state_dict() | tensors)
            self.learner.begin()
            self.save()
        else:
            super().__init__(settings, PPOProgress(**metadata["progress"]), resume_command, ranks)
            self.learner.restore(tensors, metadata["learner"])

    def learn(self) -> dict[str, float]:
        """Collect a rollout, learn from it, and return the values to log."""
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
        network = copy.deepcopy(self.learner.network).cpu().eval()
        for scores in (network.draws, network.discards):
            scores.use_bfloat16 = False  # as in the saved policy
        return CandidatePolicyBot(network)

    @property
    def evaluation_rules(self) -> Rules:
        return self.learner.rules[0]

    def save_policy(self, path: Path) -> None:
        provenance = self.provenance() | {"start": self.progress.start}
        network = copy.deepcopy(self.learner.network).cpu()
        match_values = self.settings.match_reward
        save_candidate_policy(path, network, self.learner.rules, provenance, match_values=match_values)


def train(settings: PPOSettings, resume_command: str | None = None) -> PPORun:
    """Train with `workers` processes, evaluate, save and return the run.

    On Ctrl-C, the run is saved, `resume_command` is printed and SystemExit is raised.
    """
    settings.check()
    return launch(partial(_train, resume_command=resume_command), settings, settings.workers, settings.device)


def _train(settings: PPOSettings, ranks: Ranks, resume_command: str | None) -> PPORun:
    with torch_threads(1), PPORun(settings, ranks, resume_command) as run:
        while run.share < 1:
            run.end_update(run.learn())
        run.finish()
    return run


def _open(settings: PPOSettings) -> tuple[PPOSettings, Checkpoint | None, Start | None]:
    """Return (settings, checkpoint, start) of a run."""
    # Read the initial weights of a new run before anything is written. A resumed run has its own.
    start = None if settings.resume else load_start(settings)
    return *open_folder(settings), start


def load_start(settings: PPOSettings) -> Start | None:
    """Return the initial weights of a new run and their `describe_bot`, or None for random weights.

    Raises ValueError unless they are a candidate policy that fits this run, or FileNotFoundError if there is
    no such file.
    """
    if settings.start is None:
        return None
    network, _, episode = load_candidate_policy(settings.start)
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
    if network.reads_memory and not settings.memory:
        raise ValueError(f"start: {settings.start} reads the memory of earlier hands: set memory")
    return network.state_dict(), describe_bot(settings.start)
