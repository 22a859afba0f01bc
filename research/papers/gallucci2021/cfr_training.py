"""Strength of CFR tables of paper 000 by the length of training.

The bundled table has a million iterations. Other tables are trained ten times as long, with three seeds; the
paper trained for a week. The abstraction ``dealt`` is the paper's with the number of cards dealt instead of
three stages (`gin_env.agents.cfr.dealt_sets`). Its tables are trained, not interpolated. The run's folder
keeps their checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from gin_env.agents.cfr.bot import CfrBot, CfrPlusBot
from gin_env.agents.cfr.table import StrategyTable
from research.papers.gallucci2021.fitness import draw_curves
from research.recipes.cfr.trainer import CFRSettings, CFRTrainer, train_table
from research.reproduce.experiment import (
    V4,
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
    match_row,
    named,
    percent,
    widest,
)

SEEDS = (1, 2, 3)
STEPS = (1_000_000, 3_000_000, 10_000_000)
QUICK_STEPS = (100, 300)
OPPONENTS = ("simple", V4, "cfr")
"""Opponents of the tables; `cfr` plays the bundled table of a million iterations."""


def trained_table(run: Run, abstraction: str, seed: int, iterations: int) -> StrategyTable:
    """Return the table after `iterations` iterations, from its file or trained from the last checkpoint."""
    path = run.folder / f"{abstraction}-{seed}-{iterations}.npz"
    if not path.exists():
        run.say(f"{abstraction}, seed {seed}: training to {iterations:,} iterations")
        checkpoint = run.folder / f"{abstraction}-{seed}-checkpoint.npz"
        table = train_table(
            iterations,
            abstraction=abstraction,
            seed=seed,
            checkpoint=checkpoint,
            resume=checkpoint.exists(),
        )
        table.save(path)
    return StrategyTable.load(path)


def measure_long_training(abstraction: str, run: Run) -> list[Row]:
    """Measure each seed's tables during training against Simple, V4 and the bundled table."""
    rows = []
    for seed in run.some(SEEDS):
        for iterations in QUICK_STEPS if run.quick else STEPS:
            table = trained_table(run, abstraction, seed, iterations)
            bot = named(CfrBot(table=table), f"cfr, {abstraction}, seed {seed}, {iterations:,} iterations")
            for opponent in OPPONENTS:
                match = run.match(bot, opponent, 20_000)
                rows.append(
                    match_row(
                        match,
                        abstraction=abstraction,
                        seed=seed,
                        iterations=iterations,
                        visited=percent(table.visited.mean()),
                    )
                )
    return rows


def long_training_table(rows: Sequence[Row]) -> str:
    """Return a table of the mean of the seeds, and of each seed's value, by number of iterations."""
    found = by(rows, "iterations", "seed", "opponent")
    seeds, opponents = in_order(rows, "seed"), in_order(rows, "opponent")
    lines = []
    for iterations in in_order(rows, "iterations"):
        visited = [found[iterations, seed, opponents[0]]["visited"] for seed in seeds]
        cells = [f"{iterations:,}", f"{np.mean(visited):.0f} %"]
        for opponent in opponents:
            won = [found[iterations, seed, opponent]["won"] for seed in seeds]
            cells.append(f"{np.mean(won):.2f} ({', '.join(f'{one:.2f}' for one in won)})")
        lines.append(cells)
    header = [
        "iterations",
        "sets visited",
        *(f"against `{opponent}`: mean (each seed)" for opponent in opponents),
    ]
    return markdown(header, lines, "rr") + f"\n\n{widest(rows)}"


# --- Strength during training ----------------------------------------------------------------------------

BOTS = {"paper": CfrBot, "plus": CfrPlusBot}
ITERATIONS = {"paper": (1_000_000, 100), "plus": (220_000, 30)}
"""Number of iterations for each abstraction: as in the packaged table, and in a quick run."""
TRAINING_SEED = 1


def growing(most: int) -> list[int]:
    """Return 1, 3, 10, 30, ... from `most` / 1000 up to `most`, and `most` itself."""
    steps = [factor * 10**power for power in range(9) for factor in (1, 3)]
    return [step for step in steps if most / 1000 <= step < most] + [most]


def measure_training(run: Run) -> list[Row]:
    """Measure win rates by number of iterations, for both abstractions trained with `TRAINING_SEED`."""
    rows = []
    for kind, (full, quick) in ITERATIONS.items():
        trainer = CFRTrainer(CFRSettings(kind, seed=TRAINING_SEED))
        for checkpoint in growing(run.size(full, quick)):
            trainer.run(checkpoint - trainer.iterations)
            bot = BOTS[kind](table=trainer.table())
            bot = named(bot, f"{bot.name} after {checkpoint:,} iterations")
            for opponent in ("simple", V4):
                match = run.match(bot, opponent, 10_000)
                rows.append(match_row(match, abstraction=kind, iterations=checkpoint))
    return rows


def training_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each number of iterations.

    It has a column for each abstraction and opponent.
    """
    found = by(rows, "iterations", "abstraction", "opponent")
    columns = [
        (kind, opponent) for kind in in_order(rows, "abstraction") for opponent in in_order(rows, "opponent")
    ]
    lines = [
        [f"{iterations:,}", *(interval(found.get((iterations, *column), {})) for column in columns)]
        for iterations in sorted(in_order(rows, "iterations"))
    ]
    header = [f"{kind}, against `{opponent}`" for kind, opponent in columns]
    return markdown(["iterations", *header], lines, "r")


def draw_training(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the win rate by number of iterations."""
    curves: dict[str, list[Row]] = {}
    for row in rows:
        curves.setdefault(f"{row['abstraction']}, against {row['opponent']}", []).append(row)
    title = "Strength of Monte Carlo CFR+ strategies by iterations"
    draw_curves(curves, "iterations", title, "iterations (hands)", path, origin, logarithmic=True)


EXPERIMENTS = [
    Experiment(
        "000/training",
        "Strength of CFR by iterations",
        measure_training,
        training_table,
        games=10_000,
        time="five minutes",
        pictures={"cfr_training.png": draw_training},
    ),
    Experiment(
        "000/ten-million",
        "CFR on the paper's abstraction: ten million iterations, three seeds",
        partial(measure_long_training, "paper"),
        long_training_table,
        time="two hours",
    ),
    Experiment(
        "000/dealt",
        "CFR with sets by the number of cards dealt: ten million iterations, three seeds",
        partial(measure_long_training, "dealt"),
        long_training_table,
        time="an hour and a half",
    ),
]
