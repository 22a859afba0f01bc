"""Bots under other rules: every quick bot against Simple."""

from __future__ import annotations

from collections.abc import Sequence

from gin_env import agents
from gin_env.game.rules import Rules
from research.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
    match_row,
)

PRESETS = ("eaai", "oklahoma", "straight", "bicycle")
GAMES = 2000


def measure_variants(run: Run) -> list[Row]:
    """Play a match of each bot that decides quickly against Simple, under each preset."""
    bots = [bot for bot in agents.quick_names() if bot != "simple"]
    run.used(*bots, "simple")
    rows = []
    for preset in run.some(PRESETS):
        for bot in run.some(bots):
            run.say(f"{bot} under {preset}")
            names = (bot, "simple")
            match = run.log.play(names, names, run.size(GAMES), run.seed, rules=Rules.preset(preset))
            rows.append(match_row(match, preset=preset))
    return rows


def variants_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each bot and a column for each preset."""
    presets, match_of = in_order(rows, "preset"), by(rows, "bot", "preset")
    lines = [
        [f"`{bot}`", *(interval(match_of.get((bot, preset), {}), 1) for preset in presets)]
        for bot in in_order(rows, "bot")
    ]
    return markdown(["games won against `simple`", *(f"`{preset}`" for preset in presets)], lines)


EXPERIMENTS = [
    Experiment(
        "variants",
        "Every bot against Simple under other rules",
        measure_variants,
        variants_table,
        GAMES,
        "a minute",
    ),
]
