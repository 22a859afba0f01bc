"""Paper 002's loop, read literally: each generation's network explores the data of the next.

"The training cycle could be repeated" (002, "Conclusions and Future Work"). Generation 1 learns from
Random-16, explored by the random-discard player. Generation n learns from the same deals and samples,
explored by the network of generation n - 1. Dual Inception is trained from scratch in each generation. Of its
ten networks, the network that wins the most validation games explores the next data set.
(`gin_env.training.generations` is another loop, with another network.)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gin_env.agents.hand_strength.bots import OffensiveBot
from research.papers.truong2021.hand_strength import data_set
from research.papers.truong2021.hand_strength_networks import (
    GAMES,
    NETWORKS,
    network_rows,
    spread,
    trained_networks,
)
from research.recipes.hand_strength import recipes
from research.recipes.hand_strength.data_sets import DataSet
from research.recipes.hand_strength.exploring import explore
from research.reproduce.experiment import Experiment, Row, Run, in_order, interval, markdown, named

GENERATIONS = 3
SAMPLES = 16


def explored_data(run: Run, explorer: Path, generation: int) -> DataSet:
    """Return Random-N with a network's discards, generated once in the run's folder."""
    path = run.folder / "data" / f"generation-{generation}.npz"
    if path.exists():
        return DataSet.load(path)
    observations = run.size(recipes.OBSERVATIONS, 500)
    run.say(f"data of generation {generation}, {observations:,} observations")
    bot = named(OffensiveBot(str(explorer)), f"offensive with generation {generation - 1}")
    data = explore(bot, SAMPLES, observations, estimator=recipes.ESTIMATOR, seed=run.seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    data.save(path)
    return data


def measure_loop(run: Run) -> list[Row]:
    """Measure each generation's networks against Simple, and describe their training data."""
    from research.recipes.hand_strength.trainer import HandStrengthSettings, find_schedule

    schedule = find_schedule("fast", 1 if run.quick else None)
    rows: list[Row] = []
    states = data_set(run, f"random-{SAMPLES}")
    for generation in range(1, run.size(GENERATIONS, 2) + 1):
        settings = [
            HandStrengthSettings("dual-inception", schedule, seed=run.seed + k)
            for k in range(run.size(NETWORKS, 2))
        ]
        name = f"generation {generation}"
        networks = trained_networks(run, f"generation-{generation}", states, settings)
        described = {
            "generation": generation,
            "explorer": states.metadata["explorer"],
            "states": len(states),
            "mean_score": round(float(states.scores.mean()), 2),
            "score_deviation": round(float(states.scores.std()), 2),
        }
        mine = [row | described for row in network_rows(run, name, networks)]
        rows += mine
        run.say(f"generation {generation}: games won {spread([row['won'] for row in mine])} %")
        best = next(number for number, row in enumerate(mine) if row["selected"])
        if generation < run.size(GENERATIONS, 2):
            states = explored_data(run, networks[best][0], generation + 1)
    return rows


def loop_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each generation."""
    lines = []
    for generation in in_order(rows, "generation"):
        mine = [row for row in rows if row["generation"] == generation]
        (selected,) = (row for row in mine if row["selected"])
        lines.append(
            (
                generation,
                selected["explorer"],
                f"{selected['mean_score']:.1f} ± {selected['score_deviation']:.1f}",
                spread([row["validation_loss"] for row in mine]),
                spread([row["won"] for row in mine]),
                interval(selected, 1),
            )
        )
    header = [
        "generation",
        "its data explored by",
        "scores",
        "validation loss: median (range)",
        "games won: median (range)",
        "selected by other games (90 % interval)",
    ]
    return markdown(header, lines)


EXPERIMENTS = [
    Experiment(
        "002/loop",
        "Paper 002's loop on Random-16: each generation explores the data of the next",
        measure_loop,
        loop_table,
        games=GAMES,
        time="a quarter of an hour",
    ),
]
