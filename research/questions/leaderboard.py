"""The leaderboard: a row for each bot, compiled from the stored results of several experiments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from research.questions.bots import VARIANTS, tournament_of
from research.reproduce.tables import Row, by, interval


def rows_of_bots(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each bot of the tournament but variants, most games won first."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["of"]].append(row)
    result = tournament_of(found["tournament"])
    simple, speeds = against_simple(found["tournament"]), by(found["bot-speed"], "bot")
    learned = by([row for row in found["exploit"] if row["start"] == "random"], "bot")
    searched = by(found["exploit-search"], "bot")
    lines = []
    for mean, name in sorted(zip(result.mean_win_rates, result.bots, strict=True), reverse=True):
        if name not in VARIANTS:
            lines.append(
                simple.get(name, {})
                | {"bot": name, "opponent": name, "mean": 100 * mean}
                | {"time": 1e6 / speeds[name]["median"] if name in speeds else None}
                | {"learned": interval(learned.get(name, {}), ".1f")}
                | {"searched": interval(searched.get(name, {}), ".1f")}
            )
    return lines


def against_simple(rows: Sequence[Row]) -> dict[str, Row]:
    """Return each bot's win rate against Simple, with the stored interval."""
    found = {}
    for row in rows:
        (a, b), won, (low, high) = row["bots"], row["win_rate"], row["interval"]
        if b == "simple":
            found[a] = {"won": 100 * won, "low": 100 * low, "high": 100 * high}
        elif a == "simple":
            found[b] = {"won": 100 * (1 - won), "low": 100 * (1 - high), "high": 100 * (1 - low)}
    return found
