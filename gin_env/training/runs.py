"""Training runs: a folder with checkpoints, evaluations and a learning curve.

A run folder holds checkpoint.safetensors (the whole run at one moment), policy.safetensors (a bot by its
path), evaluations.csv, learning_curve.png and TensorBoard logs. The checkpoint is replaced atomically about
once a minute, and the other files are generated from it. An interrupted or killed run can be resumed from its
checkpoint.

`TrainingRun` is the base class of all training runs; subclasses implement the learning.
"""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

import torch
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from gin_env import agents
from gin_env.agents.base import Agent
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed
from gin_env.matches.matches import check_games, play_match
from gin_env.matches.provenance import describe_bot
from gin_env.support.atomic import remove_partials
from gin_env.support.checks import check_integer, check_number
from gin_env.support.files import write_csv
from gin_env.support.memory import keep_freed_memory
from gin_env.support.plots import new_figure, origin_line, save_figure
from gin_env.support.tensor_files import read_tensors, write_tensors
from gin_env.training.checkpoints import Tensors
from gin_env.training.ranks import RankLostError, Ranks

CHECKPOINT, POLICY, EVALUATIONS = "checkpoint.safetensors", "policy.safetensors", "evaluations.csv"
OTHER_DECKS = 1000
"""Offset from the training seed to the match seed, so that matches have new decks."""
Checkpoint = tuple[Tensors, dict[str, Any]]
"""(tensors, metadata) of a checkpoint file."""


