"""CFR tables of paper 000, trained ten times as long as the bundled table, with three seeds.

The paper trained for a week; the bundled table has a million iterations. The abstraction ``dealt`` is the
paper's with the number of cards dealt instead of three stages (`gin_env.agents.cfr.dealt_sets`). Its tables
are trained, not interpolated. The run's folder keeps checkpoints and tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from gin_env.agents.cfr.bot import CfrBot
from gin_env.agents.cfr.table import StrategyTable
from gin_env.reproduce.experiment import V4, Experiment, Row, Run, by, in_order, markdown, match_row, percent
from gin_env.training.cfr.trainer import train_table

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
            bot = CfrBot(table=table)
            bot.name = f"cfr, {abstraction}, seed {seed}, {iterations:,} iterations"
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
    return markdown(header, lines, "rr")


EXPERIMENTS = [
    Experiment(
        "000/ten-million",
        "CFR on the paper's abstraction: ten million iterations, three seeds",
        partial(measure_long_training, "paper"),
        long_training_table,
        time="an hour and a quarter",
    ),
    Experiment(
        "000/dealt",
        "CFR with sets by the number of cards dealt: ten million iterations, three seeds",
        partial(measure_long_training, "dealt"),
        long_training_table,
        time="an hour and a half",
    ),
]
