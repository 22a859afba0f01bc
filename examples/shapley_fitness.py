"""Exact Shapley values of the four fitness factors of paper 000's bot V4 (``fitness-cfr``).

    python examples/shapley_fitness.py                                 # 20,000 games a match
    python examples/shapley_fitness.py --opponents simple --opponents medium --json shapley.json

The paper ranks a discard by four characteristics and asks, as future work, how much each of them is worth.
With four factors no sampling is needed: all 16 subsets play, `fitness-cfr:factors=deadwood+useless` for
instance, and a factor's Shapley value is its mean contribution to the win rate over all orders in which the
factors can be added (Shapley, 1953). The values add up to what all four together win over ranking by no
factor.
"""

from __future__ import annotations

import math
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from gin_env.agents.fitness import FACTORS
from gin_env.play.intervals import deviations, mean_interval
from gin_env.play.matches import MatchResult, check_confidence, play_match
from gin_env.support.atomic import check_targets, write_json
from gin_env.support.exits import one_line_errors

Subset = frozenset[str]
SUBSETS = [
    frozenset(subset)
    for subset in chain.from_iterable(combinations(FACTORS, size) for size in range(len(FACTORS) + 1))
]


def bot_with(subset: Subset) -> str:
    """The name of the bot that ranks by these factors only."""
    return (
        "fitness-cfr:factors="
        + "+".join(factor for factor in FACTORS if factor in subset)
        + "+" * (len(subset) < 2)
    )


def shapley_weights(factor: str) -> dict[Subset, float]:
    """The factor's Shapley value is the sum of these weights times the subsets' win rates."""
    weights = {}
    others = len(FACTORS) - 1
    for subset in SUBSETS:
        size = len(subset - {factor})
        weight = 1 / (len(FACTORS) * math.comb(others, size))
        weights[subset] = weight if factor in subset else -weight
    return weights


def shapley_value(
    factor: str, matches: dict[Subset, MatchResult], confidence: float
) -> tuple[float, float, float]:
    """(value, low, high) in percentage points; all subsets play the same deals, and are paired by them."""
    weights = shapley_weights(factor)
    value = sum(weight * matches[subset].win_rate for subset, weight in weights.items())
    of_deals = np.sum(
        [weight * deviations(*matches[subset].wins_and_decided) for subset, weight in weights.items()], axis=0
    )
    low, high = mean_interval(value, of_deals, confidence)
    return 100 * value, 100 * low, 100 * high


def shapley(
    games: Annotated[int, typer.Option(help="Games in each match, even.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    opponents: Annotated[list[str] | None, typer.Option(help="Default: simple and medium.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write all figures to this file.")] = None,
) -> None:
    """Play all 16 subsets of the factors against each opponent, and print the Shapley values."""
    check_confidence(confidence)
    check_targets(json)
    opponents = opponents or ["simple", "medium"]
    report: dict[str, object] = {"games": games, "seed": seed, "confidence": confidence}
    with tqdm(total=len(opponents) * len(SUBSETS) * games, unit="game", smoothing=0.05) as progress:
        results = {
            opponent: {
                subset: play_match(bot_with(subset), opponent, games, seed, progress=progress.update)
                for subset in SUBSETS
            }
            for opponent in opponents
        }
    for opponent, matches in results.items():
        none, everything = (100 * matches[subset].win_rate for subset in (SUBSETS[0], SUBSETS[-1]))
        typer.echo(
            f"\n{games:,} games a match against {opponent}: "
            f"{none:.2f} % by no factor, {everything:.2f} % by all\n"
        )
        typer.echo(
            f"| factor | Shapley value ({100 * confidence:g} % interval) | alone | without it |\n"
            "|---|---|---|---|"
        )
        values = {}
        for factor in FACTORS:
            value, low, high = values[factor] = shapley_value(factor, matches, confidence)
            alone = 100 * matches[frozenset({factor})].win_rate - none
            without = 100 * matches[frozenset(FACTORS) - {factor}].win_rate - everything
            typer.echo(
                f"| {factor} | {value:+.2f} ({low:+.2f} to {high:+.2f}) | {alone:+.2f} | {without:+.2f} |"
            )
        report[opponent] = {
            "shapley": values,
            "matches": {
                "+".join(sorted(subset)): match.as_dict(confidence) for subset, match in matches.items()
            },
        }
    if json is not None:
        write_json(json, report)
        typer.echo(f"written to {json}")


if __name__ == "__main__":
    with one_line_errors("shapley_fitness.py"):
        typer.run(shapley)
