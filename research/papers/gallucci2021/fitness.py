"""Gallucci et al. 2021's bot V4: Shapley values of its factors, stages, early knocks, value of its table.

Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021), which lists these
experiments as future work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np

from gin_env.agents import Agent, resolve
from gin_env.agents.cfr.bot import CfrBot, StrategyTable, packaged_table
from gin_env.agents.cfr.strategy import KINDS, decision_slices
from gin_env.agents.fitness import FACTORS, FitnessCfrBot
from gin_env.matches.intervals import deviations, mean_interval
from gin_env.matches.matches import MatchResult
from gin_env.observations.views import PlayerView
from research.papers.gallucci2021.stages import MAPPINGS, interpolate
from research.reproduce.experiment import MEDIUM, V2, V4, Run, match_row, more_than, named, percent
from research.reproduce.tables import Row, interval

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


def shapley_row(factor: str, matches: dict[Subset, MatchResult]) -> Row:
    """Return the part of a row for a factor's Shapley value with its interval, in percentage points.

    The value is the factor's mean contribution to the win rate over all orders of the factors (Shapley,
    1953). It is exact in the subsets: all 16 play. They play the same deals, so the interval pairs them by
    deal.

    ``deals`` are the numbers of deals by the factor's contribution to the games won, or None if any game is
    undecided. A factor contributes -2 to 2 games to the two of a deal, in twelfths: 49 numbers. They give its
    Shapley value, half their mean per deal, and the interval.
    """
    weights = shapley_weights(factor)
    each = {subset: matches[subset].wins_and_decided for subset in SUBSETS}
    value = sum(weight * matches[subset].win_rate for subset, weight in weights.items())
    of_deals = sum(weight * deviations(*each[subset]) for subset, weight in weights.items())
    low, high = mean_interval(value, np.asarray(of_deals))
    deals = None
    if all((decided == 2).all() for _, decided in each.values()):
        twelfths = np.sum([round(12 * weights[subset]) * wins for subset, (wins, _) in each.items()], axis=0)
        deals = np.bincount(twelfths + 24, minlength=49).tolist()
    return {"value": percent(value), "low": percent(low), "high": percent(high), "deals": deals}


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
            rows += [where | {"factor": factor} | shapley_row(factor, matches) for factor in FACTORS]
    return rows


def value_or_games_won(row: Row) -> str:
    """Return the value of a factor, or the games won with none or all of them."""
    return interval(row, "+.2f", "value") or interval(row)


# --- An early knock -----------------------------------------------------------------------------------


def without_knocks(trained: StrategyTable) -> StrategyTable:
    """Return a copy of a table that never knocks. V4 still knocks with gin, without consulting the table."""
    strategy = trained.strategy.copy()
    strategy[decision_slices(KINDS[trained.metadata["abstraction"]])[2]] = 0
    return StrategyTable(strategy, trained.metadata | {"knocks": "none"})


THRESHOLDS = (0, 2, 4, 6, 8, 10)


def bots_that_knock_at() -> dict[str, FitnessCfrBot]:
    """Return V4 with each threshold as its only reason to knock, by name."""
    silent = without_knocks(packaged_table("paper"))
    return {
        f"{V4} that knocks at {limit} only": FitnessCfrBot(early_knock=limit, table=silent)
        for limit in THRESHOLDS
    }


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


def bots_between_stages() -> dict[str, CfrBot]:
    """Return ``cfr`` and V4 with each mapping of the stages but the paper's, by name."""
    bots = {}
    for mapping in MAPPINGS[1:]:
        mapped = interpolate(packaged_table("paper"), mapping)
        for base, bot in (("cfr", CfrBot(mapped)), (V4, FitnessCfrBot(table=mapped))):
            name = f"{base} with {mapping} stages"
            bots[name] = named(bot, name)
    return bots


def measure_stages(run: Run) -> list[Row]:
    """Measure mappings of positions between the stages, against the hard stages and against `simple`."""
    rows, bots = [], bots_between_stages()
    for base in ("cfr", V4):
        for mapping in MAPPINGS:
            bot = bots.get(f"{base} with {mapping} stages", base)
            for opponent in ["simple"] if mapping == "hard" else [base, "simple"]:
                compared = Compared(bot, base)
                match = run.match(compared, opponent, 20_000, fresh=True)
                run.used(bot)
                share = percent(compared.different / compared.decisions)
                rows.append(match_row(match, base=base, stages=mapping, different=share))
    return rows


def with_opponents(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the games won by opponent, and against `simple` the share that differs."""
    return [
        row | {"simple": row["won"], "share": None if row["stages"] == "hard" else row["different"]}
        if row["opponent"] == "simple"
        else row | {"hard": row["won"]}
        for row in rows
    ]


# --- V4, V2 and the value of their tables ----------------------------------------------------------------

READINGS = ("unanimous", "literal", "some", "filter")


def measure_readings(run: Run) -> list[Row]:
    """Measure V4 against each reading of V2, and V4's advantage over it against the controls."""
    rows = []
    for relative in (False, True):
        extra = ",relative=true" if relative else ""
        v4 = f"{V4}:relative=true" if relative else V4
        for reading in READINGS:
            v2 = f"{V2}:reading={reading}{extra}"
            row = run.row(v4, v2, 10_000, reading=reading, relative=relative)
            for key, opponent in (("simple", "simple"), ("medium", MEDIUM)):
                ours, theirs = (run.match(bot, opponent, 10_000) for bot in (v4, v2))
                row |= more_than(ours, theirs, f"more_against_{key}")
            rows.append(row)
    return rows


def shuffled(table: StrategyTable, seed: int) -> StrategyTable:
    """Return a copy with the visited entries permuted within discards, draws and knocks."""
    rng = np.random.default_rng(seed)
    strategy = table.strategy.copy()
    for part in decision_slices(KINDS[table.metadata["abstraction"]]):
        visited = np.flatnonzero(table.visited[part]) + part.start
        strategy[visited] = strategy[rng.permutation(visited)]
    return StrategyTable(strategy, table.metadata | {"shuffled": seed})


def bots_with_other_tables() -> dict[str, CfrBot]:
    """Return bots with a shuffled table, no table and part of the packaged table, by name."""
    trained = packaged_table("paper")
    nothing = StrategyTable(np.full_like(trained.strategy, -1.0), trained.metadata)
    no_discards = StrategyTable(trained.strategy.copy(), trained.metadata)
    no_discards.strategy[decision_slices(KINDS["paper"])[0]] = -1.0
    return {
        "cfr, a shuffled one": CfrBot(shuffled(trained, 0)),
        "cfr, none (random decisions)": CfrBot(nothing),
        "cfr, random discards with its draws and knocks": CfrBot(no_discards),
    }
