"""Paper 000's bot V4: Shapley values of its factors, stages, early knocks, value of its table.

000: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021), which lists these
experiments as future work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents import Agent, resolve
from gin_env.agents.cfr.abstractions import KINDS, decision_slices
from gin_env.agents.cfr.bot import CfrBot
from gin_env.agents.cfr.stages import MAPPINGS
from gin_env.agents.cfr.table import StrategyTable, packaged_table
from gin_env.agents.fitness import FACTORS, FitnessCfrBot
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.intervals import deviations, mean_interval
from gin_env.matches.matches import MatchResult
from gin_env.observations.views import PlayerView
from gin_env.support.plots import new_figure, save_figure
from research.reproduce.experiment import (
    MEDIUM,
    V2,
    V4,
    Experiment,
    Row,
    Run,
    by,
    deal_counts,
    in_order,
    interval,
    markdown,
    match_experiment,
    match_row,
    named,
    percent,
    widest,
)

# --- Shapley values -----------------------------------------------------------------------------------

Subset = frozenset[str]
SUBSETS = [
    frozenset(subset)
    for subset in chain.from_iterable(combinations(FACTORS, size) for size in range(len(FACTORS) + 1))
]


def bot_with(subset: Subset, relative: bool = False) -> str:
    """Return the name of the V4 variant that ranks cards by these factors only."""
    factors = "+".join(factor for factor in FACTORS if factor in subset) + "+" * (len(subset) < 2)
    return f"{V4}:factors={factors}" + (",relative=true" if relative else "")


def shapley_weights(factor: str) -> dict[Subset, float]:
    """Return the weight of each subset's win rate in the factor's Shapley value."""
    weights = {}
    for subset in SUBSETS:
        weight = 1 / (len(FACTORS) * math.comb(len(FACTORS) - 1, len(subset - {factor})))
        weights[subset] = weight if factor in subset else -weight
    return weights


def shapley_value(factor: str, matches: dict[Subset, MatchResult]) -> tuple[float, float, float]:
    """Return a factor's Shapley value and its confidence interval (value, low, high), in percentage points.

    The value is the factor's mean contribution to the win rate over all orders of the factors (Shapley,
    1953). It is exact in the subsets: all 16 play. They play the same deals, so the interval pairs them by
    deal.
    """
    weights = shapley_weights(factor)
    value = sum(weight * matches[subset].win_rate for subset, weight in weights.items())
    of_deals = sum(
        weight * deviations(*matches[subset].wins_and_decided) for subset, weight in weights.items()
    )
    low, high = mean_interval(value, np.asarray(of_deals))
    return percent(value), percent(low), percent(high)


def contribution_counts(factor: str, matches: dict[Subset, MatchResult]) -> list[int] | None:
    """Return the number of deals by the factor's contribution to the games won, or None as `deal_counts`.

    A factor contributes -2 to 2 games to the two of a deal, in twelfths: 49 numbers. They give its Shapley
    value, half their mean per deal, and the interval.
    """
    each = [matches[subset].wins_and_decided for subset in SUBSETS]
    if any((decided != 2).any() for _, decided in each):
        return None
    weights = shapley_weights(factor)
    twelfths = [round(12 * weights[subset]) for subset in SUBSETS]
    total = np.sum([weight * wins for weight, (wins, _) in zip(twelfths, each, strict=True)], axis=0)
    return np.bincount(total + 24, minlength=49).tolist()


def measure_shapley(run: Run) -> list[Row]:
    """Measure the value of each factor, and the win rates with no factor and with all factors.

    Both readings of the first factor are measured, against both opponents.
    """
    rows: list[Row] = []
    for relative in (False, True):
        for opponent in ("simple", MEDIUM):
            matches = {subset: run.match(bot_with(subset, relative), opponent, 20_000) for subset in SUBSETS}
            where = {"relative": relative, "opponent": opponent}
            for subset, factor in ((SUBSETS[0], "none"), (SUBSETS[-1], "all")):
                rows.append(match_row(matches[subset], factor=factor, **where))
            for factor in FACTORS:
                value, low, high = shapley_value(factor, matches)
                deals = contribution_counts(factor, matches)
                rows.append(
                    where | {"factor": factor, "value": value, "low": low, "high": high, "deals": deals}
                )
    return rows


def shapley_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each factor and a column for each opponent and reading."""
    found = by(rows, "factor", "relative", "opponent")
    columns = [(relative, opponent) for relative in (False, True) for opponent in ("simple", MEDIUM)]
    header = [
        f"against `{opponent}`, {'relative' if relative else 'absolute'}" for relative, opponent in columns
    ]
    lines = [
        [factor, *(interval(found.get((factor, *column), {}), 2, "+", "value") for column in columns)]
        for factor in FACTORS
    ]
    lines += [
        [f"{factor} (games won)", *(interval(found.get((factor, *column), {})) for column in columns)]
        for factor in ("none", "all")
    ]
    return markdown(["factor", *header], lines)


