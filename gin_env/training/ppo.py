"""Training runs of PPO on candidates, in plain PyTorch.

>>> run = train(PPOSettings(Path("runs/first"), minutes=6))
>>> play_match(run.bot(), "simple", 1000, seed=7)

``examples/ppo.py`` is the same as a script. The decisions of one player in one hand are a separate chain: no
reward is passed on to another hand or to the other player. A resumed run continues exactly like an
uninterrupted one. With `minutes`, the learning rate and the end depend on the clock and vary from run to run;
with `total_timesteps`, runs are reproducible.
"""

from __future__ import annotations

import contextlib
import copy
import shlex
import signal
import sys
import threading
import time
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

from gin_env.agents.policies.candidate_network import save_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.matches.matches import play_match
from gin_env.matches.provenance import describe_bot
from gin_env.support.allocator import keep_freed_memory
from gin_env.support.files import write_csv
from gin_env.support.plots import origin_line
from gin_env.support.threads import torch_threads
from gin_env.training.checkpoints import Tensors
from gin_env.training.learner import Learner
from gin_env.training.ranks import RankLostError, Ranks, launch
from gin_env.training.runs import (
    CHECKPOINT,
    CHECKPOINT_FORMAT,
    ENDS,
    EVALUATIONS,
    POLICY,
    PPOProgress,
    draw_learning_curve,
    load_start,
    open_folder,
)
from gin_env.training.settings import OTHER_DECKS, PPOSettings

try:
    import torch
    from torch.utils.tensorboard import SummaryWriter
except ImportError as error:
    raise ImportError(f'training needs more packages: pip install "gin-env[train]" ({error})') from error

__all__ = ["POLICY", "Learner", "PPOProgress", "PPORun", "PPOSettings", "train"]


