"""Matches that test no claim of a paper: options, control bots, our own bots, a tournament of all bots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.bot_speed import measure_bots
from gin_env import agents
from gin_env.agents.registry import BOTS
from gin_env.agents.safe_discard import ClairvoyantSafeDiscardBot
from gin_env.matches.matches import MatchResult
from gin_env.matches.ratings import Rating
from gin_env.matches.tournaments import TournamentResult, draw_heat_map, play_tournament
from research.questions.search import FEWER_WORLDS
from research.reproduce.experiment import (
    MEDIUM,
    TONIC,
    V2,
    V4,
    VARIABLE,
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
    widest,
)


def against_simple(bots: Sequence[str], games: int = 20_000) -> list[Row]:
    """Return each bot's match against Simple, labelled with the bot's name."""
    return [{"label": f"`{bot}`", "bot": bot, "opponent": "simple", "games": games} for bot in bots]


def bots_table(rows: Sequence[Row]) -> str:
    """Return the table of several bots against one opponent."""
    return markdown(["bot", "games won"], [(row["label"], interval(row)) for row in rows])


def opponents_table(rows: Sequence[Row]) -> str:
    """Return the table of one bot against several opponents."""
    header = ["against", "games won (95 % interval)"]
    return markdown(header, [(row["label"], interval(row)) for row in rows])


TONIC_OPTIONS: list[Row] = [
    {"label": label, "bot": f"{TONIC}:{option}", "opponent": "simple"}
    for label, option in (
        ("`break_pairs`", "break_pairs=true"),
        ("`filtered_fallback`", "filtered_fallback=true"),
        ("`depth_growth=0.05`", "depth_growth=0.05"),
        ("`depth_growth=0.2`", "depth_growth=0.2"),
        ("draws for a pair in no turn", "pair_turns=0"),
        ("draws for a pair in three turns", "pair_turns=3"),
        ("draws for a pair in all turns", "pair_turns=100"),
        ("believes that the opponent holds a card from 0.7, not 0.86", "held=0.7"),
        ("from 0.8", "held=0.8"),
        ("from 0.95", "held=0.95"),
    )
]
CONTROLS = (
    MEDIUM,
    "medium-paper",
    "medium-paper:knock_at=0,cautious_knock_at=0",
    "utility-paper",
    "utility-paper:draw_above=0",
    "random-discard",
    "late-knock-paper:useful_draws=false",
    "simple:knock_at=0",
)
MEDIUM_DROPS = tuple(f"{MEDIUM}:minimum_drop={drop}" for drop in (1, 2, 3, 4, 5, 6, 8, 10))
GENERATION: list[Row] = [
    {"label": f"`{opponent}`", "bot": "generation", "opponent": opponent}
    for opponent in ("simple", "simple:knock_at=0", "tonic", "cfr-plus")
]

# --- Bots that no other bot has met ---------------------------------------------------------------------

PLAYERS = (
    "policy",
    "generation",
    "tonic",
    "cfr-plus",
    "cfr",
    "fitness-cfr-paper",
    "heuristics-paper",
    "late-knock-paper",
    "simple:knock_at=0",
    "simple",
)


def measure_against_held_out(run: Run) -> list[Row]:
    """Measure bots against each held-out bot (`gin_env.support.registry.Declaration.held_out`)."""
    pairs = [(bot, opponent) for opponent in BOTS.names(held_out=True) for bot in PLAYERS if bot != opponent]
    return [match_row(run.match(bot, opponent, 2000)) for bot, opponent in run.some(pairs)]


def held_out_table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each bot and a column for each held-out opponent."""
    found, opponents = by(rows, "bot", "opponent"), in_order(rows, "opponent")
    lines = [
        [f"`{bot}`", *(interval(found.get((bot, opponent), {}), 1) for opponent in opponents)]
        for bot in in_order(rows, "bot")
    ]
    return markdown(["games won against", *(f"`{opponent}`" for opponent in opponents)], lines)


# --- Pools of opponents for the bot of paper 004 --------------------------------------------------------

POOLS = {
    "one dummy": ("random-discard",),
    "three dummies": ("random", "random-discard", "simple"),
    "and the bots of paper 000": (MEDIUM, V2, V4),
    "and those of papers 001 and 002": (TONIC, VARIABLE, "late-knock-paper"),
}
"""Pool -> its opponents; one with "and" has those of the pools before it too, except the first."""


def measure_pools(run: Run) -> list[Row]:
    """Measure `utility-paper` against each opponent of the pools."""
    opponents = dict.fromkeys(opponent for pool in POOLS.values() for opponent in pool)
    return [match_row(run.match("utility-paper", opponent, 10_000)) for opponent in opponents]


