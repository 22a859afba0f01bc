"""Masked-PPO self-play: learn Gin Rummy from nothing against a pool of one's own past.

    python examples/ppo_selfplay.py --minutes 10 --run runs/first     # watch it learn
    python examples/ppo_selfplay.py --minutes 60 --run runs/first --resume
    tensorboard --logdir runs/first                                   # losses, win rates
    gin-rummy match runs/first/policy.safetensors simple              # the trained policy is a bot

The policy scores candidates (`gin_env.observations.candidates`). With --policy flat it reads the flat
observation and gives each of the 107 actions a logit, which learns more slowly.

A run folder holds checkpoint.safetensors (the whole run, at one moment), pool/ (past snapshots),
policy.safetensors (a bot by its path), evaluations.csv, learning_curve.png and TensorBoard logs. The
checkpoint is replaced at once, each minute or so; the pool is the files that it names, and the other files
are made from it. So a run that was killed at any moment, or stopped by Ctrl-C, goes on with --resume from the
last checkpoint.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

# Threads that wait must sleep: spinning ones ruin each other where the cores are shared. torch reads this
# when it is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import FloatSchedule
from tqdm import tqdm

from gin_env import agents, play_match
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.policy import PolicyBot
from gin_env.support.atomic import remove_partials
from gin_env.support.exits import one_line_errors
from gin_env.support.files import write_csv
from gin_env.support.memory import keep_freed_memory
from gin_env.support.plots import BLUE, GREY, new_figure, origin_line, save_figure, sign_figure
from gin_env.support.tensor_files import read_tensors, write_tensors
from gin_env.wrappers.candidate_policy import CandidatePolicy
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.checkpoints import model_tensors, restore_model
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy

COLUMNS = (
    "minutes",
    "decisions",
    "hands_random",
    "games_random",
    "games_random_low",
    "games_random_high",
    "hands_simple",
    "games_simple",
    "games_simple_low",
    "games_simple_high",
)
"""Of evaluations.csv."""
KIND, VERSION = "self-play checkpoint", "3"
CHECKPOINT, POLICY = "checkpoint.safetensors", "policy.safetensors"
OF_THE_SESSION = ("run", "minutes", "resume", "threads", "record")
"""Settings that a resumed run takes from its command line; the others are the run's own."""
Bot = CandidatePolicyBot | PolicyBot
BOTS: dict[str, type[Bot]] = {"candidate": CandidatePolicyBot, "flat": PolicyBot}
"""By `Settings.policy`."""


@dataclass
class Settings:
    """Everything that defines a run; the defaults learn fast on two CPU cores."""

    run: Path = Path("runs/ppo_selfplay")
    """Folder for everything that the run writes; a new run needs a new or empty one."""
    minutes: float = 60.0
    """Stop when the run has trained for so many minutes (evaluations and earlier sessions included)."""
    resume: bool = False
    """Go on with the run in the folder, with its own settings, up to `minutes` in total."""
    seed: int = 1
    """Seed of decks, network and exploration."""
    threads: int = 2
    """Threads that PyTorch may use."""

    policy: Literal["candidate", "flat"] = "candidate"
    """`CandidatePolicy`, or `CardPolicy` on the flat observation."""
    width: int = 64
    """Of the layers of the candidate policy."""
    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of the flat policy, for policy and value each."""

    num_envs: int = 256
    """Games played at once."""
    num_steps: int = 64
    """Decisions in each game between two updates."""
    batch_size: int = 1024
    """Decisions in a minibatch."""
    num_epochs: int = 2
    """Passes over the decisions of an update."""
    learning_rate: float = 1e-3
    """At the start; it falls linearly to a tenth over `minutes`."""
    entropy: float = 0.01
    """Weight of the entropy bonus; it falls like the learning rate."""
    gamma: float = 1.0
    """Discount per decision; hands are short, so none."""
    gae_lambda: float = 0.95
    """Bias-variance trade-off of the advantages."""
    clip_range: float = 0.2
    """PPO's clipping."""

    pool_size: int = 8
    """Past snapshots to keep as opponents; the oldest ones are thinned out."""
    snapshot_every: float = 1.5
    """Minutes between snapshots."""
    newest_share: float = 0.4
    """Share of hands against the newest snapshot."""
    bots: tuple[str, ...] = ("simple", "simple:knock_at=0", "tonic", "generation")
    """Bots to play against, each as often as the others."""
    bots_share: float = 0.4
    """Share of hands against them; the rest goes to older snapshots."""

    evaluate_every: float = 5.0
    """Minutes between evaluations."""
    evaluation_games: int = 1000
    """Games to 100 points against each of `random` and `simple` (interval about +-3 points)."""
    final_games: int = 10_000
    """Games of the evaluation at the end."""
    record: bool = False
    """Record the games of each evaluation in RUN/games-DECISIONS.jsonl, for `gin-rummy replay`."""
    checkpoint_every: float = 1.0
    """Minutes between checkpoints; there is one after each snapshot and each evaluation too."""


