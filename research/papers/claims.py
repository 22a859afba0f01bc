"""The claims of papers about their bots, read from a data file, and the matches that test them.

`research.reproduce.verdicts` has the rule for "agrees".
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gin_env import agents, estimators
from gin_env.agents.cfr.bot import packaged_table
from gin_env.estimators.public_history import known_cards
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.intervals import Interval, deviations, mean_interval
from gin_env.matches.matches import MatchResult
from gin_env.training.estimators.evaluation import estimate_along
from gin_env.training.estimators.positions import play_hands
from research.papers.francis2021.estimators import ROUNDS, TIMED_HANDS, times_along
from research.papers.francis2021.suit_orders import shortest_length
from research.reproduce.experiment import Run, deal_counts, moments_of
from research.reproduce.tables import Row, by, interval, markdown
from research.reproduce.verdicts import Claim as Rule
from research.reproduce.verdicts import margin_for, marked

Pair = tuple[str, str]


@dataclass(frozen=True)
class PaperClaim:
    """A statement of a paper and the match or matches that test it.

    `low`, `high`, `margin` and `error` are those of `research.reproduce.verdicts.Claim`. The range holds the
    values that round to the paper's figure, or one side of a bound, or (without a margin) one side of
    equality. With `minus` the figure is a difference of win rates: that of `pair` minus that of `minus`.
    """

    text: str
    pair: Pair
    paper: str
    """The paper's figure as text."""
    low: float = -math.inf
    high: float = math.inf
    minus: Pair | None = None
    margin: float | None = None
    """None for the margin of `research.reproduce.verdicts.margin_for`."""
    error: float = 0.0
    note: str = ""
    """Explanation that the table shows if the measured figure differs, or shows nothing."""
    unit: str = "%"
    """``"%"``: win rate; ``"turns"``: turns of a player in a hand; ``"times"``: points of bot a for each
    point of bot b; ``"undercuts"``: hands in which bot b is undercut, in per cent of its knocks; ``"lead"``:
    bot a's lead in games won, minus what a's lead over the bot of `minus` exceeds b's; those of
    `research.papers.claims.TABLES`, which need no match."""
    games: int = 200_000
    """Number of games in each match."""
    other_games: int | None = None
    """Number of games in the matches against the bot of `minus`; None for `games`."""
    fitted: bool = False
    """Whether a reading of the bot was chosen to meet this figure, so that agreement proves nothing."""
    testable: bool = True
    """Whether the paper gives enough detail to repeat its matches."""

    def verdict(self, row: Row) -> str:
        """Return ``agrees``, ``differs``, ``undecided``, ``fitted`` or ``not testable``.

        ``fitted`` replaces ``agrees`` if the bot was fitted to the figure. The row of a quick run has no
        verdict: the result is an empty string.
        """
        if row.get("quick"):
            return ""
        if not self.testable:
            return "not testable"
        margin = self.margin
        if margin is None:
            margin = margin_for(self.low, self.high, 0 if self.minus or self.unit != "%" else 50)
        rule = Rule(self.low, self.high, margin, self.error)
        verdict = rule.verdict(row["value"], (row["low"], row["high"]))
        return "fitted" if self.fitted and verdict == "agrees" else verdict


def _load() -> dict[str, list[PaperClaim]]:
    found = tomllib.loads((Path(__file__).with_name("claims.toml")).read_text(encoding="utf-8"))
    notes = found.pop("notes")
    claims = {}
    for experiment, entries in found.items():
        for one in entries:
            one |= {key: tuple(one[key]) for key in ("pair", "minus") if key in one}
            one["note"] = notes[one["note"]] if "note" in one else ""
        claims[experiment] = [PaperClaim(**one) for one in entries]
    return claims


CLAIMS = _load()
"""The claims by experiment, from ``claims.toml``."""


# --- Measurements ---------------------------------------------------------------------------------------


