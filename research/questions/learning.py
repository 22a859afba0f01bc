"""Learning results: PPO on candidates by decisions learned, its ablations, and the bundled policies.

Each training by a learning example is a run in its own folder below the folder of the experiment, and is
resumed there.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import learning_scale
from gin_env import agents
from gin_env.agents import Agent
from gin_env.agents.declared_bots import BOTS
from gin_env.agents.policies.candidate_network import load_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.support.plots import new_figure, save_figure
from gin_env.training.runs import EVALUATIONS, POLICY
from gin_env.training.settings import PPOSettings
from research.questions.learner_variants import VARIANTS, VariantBot, learn
from research.reproduce.charts import errors_of
from research.reproduce.experiment import Run, match_row
from research.reproduce.tables import Row, by, grouped

HELD_OUT = tuple(BOTS.names(held_out=True))
"""Bots in no pool, league or choice of settings, as their declarations say."""
VARIANT_DECISIONS = 3_000_000

EXAMPLES = Path(__file__).parents[2] / "examples"
MATCH_SEED = 7
"""Seed of all matches, so that every policy plays the same decks."""
SEEDS = (1, 2, 3)
OPPONENTS = ("simple", "simple:knock_at=0", "tonic", "generation", "policy-1")
"""The opponents of every experiment that changes one thing in the training."""
NO_EVALUATIONS = {
    "ppo.py": ("--evaluate-every", "1e9", "--final-games", "2"),
    "ppo_selfplay.py": ("--evaluate-every", str(10**12), "--evaluation-games", "2"),
}
"""Arguments of each example for runs that are evaluated afterwards."""
LONG = 10_000_000
"""Decisions from which on a training plays more games in parallel and learns once from each decision."""
SHORT_SETTINGS: dict[str, Any] = {"num_envs": 1024, "num_minibatches": 32, "learning_rate": 0.002}
"""Settings of the other trainings, which a new default must not change."""
SHORT_ARGUMENTS = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in SHORT_SETTINGS.items())
LONG_ARGUMENTS = "--num-envs 4096 --num-minibatches 64 --learning-rate 0.002 --update-epochs 1"


def train(run: Run, example: str, name: str, arguments: Sequence[str]) -> tuple[Path, dict[str, float]]:
    """Finish a training in the run's folder, and return its policy and its last evaluation."""
    folder = run.folder / name
    done = run.folder / f"{name}.done"
    if not done.exists():
        command = [sys.executable, str(EXAMPLES / example), "--run", str(folder), *arguments]
        command += NO_EVALUATIONS[example]
        if folder.exists() and any(folder.iterdir()):
            command.append("--resume")
        run.say(" ".join(command))
        subprocess.run(command, check=True)
        done.touch()
    with (folder / EVALUATIONS).open(newline="") as file:
        *_, last = csv.DictReader(file)
    return folder / POLICY, {key: float(value) for key, value in last.items() if key != "bot"}


def play(run: Run, policy: Path, opponents: Sequence[str], games: int, about: Row) -> list[Row]:
    """Return a row for each of a policy's matches."""
    run.used(*opponents)
    rows = []
    for opponent in opponents:
        names = policy.parent.name, opponent
        row = match_row(run.log.play(names, (str(policy), opponent), run.size(games), MATCH_SEED))
        rows.append(about | {key: row[key] for key in ("opponent", "games", "won", "low", "high", "deals")})
    return rows


def measure_changed(
    run: Run, example: str, variants: Mapping[str, Sequence[str]], decisions: int, cores: str
) -> list[Row]:
    """Train each variant of an example from each seed, and play matches against `OPPONENTS`.

    `variants` are the arguments of the example that differ, by name.
    """
    rows: list[Row] = []
    budget = ("--total-timesteps", str(run.size(decisions, 2000)), *cores.split())
    for (number, (variant, changed)), seed in product(
        run.some(list(enumerate(variants.items()))), run.some(SEEDS, 1)
    ):
        arguments = ["--seed", str(seed), *budget, *changed]
        policy, last = train(run, example, f"{number}-seed-{seed}", arguments)
        about = {"variant": variant, "arguments": list(changed), "seed": seed}
        rows += play(run, policy, OPPONENTS, 2000, about | {"decisions": int(last["decisions"])})
    return rows


