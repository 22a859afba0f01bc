"""Published tables that other programs measure; their rows are stored and shown like all others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from research.recipes import tonic
from research.reproduce.experiment import Experiment, Row, by, in_order, markdown, plain_table, widest


def gain_table(rows: Sequence[Row]) -> str:
    """Return a table of each estimator's mean over the seeds and its gain over the first for each seed."""
    names, seeds = in_order(rows, "estimator"), in_order(rows, "seed")
    found = by(rows, "estimator", "seed")
    lines = []
    for name in names:
        won = [found[name, seed]["won"] for seed in seeds]
        gains = [f"{found[name, seed]['won'] - found[names[0], seed]['won']:+.2f}" for seed in seeds]
        lines.append(
            (f"`{name}`", f"{sum(won) / len(won):.2f}", "" if name == names[0] else ", ".join(gains))
        )
    header = ["estimate plane", "games won, mean of the seeds", f"gain over `{names[0]}` (each seed)"]
    return f"{markdown(header, lines)}\n\n{widest(rows)}".rstrip()


def trials_table(rows: Sequence[Row], most: int = 5) -> str:
    """Return a table of the best trials that played all their games, and of the search's starting point."""
    longest = [row for row in rows if row["games"] == max(one["games"] for one in rows)]
    best = sorted(longest, key=lambda row: row["mean"], reverse=True)[:most]
    chosen = best if rows[0] in best else [*best, rows[0]]
    lines = [(row["trial"], f"`{row['bot']}`", f"{row['mean']:.2f}") for row in chosen]
    return markdown(["trial", "bot", "games won, mean of the three opponents"], lines, "rlr")


def draw_trials(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Plot each trial's mean win rate against each of the six parameters.

    A line marks the bot that the search started from.
    """
    trials = []
    for row in rows:
        numbers = {key: row[key] for key in tonic.RANGES if row[key] is not None}
        trial = tonic.Candidate(row["bot"], numbers)
        for opponent in tonic.OPPONENTS:
            decided = row["games"] // len(tonic.OPPONENTS)
            trial.decided[opponent] = decided
            trial.won[opponent] = round(row[f"won against {opponent}"] * decided / 100)
        trials.append(trial)
    tonic.draw_trials(tonic.TuningResult({"games": 2000}, trials, [], [], None), path, origin)


CHECKS = {
    "openspiel": "OpenSpiel's legal actions and results",
    "leaks": "hidden cards dealt again",
    "calls": "odd calls",
    "faces": "environments compared with the reference rules",
    "bounds": "every index checked",
    "determinism": "other hashes, batches and threads",
    "memory": "cards and memory over a long run",
    "programs": "bots in other programs",
    "kills": "commands killed and resumed",
}


def checks_table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each check of ``make soak``."""
    lines = [
        (CHECKS.get(row["check"], row["check"]), row["size"], row["found"], row.get("note", ""))
        for row in rows
    ]
    return markdown(["check", "size", "found", "remark"], lines, "llr")


EXPERIMENTS = [
    Experiment(
        "long-checks",
        "Long-running checks",
        None,
        checks_table,
        games=0,
        program="make soak",
    ),
    Experiment(
        "mutants",
        "Mutation testing: changes of the code that the tests notice",
        None,
        partial(
            plain_table,
            ["area", "sample before", "sample after", "last sample"],
            ["area", "before", "after", "last"],
        ),
        games=0,
        program="make mutants MINUTES=60",
    ),
    Experiment(
        "001/trials",
        "The search for Tonic's numbers",
        None,
        trials_table,
        games=2000,
        program="python -m research tune tonic",
        pictures={"tonic_trials.png": draw_trials},
    ),
    Experiment(
        "003/in-observation",
        "An estimator in the observation of a PPO learner",
        None,
        gain_table,
        games=10_000,
        program="python examples/estimators_in_observation.py",
    ),
]
