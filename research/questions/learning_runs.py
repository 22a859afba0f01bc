"""Strength of the learning examples by decisions learned, and ablations of their parts.

    python -m research.questions.learning_runs ablation     # a quarter of an hour on one core
    python -m research.questions.learning_runs candidates   # twenty minutes on one
    python -m research.questions.learning_runs growth       # three hours on two; --decisions selects budgets

Each training is a run in its own folder below --work. The same command resumes a stopped run and does not
repeat finished ones. `python -m research pages` shows the results.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Annotated

import torch
import typer

from gin_env.matches.matches import play_match
from gin_env.support.atomic import write_text
from gin_env.support.exits import one_line_errors
from gin_env.training.runs import POLICY
from research.questions.learning import ABLATION_OPPONENTS
from research.reproduce import results
from research.reproduce.experiment import Row, Run, match_row
from research.reproduce.registry import find

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
EXAMPLES = Path(__file__).parents[2] / "examples"
MATCH_SEED = 7
"""Seed of all matches, so that every policy plays the same decks."""
NO_EVALUATIONS = ("--evaluate-every", "1e9", "--final-games", "2")
GROWTH_OPPONENTS = ("simple", "policy-1", "policy:margin=none")
LONG = 10_000_000
"""Decisions from which on a training plays more games in parallel and learns once from each decision."""
LONG_ARGUMENTS = ("--num-envs", "4096", "--num-minibatches", "64", "--update-epochs", "1")
ABLATIONS: dict[str, tuple[str, ...]] = {
    "unchanged": (),
    "entropy bonus 0.01": ("--ent-coef", "0.01"),
    "entropy bonus 0.1": ("--ent-coef", "0.1"),
    "clip at 0.1": ("--clip-coef", "0.1"),
    "minibatches a quarter as large": ("--num-minibatches", "128"),
    "layers twice as wide": ("--hidden", "128"),
    "critic that sees all cards": ("--critic-sees-all",),
    "points as the reward": ("--no-match-reward",),
}
"""Arguments of the training command that differ, by name of the variant."""
OBSERVED = {f"--policy {policy}": ("--policy", policy) for policy in ("candidate", "flat")}
"""The same for Stable-Baselines3, by observation."""


def numbers(text: str) -> list[int]:
    """Return the integers in a list like ``1,2,3``."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"a list of integers like 1,2,3, not {text!r}") from None


def train(
    example: str, folder: Path, arguments: list[str], collect: bool = False
) -> list[dict[str, float]] | None:
    """Finish the training in a folder and return its evaluations, the last one at the end.

    With `collect`, return None if the training is not finished. Raises BadParameter if the folder holds
    another training.
    """
    done = folder.with_suffix(".json")
    if not done.exists():
        if collect:
            return None
        resume = ["--resume"] if folder.exists() and any(folder.iterdir()) else []
        command = [sys.executable, str(EXAMPLES / example), "--run", str(folder), *arguments, *resume]
        print(" ".join(command), flush=True)
        subprocess.run(command, check=True)
        with (folder / "evaluations.csv").open(newline="") as file:
            lines = [{key: float(value) for key, value in line.items()} for line in csv.DictReader(file)]
        write_text(done, json.dumps({"arguments": arguments, "evaluations": lines}))
    stored = json.loads(done.read_text())
    if stored["arguments"] != arguments:
        raise typer.BadParameter(
            f"{folder} was trained with {' '.join(stored['arguments'])}; use another --work"
        )
    return stored["evaluations"]


def play(policy: Path, opponents: list[str], games: int) -> list[Row]:
    """Return the results of a policy's matches, stored next to it.

    If the policy is no longer there, they are those of earlier matches.
    """
    kept = policy.parent.with_suffix(".matches.json")
    rows: list[Row] = json.loads(kept.read_text()) if kept.exists() else []
    for opponent in opponents:
        played = {(row["opponent"], row["games"]) for row in rows}
        if (opponent, games) not in played and policy.exists():
            row = match_row(play_match(str(policy), opponent, games, MATCH_SEED))
            rows.append({key: row[key] for key in ("opponent", "games", "won", "low", "high", "deals")})
            write_text(kept, json.dumps(rows))
            print(f"{policy.parent.name} against {opponent}: {row['won']:.1f} %", flush=True)
    return [row for row in rows if row["opponent"] in opponents and row["games"] == games]


def compare(
    example: str,
    variants: Mapping[str, tuple[str, ...]],
    budget: list[str],
    seeds: list[int],
    games: int,
    collect: bool,
    work: Path,
) -> list[Row]:
    """Train each variant from each seed, and return matches against `ABLATION_OPPONENTS`."""
    rows: list[Row] = []
    for (number, (variant, changed)), seed in product(enumerate(variants.items()), seeds):
        folder = work / f"{number}-seed-{seed}"
        arguments = ["--seed", str(seed), *budget, *NO_EVALUATIONS, *changed]
        curve = train(example, folder, arguments, collect)
        if curve is None:
            continue
        about = {"variant": variant, "arguments": list(changed), "seed": seed}
        about["decisions"] = int(curve[-1]["decisions"])
        rows += [about | row for row in play(folder / POLICY, list(ABLATION_OPPONENTS), games)]
    return rows


