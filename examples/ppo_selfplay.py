"""Masked-PPO self-play: learn Gin Rummy from nothing against a pool of one's own past.

    python examples/ppo_selfplay.py --minutes 10 --run runs/first     # watch it learn
    python examples/ppo_selfplay.py --minutes 60 --run runs/first --resume
    tensorboard --logdir runs/first                                   # losses, win rates
    gin-rummy match runs/first/policy.safetensors simple              # the trained policy is a bot

A run folder holds policy.safetensors (a bot by its path), model.zip (what the training goes on from),
pool/ (past snapshots), evaluations.csv, learning_curve.png, TensorBoard logs, and settings.json.
"""

from __future__ import annotations

import csv
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

# Threads that wait must sleep: spinning ones slow each other down on shared cores. Read by torch at import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import FloatSchedule
from tqdm import tqdm

from gin_env.agents.policy import PolicyBot
from gin_env.play.matches import play_match
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy


@dataclass
class Settings:
    """Everything that defines a run; the defaults learn fast on two CPU cores."""

    run: Path = Path("runs/ppo_selfplay")
    """Folder for everything that the run writes."""
    minutes: float = 60.0
    """Stop after this many minutes of training (evaluations and earlier sessions included)."""
    resume: bool = False
    """Go on with the run in the folder, up to `minutes` in total."""
    seed: int = 1
    """Seed of decks, network and exploration."""
    threads: int = 2
    """Threads that PyTorch may use."""

    num_envs: int = 256
    """Games played at once."""
    num_steps: int = 64
    """Decisions in each game between two updates."""
    batch_size: int = 1024
    """Decisions in a minibatch."""
    num_epochs: int = 2
    """Passes over the decisions of an update."""
    learning_rate: float = 5e-4
    """At the start; it falls linearly to a tenth over `minutes`."""
    entropy: float = 0.01
    """Weight of the entropy bonus; it falls like the learning rate."""
    gamma: float = 1.0
    """Discount per decision; hands are short, so none."""
    gae_lambda: float = 0.95
    """Bias-variance trade-off of the advantages."""
    clip_range: float = 0.2
    """PPO's clipping."""
    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers, for policy and value each."""

    pool_size: int = 8
    """Past snapshots to keep as opponents; the oldest ones are thinned out."""
    snapshot_every: float = 1.5
    """Minutes between snapshots."""
    newest_share: float = 0.5
    """Share of hands against the newest snapshot."""
    simple_share: float = 0.2
    """Share of hands against the bot `simple`; the rest goes to older snapshots."""

    evaluate_every: float = 5.0
    """Minutes between evaluations."""
    evaluation_games: int = 1000
    """Games to 100 points against each of `random` and `simple` (interval about +-3 points)."""
    final_games: int = 10_000
    """Games of the evaluation at the end."""


class SelfPlay(BaseCallback):
    """Between updates: anneal, take snapshots into the pool, evaluate, save; stop when the time is up."""

    def __init__(self, settings: Settings, minutes_before: float) -> None:
        super().__init__()
        self.settings = settings
        self.started = time.time() - 60 * minutes_before
        self.pool_folder = settings.run / "pool"
        self.next_snapshot = minutes_before
        self.next_evaluation = minutes_before + settings.evaluate_every
        self.progress = tqdm(
            total=round(settings.minutes, 2),
            initial=round(minutes_before, 2),
            unit="min",
            bar_format="{l_bar}{bar}| {n:.1f}/{total:.1f} min [{postfix}]",
        )

    @property
    def minutes(self) -> float:
        """Minutes trained so far, earlier sessions included."""
        return (time.time() - self.started) / 60

    def _on_training_start(self) -> None:
        self.seat_opponents()

    def _on_step(self) -> bool:
        # Stop in the first step of a rollout only, so that no collected decisions are wasted.
        return self.minutes < self.settings.minutes or self.n_calls % self.settings.num_steps != 1

    def _on_rollout_end(self) -> None:
        left = max(0.1, 1 - self.minutes / self.settings.minutes)
        self.model.lr_schedule = FloatSchedule(self.settings.learning_rate * left)
        self.model.ent_coef = self.settings.entropy * left

    def _on_rollout_start(self) -> None:
        self.progress.n = min(self.minutes, self.progress.total)
        self.progress.set_postfix_str(f"{self.num_timesteps / 1e6:.2f}M decisions", refresh=True)
        if self.minutes >= self.next_snapshot:
            self.next_snapshot = self.minutes + self.settings.snapshot_every
            self.take_snapshot()
        if self.minutes >= self.next_evaluation:
            self.next_evaluation = self.minutes + self.settings.evaluate_every
            self.evaluate(self.settings.evaluation_games)
            save(self.model, self.settings, self.minutes)

    def take_snapshot(self) -> None:
        """Add the present policy to the pool; when full, drop the snapshot that leaves the smallest gap."""
        self.pool_folder.mkdir(exist_ok=True)
        save_policy(self.model, self.pool_folder / f"{self.num_timesteps:012d}.safetensors")
        files = sorted(self.pool_folder.glob("*.safetensors"))
        if len(files) > self.settings.pool_size:
            steps = np.array([int(file.stem) for file in files])
            gaps = (steps[2:] - steps[:-2]) / np.maximum(steps[-1] - steps[1:-1], 1)
            files[1 + int(np.argmin(gaps))].unlink()
        self.seat_opponents()

    def seat_opponents(self) -> None:
        """Play against the pool: the newest snapshot, older ones, and `simple`."""
        snapshots = [
            PolicyBot.load(file, deterministic=False)
            for file in sorted(self.pool_folder.glob("*.safetensors"))
        ]
        share = self.settings
        if not snapshots:
            self.training_env.set_opponents("random")
            return
        older = [(1 - share.newest_share - share.simple_share) / max(len(snapshots) - 1, 1)] * (
            len(snapshots) - 1
        )
        self.training_env.set_opponents(
            [*snapshots, "simple"], [*older, share.newest_share, share.simple_share]
        )

    def evaluate(self, games: int) -> dict[str, float]:
        """Play matches, append them to evaluations.csv, TensorBoard and the learning curve."""
        bot = PolicyBot.snapshot(self.model, deterministic=True, name="policy")
        row: dict[str, float] = {"minutes": round(self.minutes, 2), "decisions": self.num_timesteps}
        for opponent in ("random", "simple"):
            hands = play_match(bot, opponent, games, seed=self.settings.seed, episode="hand")
            whole = play_match(bot, opponent, games, seed=self.settings.seed)
            row[f"hands_{opponent}"] = round(hands.win_rate, 4)
            row[f"games_{opponent}"] = round(whole.win_rate, 4)
            row[f"games_{opponent}_low"], row[f"games_{opponent}_high"] = (
                round(bound, 4) for bound in whole.interval
            )
            self.logger.record(f"evaluation/hands_{opponent}", hands.win_rate)
            self.logger.record(f"evaluation/games_{opponent}", whole.win_rate)
        self.logger.dump(self.num_timesteps)
        append_row(self.settings.run / "evaluations.csv", row)
        draw_learning_curve(self.settings.run)
        tqdm.write(
            f"{row['minutes']:6.1f} min, {row['decisions'] / 1e6:5.2f}M decisions: "
            f"wins {row['hands_simple']:.1%} of hands and {row['games_simple']:.1%} of games against simple, "
            f"{row['games_random']:.1%} of games against random"
        )
        return row


def append_row(path: Path, row: dict[str, float]) -> None:
    """Add a row to a CSV file, with a header if it is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, row.keys())
        if new:
            writer.writeheader()
        writer.writerow(row)


