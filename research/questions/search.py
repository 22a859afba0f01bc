"""The value of looking ahead: the bot ``search`` against the policy that it starts from, and other bots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gin_env.support.plots import new_figure, save_figure
from research.questions.beliefs import beliefs_table, measure_beliefs
from research.questions.one_step import (
    draw_one_step,
    is_main_variant,
    measure_one_step,
    one_step_table,
)
from research.reproduce.experiment import Experiment, Row, Run, interval, markdown, match_row

BLOCK = 500
"""Number of games played and saved together: the most that a stopped run loses."""
FEWER_WORLDS = "search:samples=48"
MATCHES = (
    ("search", "policy-1", 2 * BLOCK),
    (FEWER_WORLDS, "policy-1", 2 * BLOCK),
    ("search", "simple", BLOCK),
)
BUDGETS = (16, 32, 64, 256)
BUDGET_GAMES = 2 * BLOCK


def measure_matches(run: Run, matches: Sequence[tuple[str, str, int]]) -> list[Row]:
    """Play matches in blocks, each with its own decks."""
    rows = []
    for bot, opponent, games in matches:
        run.used(bot, opponent)
        rows.append(match_row(run.match_in_blocks(bot, opponent, games, BLOCK)))
    return rows


def measure_strength(run: Run) -> list[Row]:
    """Measure the search with its usual number of worlds, and with fewer."""
    return measure_matches(run, run.some(MATCHES, 1))


def measure_budgets(run: Run) -> list[Row]:
    """Measure the bot against its policy by number of worlds."""
    matches = [(f"search:samples={samples}", "policy", BUDGET_GAMES) for samples in BUDGETS]
    return measure_matches(run, run.some(matches, 1))


def search_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each match."""
    lines = [
        (f"`{row['bot']}` against `{row['opponent']}`", f"{row['games']:,}", interval(row)) for row in rows
    ]
    return markdown(["match", "games", "games won (95 % interval)"], lines, "lrr")


def draw_budgets(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the games won by number of worlds, with their confidence intervals."""
    figure, [[axes]] = new_figure(6, 4)
    samples = [int(str(row["bot"]).split("=")[1]) for row in rows]
    won = np.array([row["won"] for row in rows])
    spread = np.array([[row["won"] - row["low"], row["high"] - row["won"]] for row in rows]).T
    axes.errorbar(samples, won, spread, marker="o", capsize=4)
    axes.axhline(50, color="grey", linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_xticks(samples, [str(count) for count in samples])
    axes.set(xlabel="worlds", ylabel="games won against policy, %", title="search by number of worlds")
    save_figure(figure, path, dpi=120, origin=origin)


EXPERIMENTS = [
    Experiment(
        "search/beliefs",
        "Beliefs about the opponent's hand",
        measure_beliefs,
        beliefs_table,
        games=0,
        seed=300,
        time="a quarter of an hour",
    ),
    Experiment(
        "search/one-step",
        "Gain of looking ahead in one decision",
        measure_one_step,
        one_step_table,
        games=0,
        seed=500,
        time="ten minutes",
        pictures={"search_one_step.png": draw_one_step},
        on_page=is_main_variant,
    ),
    Experiment(
        "search/strength",
        "The bot search against policy, policy-1 and simple",
        measure_strength,
        search_table,
        games=0,
        seed=900,
        time="half an hour",
    ),
    Experiment(
        "search/budgets",
        "The bot search against policy, by number of worlds",
        measure_budgets,
        search_table,
        games=0,
        seed=950,
        time="three quarters of an hour",
        pictures={"search_budgets.png": draw_budgets},
    ),
]
