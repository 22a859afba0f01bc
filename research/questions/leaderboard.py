"""The leaderboard: a row for each bot, compiled from the stored results of several experiments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gin_env.matches.ratings import Rating
from gin_env.support.plots import new_figure, save_figure
from research.questions.bots import VARIANTS, tournament_of
from research.questions.learning import HELD_OUT
from research.reproduce.experiment import Experiment, Row, by, in_order, interval, markdown


def leaderboard_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each bot of the tournament but variants, best rating first.

    A cell is empty if nothing was measured. Of several exploiters, the result is that whose interval begins
    highest.
    """
    found = {part: [row for row in rows if row["of"] == part] for part in PARTS}
    result = tournament_of(found["tournament"])
    means, simple = result.mean_win_rates, against_simple(found["tournament"])
    speeds = by(found["bot-speed"], "bot")
    exploiters = [row for part in PARTS if part.startswith("exploit") for row in found[part]]
    searched = [*found["search/strength"], *found["search/budgets"]]
    exploiters += [row for row in map(known_search, searched) if row]
    exploits = by(sorted(exploiters, key=lambda row: row["low"]), "bot")
    lines = []
    for bot in result.standings():
        name = result.bots[bot]
        if name in VARIANTS:
            continue
        lines.append(
            [
                f"`{name}`",
                "yes" if name in HELD_OUT else "",
                rated(result.ratings[bot]) if result.ratings else "",
                f"{100 * means[bot]:.1f}",
                interval(simple.get(name, {}), 1),
                microseconds(speeds[name]["median"]) if name in speeds else "",
                interval(exploits.get(name, {}), 1),
                budget(exploits[name]) if name in exploits else "",
            ]
        )
    header = [
        "bot",
        "held out",
        "rating",
        "games won against all others",
        "games won against `simple`",
        "microseconds a decision",
        "games won by its best exploiter",
        "method of the exploiter",
    ]
    return markdown(header, lines, "llrrrrrl")


WORLDS = 256
"""Number of worlds by default."""
KNOWN = {("search", "simple"), (f"search:samples={WORLDS}", "policy")}
"""Matches of `search/strength` and `search/budgets` in which the opponent is a model of the search."""


def known_search(row: Row) -> Row | None:
    """Return a match of ``search`` as the row of an exploiter; None for one that is not `KNOWN`."""
    if (row["bot"], row["opponent"]) not in KNOWN:
        return None
    return row | {"bot": row["opponent"], "by": "search", "samples": WORLDS}


def budget(row: Row) -> str:
    """Return an exploiter's method and budget as text."""
    if row.get("by") == "search":
        return f"search, {row['samples']} worlds, {row['games']:,} games"
    return f"PPO, {row['decisions'] / 1e6:.0f} million decisions"


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


def rated(rating: Rating) -> str:
    """Return a rating as text, with its standard error if that is known."""
    return f"{rating.value:.0f}" + (f" ± {rating.deviation:.1f}" if rating.deviation else "")


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


PARTS = (
    "tournament",
    "bot-speed",
    "exploit",
    "exploit-search",
    "exploit-all",
    "search/strength",
    "search/budgets",
)
EXPERIMENTS = [
    Experiment(
        "leaderboard",
        f"Every bot in one table, made of {', '.join(PARTS)}",
        None,
        leaderboard_table,
        games=0,
        time="eight hours",
        pictures={"exploit_budgets.png": draw_bounds},
        parts=PARTS,
    )
]