def pools_table(rows: Sequence[Row]) -> str:
    """Return a table of the mean win rate and points against each pool, in matches of two players."""
    found = by(rows, "opponent")
    lines = []
    pool: list[str] = []
    for label, added in POOLS.items():
        pool = [*(pool if label.startswith("and") else ()), *added]
        here = [found[opponent] for opponent in pool if opponent in found]
        if not here:
            continue
        won = sum(row["won"] for row in here) / len(here)
        points = [sum(row["points_per_hand"][side] for row in here) for side in range(2)]
        beaten = sum(row["low"] > 50 for row in here)
        lines.append((label, len(here), f"{won:.1f}", f"{points[0] / points[1]:.2f}", beaten))
    header = ["pool", "opponents", "games won, mean", "points for each of theirs", "opponents beaten"]
    return markdown(header, lines, "lrrrr")


# --- Tonic's numbers ------------------------------------------------------------------------------------

TUNED = {
    "the reading closest to the paper": TONIC,
    "thresholds found, increments of that reading": f"{TONIC}:knock_at=10+10+10+10+5+0",
    "**the defaults: both found**": "tonic:increment=0.1,decrement=0.2,decline=0.5,knock_at=10+10+10+10+5+0",
}
TONIC_OPPONENTS = ("simple", "simple:knock_at=4", VARIABLE)
"""Opponents in the search for the numbers."""
STRANGERS = (MEDIUM, V4, "cfr-plus")


def measure_tuned(run: Run) -> list[Row]:
    """Measure the paper's numbers and the tuned ones: `TONIC_OPPONENTS`, `STRANGERS`, and head to head."""
    rows = [
        match_row(run.match(bot, opponent, 20_000), label=label)
        for label, bot in TUNED.items()
        for opponent in TONIC_OPPONENTS + STRANGERS
    ]
    best = list(TUNED.values())[-1]
    return [*rows, match_row(run.match(best, TONIC, 20_000), label="head to head")]


def tuned_table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each set of numbers, and the match of the defaults against the first."""
    found = by(rows, "label", "opponent")
    opponents = TONIC_OPPONENTS + STRANGERS
    header = ["tonic", *(f"against `{opponent}`" for opponent in opponents)]
    lines = [
        [label, *(interval(found.get((label, opponent), {})) for opponent in opponents)] for label in TUNED
    ]
    last = [row for row in rows if row["label"] == "head to head"]
    text = markdown(header, lines)
    return text + (
        f"\n\nHead to head, the defaults win {interval(last[0])} against the reading closest to the paper."
        if last
        else ""
    )


# --- Safe discards --------------------------------------------------------------------------------------

ESTIMATORS = (
    "uniform",
    "logistic",
    "logistic:normalised=true",
    "bayes-isru",
    "bayes",
    "nn",
    "ensemble",
    "suit-equivariant",
    "shankar-cnn",
)
ALONE = ("uniform", "bayes")
SWITCHES = {
    "discards": "",
    "knock alone": ",caution=0,knock=true",
    "draw alone": ",caution=0,draw=true",
    "all three": ",draw=true,knock=true",
}
OMNISCIENT = "omniscient (`ClairvoyantSafeDiscardBot`)"


def measure_in_play(run: Run) -> list[Row]:
    """Measure each estimator's safe discards, some with the other switches, and the omniscient bot."""
    rows = []
    for estimator in ESTIMATORS:
        games = 10_000 if estimator in ("nn", "ensemble", "suit-equivariant", "shankar-cnn") else 20_000
        for switch, params in SWITCHES.items():
            alone = estimator in ALONE and not (switch == "all three" and estimator == "uniform")
            if switch == "discards" or alone:
                match = run.match(f"safe-discard:estimator={estimator}{params}", "simple", games)
                rows.append(match_row(match, estimator=estimator, switch=switch))
    for switch, bot in (
        ("discards", ClairvoyantSafeDiscardBot()),
        ("knock alone", ClairvoyantSafeDiscardBot(caution=0, knock=True)),
        ("draw alone", ClairvoyantSafeDiscardBot(caution=0, draw=True)),
        ("discards, `caution=10`", ClairvoyantSafeDiscardBot(caution=10)),
    ):
        bot.name = f"clairvoyant-safe-discard, {switch}"
        match = run.match(bot, "simple", 20_000, clairvoyant=True)
        rows.append(match_row(match, estimator=OMNISCIENT, switch=switch))
    return rows


def in_play_table(rows: Sequence[Row]) -> str:
    """Return a table with a row for each estimator, followed by the matches that have no column."""
    found = by(rows, "estimator", "switch")
    columns = list(SWITCHES)
    lines = []
    for estimator in in_order(rows, "estimator"):
        name = estimator if estimator == OMNISCIENT else f"`{estimator}`"
        lines.append([name, *(interval(found.get((estimator, column), {})) for column in columns)])
    more = [row for row in rows if row["switch"] not in columns]
    text = markdown(["estimator", *columns], lines)
    return "\n\n".join([text, *(f"{row['estimator']}, {row['switch']}: {interval(row)}." for row in more)])


# --- Tournament of all bots -----------------------------------------------------------------------------


VARIANTS = ("tonic-paper", "simple:knock_at=0")
"""The frozen reading of Tonic, and Simple that knocks only with gin."""