@dataclass
class Progress:
    """How far a run has come; with the tensors this is a checkpoint."""

    minutes: float = 0.0
    decisions: int = 0
    """That it has learned from."""
    updates: int = 0
    """Passes over the decisions of a rollout."""
    pool: list[str] = field(default_factory=list)
    """Names of the snapshots' files, the oldest first."""
    evaluations: list[dict[str, float]] = field(default_factory=list)
    """The lines of evaluations.csv."""
    next_snapshot: float = 0.0
    """In minutes."""
    next_evaluation: float = 0.0
    finished: bool = False
    """The evaluation at the end is done."""


class SelfPlay(BaseCallback):
    """Between updates: anneal, take snapshots into the pool, evaluate, save; stop when the time is up."""

    def __init__(self, settings: Settings, progress: Progress, opponents: list[Bot]) -> None:
        super().__init__()
        self.settings = settings
        self.state = progress
        self.opponents = opponents
        self.bot = BOTS[settings.policy]
        self.started = time.monotonic() - 60 * progress.minutes
        self.next_checkpoint = progress.minutes + settings.checkpoint_every
        self.interrupted = self.evaluating = False
        self.bar = tqdm(
            total=round(settings.minutes, 2),
            initial=round(min(progress.minutes, settings.minutes), 2),
            unit="min",
            bar_format="{l_bar}{bar}| {n:.1f}/{total:.1f} min [{postfix}]",
        )

    @property
    def minutes(self) -> float:
        """Minutes trained so far, earlier sessions included."""
        return (time.monotonic() - self.started) / 60

    def interrupt(self, *_: object) -> None:
        """At Ctrl-C: stop where a checkpoint can be written; at a second one: stop at once, without."""
        if self.interrupted:
            raise SystemExit(130)
        self.interrupted = True
        if self.evaluating:
            raise KeyboardInterrupt

    def _on_training_start(self) -> None:
        self.seat_opponents()

    def _on_step(self) -> bool:
        if self.interrupted:
            return False
        # Stop in the first step of a rollout only, so that no decisions are collected in vain.
        return self.minutes < self.settings.minutes or self.n_calls % self.settings.num_steps != 1

    def _on_rollout_end(self) -> None:
        left = max(0.1, 1 - self.minutes / self.settings.minutes)
        self.model.lr_schedule = FloatSchedule(self.settings.learning_rate * left)
        self.model.ent_coef = self.settings.entropy * left

    def _on_rollout_start(self) -> None:
        self.state.decisions, self.state.updates = self.model.num_timesteps, self.model._n_updates
        self.bar.n = min(self.minutes, self.bar.total)
        self.bar.set_postfix_str(f"{self.num_timesteps / 1e6:.2f}M decisions", refresh=True)
        snapshot = self.minutes >= self.state.next_snapshot
        evaluation = self.minutes >= self.state.next_evaluation
        if snapshot:
            self.take_snapshot()
        if evaluation:
            self.evaluate(self.settings.evaluation_games)
        if snapshot or evaluation or self.minutes >= self.next_checkpoint:
            self.save()
        if evaluation:
            publish(self.model, self.settings, self.state)

    def take_snapshot(self) -> None:
        """Add the policy as it is to the pool; if it is full, drop the snapshot closest to its neighbours."""
        name = f"{self.num_timesteps:012d}{Path(POLICY).suffix}"
        self.state.next_snapshot = self.minutes + self.settings.snapshot_every
        if name in self.state.pool:  # resumed at this very snapshot
            return
        save_policy(self.model, self.settings.run / "pool" / name)
        self.state.pool.append(name)
        self.opponents.append(self.bot.snapshot(self.model, deterministic=False, name=Path(name).stem))
        if len(self.opponents) > self.settings.pool_size:
            steps = np.array([int(bot.name) for bot in self.opponents])
            gaps = (steps[2:] - steps[:-2]) / np.maximum(steps[-1] - steps[1:-1], 1)
            closest = 1 + int(np.argmin(gaps)) if len(gaps) else 0
            del self.state.pool[closest], self.opponents[closest]
        self.seat_opponents()

    def seat_opponents(self) -> None:
        """Play against the pool: the newest snapshot, older ones, and bots."""
        share = self.settings
        if not self.opponents:
            self.training_env.set_opponents("random")
            return
        older = len(self.opponents) - 1
        each = [(1 - share.newest_share - share.bots_share) / max(older, 1)] * older
        bots = [share.bots_share / len(share.bots)] * len(share.bots)
        self.training_env.set_opponents([*self.opponents, *share.bots], [*each, share.newest_share, *bots])

    def evaluate(self, games: int) -> None:
        """Play matches; the results go into the progress, to TensorBoard and to the screen."""
        bot = self.bot.snapshot(self.model, deterministic=True, name="policy")
        row: dict[str, float] = {"minutes": round(self.minutes, 2), "decisions": self.state.decisions}
        path = self.settings.run / f"games-{self.state.decisions}.jsonl"
        record = path if self.settings.record else None
        self.evaluating = True  # from here on Ctrl-C may stop anywhere: nothing is changed before the end
        for opponent in ("random", "simple"):
            seed = self.settings.seed
            hands = play_match(bot, opponent, games, seed, episode="hand")
            whole = play_match(bot, opponent, games, seed, record=record)
            row[f"hands_{opponent}"] = round(hands.win_rate, 4)
            row[f"games_{opponent}"] = round(whole.win_rate, 4)
            row[f"games_{opponent}_low"], row[f"games_{opponent}_high"] = (
                round(bound, 4) for bound in whole.interval
            )
            self.logger.record(f"evaluation/hands_{opponent}", hands.win_rate)
            self.logger.record(f"evaluation/games_{opponent}", whole.win_rate)
        self.evaluating = False
        self.logger.dump(self.state.decisions)
        self.state.evaluations.append(row)
        self.state.next_evaluation = self.minutes + self.settings.evaluate_every
        tqdm.write(
            f"{row['minutes']:6.1f} min, {row['decisions'] / 1e6:5.2f}M decisions: "
            f"wins {row['hands_simple']:.1%} of hands and {row['games_simple']:.1%} of games against simple, "
            f"{row['games_random']:.1%} of games against random"
        )

    def save(self) -> None:
        """Write the checkpoint, then forget the snapshots that it does not name any more."""
        self.state.minutes = self.minutes
        self.next_checkpoint = self.minutes + self.settings.checkpoint_every
        write_checkpoint(self.model, self.settings, self.state)
        tidy_pool(self.settings.run, self.state)


