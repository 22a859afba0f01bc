"""The leaderboard: a row for each bot, compiled from the stored results of several experiments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from gin_env.support.plots import new_figure, save_figure
from research.questions.bots import VARIANTS, tournament_of
from research.questions.learning import held_out
from research.reproduce.tables import Row, by, in_order, interval, table


def leaderboard_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each bot of the tournament but variants, most games won first.

    A cell is empty if nothing was measured.
    """
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["of"]].append(row)
    result = tournament_of(found["tournament"])
    simple, speeds = against_simple(found["tournament"]), by(found["bot-speed"], "bot")
    learned, searched = by(found["exploit"], "bot"), by(found["exploit-all"], "bot")
    lines = []
    for mean, name in sorted(zip(result.mean_win_rates, result.bots, strict=True), reverse=True):
        if name not in VARIANTS:
            lines.append(
                simple.get(name, {})
                | {"bot": name, "opponent": name, "mean": 100 * mean}
                | {"time": microseconds(speeds[name]["median"]) if name in speeds else ""}
                | {"learned": interval(learned.get(name, {}), ".1f")}
                | {"searched": interval(searched.get(name, {}), ".1f")}
            )
    columns = {
        "bot": "`{bot}`",
        "held out": held_out,
        "wins against all others": "{mean:.1f}",
        "wins against `simple`": "{won:~.1f}",
        "µs a decision": "{time}",
        "loses to PPO": "{learned}",
        "loses to search": "{searched}",
    }
    return table(lines, columns, "llrrrrr")


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


def microseconds(a_second: float) -> str:
    """Return the time of a decision in microseconds as text: two digits below 10, else whole numbers."""
    time = 1e6 / a_second
    return f"{time:.2g}" if time < 10 else f"{time:,.0f}"


def draw_bounds(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw what a search wins against a bot that it knows, by number of worlds, with 95 % intervals.

    For `policy` this is ``search``, which assumes that its opponent plays like `policy`. Dashed lines show
    what PPO found, if it was measured.
    """
    figure, [[axes]] = new_figure(7, 4.5)
    learned = by((row for row in rows if row["of"] == "exploit"), "bot")
    searches = [row for row in rows if row["of"] == "exploit-search"]
    searches += [
        row | {"bot": row["opponent"], "samples": int(row["bot"].removeprefix("search:samples="))}
        for row in rows
        if row["of"] == "search/budgets"
    ]
    for bot in in_order(searches, "bot"):
        line = [row for row in searches if row["bot"] == bot]
        won = [row["won"] for row in line]
        below = [row["won"] - row["low"] for row in line]
        above = [row["high"] - row["won"] for row in line]
        worlds = [row["samples"] for row in line]
        drawn = axes.errorbar(worlds, won, [below, above], marker="o", linestyle="-", capsize=4, label=bot)
        if bot in learned:
            axes.axhline(learned[bot]["won"], color=drawn[0].get_color(), linewidth=1, linestyle="--")
    axes.axhline(50, color="grey", linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_xticks(*zip(*((2**power, str(2**power)) for power in range(1, 10)), strict=True))
    axes.set(xlabel="worlds", ylabel="games won against the bot, %")
    axes.set_title("Exploiters by search (dots) and by PPO (dashed)")
    figure.legend(loc="outside right upper")
    save_figure(figure, path, dpi=120, origin=origin)