def all_bots() -> list[str]:
    """Return every quick bot and the variants."""
    return [*agents.quick_names(), *VARIANTS]


def measure_tournament(run: Run) -> list[Row]:
    """Measure the match of every pair of bots, with ratings and their standard errors."""
    entrants = run.some(all_bots(), 3)
    run.used(*entrants)
    result = play_tournament(entrants, run.size(2000), run.seed, log=run.log)
    ratings = result.ratings or ()
    found = {
        "entrants": list(result.bots),
        "ratings": [round(rating.value, 1) for rating in ratings],
        "deviations": [round(rating.deviation, 1) for rating in ratings],
    }
    return [match.as_dict() | {"deals": deal_counts(match)} | found for match in result.matches]


def tournament_table(rows: Sequence[Row]) -> str:
    """Return the table of the row's win rates against the column's bot, in per cent, by descending mean."""
    result = tournament_of(rows)
    order = result.standings()
    rates, means = 100 * result.win_rates, 100 * result.mean_win_rates
    lines = [
        [f"`{result.bots[a]}`", f"{means[a]:.1f}", *(f"{rates[a, b]:.0f}" if a != b else "" for b in order)]
        for a in order
    ]
    table = markdown(["bot", "mean", *(f"`{result.bots[bot]}`" for bot in order)], lines)
    ends = [{"low": 100 * low, "high": 100 * high} for low, high in (row["interval"] for row in rows)]
    return f"{table}\n\n{widest(ends)}"


def tournament_of(rows: Sequence[Row]) -> TournamentResult:
    """Return the tournament with these matches."""
    matches = tuple(
        MatchResult.from_dict({key: value for key, value in row.items() if key != "deals"}) for row in rows
    )
    values = rows[0]["ratings"]
    deviations = rows[0].get("deviations") or [0.0] * len(values)  # older results lack them
    ratings = tuple(map(Rating, values, deviations)) or None
    entrants = tuple(rows[0]["entrants"])
    return TournamentResult(entrants, matches, ratings, matches[0].games, matches[0].seed, 0.95)


def draw_tournament(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the heat map of the win rates."""
    draw_heat_map(tournament_of(rows), path, origin)


# --- Decisions per second -------------------------------------------------------------------------------


SEARCHERS = (FEWER_WORLDS, "search")


def measure_speed(run: Run) -> list[Row]:
    """Measure every bot's decisions per second on one core, in one batch; smaller for bots that search."""
    bots, repeats = [*BOTS.names(slow=False), *VARIANTS], run.size(5, 1)
    run.used(*bots, *SEARCHERS)
    speeds = measure_bots(bots, repeats, run.size(200, 2), seed=run.seed)
    speeds += measure_bots(SEARCHERS, repeats, run.size(10, 1), tables=run.size(32, 1), seed=run.seed)
    return [speed._asdict() for speed in speeds]


def speed_table(rows: Sequence[Row]) -> str:
    """Return the table of decisions per second, the fastest bot first."""
    ordered = sorted(rows, key=lambda row: row["median"], reverse=True)
    return markdown(
        ["bot", "decisions a second"],
        [(f"`{row['bot']}`", _many(row["median"])) for row in ordered],
        "lr",
    )


def _many(number: float) -> str:
    """Return a number as text: millions with two significant digits, less than 0.1 million in full."""
    return f"{number / 1e6:.2g} million" if number >= 1e5 else f"{number:,.0f}"


EXPERIMENTS = [
    Experiment("001/tuning", "Tonic's numbers: the paper's and ours", measure_tuned, tuned_table, seed=21),
    match_experiment("001/options", "Options of the paper's Tonic", TONIC_OPTIONS, table=bots_table),
    match_experiment(
        "control-bots", "The control bots against Simple", against_simple(CONTROLS), table=bots_table
    ),
    match_experiment(
        "000/medium-drops",
        "Medium's minimum drop",
        against_simple(MEDIUM_DROPS, 10_000),
        10_000,
        table=bots_table,
    ),
    match_experiment(
        "generation",
        "The bot generation against its pool and cfr-plus",
        GENERATION,
        table=opponents_table,
        seed=77,
        time="two minutes",
    ),
    Experiment(
        "004/pools",
        "Paper 004's player against pools of opponents",
        measure_pools,
        pools_table,
        games=10_000,
    ),
    Experiment(
        "against-held-out",
        "Our bots against bots that they never met",
        measure_against_held_out,
        held_out_table,
        games=2000,
        seed=77,
        time="a minute",
    ),
    Experiment(
        "003/in-play", "Safe discards by each estimator", measure_in_play, in_play_table, time="two minutes"
    ),
    Experiment(
        "tournament",
        "All bots against each other",
        measure_tournament,
        tournament_table,
        games=2000,
        time="ten minutes",
        pictures={"tournament.png": draw_tournament},
    ),
    Experiment(
        "bot-speed",
        "Decisions per second of each bot",
        measure_speed,
        speed_table,
        games=0,
        time="five minutes",
    ),
]