# --- Files --------------------------------------------------------------------------------------------


def write_checkpoint(model: MaskablePPO, settings: Settings, progress: Progress) -> None:
    """Replace the checkpoint: network, optimizer, states of the random generators, settings and progress."""
    metadata = {"settings": asdict(settings) | {"run": str(settings.run)}, "progress": asdict(progress)}
    write_tensors(settings.run / CHECKPOINT, KIND, VERSION, model_tensors(model), metadata)


def read_checkpoint(given: Settings) -> tuple[Settings, Progress, dict[str, torch.Tensor]]:
    """(the run's settings, how far it has come, its tensors).

    Raises FileNotFoundError, or ValueError for a damaged checkpoint, or settings that are not the run's.
    """
    tensors, metadata = read_tensors(given.run / CHECKPOINT, KIND, VERSION, "python examples/ppo_selfplay.py")
    stored = metadata["settings"]
    before = Settings(
        **stored
        | {"run": Path(stored["run"]), "hidden": tuple(stored["hidden"]), "bots": tuple(stored["bots"])}
    )
    for bot in before.bots:
        if agents.starts_program(bot) and bot not in given.bots:
            raise ValueError(
                f"the run in {given.run} names the program {bot!r}: name it yourself to start it"
            )
    for name in (each.name for each in fields(Settings) if each.name not in OF_THE_SESSION):
        if getattr(given, name) not in (getattr(Settings(), name), getattr(before, name)):
            raise ValueError(
                f"the run in {given.run} has {name} = {getattr(before, name)}; "
                "leave it out to go on with the run"
            )
    settings = replace(before, **{name: getattr(given, name) for name in OF_THE_SESSION})
    return settings, Progress(**metadata["progress"]), tensors


