"""The retraining loop: generation by generation, and with a bot left out of its pool.

``generations`` plays matches with every generation of a run as long as that of the bundled `generation`, and
of one whose knocks stay those of Simple.

The bundled `generation` is measured mostly against the pool used to train and select it. In
``generation-held-out`` the loop runs with its whole pool and with `tonic` left out, with three seeds each, to
measure how it generalises. All champions play the same bots. The bots of `HELD_OUT` are not in any pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gin_env.agents import Agent, make
from gin_env.agents.generations.bot import GenerationBot
from research.questions.learning import HELD_OUT
from research.reproduce.experiment import Experiment, Row, Run, by, in_order, markdown, match_row, widest

POOL = {"simple": 8.0, "simple:knock_at=0": 1.0, "tonic": 2.0}
"""The loop's default pool: each bot with its share."""


def read_generations(
    run: Run, folder: Path, last: int, pool: dict[str, float], knock: str = "value", seed: int = 1
) -> tuple[list[bool], list[Agent]]:
    """Run or resume the loop in a folder up to generation `last`.

    Return for every generation, the ancestor included, whether it was kept and its bot.
    """
    from gin_env.training.generations import loop

    hands = run.size(loop.LoopSettings().hands, 64)
    settings = loop.LoopSettings(
        pool=pool,
        hands=hands,
        hands_per_part=run.size(loop.LoopSettings().hands_per_part, 64),
        games=run.size(loop.LoopSettings().games, 20),
        knock=knock,
        seed=seed,
    )
    for generation in loop.run(folder, last, settings, workers=1):
        run.say(f"{folder.name}: generation {generation.number}, kept: {generation.kept}")
    kept = [generation.kept for generation in loop.read_history(folder)]
    files = [str(folder / f"generation-{number}.safetensors") for number in range(1, len(kept))]
    return kept, [make(settings.ancestor), *(GenerationBot(file, knock) for file in files)]


# --- Generation by generation -----------------------------------------------------------------------------

LAST = {"value": 7, "simple": 4}
"""The last generation of the run with each way of deciding on knocks (`LoopSettings.knock`)."""
PREVIOUS = "previous"


def measure_generations(run: Run) -> list[Row]:
    """Measure every generation against the pool and the champion before it."""
    rows = []
    for knock, last in LAST.items():
        kept, bots = read_generations(run, run.folder / f"knock-{knock}", run.size(last, 1), POOL, knock)
        champion = None
        for number, (is_kept, bot) in enumerate(zip(kept, bots, strict=True)):
            bot.name = f"generation {number}, knock {knock}"
            opponents: dict[str, str | Agent] = {name: name for name in POOL}
            if champion is not None:
                opponents[PREVIOUS] = champion
            for name, opponent in opponents.items():
                row = match_row(run.match(bot, opponent, 10_000), run=knock, generation=number, kept=is_kept)
                rows.append(row | {"opponent": name})
            champion = bot if is_kept else champion
    return rows


def generations_table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each generation.

    The last column is the run whose knocks are frozen to those of Simple.
    """
    found = by(rows, "run", "generation", "opponent")
    lines = []
    for number in in_order(rows, "generation"):
        against_pool = [found.get(("value", number, opponent)) for opponent in (*POOL, PREVIOUS)]
        frozen = found.get(("simple", number, "simple"))
        cells = [f"{row['won']:.1f}" if row else "" for row in (*against_pool, frozen)]
        lines.append([number, "yes" if against_pool[0] and against_pool[0]["kept"] else "no", *cells])
    header = ["generation", "kept", *(f"`{bot}`" for bot in POOL), "previous", "`simple`, knock frozen"]
    return f"{markdown(header, lines)}\n\n{widest(rows)}".rstrip()


# --- A bot left out ---------------------------------------------------------------------------------------

LEFT_OUT = {"nothing": POOL, "`tonic`": {bot: share for bot, share in POOL.items() if bot != "tonic"}}
"""Bots left out -> the pool of the loop."""
SEEDS = (1, 2, 3)
GENERATIONS = 3
"""Number of generations: the bundled run gained little after the third."""
ALIKE = {"late-knock": "simple:knock_at=0"}
"""Bots that play almost like another one, and count as met if that one was."""
OPPONENTS = ("simple", "simple:knock_at=0", "tonic", *HELD_OUT, *ALIKE)
GAMES = 6000


def measure_held_out(run: Run) -> list[Row]:
    """Measure each run's champion against the bots of the whole pool and against held-out bots."""
    rows = []
    for number, (left_out, pool) in enumerate(run.some(list(LEFT_OUT.items()))):
        for seed in run.some(SEEDS, 1):
            folder = run.folder / f"pool-{number}-seed-{seed}"
            kept, bots = read_generations(run, folder, run.size(GENERATIONS, 1), pool, seed=seed)
            bot = [one for one, is_kept in zip(bots, kept, strict=True) if is_kept][-1]
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
        "generations",
        "The retraining loop, generation by generation",
        measure_generations,
        generations_table,
        games=10_000,
        seed=79,
        time="an hour",
    ),
    Experiment(
        "generation-held-out",
        "The retraining loop without one of its opponents",
        measure_held_out,
        held_out_table,
        games=GAMES,
        seed=79,
        time="an hour and a quarter",
    ),
]
