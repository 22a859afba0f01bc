"""Learning results: PPO on candidates by decisions learned, its ablations, and the bundled policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import mean

import numpy as np

from gin_env import agents
from gin_env.agents.policies.candidate_network import load_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.registry import BOTS
from gin_env.support.plots import new_figure, save_figure
from research.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
    match_row,
    widest,
)

HELD_OUT = tuple(BOTS.names(held_out=True))
"""Bots in no pool, league or choice of settings, as their declarations say."""
GROWTH_FROM = 9_000_000
"""Least number of decisions of the runs from which the growth of strength is estimated."""
GROWTH_TARGET = 1_000_000_000
"""Number of decisions whose strength is expected from shorter runs."""

VARIANT_DECISIONS, VARIANT_SEEDS = 3_000_000, (1, 2, 3)
ABLATION_OPPONENTS = ("simple", "simple:knock_at=0", "tonic", "generation", "policy-1")
"""The opponents of every experiment that changes one thing in the training."""


def ablation_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each variant of the training and a column for each opponent.

    A cell has the mean of the seeds, with each seed in brackets.
    """
    opponents = in_order(rows, "opponent")
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row["variant"], row["opponent"]), []).append(row["won"])
    lines = []
    for variant in in_order(rows, "variant"):
        cells = []
        for opponent in opponents:
            won = found.get((variant, opponent), [])
            each = ", ".join(f"{one:.1f}" for one in won)
            cells.append(f"{mean(won):.1f} ({each})" if won else "")
        lines.append([variant, *cells])
    header = ["training", *(f"`{opponent}`" for opponent in opponents)]
    return f"{markdown(header, lines, 'l' + 'r' * len(opponents))}\n\n{widest(rows)}".rstrip()


def growth_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table of games won by decisions learned.

    The last line is that of `growth_fit`, for opponents of at least three of its budgets.
    """
    opponents, seeds = in_order(rows, "opponent"), in_order(rows, "seed")
    found = by(rows, "opponent", "budget", "seed")
    lines = []
    for budget in in_order(rows, "budget"):
        cells = [
            ", ".join(
                interval(found[opponent, budget, seed], 1)
                for seed in seeds
                if (opponent, budget, seed) in found
            )
            for opponent in opponents
        ]
        lines.append([f"{budget / 1e6:,.0f} million", *cells])
    fits = [growth_fit(rows, opponent) for opponent in opponents]
    if any(fits):
        expected = [f"{fit(GROWTH_TARGET):.1f}" if fit else "" for fit in fits]
        lines.append([f"{GROWTH_TARGET / 1e6:,.0f} million, expected", *expected])
    header = ["decisions learned", *(f"`{opponent}`" for opponent in opponents)]
    return markdown(header, lines, "l" + "r" * len(opponents))


def growth_fit(rows: Sequence[Row], opponent: str) -> Callable[[float], float] | None:
    """Return a function from decisions to the expected games won against a bot, in per cent.

    The logit of the win rate is linear in the logarithm of the decisions, by least squares over the budgets
    from `GROWTH_FROM` to `GROWTH_TARGET`. With these, all runs have learned to wait before they knock. The
    runs of `GROWTH_TARGET` decisions are left out: they show how good the estimate is. Two budgets are too
    few for one; then it returns None.
    """
    mine = [
        row for row in rows if row["opponent"] == opponent and GROWTH_FROM <= row["budget"] < GROWTH_TARGET
    ]
    if len({row["budget"] for row in mine}) < 3:
        return None
    won = np.array([row["won"] for row in mine]) / 100
    slope, level = np.polyfit(np.log10([row["decisions"] for row in mine]), np.log(won / (1 - won)), 1)
    return lambda decisions: 100 / (1 + np.exp(-level - slope * np.log10(decisions)))


def draw_growth(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the games won over the decisions learned, a point for each run, with lines of `growth_fit`."""
    figure, [[axes]] = new_figure(8, 5)
    for opponent in in_order(rows, "opponent"):
        mine = [row for row in rows if row["opponent"] == opponent]
        decisions, won = [row["decisions"] for row in mine], [row["won"] for row in mine]
        errors = [[row["won"] - row["low"] for row in mine], [row["high"] - row["won"] for row in mine]]
        points = axes.errorbar(decisions, won, errors, fmt="o", ms=4, label=f"against {opponent}")
        if (fit := growth_fit(rows, opponent)) is not None:
            ends = np.geomspace(GROWTH_FROM, GROWTH_TARGET, 50)
            axes.plot(ends, [fit(decisions) for decisions in ends], color=points[0].get_color())
    axes.axhline(50, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="decisions learned", ylabel="games won, %", title="PPO on candidates")
    axes.legend(loc="lower right")
    save_figure(figure, path, dpi=120, origin=origin)