class PPORun:
    """A run of `Learner` in its folder: a new run, or with `resume` the run in the folder.

    As a context manager, it handles Ctrl-C, lost ranks, the progress bar and logs.

    With several ranks, all must call the same methods. Only rank 0 uses the clock and the folder, and it
    decides for all ranks when to evaluate, save and stop.

    >>> with run:
    ...     while run.share < 1:
    ...         run.end_update(run.learn())  # evaluates and saves when it is time to
    ...     run.finish()

    Raises, before anything is written, as `open_folder` and `load_start` do.

    Parameters
    ----------
    settings : settings of the run.
    ranks : the processes that train together; default: only this process.
    resume_command : the command printed after Ctrl-C; default: ``gin-rummy train`` with --resume.

    Attributes
    ----------
    share : completed share of the training; the training is complete at 1 or more.
    """

    def __init__(
        self, settings: PPOSettings, ranks: Ranks | None = None, resume_command: str | None = None
    ) -> None:
        self.ranks = ranks or Ranks()
        self.leads = self.ranks.rank == 0
        torch.set_num_threads(1)
        opened: Any = None
        tensors: Tensors = {}
        if self.leads:  # only rank 0 needs the files
            # Read the initial weights of a new run before anything is written. A resumed run has its own.
            start = None if settings.resume else load_start(settings)
            settings, checkpoint = open_folder(settings)
            tensors, metadata = checkpoint or start or ({}, None)
            opened = settings.as_json(), checkpoint is not None, metadata
        stored, is_resumed, metadata = self.ranks.broadcast(opened)
        tensors = self.ranks.broadcast_tensors(tensors)
        self.settings = settings = replace(PPOSettings.from_json(stored), workers=self.ranks.size)
        self.resume_command = resume_command or settings.resume_command()
        self.learner = Learner(settings, self.ranks)
        if is_resumed:
            self.progress = PPOProgress(**metadata["progress"])
        else:
            self.progress = PPOProgress(next_evaluation=settings.evaluate_every, start=metadata)
        self._minutes_before: float | None = self.progress.minutes
        self._start_clock(self.progress.minutes)
        self.interrupted = self.evaluating = False
        self.share, _ = self.ranks.broadcast(self._decide())
        keep_freed_memory()
        if is_resumed:
            self.learner.restore(tensors, metadata["learner"])
        else:
            # Weights for the memory, if the initial policy has none, add nothing at first.
            self.learner.network.load_state_dict(self.learner.network.state_dict() | tensors)
            self.learner.begin()
            self.save()

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

    def _start_clock(self, minutes: float) -> None:
        """Count on from these minutes of training."""
        self.started = time.monotonic() - 60 * minutes
        self.next_checkpoint = minutes + self.settings.checkpoint_every

    def bot(self) -> CandidatePolicyBot:
        """Return the current policy as a bot for evaluation."""
        network = copy.deepcopy(self.learner.network).cpu().eval()
        for scores in (network.draws, network.discards):
            scores.use_bfloat16 = False  # as in the saved policy
        return CandidatePolicyBot(network)

    def save_policy(self, path: Path) -> None:
        """Write the policy to a file that can be used as a bot by its path."""
        provenance = {
            "command": self.settings.command(),
            "settings": self.settings.as_json(),
            "decisions": self.progress.decisions,
            "players": self.players,
            "torch": torch.__version__,
            "start": self.progress.start,
        }
        network = copy.deepcopy(self.learner.network).cpu()
        match_values = self.settings.match_reward
        save_candidate_policy(path, network, self.learner.rules, provenance, match_values=match_values)

    @property
    def minutes(self) -> float:
        """Minutes of training so far, earlier sessions included; see `PPOSettings.minutes`."""
        return (time.monotonic() - self.started) / 60

    def _decide(self) -> tuple[float, str]:
        """Return (completed share of the training, next step); only the result of rank 0 is used."""
        settings, progress = self.settings, self.progress
        share = self.minutes / settings.minutes if settings.minutes else 1.0
        if settings.total_timesteps:
            share = progress.decisions / settings.total_timesteps
        if self.interrupted:
            return share, "stop"
        if self.minutes >= progress.next_evaluation and share < 1:
            return share, "evaluate"
        return share, "save" if self.minutes >= self.next_checkpoint else ""

    @cached_property
    def players(self) -> list[dict[str, Any]]:
        """`describe_bot` of each bot that the run plays against."""
        return [describe_bot(bot, programs=True) for bot in self.settings.bots]

    def interrupt(self, *_: object) -> None:
        """Handle Ctrl-C: stop once a checkpoint can be written; the second time, stop without one."""
        if self.interrupted:
            raise SystemExit(130)
        self.interrupted = True
        if self.evaluating:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        if self.leads:
            self.board = SummaryWriter(str(self.settings.run / "tensorboard"))
            tqdm.write(f"{self.settings.plan(self.minutes)}\n{self.settings.uses()}")
            self.bar = tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed} [{postfix}]")
        self._timed_from = time.monotonic(), self.progress.decisions
        self._handler: Any = None
        if threading.current_thread() is threading.main_thread():
            handler = self.interrupt if self.leads else signal.SIG_IGN
            self._handler = signal.signal(signal.SIGINT, handler)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self.leads:
                self.board.close()
                self.bar.close()
            if kind is KeyboardInterrupt:
                self.save()
                self.publish()
                if self.leads:
                    print(f"interrupted; to resume: {self.resume_command}", file=sys.stderr)
                raise SystemExit(130) from None
            if kind is RankLostError and self.leads:
                raise RankLostError(f"{error}; to resume from the last checkpoint: {self.resume_command}")
        finally:
            if self._handler is not None:
                signal.signal(signal.SIGINT, self._handler)

    def end_update(self, log: dict[str, float]) -> None:
        """Log an update, and evaluate or write a checkpoint if one is due.

        The minutes of a session begin at the end of its first update, which compiles the kernels. Raises
        KeyboardInterrupt after Ctrl-C; the run can be saved then.
        """
        if self._minutes_before is not None:
            self._start_clock(self._minutes_before)
            self._minutes_before = None
        progress = self.progress
        progress.finished = False
        started, before = self._timed_from
        rate = (progress.decisions - before) / (time.monotonic() - started)
        self.share, next_step = self.ranks.broadcast(self._decide())
        if self.leads:
            for name, value in (log | {"speed/decisions_per_second": rate}).items():
                self.board.add_scalar(name, value, progress.decisions)
            self.bar.n = round(min(100 * self.share, 100), 1)
            self.bar.set_postfix_str(f"{progress.decisions / 1e6:.2f}M decisions, {rate:,.0f}/s")
        if next_step == "stop":
            raise KeyboardInterrupt
        if next_step == "evaluate":
            self.evaluate(self.settings.evaluation_games)
            self.save()
            self.publish()
        elif next_step == "save":
            self.save()
        self._timed_from = time.monotonic(), progress.decisions

    def finish(self) -> None:
        """Run the final evaluation, unless it is already done."""
        if not self.progress.finished:
            self.save()
            self.evaluate(self.settings.final_games)
            self.progress.finished = True
            self.save()
        self.publish()  # again after a kill between the two

    def evaluate(self, games: int) -> None:
        """Play matches on rank 0, and add the results to the progress, TensorBoard and the screen.

        Raises KeyboardInterrupt on Ctrl-C and leaves the progress unchanged.
        """
        row: dict[str, float] | None = None
        began = time.monotonic()
        if self.leads:
            self.evaluating = True  # from here on, Ctrl-C may interrupt anywhere
            with contextlib.suppress(KeyboardInterrupt):
                row = None if self.interrupted else self._play_matches(games)
            self.evaluating = False
        row = self.ranks.broadcast(row)
        self.started += time.monotonic() - began
        if row is None:
            raise KeyboardInterrupt
        self.progress.evaluations.append(row)
        self.progress.next_evaluation = self.minutes + self.settings.evaluate_every

    def _play_matches(self, games: int) -> dict[str, float]:
        """Play the matches of an evaluation, and return a row of evaluations.csv."""
        settings, decisions = self.settings, self.progress.decisions
        bot, seed = self.bot(), settings.seed + OTHER_DECKS
        row: dict[str, float] = {"minutes": round(self.minutes, 2), "decisions": decisions}
        record = settings.run / f"games-{decisions}.jsonl" if settings.record else None
        for opponent in settings.evaluate_against:
            self.bar.set_postfix_str(f"{games:,} games against {opponent}")
            result = play_match(bot, opponent, games, seed, rules=self.learner.rules[0], record=record)
            for end, rate in zip(ENDS, (result.win_rate, *result.interval), strict=True):
                row[f"games_{opponent}{end}"] = round(rate, 4)
            tag = f"evaluation/games_{opponent.replace(':', ' ')}"
            self.board.add_scalar(tag, result.win_rate, decisions)
        won = [f"{row[f'games_{opponent}']:.1%} against {opponent}" for opponent in settings.evaluate_against]
        tqdm.write(
            f"{row['minutes']:6.1f} min, {decisions / 1e6:5.2f}M decisions: games won: {', '.join(won)}"
        )
        return row

    def save(self) -> None:
        """Replace the checkpoint."""
        settings, self.progress.minutes = self.settings, self.minutes
        self.next_checkpoint = self.minutes + settings.checkpoint_every
        tensors = self.learner.tensors()
        if not self.leads:
            return
        metadata = {
            "settings": settings.as_json(),
            "progress": asdict(self.progress),
            "learner": self.learner.state(),
        }
        CHECKPOINT_FORMAT.write_tensors(settings.run / CHECKPOINT, tensors, metadata)

    def publish(self) -> None:
        """Write the policy, the table of evaluations and the learning curve."""
        if not self.leads:
            return
        settings, rows = self.settings, self.progress.evaluations
        self.save_policy(settings.run / POLICY)
        if rows:
            bots = settings.evaluate_against
            columns = ["minutes", "decisions", *(f"games_{bot}{end}" for bot in bots for end in ENDS)]
            cells = [[row[column] for column in columns] for row in rows]
            write_csv(settings.run / EVALUATIONS, columns, cells)
            games = f"{settings.evaluation_games:,} games an evaluation, {settings.final_games:,} at the end"
            origin = origin_line(games, settings.seed)
            draw_learning_curve(rows, bots, settings.run / "learning_curve.png", origin)

    def announce(self) -> None:
        """Print the path of the policy and a command that uses it."""
        if not self.leads:
            return
        policy, curve = self.settings.run / POLICY, self.settings.run / "learning_curve.png"
        print(f"the policy is in {policy}, the learning curve in {curve}")
        print(f"next: gin-rummy benchmark {shlex.quote(str(policy))}")


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
