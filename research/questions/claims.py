"""Measure the claims of `research.reproduce.paper_claims` with our readings of the papers' bots."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gin_env import agents, estimators
from gin_env.agents.cfr.table import packaged_table
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.estimators.public_history import known_cards
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.intervals import Interval, deviations, mean_interval
from gin_env.matches.matches import MatchResult
from gin_env.training.estimators.evaluation import estimate_along
from research.papers.francis2021.estimator_time import HANDS, REPEATS, times_along
from research.papers.truong2021.suit_orders import shortest_length
from research.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    deal_counts,
    interval,
    markdown,
    moments_of,
)
from research.reproduce.paper_claims import (
    CNN_GAMES,
    PAPER_000,
    PAPER_001,
    PAPER_001_ESTIMATES,
    PAPER_002,
    PAPER_003,
    PAPER_004,
    PaperClaim,
)


def measure_claims(claims: Sequence[PaperClaim], run: Run) -> list[Row]:
    """Measure a row for each claim: our figure with its 95 % interval."""
    return [measure_claim(claim, run) for claim in claims]


def measure_claim(claim: PaperClaim, run: Run) -> Row:
    """Measure the row of a claim."""
    deals = moments = None
    parts: list[list[int] | None] = []
    if claim.unit in TABLES:
        run.used(*claim.pair)
        found, games = TABLES[claim.unit](claim.pair[0], run)
        value = float(np.mean(found))
        low = high = value
        if isinstance(found, np.ndarray):
            low, high = mean_interval(value, found - value)
            moments = moments_of(found)
    else:
        match = run.match(*claim.pair, claim.games)
        value, (low, high), games = match.win_rate, match.interval, match.games
        deals = deal_counts(match)
        if claim.unit == "times":
            value, (low, high) = points_ratio(match)
            moments = moments_of(*match.each_deal()["points"].T)
        if claim.minus is not None:
            other_games = claim.other_games or claim.games
            other = run.match(*claim.minus, other_games)
            games += other.games
            if claim.unit == "undercuts":
                value, (low, high) = undercuts_difference(match, other)
                parts = [[one.undercuts[0], one.knocks[1]] for one in (match, other)]
            elif claim.unit == "lead":
                third = run.match(claim.pair[0], claim.minus[1], other_games)
                games += third.games
                value, (low, high) = lead_difference(match, third, other)
                parts = [deal_counts(match), deal_counts(third, other)]
            else:
                difference = win_rate_difference(match, other)
                deals = deal_counts(match, other)
                value, (low, high) = difference.value, difference.interval
    scale = 1 if claim.unit in DIGITS else 100
    row: Row = {
        "claim": claim.text,
        "bot": claim.pair[0],
        "opponent": claim.pair[1],
        "minus": claim.minus and list(claim.minus),
        "unit": claim.unit,
        "games": games,
        "value": round(scale * value, 4),
        "low": round(scale * low, 4),
        "high": round(scale * high, 4),
        "deals": deals if claim.unit == "%" else None,
    }
    row |= {} if moments is None else {"moments": moments}
    row |= {"parts": parts} if parts else {}
    return row | ({"quick": True} if run.quick else {})


def points_ratio(match: MatchResult) -> tuple[float, Interval]:
    """Return (points of bot a for each point of bot b, its 95 % interval over the deals).

    The interval is symmetric on the logarithmic scale, so that it is positive even with few games.
    Raises ValueError if one of the bots has no points.
    """
    points = match.each_deal()["points"]
    for bot, total in zip(match.bots, match.points, strict=True):
        if not total:
            raise ValueError(f"{bot} has scored no points in {match.games} games: play more")
    value = match.points[0] / match.points[1]
    low, high = mean_interval(math.log(value), deviations(points[:, 0], points[:, 1]) / value)
    return value, (math.exp(low), math.exp(high))


def undercuts_difference(match: MatchResult, other: MatchResult) -> tuple[float, Interval]:
    """Return (share of bot b's knocks that are undercut minus that share in `other`, its 95 % interval).

    The knocks are taken as independent. Raises ValueError if bot b never knocks in one of the matches.
    """
    shares, variance = [], 0.0
    for one in (match, other):
        knocks = one.knocks[1]
        if not knocks:
            raise ValueError(f"{one.bots[1]} has not knocked in {one.games} games: play more")
        share = one.undercuts[0] / knocks
        shares.append(share)
        variance += share * (1 - share) / knocks
    value, half = shares[0] - shares[1], 1.96 * math.sqrt(variance)
    return value, (value - half, value + half)


def lead_difference(match: MatchResult, one: MatchResult, other: MatchResult) -> tuple[float, Interval]:
    """Return (lead of bot a in `match` minus the gain in lead from `other` to `one`, its 95 % interval).

    A lead is the share of games won minus the share lost. The two parts are taken as independent.
    """
    gain = win_rate_difference(one, other)
    value = 2 * match.win_rate - 1 - 2 * gain.value
    halves = (match.interval[1] - match.interval[0], gain.interval[1] - gain.interval[0])
    half = math.hypot(*halves)
    return value, (value - half, value + half)


Measured = tuple[np.ndarray | float, int]
"""(float64 array of observations whose mean is measured, or an exact value; the number of games or hands)."""


def turns_of_players(bot: str, run: Run) -> Measured:
    """Return the turns of a player in hands of a bot against itself."""
    turns = turns_of_hands(bot, run.size(100_000), run.seed) / 2
    return turns, len(turns)


def table_values(bot: str, run: Run) -> Measured:
    """Return the number of information sets in the CFR table of V4 and V2."""
    return len(packaged_table("paper").strategy), 0


def share_visited(bot: str, run: Run) -> Measured:
    """Return the share of the information sets in that table that its training visited."""
    return float(packaged_table("paper").visited.mean()), 0


def uncertain_likelihoods(bot: str, run: Run) -> Measured:
    """Return the shares of Tonic's likelihoods from 0.3 to 0.9, over the cards whose place is unknown.

    Each of ten groups of hands of the bot against itself gives a share.
    """
    member, player, hands = estimators.make("logistic"), agents.make(bot), run.size(500)
    shares = []
    for group in range(10):
        inside = unknown = 0
        for positions, _, (estimates,), _ in estimate_along([member], player, hands, run.seed + group):
            _, unseen, _ = known_cards(positions.view)
            inside += int(((estimates >= 0.3) & (estimates <= 0.9) & unseen).sum())
            unknown += int(unseen.sum())
        shares.append(inside / unknown)
    return np.array(shares), 10 * hands


def ensemble_slowdown(bot: str, run: Run) -> Measured:
    """Return the times of paper 003's ensemble, with its memory, divided by those of its slowest member."""
    names = ["ensemble:switching=paper", "bayes", "nn", "shankar-cnn"]
    run.estimators += names
    members, hands = [estimators.make(name) for name in names], run.size(HANDS)
    ratios = []
    for number in range(run.size(REPEATS, 2) + 1):  # the first compiles and is not counted
        run.say(f"times, round {number}")
        ensemble, *others = times_along(members, hands, run.seed)[0]
        ratios.append(ensemble / max(others))
    return np.array(ratios[1:]), hands


TABLES: dict[str, Callable[[str, Run], Measured]] = {
    "turns": turns_of_players,
    "values": table_values,
    "visited": share_visited,
    "likelihoods": uncertain_likelihoods,
    "slowdown": ensemble_slowdown,
    "rows": lambda bot, run: (shortest_length(ambi=True), 0),
    "symbols": lambda bot, run: (shortest_length(ambi=False), 0),
}
"""Units of claims that are measured without matches."""
DIGITS = {"turns": 3, "times": 3, "slowdown": 2, "values": 0, "rows": 0, "symbols": 0}
"""Unit -> decimal places in the table. All other units are shares, shown in per cent with two."""


def turns_of_hands(bot: str, hands: int, seed: int) -> np.ndarray:
    """Return the turns of both players together in hands of a bot against itself, int64 (hands,)."""
    player = agents.make(bot)
    turns = np.empty(hands, np.int64)
    for first in range(0, hands, 2048):
        games = Games(min(2048, hands - first), episode="hand")
        games.start(seed=seed, episodes=np.arange(first, first + len(games), dtype=np.uint64))
        for playing in games.until_over():
            play_bot(games, player, playing)
        turns[first : first + len(games)] = games.results["turns"]
    return turns


def claims_table(claims: Sequence[PaperClaim], rows: Sequence[Row]) -> str:
    """Return a table of the paper's figure, ours and the verdict for each claim, and notes on differences."""
    by_text = by(rows, "claim")
    lines, notes = [], []
    for claim in claims:
        row = by_text.get(claim.text)
        if row is None or (row["bot"], row["opponent"]) != claim.pair:
            continue  # not measured, or measured with another reading of a bot
        verdict = claim.verdict(row)
        if verdict == "differs" and claim.note:
            notes += [claim.note] if claim.note not in notes else []
            verdict += f" ({notes.index(claim.note) + 1})"
        sign = "+" if claim.minus else ""
        digits = DIGITS.get(claim.unit, 2)
        exact = row["low"] == row["value"] == row["high"]
        figures = interval(row | {"low": None} if exact else row, digits, sign, "value")
        games = f"{row['games']:,}" if row["games"] else ""
        lines.append((claim.text, claim.paper, figures, games, verdict))
    table = markdown(["claim", "its figure", "measured (95 % interval)", "games", ""], lines)
    return "\n\n".join([table, "  \n".join(f"({n}) {note}" for n, note in enumerate(notes, 1))]).strip()


def claims_experiment(experiment: str, title: str, claims: Sequence[PaperClaim], **more: Any) -> Experiment:
    """Return the experiment that tests the claims of a paper."""
    return Experiment(
        experiment, title, partial(measure_claims, claims), partial(claims_table, claims), **more
    )


EXPERIMENTS = [
    claims_experiment(
        "000/claims",
        "Claims of paper 000 about V4 and V2, with Figures 2 to 4",
        PAPER_000,
        games=200_000,
        time="a quarter of an hour",
    ),
    claims_experiment(
        "001/claims",
        "Claims of paper 001 about Tonic and knock thresholds",
        PAPER_001,
        games=200_000,
        time="a quarter of an hour",
    ),
    claims_experiment(
        "001/likelihoods", "What paper 001 claims about Tonic's estimates", PAPER_001_ESTIMATES, games=0
    ),
    claims_experiment("002/late-knock", "Paper 002's late knocker", PAPER_002, games=200_000),
    claims_experiment(
        "003/claims",
        "Claims of paper 003 besides its figures",
        PAPER_003,
        games=CNN_GAMES,
        time="ten minutes",
    ),
    claims_experiment("004/claims", "Claims of paper 004 about its utility player", PAPER_004),
]