@dataclass
class RunSettings:
    """Settings common to all training runs."""

    run: Path = Path("runs/training")
    """Folder of the run; a new run needs a new or empty one."""
    minutes: float = 6.0
    """Minutes of training, earlier sessions and evaluations included."""
    total_timesteps: int = 0
    """Number of decisions to learn from, instead of minutes; 0: train for `minutes`."""
    resume: bool = False
    """Resume the run in the folder with its own settings, up to the end that it had or another one. An end
    equal to the default counts as not given."""
    seed: int = 1
    """Seed of decks, network and exploration."""
    bots: tuple[str, ...] = ("simple", "simple:knock_at=0", "tonic", "generation")
    """Bots to play against."""
    evaluate_every: float = 2.0
    """Minutes between evaluations."""
    evaluate_against: tuple[str, ...] = ("simple", "random")
    """Bots to evaluate against."""
    evaluation_games: int = 1000
    """Number of games against each of these bots (95 % interval: about ±3 points)."""
    final_games: int = 10_000
    """Number of games against each bot in the final evaluation."""
    record: bool = False
    """Record the games of each evaluation in RUN/games-DECISIONS.jsonl, for `gin-rummy replay`."""
    checkpoint_every: float = 1.0
    """Minutes between checkpoints; each evaluation writes one too."""

    PROGRAM: ClassVar[str] = "the training"
    """The command that starts such a run."""
    KIND: ClassVar[str] = "checkpoint"
    VERSION: ClassVar[str] = "1"
    """Kind and version of the checkpoints, as for `write_tensors`."""
    SESSION: ClassVar[tuple[str, ...]] = ("run", "minutes", "total_timesteps", "resume", "record")
    """Settings that a resumed run takes from the command line; all others come from its checkpoint, and
    so do those of `BUDGET` if neither is given."""
    BUDGET: ClassVar[tuple[str, ...]] = ("minutes", "total_timesteps")
    """Settings that say when the training ends."""

    def check(self) -> None:
        """Raise ValueError, TypeError or FileNotFoundError for invalid settings or missing bots."""
        check_integer("total_timesteps", self.total_timesteps, 0, 1 << 62)
        for name in ("minutes", "evaluate_every", "checkpoint_every"):
            check_number(name, getattr(self, name), 0, 1e9)
        if not self.minutes and not self.total_timesteps:
            raise ValueError("minutes or total_timesteps must be more than 0")
        check_seed(check_seed(self.seed) + OTHER_DECKS)
        check_games(self.evaluation_games)
        check_games(self.final_games)
        for bot in (*self.bots, *self.evaluate_against):
            if not agents.starts_program(bot):
                agents.make(bot)

    def as_json(self) -> dict[str, Any]:
        """Return all settings for JSON."""
        return asdict(self) | {"run": str(self.run)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the settings that `as_json` wrote."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**given | {"run": Path(values["run"])})

    def command(self) -> str:
        """Return the command that starts the same run, with all settings that differ from the defaults."""
        names = [each.name for each in fields(self) if each.name not in ("run", "resume")]
        return " ".join([self.PROGRAM, *self._options(names)])

    def resume_command(self) -> str:
        """Return the command that resumes the run up to the same end."""
        names = [name for name in self.SESSION if name not in ("run", "resume", *self.BUDGET)]
        # Bots that run other code must be named again.
        names += [
            name
            for name in ("bots", "evaluate_against")
            if any(map(agents.starts_program, getattr(self, name)))
        ]
        return " ".join(
            [self.PROGRAM, "--run", shlex.quote(str(self.run)), "--resume", *self._options(names)]
        )

    def _options(self, names: Iterable[str]) -> list[str]:
        """Return the options of these settings, if they differ from the defaults."""
        defaults = {each.name: each.default for each in fields(self)}
        options = []
        for name in names:
            value, option = getattr(self, name), name.replace("_", "-")
            if value == defaults[name]:
                continue
            if isinstance(value, bool):
                options.append(f"--{option}" if value else f"--no-{option}")
            else:
                words = value if isinstance(value, tuple) else (str(value),)
                options.append(f"--{option} {shlex.join(words)}")
        return options


@dataclass
class RunProgress:
    """Progress of a run, stored in its checkpoint."""

    minutes: float = 0.0
    decisions: int = 0
    """Number of decisions learned from."""
    updates: int = 0
    evaluations: list[dict[str, float]] = field(default_factory=list)
    """Rows of evaluations.csv."""
    next_evaluation: float = 0.0
    """Time of the next evaluation, in minutes of training."""
    finished: bool = False
    """Whether the final evaluation is done."""


S = TypeVar("S", bound=RunSettings)
P = TypeVar("P", bound=RunProgress)


def open_folder(settings: S) -> tuple[S, Checkpoint | None]:
    """Open the folder of a run, and return (its settings, its checkpoint or None for a new run).

    Raises ValueError for invalid settings, for settings that differ from those of the resumed run, or if the
    folder of a new run is not empty. Raises FileNotFoundError if there is no run to resume.
    """
    settings.check()
    run = settings.run
    if not settings.resume:
        if run.is_dir():
            remove_partials(run)  # left by a run that was killed before its first checkpoint
        if run.exists() and any(run.iterdir()):
            raise ValueError(
                f"{run} is not empty: choose another --run, or resume the run in it with --resume"
            )
        run.mkdir(parents=True, exist_ok=True)
        return settings, None
    if not (run / CHECKPOINT).exists():
        raise FileNotFoundError(f"nothing to resume: there is no {run / CHECKPOINT}")
    tensors, metadata = read_tensors(run / CHECKPOINT, settings.KIND, settings.VERSION, settings.PROGRAM)
    kind: Any = type(settings)
    default = kind()
    before = replace(kind.from_json(metadata["settings"]), run=run)
    for name in (each.name for each in fields(kind) if each.name not in settings.SESSION):
        if getattr(settings, name) not in (getattr(default, name), getattr(before, name)):
            raise ValueError(
                f"the run in {run} has {name} = {getattr(before, name)}; leave {name} out to resume it"
            )
    for bot in (*before.bots, *before.evaluate_against):
        if agents.starts_program(bot) and bot not in (*settings.bots, *settings.evaluate_against):
            raise ValueError(
                f"the run in {run} names {bot!r}, which runs other code: pass it again to allow that"
            )
    remove_partials(run)
    is_budget_given = any(getattr(settings, name) != getattr(default, name) for name in settings.BUDGET)
    given = [name for name in settings.SESSION if is_budget_given or name not in settings.BUDGET]
    return replace(before, **{name: getattr(settings, name) for name in given}), (tensors, metadata)


class TrainingRun(ABC, Generic[S, P]):
    """A run in its folder. As a context manager, it handles Ctrl-C, lost ranks, the progress bar and logs.

    With several ranks, all must call the same methods. Only rank 0 uses the clock and the folder, and it
    decides for all ranks when to evaluate, save and stop.

    >>> with run:
    ...     while run.share < 1:
    ...         ...                      # collect, learn, count run.progress.decisions
    ...         run.end_update({})       # evaluates and saves when it is time to
    ...     run.finish()

    Parameters
    ----------
    settings, progress : settings and progress of the run.
    resume_command : the command printed after Ctrl-C; default: the program with --resume.
    ranks : the processes that train together; default: only this process.

    Attributes
    ----------
    share : completed share of the training; the training is complete at 1 or more.
    """

    def __init__(
        self, settings: S, progress: P, resume_command: str | None = None, ranks: Ranks | None = None
    ) -> None:
        self.settings, self.progress = settings, progress
        self.ranks = ranks or Ranks()
        self.leads = self.ranks.rank == 0
        self.resume_command = resume_command or settings.resume_command()
        self.started = time.monotonic() - 60 * progress.minutes
        self.next_checkpoint = progress.minutes + settings.checkpoint_every
        self.interrupted = self.evaluating = False
        self.share, _ = self.ranks.broadcast(self._decide())
        keep_freed_memory()

    @abstractmethod
    def tensors(self) -> Tensors:
        """Return all state that training changes, on rank 0; all ranks must call this."""

    def state(self) -> dict[str, Any]:
        """Return additional data of the checkpoint, for JSON."""
        return {}

    @abstractmethod
    def bot(self) -> Agent:
        """Return the current policy as a bot for evaluation."""

    @abstractmethod
    def save_policy(self, path: Path) -> None:
        """Write the policy to a file that can be used as a bot by its path."""

    @property
    def evaluation_rules(self) -> Rules:
        """The rules of the matches in evaluations."""
        return Rules()

    @property
    def minutes(self) -> float:
        """Minutes of training so far, including earlier sessions."""
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

    def provenance(self) -> dict[str, Any]:
        """Return the training metadata of a weights file."""
        return {
            "command": self.settings.command(),
            "settings": self.settings.as_json(),
            "decisions": self.progress.decisions,
            "players": self.players,
            "torch": torch.__version__,
        }

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

        Raises KeyboardInterrupt after Ctrl-C; the run can be saved then.
        """
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
        if self.leads:
            self.evaluating = True  # from here on, Ctrl-C may interrupt anywhere
            with contextlib.suppress(KeyboardInterrupt):
                row = None if self.interrupted else self._play_matches(games)
            self.evaluating = False
        row = self.ranks.broadcast(row)
        if row is None:
            raise KeyboardInterrupt
        self.progress.evaluations.append(row)
        self.progress.next_evaluation = self.minutes + self.settings.evaluate_every

    def _play_matches(self, games: int) -> dict[str, float]:
        """Play the matches of an evaluation, and return a row of evaluations.csv."""
        settings, decisions = self.settings, self.progress.decisions
        bot = self.bot()
        row: dict[str, float] = {"minutes": round(self.minutes, 2), "decisions": decisions}
        record = settings.run / f"games-{decisions}.jsonl" if settings.record else None
        for opponent in settings.evaluate_against:
            self.bar.set_postfix_str(f"{games:,} games against {opponent}")
            result = play_match(
                bot,
                opponent,
                games,
                settings.seed + OTHER_DECKS,
                rules=self.evaluation_rules,
                record=record,
            )
            row[f"games_{opponent}"] = round(result.win_rate, 4)
            low, high = result.interval
            row[f"games_{opponent}_low"], row[f"games_{opponent}_high"] = round(low, 4), round(high, 4)
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
        tensors = self.tensors()
        if not self.leads:
            return
        metadata = {"settings": settings.as_json(), "progress": asdict(self.progress)} | self.state()
        write_tensors(settings.run / CHECKPOINT, settings.KIND, settings.VERSION, tensors, metadata)

    def publish(self) -> None:
        """Write the policy, the table of evaluations and the learning curve."""
        if not self.leads:
            return
        settings, rows = self.settings, self.progress.evaluations
        self.save_policy(settings.run / POLICY)
        if rows:
            bots = settings.evaluate_against
            columns = ["minutes", "decisions"]
            columns += [f"games_{bot}{end}" for bot in bots for end in ("", "_low", "_high")]
            write_csv(
                settings.run / EVALUATIONS, columns, [[row[column] for column in columns] for row in rows]
            )
            games = f"{settings.evaluation_games:,} games an evaluation, {settings.final_games:,} at the end"
            origin = origin_line(games, settings.seed)
            draw_learning_curve(rows, bots, settings.run / "learning_curve.png", origin)

    def announce(self) -> None:
        """Print the path of the policy and a command that uses it."""
        if not self.leads:
            return
        policy, curve = self.settings.run / POLICY, self.settings.run / "learning_curve.png"
        print(f"the policy is in {policy}, the learning curve in {curve}")
        print(f"next: gin-rummy match {shlex.quote(str(policy))} simple")


def draw_learning_curve(
    rows: list[dict[str, float]], opponents: tuple[str, ...], path: Path, origin: str
) -> None:
    """Draw win rates over time, with a curve for each opponent; `origin` is the line at the foot."""
    minutes = [row["minutes"] for row in rows]
    figure, [[axes]] = new_figure(8, 5)
    for opponent in opponents:
        won, low, high = (
            [100 * row[f"games_{opponent}{end}"] for row in rows] for end in ("", "_low", "_high")
        )
        (line,) = axes.plot(minutes, won, marker="o", markersize=3, label=f"games against {opponent}")
        axes.fill_between(minutes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.axhline(50, color="black", linewidth=0.8)
    axes.set(xlabel="minutes of training", ylabel="won, %", ylim=(0, 101), title="Training")
    axes.legend(loc="lower right")
    save_figure(figure, path, dpi=120, origin=origin)
