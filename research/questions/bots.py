"""Matches of bots: a tournament of all bots, their speed, other rules, and the gold standard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.bot_speed import measure_bots
from gin_env import agents
from gin_env.agents.declared_bots import BOTS
from gin_env.matches.intervals import wilson_interval
from gin_env.matches.matches import MatchResult
from gin_env.matches.tournaments import Rating, TournamentResult, draw_heat_map, play_tournament
from research.reproduce.experiment import Run, deal_counts, match_row, percent
from research.reproduce.tables import Row

# --- Tournament of all bots -----------------------------------------------------------------------------


VARIANTS = ("tonic-paper", "simple:knock_at=0")
"""The frozen reading of Tonic, and Simple that knocks only with gin."""


def measure_tournament(run: Run) -> list[Row]:
    """Measure the match of every pair of bots, with ratings and their standard errors."""
    entrants = run.some([*agents.quick_names(), *VARIANTS], 3)
    run.used(*entrants)
    result = play_tournament(entrants, run.size(2000), run.seed, log=run.log)
    ratings = result.ratings or ()
    found = {
        "entrants": list(result.bots),
        "ratings": [round(rating.value, 1) for rating in ratings],
        "deviations": [round(rating.deviation, 1) for rating in ratings],
    }
    return [match.as_dict() | {"deals": deal_counts(match)} | found for match in result.matches]


def both_sides(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each bot of each match, by the places of the bot and of its opponent."""
    result = tournament_of(rows)
    places = {result.bots[index]: place for place, index in enumerate(result.standings())}
    means = dict(zip(result.bots, 100 * result.mean_win_rates, strict=True))
    sides = []
    for row in rows:
        (a, b), won, (low, high) = row["bots"], row["win_rate"], row["interval"]
        for bot, opponent, *shares in ((a, b, won, low, high), (b, a, 1 - won, 1 - high, 1 - low)):
            about = {"bot": bot, "mean": means[bot], "opponent": opponent, "place": places[opponent]}
            figures = (100 * share for share in shares)
            sides.append(about | dict(zip(("won", "low", "high"), figures, strict=True)))
    return sorted(sides, key=lambda row: (places[row["bot"]], row["place"]))


def tournament_of(rows: Sequence[Row]) -> TournamentResult:
    """Return the tournament with these matches."""
    matches = tuple(
        MatchResult.from_dict({key: value for key, value in row.items() if key != "deals"}) for row in rows
    )
    ratings = tuple(map(Rating, rows[0]["ratings"], rows[0]["deviations"])) or None
    entrants = tuple(rows[0]["entrants"])
    return TournamentResult(entrants, matches, ratings, matches[0].games, matches[0].seed, 0.95)


def draw_tournament(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the win rate of each pair of bots."""
    draw_heat_map(tournament_of(rows), path, origin)


# --- Decisions per second -------------------------------------------------------------------------------


SEARCHERS = ("search:samples=48", "search")


def measure_speed(run: Run) -> list[Row]:
    """Measure every bot's decisions per second on one core, in one batch; smaller for bots that search."""
    bots, repeats = [*BOTS.names(slow=False), *VARIANTS], run.size(5, 1)
    run.used(*bots, *SEARCHERS)
    speeds = measure_bots(bots, repeats, run.size(200, 2), seed=run.seed)
    speeds += measure_bots(SEARCHERS, repeats, run.size(10, 1), tables=run.size(32, 1), seed=run.seed)
    return [speed._asdict() for speed in speeds]


def many(row: Row) -> str:
    """Return a bot's decisions per second as text."""
    rate = row["median"]
    return f"{rate / 1e6:.2g} million" if rate >= 1e5 else f"{rate:,.0f}"


# --- Other rules ------------------------------------------------------------------------------------------


def measure_variants(run: Run, presets: Sequence[str]) -> list[Row]:
    """Play a match of each bot that decides quickly against Simple, under each preset."""
    bots = [bot for bot in agents.quick_names() if bot != "simple"]
    return [
        match_row(run.match(bot, "simple", 2000, rules=preset), preset=preset)
        for preset in run.some(presets)
        for bot in run.some(bots)
    ]


# --- The gold standard of arXiv 2607.06854 ----------------------------------------------------------------

GOLD = "gold-standard-paper"
GAMES = 4000


def measure_gold(run: Run, challengers: Sequence[str]) -> list[Row]:
    """Measure bots against the gold standard, in games and in hands by the rules nearest to `gin_rummy_v4`.

    In `gin_rummy_v4` the player who knocks wins the hand, since it has no undercut.
    """
    rows = []
    for bot in run.some(challengers):
        games = {} if bot == GOLD else match_row(run.match(bot, GOLD, GAMES))
        hands = run.match(bot, GOLD, GAMES, episode="hand", rules="gin_rummy_v4")
        ended = hands.knocks[0] / hands.hands
        low, high = wilson_interval(ended, hands.hands)
        rows.append(
            {"bot": bot, "games": run.size(GAMES)}
            | {key: games.get(key) for key in ("won", "low", "high", "deals")}
            | {"hands": hands.hands, "ended_hands": hands.knocks[0]}
            | {"ended": percent(ended), "ended_low": percent(low), "ended_high": percent(high)}
            | {"ended_by_gold": percent(hands.knocks[1] / hands.hands)}
            | {"gold_gins": percent(hands.gins[1] / hands.hands)}
        )
    return rows