def draw_learning_curve(run: Path) -> None:
    """Win rates over time from evaluations.csv, as learning_curve.png."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with (run / "evaluations.csv").open() as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    minutes = [row["minutes"] for row in rows]
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for opponent, colour in (("simple", "tab:blue"), ("random", "tab:grey")):
        games = [100 * row[f"games_{opponent}"] for row in rows]
        axes.plot(minutes, games, "o-", color=colour, markersize=3, label=f"games against {opponent}")
        axes.fill_between(
            minutes,
            [100 * row[f"games_{opponent}_low"] for row in rows],
            [100 * row[f"games_{opponent}_high"] for row in rows],
            color=colour,
            alpha=0.2,
            linewidth=0,
        )
    hands = [100 * row["hands_simple"] for row in rows]
    axes.plot(minutes, hands, "--", color="tab:blue", label="hands against simple")
    axes.axhline(50, color="black", linewidth=0.8)
    axes.set(xlabel="minutes of training", ylabel="won, %", ylim=(0, 101), title="Masked-PPO self-play")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(run / "learning_curve.png", dpi=120)
    pyplot.close(figure)


def save(model: MaskablePPO, settings: Settings, minutes: float) -> None:
    """Write the policy, and the checkpoint: the model with its optimizer, and the time trained so far."""
    save_policy(model, settings.run / "policy.safetensors")
    model.save(settings.run / "model.zip")
    state = {"minutes": minutes, "settings": asdict(settings) | {"run": str(settings.run)}}
    (settings.run / "settings.json").write_text(json.dumps(state, indent=2) + "\n")


def main(settings: Settings) -> None:
    """Train, evaluate, save."""
    torch.set_num_threads(settings.threads)
    checkpoint = settings.run / "model.zip"
    if checkpoint.exists() and not settings.resume:
        raise SystemExit(f"{checkpoint} exists: choose another --run, or go on with it by --resume")
    if settings.resume and not checkpoint.exists():
        raise SystemExit(f"nothing to resume: {checkpoint} does not exist")
    settings.run.mkdir(parents=True, exist_ok=True)
    games = GinRummyVecEnv(settings.num_envs, "random", seed=settings.seed)
    if settings.resume:
        minutes_before = json.loads((settings.run / "settings.json").read_text())["minutes"]
        model = MaskablePPO.load(checkpoint, games, device="cpu", tensorboard_log=str(settings.run))
        print(f"resuming after {minutes_before:.1f} minutes and {model.num_timesteps:,} decisions")
        games.seed(settings.seed + model.num_timesteps)  # other decks than before
    else:
        minutes_before = 0.0
        model = MaskablePPO(
            CardPolicy,
            games,
            learning_rate=settings.learning_rate,
            n_steps=settings.num_steps,
            batch_size=settings.batch_size,
            n_epochs=settings.num_epochs,
            gamma=settings.gamma,
            gae_lambda=settings.gae_lambda,
            clip_range=settings.clip_range,
            ent_coef=settings.entropy,
            policy_kwargs={"net_arch": list(settings.hidden)},
            tensorboard_log=str(settings.run),
            seed=settings.seed,
            device="cpu",
        )
        model.gin_env = games.describe_training()
    callback = SelfPlay(settings, minutes_before)
    model.learn(10**12, callback, reset_num_timesteps=False, tb_log_name="tensorboard")
    callback.progress.close()
    callback.evaluate(settings.final_games)
    save(model, settings, callback.minutes)
    policy = settings.run / "policy.safetensors"
    print(f"the policy is in {policy}, the learning curve in {settings.run / 'learning_curve.png'}")
    print(f"next: gin-rummy match {policy} simple")


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