def store(experiment: str, rows: list[Row], bots: list[str], arguments: list[str], out: Path) -> None:
    """Write the result of this command."""
    found = find(experiment)
    run = Run(found.seed, False, out.parent / ".cache")
    run.used(*bots)
    kept = [argument for argument in arguments if argument != "--collect"]
    command = " ".join(["python -m research.questions.learning_runs", *kept])
    print(f"wrote {results.describe(found, run, rows, command, None).save(out)}")


Out = Annotated[Path, typer.Option(help="Folder for the results")]
Work = Annotated[Path, typer.Option(help="Folder for the training runs")]
Seeds = Annotated[str, typer.Option(help="Random seeds of the training runs")]
Cores = Annotated[int, typer.Option(min=1, help="Number of processes or threads of each training run")]
Collect = Annotated[bool, typer.Option("--collect", help="Don't train; collect the results of finished runs")]
Games = Annotated[int, typer.Option(min=2, help="Number of games per match")]


@app.command(
    epilog="Example: `python -m research.questions.learning_runs ablation --decisions 1000000 --seeds 1`"
)
def ablation(
    decisions: Annotated[int, typer.Option(min=1, help="Decisions of each training run")] = 3_000_000,
    seeds: Seeds = "1,2,3",
    cores: Cores = 1,
    games: Games = 2000,
    collect: Collect = False,
    work: Work = Path("runs/ablation"),
    out: Out = Path("research/results"),
) -> None:
    """Train with equal budgets and one thing changed, from each seed."""
    budget = ["--total-timesteps", str(decisions), "--workers", str(cores)]
    rows = compare("ppo.py", ABLATIONS, budget, numbers(seeds), games, collect, work)
    store("ppo/ablation", rows, list(ABLATION_OPPONENTS), sys.argv[1:], out)


@app.command(
    epilog="Example: `python -m research.questions.learning_runs candidates --decisions 100000 --seeds 1`"
)
def candidates(
    decisions: Annotated[int, typer.Option(min=1, help="Decisions of each training run")] = 750_000,
    seeds: Seeds = "1,2,3",
    cores: Cores = 1,
    games: Games = 2000,
    collect: Collect = False,
    work: Work = Path("runs/candidates"),
    out: Out = Path("research/results"),
) -> None:
    """Train Stable-Baselines3 on candidates and, for as many decisions, on the flat observation."""
    budget = ["--total-timesteps", str(decisions), "--threads", str(cores)]
    rows = compare("ppo_selfplay.py", OBSERVED, budget, numbers(seeds), games, collect, work)
    store("ppo/candidates", rows, list(ABLATION_OPPONENTS), sys.argv[1:], out)


@app.command(
    epilog="Example: `python -m research.questions.learning_runs growth --decisions 1000000 --seeds 1`"
)
def growth(
    decisions: Annotated[
        str, typer.Option(help="Decisions of the training runs, separated by commas")
    ] = "1000000,3000000,9000000,27000000,81000000,1000000000",
    seeds: Seeds = "1,2,3",
    long_seeds: Annotated[str, typer.Option(help="Random seeds of the runs from 10 million on")] = "1",
    cores: Cores = 2,
    games: Games = 10_000,
    collect: Collect = False,
    work: Work = Path("runs/growth"),
    out: Out = Path("research/results"),
) -> None:
    """Train with growing budgets, and play matches against `simple` and two networks.

    From 10 million decisions on, a run plays 4,096 games in parallel and learns once from each decision.
    """
    rows: list[Row] = []
    for budget in numbers(decisions):
        changed = LONG_ARGUMENTS if budget >= LONG else ()
        for seed in numbers(long_seeds if budget >= LONG else seeds):
            folder = work / f"{budget}-seed-{seed}"
            arguments = ["--total-timesteps", str(budget), "--seed", str(seed), "--workers", str(cores)]
            curve = train("ppo.py", folder, [*arguments, *NO_EVALUATIONS, *changed], collect)
            if curve is None:
                continue
            about = {"budget": budget, "arguments": list(changed), "seed": seed, "cores": cores}
            about |= {"decisions": int(curve[-1]["decisions"]), "minutes": curve[-1]["minutes"]}
            rows += [about | row for row in play(folder / POLICY, list(GROWTH_OPPONENTS), games)]
    store("ppo/growth", rows, list(GROWTH_OPPONENTS), sys.argv[1:], out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with one_line_errors("learning.py"):
        app()
