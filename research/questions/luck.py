"""How much of a result is the luck of the cards, and whether taking it out keeps the mean.

``luck/variance`` measures the share of the variance over deals that `gin_env.matches.luck` takes away, on top
of what playing each deal from both seats already took. ``luck/mean`` measures the mean of the luck, which
must be 0, between many bots and under every preset of the rules, and how often the 95 % interval of a short
match contains the value of all matches together. ``luck/rollouts`` measures what the luck by rollouts
(`gin_env.matches.rolled_luck`) adds to that by the network.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gin_env.game.rules import PRESETS
from gin_env.matches.luck import NUM_SUMMED, ROLLED, adjusted_ratio, without_luck
from gin_env.matches.matches import MatchResult
from gin_env.matches.rolled_luck import ROLLOUTS
from gin_env.support.plots import new_figure, save_figure
from research.reproduce.experiment import Run, lead_of, match_row, percent, ratio_row
from research.reproduce.tables import Row

ROLLED_HANDS = 400
MEAN_HANDS = 8000
USUAL = "challenge"
"""The rules of the rows without a preset: those of the EAAI 2021 challenge."""
SHORT_MATCHES, SHORT_DEALS = 400, 50
LEADS = (1, 3, 5)
"""Percentage points beyond 50 that a player wins, for the number of games that tell it from a tie."""
TICKS = (100, 200, 500, 1000, 2000, 5000, 10_000)


def measure_variance(run: Run, matches: Sequence[tuple[str, str, int]]) -> list[Row]:
    """Measure the variance of games won and of points a hand, before and after.

    `matches` are lists of two bots and their number of games.
    """
    rows = []
    for a, b, games in run.some(matches, 1):
        match = run.match(a, b, games, luck=True)
        deals = match.each_deal()
        won = deals["wins"][:, 0] + (2 - deals["wins"].sum(axis=1)) / 2
        rows.append(
            match_row(match, deviation=round(float((won / 2).std(ddof=1)), 4))
            | saved_row(match, "wins", won, np.full(len(won), 2))
            | saved_row(match, "points", lead_of(match), deals["hands"])
        )
    return rows


def saved_row(match: MatchResult, unit: str, results: np.ndarray, counts: np.ndarray) -> Row:
    """Return a figure without luck (wins: per game), and the share of its variance that was luck."""
    assert match.luck is not None
    ratio = results.sum() / counts.sum()
    cleared = without_luck(results - ratio * counts, match.luck[unit]) + ratio * counts
    saved = adjusted_ratio(results, counts, match.luck[unit]).saved
    name = f"{unit}_without_luck"
    return ratio_row(cleared, counts, name=name) | {f"{unit}_saved": percent(saved)}


def measure_rollouts(run: Run, pairs: Sequence[tuple[str, str]]) -> list[Row]:
    """Measure the variance of the lead in single hands that the network, rollouts and both take away."""
    rows = []
    for a, b in run.some(pairs, 1):
        hands, began = run.size(ROLLED_HANDS, 16), time.process_time()
        run.match(a, b, hands, fresh=True, episode="hand", luck=True)
        between = time.process_time()
        match = run.match(a, b, hands, fresh=True, episode="hand", luck="rollouts")
        seconds = time.process_time() - between - (between - began)
        assert match.luck is not None
        lead, luck = lead_of(match), match.luck["points"]
        ones, network, rolled = np.ones(len(lead)), luck.copy(), luck.copy()
        network[:, ROLLED], rolled[:, : ROLLED.start] = 0, 0
        terms = {"network": network, "rolled": rolled, "both": luck}
        saved = {name: percent(adjusted_ratio(lead, ones, each).saved) for name, each in terms.items()}
        about = {"bot": a, "opponent": b, "rollouts": ROLLOUTS, "hands": match.games}
        rows.append(about | saved | {"seconds_a_hand": round(seconds / hands, 2)})
    return rows


def measure_mean(run: Run, pairs: Mapping[str, Sequence[str]]) -> list[Row]:
    """Measure the mean luck of many matches, and the coverage of the intervals of short ones.

    `pairs` are bots with their opponents under the usual rules.
    """
    usual = [(bot, opponent, None) for bot, opponents in pairs.items() for opponent in opponents]
    games: list[tuple[str, str, str | None]] = run.some(usual, 1)
    games += [("policy-1", "simple", preset) for preset in run.some(sorted(PRESETS), 1)]
    rows = [
        mean_row(run.match(a, b, MEAN_HANDS, episode="hand", rules=preset, luck=True), preset or USUAL)
        for a, b, preset in games
    ]
    matches = run.size(SHORT_MATCHES, 4)
    long = run.match("policy-1", "tonic", 2 * SHORT_DEALS * matches, episode="hand", luck=True)
    return [*rows, coverage_row(long, matches)]


def mean_row(match: MatchResult, rules: str) -> Row:
    """Return the mean luck of a match in points a deal, with its standard error."""
    assert match.luck is not None
    total = match.luck["points"][:, :NUM_SUMMED].sum(axis=1)
    luck, error = float(total.mean()), float(total.std(ddof=1)) / len(total) ** 0.5
    about = {"kind": "mean", "bot": match.bots[0], "opponent": match.bots[1], "rules": rules}
    return about | {"hands": match.games, "luck": round(luck, 4), "error": round(error, 4)}


def coverage_row(match: MatchResult, matches: int) -> Row:
    """Return how often the interval of a short match contains the lead of the whole match."""
    assert match.luck is not None
    whole = lead_of(match), match.each_deal()["hands"], match.luck["points"]
    value = whole[0].sum() / whole[1].sum()
    short = zip(*(np.array_split(each, matches) for each in whole), strict=True)
    found = [adjusted_ratio(*part).interval for part in short]
    held = np.mean([low <= value <= high for low, high in found])
    about = {"kind": "coverage", "bot": match.bots[0], "opponent": match.bots[1], "matches": matches}
    return about | {"hands": match.games // matches, "held": percent(float(held))}


def by_the_usual_rules(row: Row) -> bool:
    """Return whether a page shows the row; the other presets are in the complete table."""
    return row.get("rules", USUAL) == USUAL


def means(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the means, with half the width of their 95 % intervals."""
    return [row | {"half": 1.96 * row["error"]} for row in rows if row["kind"] == "mean"]


