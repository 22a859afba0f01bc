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
from typing import Any

from gin_env.agents import Agent, make
from gin_env.agents.generations.bot import GenerationBot
from gin_env.training.generations import loop
from research.questions.learning import HELD_OUT
from research.reproduce.experiment import Run
from research.reproduce.tables import Over, Row, cell_text

POOL = {"simple": 8.0, "simple:knock_at=0": 1.0, "tonic": 2.0}
"""The loop's default pool: each bot with its share."""


def read_generations(
    run: Run, folder: Path, last: int, pool: dict[str, float], knock: str = "value", seed: int = 1
) -> tuple[list[bool], list[Agent]]:
    """Run or resume the loop in a folder up to generation `last`.

    Return for every generation, the ancestor included, whether it was kept and its bot.
    """
    sizes: dict[str, Any] = {"hands": 64, "hands_per_part": 64, "games": 20} if run.quick else {}
    settings = loop.LoopSettings(pool=pool, knock=knock, seed=seed, **sizes)
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
                row = run.row(bot, opponent, 10_000, run=knock, generation=number, kept=is_kept)
                rows.append(row | {"opponent": name})
            champion = bot if is_kept else champion
    return rows


def with_titles(rows: Sequence[Row]) -> list[Row]:
    """Return the rows to show with the titles of their columns; of the second run those against Simple."""
    kept = {row["generation"]: "yes" if row["kept"] else "no" for row in rows if row["run"] == "value"}
    shown = []
    for row in rows:
        title = PREVIOUS if row["opponent"] == PREVIOUS else f"`{row['opponent']}`"
        frozen = ", knock frozen" if row["run"] == "simple" else ""
        if not frozen or row["opponent"] == "simple":
            shown.append(row | {"title": title + frozen, "kept": kept[row["generation"]]})
    return shown


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
            rows += [run.row(bot, each, GAMES, left_out=left_out, seed=seed) for each in OPPONENTS]
    return rows


@Over
def italic_if_unmet(rows: list[Row]) -> str:
    """Return the mean of the seeds, in italics if the bot never met the opponent."""
    text, opponent = cell_text("{won:each .1f}", rows), rows[0]["opponent"]
    met = ALIKE.get(opponent, opponent)
    return text if met in POOL and f"`{met}`" not in rows[0]["left_out"] else f"*{text}*"
