"""Strength of CFR tables of paper 000 by the length of training.

The bundled tables are trained for a million iterations (`cfr`) and 220,000 (`cfr-plus`). Others are trained
for up to ten million; the paper trained for a week. The abstraction ``dealt`` is the paper's with the number
of cards dealt instead of three stages (`gin_env.agents.cfr.dealt_sets`). Its tables are trained, not
interpolated. The run's folder keeps the checkpoints of the long training.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gin_env.agents.cfr.bot import CfrBot, CfrPlusBot
from gin_env.agents.cfr.table import StrategyTable
from gin_env.reproduce.experiment import (
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
)
from gin_env.reproduce.experiments.fitness import draw_curves
from gin_env.training.cfr.trainer import CFRSettings, CFRTrainer, train_table

TRAINING_SEED = 1

# --- A million iterations ---------------------------------------------------------------------------------

BOTS = {"paper": CfrBot, "plus": CfrPlusBot}
ITERATIONS = {"paper": (1_000_000, 100), "plus": (220_000, 30)}
"""Number of iterations for each abstraction: as in the packaged table, and in a quick run."""


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


# --- Ten million iterations -------------------------------------------------------------------------------

STEPS = {"paper": (1_000_000, 3_000_000, 10_000_000), "dealt": (1_000_000, 3_000_000)}
QUICK_STEPS = (100, 300)
OPPONENTS = ("simple", V4, "cfr")
"""Opponents of the tables; `cfr` plays the bundled table of a million iterations."""


def trained_table(run: Run, abstraction: str, iterations: int) -> StrategyTable:
    """Return the table after `iterations` iterations, from its file or trained from the last checkpoint."""
    path = run.folder / f"{abstraction}-{TRAINING_SEED}-{iterations}.npz"
    if not path.exists():
        run.say(f"{abstraction}: training to {iterations:,} iterations")
        checkpoint = run.folder / f"{abstraction}-{TRAINING_SEED}-checkpoint.npz"
        table = train_table(
            iterations,
            abstraction=abstraction,
            seed=TRAINING_SEED,
            checkpoint=checkpoint,
            resume=checkpoint.exists(),
        )
        table.save(path)
    return StrategyTable.load(path)


def measure_long_training(run: Run) -> list[Row]:
    """Measure both abstractions' tables during a long training against `OPPONENTS`."""
    rows = []
    steps = [
        (abstraction, iterations)
        for abstraction, each in STEPS.items()
        for iterations in (QUICK_STEPS if run.quick else each)
    ]
    for abstraction, iterations in steps:
        table = trained_table(run, abstraction, iterations)
        bot = named(CfrBot(table=table), f"cfr, {abstraction}, {iterations:,} iterations")
        visited = percent(table.visited.mean())
        for opponent in OPPONENTS:
            match = run.match(bot, opponent, 20_000)
            rows.append(match_row(match, abstraction=abstraction, iterations=iterations, visited=visited))
    return rows


def long_training_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each abstraction and number of iterations."""
    found = by(rows, "abstraction", "iterations", "opponent")
    opponents = in_order(rows, "opponent")
    lines = []
    for abstraction, iterations in dict.fromkeys(step[:2] for step in found):
        cells = [found[abstraction, iterations, opponent] for opponent in opponents]
        lines.append([abstraction, f"{iterations:,}", f"{cells[0]['visited']:.0f} %", *map(interval, cells)])
    against = [f"against `{opponent}`" for opponent in opponents]
    return markdown(["abstraction", "iterations", "sets visited", *against], lines, "lrr")


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
        "CFR on the paper's abstraction and by cards dealt: ten million iterations",
        measure_long_training,
        long_training_table,
        time="an hour",
    ),
]