def coverage(rows: Sequence[Row]) -> list[Row]:
    """Return the row of the coverage, with the number of means and the farthest in standard errors."""
    farthest = [abs(row["luck"]) / row["error"] for row in rows if row["kind"] == "mean"]
    about = {"means": len(farthest), "farthest": max(farthest)}
    return [row | about for row in rows if row["kind"] == "coverage"]


def draw_games_needed(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the number of games that tells two players apart, with and without luck."""
    figure, [[axes]] = new_figure(7, 4)
    places = np.arange(len(rows))
    for index, lead in enumerate(LEADS):
        needed = np.array([2 * (1.96 * 100 * row["deviation"] / lead) ** 2 for row in rows])
        kept = np.array([1 - row["wins_saved"] / 100 for row in rows])
        color, shift = f"C{index}", 0.26 * (index - 1)
        axes.barh(places + shift, needed, 0.24, color=color, alpha=0.35)
        axes.barh(places + shift, needed * kept, 0.24, color=color, label=f"won by {50 + lead} %")
    axes.set_yticks(places, [f"{row['bot']} v {row['opponent']}" for row in rows])
    axes.set_xscale("log")
    axes.set_xticks(TICKS, [f"{tick:,}" for tick in TICKS])
    axes.minorticks_off()
    axes.set_title("Games until the 95 % interval leaves out a tie", pad=26)
    axes.set_xlabel("games; pale: with luck, full: without")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(LEADS), frameon=False)
    save_figure(figure, path, dpi=120, origin=origin)
