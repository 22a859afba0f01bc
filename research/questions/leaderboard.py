"""The leaderboard: a row for each bot, compiled from the stored results of several experiments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from research.questions.bots import VARIANTS, both_sides
from research.reproduce.tables import Row, by, grouped, interval


def rows_of_bots(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each bot of the tournament but variants, most games won first."""
    found = defaultdict(list, grouped(rows, "{of}"))
    matches, speeds = both_sides(found["tournament"]), by(found["bot-speed"], "bot")
    simple = by((row for row in matches if row["opponent"] == "simple"), "bot")
    learned = by((row for row in found["exploit"] if row["start"] == "random"), "bot")
    searched = by(found["exploit-search"], "bot")
    means = {row["bot"]: row["mean"] for row in matches if row["bot"] not in VARIANTS}
    return [
        simple.get(name, {})
        | {"bot": name, "opponent": name, "mean": mean}
        | {"time": 1e6 / speeds[name]["median"] if name in speeds else None}
        | {"learned": interval(learned.get(name, {}), ".1f")}
        | {"searched": interval(searched.get(name, {}), ".1f")}
        for name, mean in sorted(means.items(), key=lambda item: item[::-1], reverse=True)
    ]