# --- An early knock -----------------------------------------------------------------------------------

CURVES = {
    "against V4": "V4 that also knocks immediately, against V4",
    "against `simple`": "V4 that also knocks immediately, against simple",
    "threshold alone, against V4": "V4 that knocks by the threshold alone, against V4",
    "threshold alone, against `simple`": "V4 that knocks by the threshold alone, against simple",
    "V4 against `simple` with the threshold": "V4, against simple with the threshold",
}
"""Row of the table -> label in the figure."""


def without_knocks(table: StrategyTable) -> StrategyTable:
    """Return a copy of a table that never knocks. V4 still knocks with gin, without consulting the table."""
    strategy = table.strategy.copy()
    strategy[decision_slices(KINDS[table.metadata["abstraction"]])[2]] = 0
    return StrategyTable(strategy, table.metadata | {"knocks": "none"})


THRESHOLDS = (0, 2, 4, 6, 8, 10)


def bots_that_knock_at() -> dict[str, FitnessCfrBot]:
    """Return V4 with each threshold as its only reason to knock, by name."""
    silent = without_knocks(packaged_table("paper"))
    bots = (
        named(FitnessCfrBot(early_knock=limit, table=silent), f"{V4} that knocks at {limit} only")
        for limit in THRESHOLDS
    )
    return {bot.name: bot for bot in bots}


def measure_early_knock(run: Run) -> list[Row]:
    """Measure V4 with a knock threshold of its own, in two readings, and against one of its opponent."""
    made = bots_that_knock_at()
    rows = []
    for limit in run.some(THRESHOLDS):
        added = f"{V4}:early_knock={limit}"
        alone = made[f"{V4} that knocks at {limit} only"]
        pairs: list[tuple[str | Agent, str]] = [
            (added, V4),
            (added, "simple"),
            (alone, V4),
            (alone, "simple"),
            (V4, f"simple:knock_at={limit}"),
        ]
        for curve, (bot, opponent) in zip(CURVES, pairs, strict=True):
            rows.append(match_row(run.match(bot, opponent, 20_000), curve=curve, threshold=limit))
    return rows


def early_knock_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each curve and a column for each threshold."""
    found = by(rows, "curve", "threshold")
    limits = in_order(rows, "threshold")
    lines = [
        [curve, *(f"{found[curve, limit]['won']:.1f}" for limit in limits)]
        for curve in in_order(rows, "curve")
    ]
    return markdown(["threshold", *map(str, limits)], lines) + f"\n\n{widest(rows)}"


def draw_curves(
    curves: dict[str, list[Row]],
    x: str,
    title: str,
    label: str,
    path: Path,
    origin: str,
    logarithmic: bool = False,
) -> None:
    """Draw a line with confidence intervals for each curve."""
    figure, [[axes]] = new_figure(8, 5.4)
    for name, rows in curves.items():
        rates = np.array([(row["won"], row["low"], row["high"]) for row in rows]).T
        places = [row[x] for row in rows]
        axes.errorbar(places, rates[0], yerr=np.abs(rates[1:] - rates[0]), marker=".", capsize=2, label=name)
    axes.axhline(50, color="black", linewidth=0.8)
    if logarithmic:
        axes.set_xscale("log")
    axes.set(xlabel=label, ylabel="games won (%)")
    axes.set_title(title, fontsize=10)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize=8)
    save_figure(figure, path, dpi=150, origin=origin)


def draw_early_knock(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the win rate by knock threshold."""
    curves = {label: [row for row in rows if row["curve"] == curve] for curve, label in CURVES.items()}
    title = "V4 of paper 000 and an early knock"
    draw_curves(curves, "threshold", title, "knocks immediately with at most this deadwood", path, origin)


