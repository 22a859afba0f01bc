"""``generation`` trained with one family of bots left out of its pool, to measure how it generalises.

The bundled `generation` is measured mostly against the pool used to train and select it. In this experiment
the loop runs with its whole pool and with `tonic` left out, with three seeds each. All champions play the
same bots. The bots of `HELD_OUT` are not in any pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gin_env.agents import Agent, make
from gin_env.agents.generations.bot import GenerationBot
from gin_env.reproduce.experiment import Experiment, Row, Run, in_order, markdown, match_row, widest
from gin_env.reproduce.experiments.learning import HELD_OUT

LEFT_OUT: dict[str, dict[str, float]] = {
    "nothing": {"simple": 8.0, "simple:knock_at=0": 1.0, "tonic": 2.0},
    "`tonic`": {"simple": 8.0, "simple:knock_at=0": 1.0},
}
"""Bots left out -> the pool of the loop, each bot with its share. The first pool is the loop's default."""
SEEDS = (1, 2, 3)
GENERATIONS = 3
"""Number of generations: the bundled run gained little after the third."""
ALIKE = {"late-knock": "simple:knock_at=0"}
"""Bots that play almost like another one, and count as met if that one was."""
OPPONENTS = ("simple", "simple:knock_at=0", "tonic", *HELD_OUT, *ALIKE)
GAMES = 6000


def train_champion(run: Run, folder: Path, pool: dict[str, float], seed: int) -> Agent:
    """Run or resume the loop in a folder and return its champion, or its ancestor if none was kept."""
    from gin_env.training.generations import loop

    hands = run.size(loop.LoopSettings().hands, 64)
    settings = loop.LoopSettings(
        pool=pool,
        hands=hands,
        hands_per_part=run.size(loop.LoopSettings().hands_per_part, 64),
        games=run.size(loop.LoopSettings().games, 20),
        seed=seed,
    )
    for generation in loop.run(folder, run.size(GENERATIONS, 1), settings, workers=1):
        run.say(f"{folder.name}: generation {generation.number}, kept: {generation.kept}")
    if not any(generation.kept for generation in loop.read_history(folder)[1:]):
        return make(settings.ancestor)
    return GenerationBot(str(loop.champion(folder)))


def measure_held_out(run: Run) -> list[Row]:
    """Measure each run's champion against the bots of the whole pool and against held-out bots."""
    rows = []
    for number, (left_out, pool) in enumerate(run.some(list(LEFT_OUT.items()))):
        for seed in run.some(SEEDS, 1):
            bot = train_champion(run, run.folder / f"pool-{number}-seed-{seed}", pool, seed)
            bot.name = f"generation without {left_out.strip('`')}, seed {seed}"
            for opponent in OPPONENTS:
                match = run.match(bot, opponent, GAMES)
                rows.append(match_row(match, left_out=left_out, seed=seed))
    return rows


def held_out_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each opponent and a column for each pool.

    A cell has the mean of the seeds. Results against bots outside the pool are in italics.
    """
    lines = []
    for opponent in in_order(rows, "opponent"):
        cells = [f"`{opponent}`"]
        for left_out in in_order(rows, "left_out"):
            mine = [row for row in rows if (row["opponent"], row["left_out"]) == (opponent, left_out)]
            won = [row["won"] for row in mine]
            text = f"{np.mean(won):.1f} ({', '.join(f'{one:.1f}' for one in won)})"
            cells.append(text if ALIKE.get(opponent, opponent) in LEFT_OUT[left_out] else f"*{text}*")
        lines.append(cells)
    pools = {"nothing": "the whole pool"}
    names = in_order(rows, "left_out")
    header = ["games won against", *(pools.get(name, f"without {name}") for name in names)]
    legend = "Mean of the seeds, each seed's in brackets; in italics: never met."
    return f"{markdown(header, lines)}\n\n{legend} {widest(rows)}".rstrip()


EXPERIMENTS = [
    Experiment(
        "generation-held-out",
        "The retraining loop without one of its opponents",
        measure_held_out,
        held_out_table,
        games=GAMES,
        seed=79,
        time="an hour and a quarter",
    )
]
