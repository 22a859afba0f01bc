"""Paper 000's tables trained ten times as long as the packaged one, with three seeds; tables by cards dealt.

The paper trained for a week; the packaged table has a million iterations. ``dealt`` is the paper's
abstraction by the number of cards dealt instead of three stages (`gin_env.agents.cfr.dealt_sets`), trained,
not interpolated. Checkpoints and tables are kept in the run's folder.
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
"""`cfr` is the packaged table, of a million iterations."""


def trained_table(run: Run, abstraction: str, seed: int, iterations: int) -> StrategyTable:
    """The table after `iterations` iterations: from its file, or trained on from the last checkpoint."""
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
    """Each seed's tables along its training against Simple, V4 and the packaged table."""
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
    """A row for each number of iterations: the mean of the seeds, each seed's in brackets."""
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
        "CFR on the paper's abstraction to ten million iterations, three seeds",
        partial(measure_long_training, "paper"),
        long_training_table,
        time="an hour and a quarter",
    ),
    Experiment(
        "000/dealt",
        "CFR by the number of cards dealt to ten million iterations, three seeds",
        partial(measure_long_training, "dealt"),
        long_training_table,
        time="an hour and a half",
    ),
]