# --- Between the stages -------------------------------------------------------------------------------


class Compared:
    """A bot that counts how often another bot would have decided differently."""

    def __init__(self, bot: str | Agent, other: str | Agent) -> None:
        self.bot, self.other = resolve(bot), resolve(other)
        self.name = self.bot.name
        self.decisions = self.different = 0

    def __deepcopy__(self, memo: object) -> Compared:
        """Count in both halves of a match: the bots remember nothing."""
        return self

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        actions = self.bot.act(view)
        self.decisions += len(view)
        self.different += int((actions != self.other.act(view)).sum())
        return actions


def measure_stages(run: Run) -> list[Row]:
    """Measure mappings of positions between the stages, against the hard stages and against `simple`."""
    rows = []
    for base in ("cfr", V4):
        for mapping in MAPPINGS:
            bot = f"{base}:stages={mapping}"
            for opponent in ["simple"] if mapping == "hard" else [base, "simple"]:
                compared = Compared(bot, base)
                match = run.match(compared, opponent, 20_000, fresh=True)
                run.used(bot)
                share = percent(compared.different / compared.decisions)
                rows.append(match_row(match, base=base, stages=mapping, different=share))
    return rows


def stages_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each bot and mapping."""
    lines = []
    for base, mapping in in_order([row | {"key": (row["base"], row["stages"])} for row in rows], "key"):
        found = by((row for row in rows if (row["base"], row["stages"]) == (base, mapping)), "opponent")
        share = "" if mapping == "hard" else f"{found['simple']['different']:.2f} %"
        lines.append((f"`{base}`", mapping, interval(found.get(base, {})), interval(found["simple"]), share))
    header = ["bot", "stages", "against the hard ones", "against `simple`", "decisions that differ"]
    return markdown(header, lines)


# --- V4, V2 and the value of their tables ----------------------------------------------------------------

FITNESS: list[Row] = [
    {"label": "V4 against `simple`", "bot": V4, "opponent": "simple"},
    {"label": "V2 against `simple`", "bot": V2, "opponent": "simple"},
    {"label": f"V4 against `{MEDIUM}`", "bot": V4, "opponent": MEDIUM},
    {"label": f"V2 against `{MEDIUM}`", "bot": V2, "opponent": MEDIUM},
    {"label": "V4 against `cfr`", "bot": V4, "opponent": "cfr"},
    {
        "label": "V4 against V2, both with `relative=true`",
        "bot": f"{V4}:relative=true",
        "opponent": f"{V2}:relative=true",
    },
    {"label": "V4 with `relative=true` against V4", "bot": f"{V4}:relative=true", "opponent": V4},
    {"label": "V4 with `relative=true` against `cfr`", "bot": f"{V4}:relative=true", "opponent": "cfr"},
]
READINGS = {
    "unanimous": "`unanimous` (frozen): keeps cards with all four characteristics",
    "literal": "`literal`: keeps cards with none of them",
    "some": "`some`: keeps cards with at least one",
    "filter": "`filter`: one heuristic after the other while a card remains",
}


def measure_readings(run: Run) -> list[Row]:
    """Measure V4 against each reading of V2, and V4's advantage over it against the controls."""
    rows = []
    for relative in (False, True):
        extra = ",relative=true" if relative else ""
        v4 = f"{V4}:relative=true" if relative else V4
        for reading in READINGS:
            v2 = f"{V2}:reading={reading}{extra}"
            row = match_row(run.match(v4, v2, 10_000), reading=reading, relative=relative)
            for key, opponent in (("simple", "simple"), ("medium", MEDIUM)):
                ours, theirs = run.match(v4, opponent, 10_000), run.match(v2, opponent, 10_000)
                more = win_rate_difference(ours, theirs)
                row[f"more_against_{key}"] = percent(more.value)
                low, high = more.interval
                row |= {f"more_against_{key}_low": percent(low), f"more_against_{key}_high": percent(high)}
                row[f"more_against_{key}_deals"] = deal_counts(ours, theirs)
            rows.append(row)
    return rows