def load_pool(settings: Settings, progress: Progress) -> list[Bot]:
    """The snapshots that the checkpoint names; one that cannot be read is named and left out from now on."""
    pool = {}
    folder = settings.run / "pool"
    for name in progress.pool:
        try:
            pool[name] = BOTS[settings.policy].load(folder / name, deterministic=False)
        except Exception as error:  # a damaged file can raise nearly anything
            print(f"{folder / name} is left out of the pool: {error}", file=sys.stderr)
    progress.pool = list(pool)
    return list(pool.values())


def tidy_pool(run: Path, progress: Progress) -> None:
    """Remove the snapshots that the checkpoint does not name: dropped ones, or newer than it."""
    for file in (run / "pool").iterdir():
        if re.fullmatch(r"\d{12}", file.stem) and file.name not in progress.pool:
            file.unlink()


def publish(model: MaskablePPO, settings: Settings, progress: Progress) -> None:
    """Write what is made from a checkpoint: the policy, the table of evaluations, the learning curve."""
    run = settings.run
    save_policy(model, run / POLICY)
    if rows := progress.evaluations:
        write_csv(run / "evaluations.csv", COLUMNS, [[row[column] for column in COLUMNS] for row in rows])
        games = f"{settings.evaluation_games:,} games an evaluation, {settings.final_games:,} at the end"
        draw_learning_curve(rows, run / "learning_curve.png", origin_line(games, settings.seed))


def draw_learning_curve(rows: list[dict[str, float]], path: Path, origin: str) -> None:
    """Win rates over time, `origin` at the foot."""
    minutes = [row["minutes"] for row in rows]
    figure, [[axes]] = new_figure(8, 5)
    for opponent, colour, dash in (("simple", BLUE, "-"), ("random", GREY, "-.")):
        games = [100 * row[f"games_{opponent}"] for row in rows]
        axes.plot(
            minutes,
            games,
            color=colour,
            linestyle=dash,
            marker="o",
            markersize=3,
            label=f"games against {opponent}",
        )
        axes.fill_between(
            minutes,
            [100 * row[f"games_{opponent}_low"] for row in rows],
            [100 * row[f"games_{opponent}_high"] for row in rows],
            color=colour,
            alpha=0.2,
            linewidth=0,
        )
    hands = [100 * row["hands_simple"] for row in rows]
    axes.plot(minutes, hands, "--", color=BLUE, label="hands against simple")
    axes.axhline(50, color="black", linewidth=0.8)
    axes.set(xlabel="minutes of training", ylabel="won, %", ylim=(0, 101), title="Masked-PPO self-play")
    axes.legend(loc="lower right")
    sign_figure(figure, origin)
    save_figure(figure, path, dpi=120)


# --- The run ------------------------------------------------------------------------------------------