def measure_variants(run: Run) -> list[Row]:
    """Train each variant of the learner from each seed, with equally many decisions, and play matches."""
    from gin_env.training.learner import PPOSettings
    from research.questions.learner_variants import VARIANTS, VariantBot, learn

    rows = []
    for (variant, learner), seed in product(run.some(tuple(VARIANTS.items())), run.some(VARIANT_SEEDS, 1)):
        decisions = run.size(VARIANT_DECISIONS, 20_000)
        run.say(f"training: {variant}, seed {seed}")
        settings = PPOSettings(seed=seed, total_timesteps=decisions, past_share=0.0, workers=1)
        learned, decisions = learn(learner, settings)
        bot = VariantBot(learned, f"{variant}, seed {seed}")
        for opponent in run.some(ABLATION_OPPONENTS):
            match = run.match(bot, opponent, 2000)
            rows.append(match_row(match, variant=variant, seed=seed, decisions=decisions))
    return rows


def measure_policy(run: Run) -> list[Row]:
    """Measure the bundled policy against its first network, `policy-1` and every quick bot but `random`."""
    opponents = [
        "policy:margin=none",
        "policy-1",
        *(name for name in agents.quick_names() if name not in ("policy", "random")),
    ]
    return [match_row(run.match("policy", opponent, 20_000)) for opponent in run.some(opponents)]


def policy_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table of the games won by a bundled policy; held-out opponents are marked."""
    ordered = sorted(rows, key=lambda row: row["won"])
    lines = [
        (f"`{row['opponent']}`", "yes" if row["opponent"] in HELD_OUT else "", interval(row))
        for row in ordered
    ]
    return markdown([f"`{rows[0]['bot']}` against", "held out", "games won (95 % interval)"], lines, "llr")


def measure_scores(run: Run) -> list[Row]:
    """Measure `policy-1` with and without the score as an input, against bots and each other."""
    network = load_candidate_policy("policy-1")[0]
    blind = CandidatePolicyBot(network, name="policy-1 that sees no score", episode="hand")
    rows = [match_row(run.match("policy-1", blind, 20_000))]
    for opponent in ("simple", "generation"):
        rows += [match_row(run.match(bot, opponent, 20_000)) for bot in ("policy-1", blind)]
    return rows


def scores_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each match."""
    lines = [(f"{row['bot']} against {row['opponent']}", interval(row)) for row in rows]
    return markdown(["match", "games won (95 % interval)"], lines, "lr")


def speed_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table of the measured rates, also relative to ppo.py with one worker."""
    alone = "ppo.py, workers 1, 1,024 games: learned"
    peer = next(row["a_second"] for row in rows if row["what"] == alone)
    lines = []
    for row in rows:
        rates = [f"{row[name]:,}" for name in ("a_second", "slowest", "fastest")]
        lines.append([row["what"], rates[0], " to ".join(rates[1:]), f"{row['a_second'] / peer:.2f}"])
    header = ["decisions", "a second, median", "slowest to fastest", "over ppo.py with one worker"]
    return markdown(header, lines, "lrrr")


EXPERIMENTS = [
    Experiment(
        "ppo/speed",
        "Speed of the learning examples",
        None,
        speed_table,
        games=0,
        program="python -m research.questions.learning_speed",
    ),
    Experiment(
        "ppo/growth",
        "PPO on candidates: decisions learned and games won",
        None,
        growth_table,
        games=10_000,
        program="python -m research.questions.learning_runs growth",
        pictures={"learning_growth.png": draw_growth},
    ),
    Experiment(
        "ppo/ablation",
        "PPO on candidates with one thing changed",
        None,
        ablation_table,
        games=2000,
        program="python -m research.questions.learning_runs ablation",
    ),
    Experiment(
        "ppo/variants",
        "PPO on candidates with other losses and other inputs",
        measure_variants,
        ablation_table,
        games=2000,
        seed=7,
        time="half an hour",
    ),
    Experiment(
        "ppo/candidates",
        "Stable-Baselines3 with candidates and with the flat observation",
        None,
        ablation_table,
        games=2000,
        program="python -m research.questions.learning_runs candidates",
    ),
    Experiment(
        "policy",
        "The bundled policy against every bot",
        measure_policy,
        policy_table,
        seed=79,
        time="ten minutes",
    ),
    Experiment(
        "policy-score",
        "The policy `policy-1` without the score",
        measure_scores,
        scores_table,
        seed=78,
        time="two minutes",
    ),
]
