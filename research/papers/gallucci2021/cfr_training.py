"""Strength of CFR tables of Gallucci et al. 2021 by the length of training.

The bundled table has a million iterations. Other tables are trained ten times as long, with three seeds; the
paper trained for a week. The abstraction ``dealt`` is the paper's with the number of cards dealt instead of
three stages (`gin_env.agents.cfr.paper_sets`). Its tables are trained, not interpolated. The run's folder
keeps their checkpoints.
"""

from __future__ import annotations

from gin_env.agents.cfr.bot import CfrBot, CfrPlusBot, StrategyTable
from research.recipes.cfr.trainer import CFRSettings, CFRTrainer, train_table
from research.reproduce.experiment import V4, Run, named, percent
from research.reproduce.tables import Row

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
        settings, resume = CFRSettings(abstraction, seed=seed), checkpoint.exists()
        train_table(iterations, settings, checkpoint=checkpoint, resume=resume).save(path)
    return StrategyTable.load(path)


def measure_long_training(abstraction: str, run: Run) -> list[Row]:
    """Measure each seed's tables during training against Simple, V4 and the bundled table."""
    rows = []
    for seed in run.some(SEEDS):
        for iterations in QUICK_STEPS if run.quick else STEPS:
            table = trained_table(run, abstraction, seed, iterations)
            bot = named(CfrBot(table=table), f"cfr, {abstraction}, seed {seed}, {iterations:,} iterations")
            for opponent in OPPONENTS:
                about = {"abstraction": abstraction, "seed": seed, "iterations": iterations}
                about["visited"] = percent(table.visited.mean())
                rows.append(run.row(bot, opponent, 20_000, **about))
    return rows


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
                rows.append(run.row(bot, opponent, 10_000, abstraction=kind, iterations=checkpoint))
    return rows
