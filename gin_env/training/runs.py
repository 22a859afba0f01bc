"""The folder of a training run: what it starts from, and what can be resumed in it.

A run folder holds checkpoint.safetensors (the whole run at one moment), policy.safetensors (a bot by its
path), evaluations.csv, learning_curve.png and TensorBoard logs. The checkpoint is replaced atomically about
once a minute, and the other files are generated from it. A killed run can be resumed from it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tyro

from gin_env import agents
from gin_env.agents.policies.candidate_network import load_candidate_policy
from gin_env.matches.provenance import describe_bot
from gin_env.support.atomic import remove_partials
from gin_env.support.plots import new_figure, save_figure
from gin_env.support.tensor_files import NetworkFormat
from gin_env.training.checkpoints import Tensors, check_same_settings
from gin_env.training.settings import PROGRAM, PPOSettings

CHECKPOINT, POLICY, EVALUATIONS = "checkpoint.safetensors", "policy.safetensors", "evaluations.csv"
CHECKPOINT_FORMAT = NetworkFormat("PPO checkpoint", "9", PROGRAM)
ENDS = ("", "_low", "_high")
"""Endings of the columns of `EVALUATIONS` for a win rate and its interval."""
Checkpoint = tuple[Tensors, dict[str, Any]]
"""(tensors, metadata) of a checkpoint file."""


@dataclass
class PPOProgress:
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
    start: dict[str, Any] | None = None
    """`describe_bot`, at the start of the run, of the policy it started from; None: random weights."""


def open_folder(settings: PPOSettings) -> tuple[PPOSettings, Checkpoint | None]:
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
    before, checkpoint = _read(run)
    check_same_settings(run, vars(before), vars(settings), (*settings.SESSION, *settings.BUDGET))
    remove_partials(run)
    return settings, checkpoint


def stored_settings(run: Path, programs: Collection[str] = ()) -> PPOSettings:
    """Return the settings with which to resume the run in a folder.

    >>> train(replace(stored_settings(Path("runs/first")), minutes=60))

    Raises FileNotFoundError without a run, ValueError for bots that run other code and are not in `programs`.
    """
    settings, _ = _read(run)
    for bot in (*settings.bots, *settings.evaluate_against):
        if agents.starts_program(bot) and bot not in programs:
            raise ValueError(
                f"the run in {run} names {bot!r}, which runs other code: pass it again to allow that"
            )
    return replace(settings, resume=True)


def read_command(program: str, description: str | None, words: Sequence[str] | None = None) -> PPOSettings:
    """Return the settings that a command line gives; with --resume, the others are those of the run.

    `program` and `description` are for its help, and `words` are its arguments (default: those of this
    process). Raises as `stored_settings` does, but not without a run: other machines need not have it.
    """
    given = tyro.cli(PPOSettings, prog=program, description=description, args=words)
    if not given.resume or not (given.run / CHECKPOINT).exists():
        return given
    stored = stored_settings(given.run, (*given.bots, *given.evaluate_against))
    default = replace(stored, **{name: getattr(given, name) for name in given.SESSION}, minutes=-1.0)
    settings = tyro.cli(PPOSettings, prog=program, description=description, args=words, default=default)
    if settings.minutes == default.minutes:  # not given
        return replace(settings, minutes=stored.minutes)
    # New minutes end a run that would have ended after a number of decisions.
    kept = settings.total_timesteps == stored.total_timesteps
    return replace(settings, total_timesteps=0) if kept else settings


def _read(run: Path) -> tuple[PPOSettings, Checkpoint]:
    if not (run / CHECKPOINT).exists():
        raise FileNotFoundError(f"nothing to resume: there is no {run / CHECKPOINT}")
    tensors, metadata = CHECKPOINT_FORMAT.read_tensors(run / CHECKPOINT)
    return replace(PPOSettings.from_json(metadata["settings"]), run=run), (tensors, metadata)


def load_start(settings: PPOSettings) -> tuple[Tensors, dict[str, Any]] | None:
    """Return the initial weights of a new run and their `describe_bot`, or None for random weights.

    Raises ValueError unless they are a candidate policy that fits this run, or FileNotFoundError.
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
        raise ValueError(f"start: {settings.start} was trained with memory: add --memory")
    return network.state_dict(), describe_bot(settings.start)


def draw_learning_curve(
    rows: list[dict[str, float]], opponents: tuple[str, ...], path: Path, origin: str
) -> None:
    """Draw win rates over time, with a curve for each opponent; `origin` is the line at the foot."""
    minutes = [row["minutes"] for row in rows]
    figure, [[axes]] = new_figure(8, 5)
    for opponent in opponents:
        won, low, high = ([100 * row[f"games_{opponent}{end}"] for row in rows] for end in ENDS)
        (line,) = axes.plot(minutes, won, marker="o", markersize=3, label=f"games against {opponent}")
        axes.fill_between(minutes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.axhline(50, color="black", linewidth=0.8)
    axes.set(xlabel="minutes of training", ylabel="won, %", ylim=(0, 101), title="Training")
    axes.legend(loc="lower right")
    save_figure(figure, path, dpi=120, origin=origin)