def readings_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each reading of V2."""
    found = by(rows, "reading", "relative")

    def cell(row: Row | None) -> str:
        if row is None:
            return ""
        return f"{row['won']:.1f}, {row['more_against_simple']:+.1f}, {row['more_against_medium']:+.1f}"

    lines = [
        [label, *(cell(found.get((reading, relative))) for relative in (False, True))]
        for reading, label in READINGS.items()
    ]
    table = markdown(["reading of V2", "absolute deadwood", "relative deadwood"], lines)
    return f"{table}\n\n{widest(rows, '', 'more_against_simple_', 'more_against_medium_')}"


ASKED = {
    "`cfr` as it is, against `simple`": "cfr",
    "asked about cards within 4 points of the least, against `simple`": "cfr:candidates=near",
    "asked about all unmelded cards, against `simple`": "cfr:candidates=unmelded",
    "asked about all cards, against `simple`": "cfr:candidates=all",
    "played as a mixed strategy, not its likeliest choice, against `simple`": "cfr:purified=false",
}


def bots_with_other_tables() -> dict[str, CfrBot]:
    """Return bots with a shuffled table, no table and part of the packaged table, by name."""
    table = packaged_table("paper")
    nothing = StrategyTable(np.full_like(table.strategy, -1.0), table.metadata)
    no_discards = StrategyTable(table.strategy.copy(), table.metadata)
    no_discards.strategy[decision_slices(KINDS["paper"])[0]] = -1.0
    tables = {
        "a shuffled one": table.shuffled(0),
        "none (random decisions)": nothing,
        "random discards with its draws and knocks": no_discards,
    }
    return {f"cfr, {label}": named(CfrBot(other), f"cfr, {label}") for label, other in tables.items()}


def measure_tables(run: Run) -> list[Row]:
    """Measure the value of the packaged table of `cfr`.

    It plays against a shuffled table, no table and part of the table. It also plays `simple` when
    consulted about more cards, and as a mixed strategy.
    """
    rows = []
    for name, bot in bots_with_other_tables().items():
        label = f"the trained table against {name.removeprefix('cfr, ')}"
        rows.append(match_row(run.match("cfr", bot, 20_000), label=label))
    rows += [match_row(run.match(bot, "simple", 20_000), label=label) for label, bot in ASKED.items()]
    return rows


def labelled_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each match."""
    lines: list[Any] = [(row["label"], interval(row)) for row in rows]
    return markdown(["match", "games won (95 % interval)"], lines)


EXPERIMENTS = [
    match_experiment("000/fitness", "V4 and V2 against the controls and each other", FITNESS),
    Experiment("000/readings", "Readings of V2", measure_readings, readings_table, games=10_000),
    Experiment(
        "000/shapley", "Shapley values of V4's factors", measure_shapley, shapley_table, time="two minutes"
    ),
    Experiment(
        "000/tables",
        "Value of the table of cfr",
        measure_tables,
        labelled_table,
        makes=bots_with_other_tables,
    ),
    Experiment("000/stages", "Mappings between the stages", measure_stages, stages_table),
    Experiment(
        "000/early-knock",
        "V4 and an early knock",
        measure_early_knock,
        early_knock_table,
        time="a minute",
        makes=bots_that_knock_at,
        pictures={"early_knock.png": draw_early_knock},
    ),
]