def measure_claim(claim: PaperClaim, run: Run) -> Row:
    """Measure the row of a claim: our figure with its 95 % interval."""
    deals, more = None, Row()
    if claim.unit in TABLES:
        run.used(*claim.pair)
        found, games = TABLES[claim.unit](claim.pair[0], run)
        value = float(np.mean(found))
        low = high = value
        if isinstance(found, np.ndarray):
            low, high = mean_interval(value, found - value)
            more["moments"] = moments_of(found)
    else:
        match = run.match(*claim.pair, claim.games)
        value, (low, high), games = match.win_rate, match.interval, match.games
        deals = deal_counts(match)
        if claim.unit == "times":
            value, (low, high) = points_ratio(match)
            more["moments"] = moments_of(*match.each_deal()["points"].T)
        if claim.minus is not None:
            other_games = claim.other_games or claim.games
            other = run.match(*claim.minus, other_games)
            games += other.games
            if claim.unit == "undercuts":
                value, (low, high) = undercuts_difference(match, other)
                more["parts"] = [[one.undercuts[0], one.knocks[1]] for one in (match, other)]
            elif claim.unit == "lead":
                third = run.match(claim.pair[0], claim.minus[1], other_games)
                games += third.games
                value, (low, high) = lead_difference(match, third, other)
                more["parts"] = [deal_counts(match), deal_counts(third, other)]
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
    return row | more | ({"quick": True} if run.quick else {})


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
    half = math.hypot(match.interval[1] - match.interval[0], gain.interval[1] - gain.interval[0])
    return value, (value - half, value + half)


Measured = tuple[np.ndarray | float, int]
"""(float64 array of observations whose mean is measured, or an exact value; the number of games or hands)."""


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
    """Return the times of the paper's ensemble, with its memory, divided by those of its slowest member."""
    names = ["ensemble:switching=paper", "bayes", "nn", "shankar-cnn"]
    run.estimators += names
    members, hands = [estimators.make(name) for name in names], run.size(TIMED_HANDS)
    ratios = []
    for number in range(run.size(ROUNDS, 2) + 1):  # the first compiles and is not counted
        run.say(f"times, round {number}")
        ensemble, *others = times_along(members, hands, run.seed)[0]
        ratios.append(ensemble / max(others))
    return np.array(ratios[1:]), hands


TABLES: dict[str, Callable[[str, Run], Measured]] = {
    "turns": lambda bot, run: (turns_of_hands(bot, run.size(100_000), run.seed) / 2, run.size(100_000)),
    # The information sets in the CFR table of V4 and V2, and the share of them that its training visited.
    "values": lambda bot, run: (len(packaged_table("paper").strategy), 0),
    "visited": lambda bot, run: (float(packaged_table("paper").visited.mean()), 0),
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
    batches = dict.fromkeys(games for games, _ in play_hands([bot], hands, seed))
    return np.concatenate([games.results["turns"] for games in batches]).astype(np.int64)


def measure_of(experiment: str, run: Run) -> list[Row]:
    """Measure the claims of an experiment."""
    return [measure_claim(claim, run) for claim in CLAIMS[experiment]]


def table_of(experiment: str, rows: Sequence[Row]) -> str:
    """Return a table of the paper's figure, ours and the verdict for each claim, and notes on differences."""
    by_text = by(rows, "claim")
    lines, notes = [], dict[str, int]()
    for claim in CLAIMS[experiment]:
        row = by_text.get(claim.text)
        if row is None or (row["bot"], row["opponent"]) != claim.pair:
            continue  # not measured, or measured with another reading of a bot
        verdict = claim.verdict(row)
        if verdict in ("differs", "not testable") and claim.note:
            verdict += f" ({notes.setdefault(claim.note, len(notes) + 1)})"
        exact = row["low"] == row["value"] == row["high"]
        digits = f"{'+' * bool(claim.minus)},.{DIGITS.get(claim.unit, 2)}f"
        figure = interval(row | {"low": None} if exact else row, digits, "value")
        games = f"{row['games']:,}" if row["games"] else ""
        lines.append((claim.text, claim.paper, figure, games, marked(verdict)))
    text = markdown(["claim", "its figure", "measured (95 % interval)", "games", "verdict"], lines)
    return "\n\n".join([text, "  \n".join(f"({n}) {note}" for note, n in notes.items())]).strip()