def open_run(settings: Settings) -> tuple[Settings, Progress, dict[str, torch.Tensor] | None]:
    """(settings, progress, tensors of the checkpoint): of a new run (None), or of the one in the folder.

    Raises ValueError if a new run would be mixed with what is in the folder, FileNotFoundError without a run
    to resume.
    """
    run = settings.run
    if (run / CHECKPOINT).exists() and settings.resume:
        settings, progress, tensors = read_checkpoint(settings)
        (run / "pool").mkdir(exist_ok=True)
        for folder in (run, run / "pool"):
            remove_partials(folder)
        tidy_pool(run, progress)
        return settings, progress, tensors
    if settings.resume and not run.is_dir():
        raise FileNotFoundError(f"nothing to resume: there is no folder {run}")
    if run.is_dir():
        remove_partials(
            run
        )  # a run that was killed before its first checkpoint leaves nothing else but the empty pool
        remains = [path for path in run.iterdir() if path.name != "pool" or any(path.iterdir())]
        if remains and settings.resume:
            raise FileNotFoundError(f"nothing to resume: there is no {run / CHECKPOINT}")
        if remains:
            raise ValueError(
                f"{run} is not empty: choose another --run, or go on with the run in it by --resume"
            )
    (run / "pool").mkdir(parents=True, exist_ok=True)
    return settings, Progress(next_evaluation=settings.evaluate_every), None


def make_model(settings: Settings) -> MaskablePPO:
    """A new model, with its games."""
    candidates = settings.policy == "candidate"
    games = GinRummyVecEnv(settings.num_envs, "random", seed=settings.seed, candidates=candidates)
    model = MaskablePPO(
        CandidatePolicy if candidates else CardPolicy,
        games,
        learning_rate=settings.learning_rate,
        n_steps=settings.num_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.num_epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        ent_coef=settings.entropy,
        policy_kwargs={"hidden": settings.width} if candidates else {"net_arch": list(settings.hidden)},
        tensorboard_log=str(settings.run),
        seed=settings.seed,
        device="cpu",
    )
    model.gin_env = games.describe_training()
    return model


def main(settings: Settings) -> None:
    """Train, evaluate, save."""
    settings, progress, tensors = open_run(settings)
    torch.set_num_threads(settings.threads)
    keep_freed_memory()
    model = make_model(settings)
    opponents: list[Bot] = []
    if tensors is None:
        write_checkpoint(model, settings, progress)
    else:
        opponents = load_pool(settings, progress)
        restore_model(model, tensors)
        model.num_timesteps, model._n_updates = progress.decisions, progress.updates
        model.env.seed(settings.seed + progress.decisions)  # other decks than before
        publish(model, settings, progress)
        print(f"resuming after {progress.minutes:.1f} minutes and {progress.decisions:,} decisions")
    callback = SelfPlay(settings, progress, opponents)
    signal.signal(signal.SIGINT, callback.interrupt)
    try:
        train(model, callback)
    except KeyboardInterrupt:
        callback.bar.close()
        callback.save()
        publish(model, settings, progress)
        print(f"interrupted; python {sys.argv[0]} --run {settings.run} --resume goes on", file=sys.stderr)
        raise SystemExit(130) from None
    callback.bar.close()
    policy = settings.run / POLICY
    print(f"the policy is in {policy}, the learning curve in {settings.run / 'learning_curve.png'}")
    print(f"next: gin-rummy match {policy} simple")


def train(model: MaskablePPO, callback: SelfPlay) -> None:
    """Learn until the time is up, then evaluate. Raises KeyboardInterrupt at Ctrl-C, ready to be saved."""
    progress, settings = callback.state, callback.settings
    if progress.minutes < settings.minutes:
        progress.finished = False
        model.learn(10**12, callback, reset_num_timesteps=False, tb_log_name="tensorboard")
        model.num_timesteps = progress.decisions  # without those after the last update
        if callback.interrupted:
            raise KeyboardInterrupt
    if not progress.finished:
        callback.save()
        callback.evaluate(settings.final_games)
        progress.finished = True
        callback.save()
        publish(model, settings, progress)


if __name__ == "__main__":
    with one_line_errors("ppo_selfplay.py"):
        main(tyro.cli(Settings, description=__doc__))