def measure_growth(run: Run, budgets: Sequence[int], opponents: Sequence[str]) -> list[Row]:
    """Train examples/ppo.py with growing budgets, and play matches."""
    rows: list[Row] = []
    for budget in [2000] if run.quick else budgets:
        changed = (LONG_ARGUMENTS if budget >= LONG else SHORT_ARGUMENTS).split()
        for seed in run.some(SEEDS):
            arguments = ["--total-timesteps", str(budget), "--seed", str(seed), "--workers", "2", *changed]
            policy, last = train(run, "ppo.py", f"{budget}-seed-{seed}", arguments)
            about = {"budget": budget, "arguments": changed, "seed": seed, "cores": 2}
            about |= {"decisions": int(last["decisions"]), "minutes": last["minutes"]}
            rows += play(run, policy, opponents, 10_000, about)
    return rows


def draw_growth(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the games won over the decisions learned, a point for each run."""
    figure, [[axes]] = new_figure(8, 5)
    for label, mine in grouped(rows, "against {opponent}").items():
        decisions, won = [row["decisions"] for row in mine], [row["won"] for row in mine]
        axes.errorbar(decisions, won, errors_of(mine, "won"), fmt="o", ms=4, label=label)
    axes.axhline(50, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="decisions learned", ylabel="games won, %", title="PPO on candidates")
    axes.legend(loc="lower right")
    save_figure(figure, path, dpi=120, origin=origin)


def measure_variants(run: Run) -> list[Row]:
    """Train each variant of the learner from each seed, with equally many decisions, and play matches."""
    rows = []
    for (variant, learner), seed in product(run.some(tuple(VARIANTS.items())), run.some(SEEDS, 1)):
        decisions = run.size(VARIANT_DECISIONS, 20_000)
        run.say(f"training: {variant}, seed {seed}")
        settings = PPOSettings(
            seed=seed, total_timesteps=decisions, past_share=0.0, workers=1, **SHORT_SETTINGS
        )
        learned, decisions = learn(learner, settings)
        bot = VariantBot(learned, f"{variant}, seed {seed}")
        for opponent in run.some(OPPONENTS):
            about = {"variant": variant, "seed": seed, "decisions": decisions}
            rows.append(run.row(bot, opponent, 2000, **about))
    return rows


def measure_policy(run: Run) -> list[Row]:
    """Measure the bundled policy against its first network, `policy-1` and every quick bot but `random`."""
    others = [name for name in agents.quick_names() if name not in ("policy", "policy-1", "random")]
    opponents = ["policy:margin=none", "policy-1", *others]
    return [run.row("policy", opponent, 20_000) for opponent in run.some(opponents)]


def held_out(row: Row) -> str:
    """Return whether the opponent is held out."""
    return "yes" if row["opponent"] in HELD_OUT else ""


def without_scores() -> dict[str, Agent]:
    """Return `policy-1` without the score as an input."""
    network = load_candidate_policy("policy-1")[0]
    return {"policy-1 that sees no score": CandidatePolicyBot(network, episode="hand")}


def measure_speed(run: Run) -> list[Row]:
    """Measure how fast the examples learn."""
    from benchmarks import learning_speed

    run.used("simple", "policy-1")
    return learning_speed.measure(run.folder, run.size(9, 1))


def measure_scale(run: Run) -> list[Row]:
    """Measure the learner by number of processes, on the CPU and on the GPU if there is one."""
    run.used(*PPOSettings().bots)
    rows = []
    for row in learning_scale.measure(2 if run.quick else None):
        run.say(str(row))
        rows.append(row)
    return rows


def over_one_worker(rows: Sequence[Row]) -> list[Row]:
    """Return the rates of decisions also relative to ppo.py with one worker."""
    alone = by(rows, "what")["ppo.py, workers 1, 1,024 games: learned"]["a_second"]
    return [row | {"over": None if "GFLOP" in row["what"] else row["a_second"] / alone} for row in rows]
