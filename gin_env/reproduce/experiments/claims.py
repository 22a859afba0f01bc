"""The claims of papers 000, 001, 002 and 004 about their bots, tested with our readings of these bots.

000: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021). 001: Larkin et al.,
"Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent" (2021). 002: the data-driven hand-strength
paper (2021). 004: Keats, "Artificial Opponents - Gin Rummy - Code Report" (2017). The bots are the frozen
readings (`gin_env.agents.paper`). `gin_env.reproduce.verdicts` has the rule for "agrees".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gin_env import agents
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.intervals import Interval, deviations, mean_interval
from gin_env.matches.matches import MatchResult
from gin_env.reproduce.experiment import (
    TONIC,
    V2,
    V4,
    VARIABLE,
    Experiment,
    Row,
    Run,
    by,
    deal_counts,
    interval,
    markdown,
    match_row,
)
from gin_env.reproduce.verdicts import Claim as Rule
from gin_env.reproduce.verdicts import margin_for
from gin_env.support.plots import BLUE, new_figure, save_figure, sign_figure

Pair = tuple[str, str]
LITERAL_MEDIUM = "medium-literal-paper"


@dataclass(frozen=True)
class PaperClaim:
    """A statement of a paper and the match or matches that test it.

    `low`, `high`, `margin` and `error` are those of `gin_env.reproduce.verdicts.Claim`. The range holds the
    values that round to the paper's figure, or one side of a bound, or (without a margin) one side of
    equality. With `minus` the figure is a difference of win rates: that of `pair` minus that of `minus`.
    """

    text: str
    pair: Pair
    paper: str
    """The paper's figure as text."""
    low: float
    high: float
    minus: Pair | None = None
    margin: float | None = None
    """None for the margin of `gin_env.reproduce.verdicts.margin_for`."""
    error: float = 0.0
    note: str = ""
    """Explanation that the table shows if the measured figure differs."""
    unit: str = "%"
    """``"%"``: win rate; ``"turns"``: turns of a player in a hand; ``"times"``: points of bot a for each
    point of bot b; ``"undercuts"``: hands in which bot b is undercut, in per cent of its knocks."""
    games: int = 200_000
    """Number of games in each match."""
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
        verdict = Rule(self.low, self.high, margin, self.error).verdict(
            row["value"], (row["low"], row["high"])
        )
        return "fitted" if self.fitted and verdict == "agrees" else verdict


INFINITE = math.inf
V4_NOTE = (
    "V4 is ahead, but by less: both bots share draws, knocks and the discards of least deadwood, "
    "so they differ only in the choice among those."
)
PAIRS_NOTE = (
    "The drop does not appear: with the other conditions (narrow pairs of at most 18 points, no face card, "
    "few pairs) the number of turns matters little."
)
KNOCK_NOTE = (
    "The reference engine agrees with us (49.7 ± 1.8 there); the bars of the paper's Figure 4a are lost, and "
    "its text says 'in general'."
)
THRESHOLDS_NOTE = (
    "The paper does not give its thresholds; the ones that bring Tonic closest to its other figures win more "
    "than a fixed 4."
)
INCREMENTS_NOTE = "The estimator decides few discards."

PAPER_000 = [
    PaperClaim(
        "V4 wins 7.8 % more games than V2, head to head (our reading of \"won on average 7.8%\")", (V4, V2),
        "53.9", 53.85, 53.95, note=V4_NOTE, games=400_000,
    ),
    PaperClaim(
        "V4 wins 4 points more than V2 against Simple", (V4, "simple"), "+4", 3.5, 4.5, (V2, "simple"),
        note=V4_NOTE,
    ),
    PaperClaim(
        "V4 wins 3 points more than V2 against Medium", (V4, LITERAL_MEDIUM), "+3", 2.5, 3.5,
        (V2, LITERAL_MEDIUM), note=V4_NOTE,
    ),
    PaperClaim(
        "An immediate knock at 10 or less makes V4 no better", (f"{V4}:early_knock=10", V4), "≤ 50",
        -INFINITE, 50, margin=0, games=50_000,
    ),
    PaperClaim(
        "An immediate knock at 4 or less makes V4 no better", (f"{V4}:early_knock=4", V4), "≤ 50",
        -INFINITE, 50, margin=0, games=50_000,
    ),
    PaperClaim(
        "The lower the threshold of the early knock, the worse: 4 against 10",
        (f"{V4}:early_knock=4", f"{V4}:early_knock=10"), "< 50", -INFINITE, 50, margin=0,
        games=50_000, note="Knocking early costs less the rarer it is.",
    ),
    PaperClaim(
        "The same: 2 against 6", (f"{V4}:early_knock=2", f"{V4}:early_knock=6"), "< 50", -INFINITE, 50,
        margin=0, games=50_000, note="Knocking early costs less the rarer it is.",
    ),
]  # fmt: skip
PAPER_001 = [
    PaperClaim(
        "A hand of Simple against itself lasts six turns", ("simple", "simple"), "6", 5.5, 6.5, margin=0,
        unit="turns",
    ),
    PaperClaim("Tonic against Simple", (TONIC, "simple"), "≥ 68", 68, INFINITE, fitted=True),
    PaperClaim("Tonic against Simple (4)", (TONIC, "simple:knock_at=4"), "68", 67.5, 68.5, fitted=True),
    PaperClaim("Tonic against Simple (variable)", (TONIC, VARIABLE), "60", 59.5, 60.5, fitted=True),
    PaperClaim(
        "Tonic undercuts Simple (variable) less often than Simple (4)", (TONIC, VARIABLE), "< 0",
        -INFINITE, 0, (TONIC, "simple:knock_at=4"), margin=0, unit="undercuts",
    ),
    *(
        PaperClaim(
            f"A lower threshold wins more: Simple ({limit})", (f"simple:knock_at={limit}", "simple"), "> 50",
            50, INFINITE, margin=0, note=KNOCK_NOTE,
        )
        for limit in (8, 6, 4)
    ),
    PaperClaim("Simple (variable) against Simple", (VARIABLE, "simple"), "> 50", 50, INFINITE, margin=0),
    PaperClaim(
        "Simple (variable) wins about as much as Simple (4)", (VARIABLE, "simple"), "≈ 0", 0, 0,
        ("simple:knock_at=4", "simple"), note=THRESHOLDS_NOTE,
    ),
    PaperClaim(
        "Drawing for pairs in four turns, not two, costs over 10 points", (f"{TONIC}:pair_turns=4", "simple"),
        "< -10", -INFINITE, -10, (TONIC, "simple"), note=PAIRS_NOTE,
    ),
    PaperClaim(
        "The same in self-play: four turns against two", (f"{TONIC}:pair_turns=4", TONIC), "< 45",
        -INFINITE, 45, note=PAIRS_NOTE,
    ),
    PaperClaim(
        "Drawing for pairs in three turns, not two, changes little", (f"{TONIC}:pair_turns=3", "simple"),
        "≈ 0", 0, 0, (TONIC, "simple"),
    ),
    PaperClaim(
        "Increments above decrements: swapping them costs",
        (f"{TONIC}:increment=0.75,decrement=1.5", "simple"), "< 0", -INFINITE, 0, (TONIC, "simple"),
        margin=0, note=INCREMENTS_NOTE, games=400_000,
    ),
    PaperClaim(
        "The same with a pair of half the size", (f"{TONIC}:increment=0.375,decrement=0.75", "simple"),
        "< 0", -INFINITE, 0, (f"{TONIC}:increment=0.75,decrement=0.375", "simple"), margin=0,
        note=INCREMENTS_NOTE, games=400_000,
    ),
    *(
        PaperClaim(
            f"Proposed: {text}", (f"{TONIC}:{option}", "simple"), "> 0", 0, INFINITE, (TONIC, "simple"),
            margin=0, games=400_000,
        )
        for text, option in (
            ("filters in the fallback too", "filtered_fallback=true"),
            ("breaking pairs before a knock", "break_pairs=true"),
            ("depth-dependent increments", "depth_growth=0.05"),
        )
    ),
]  # fmt: skip
PAPER_002 = [
    PaperClaim(
        "The late knocker against Simple",
        ("late-knock-paper", "simple"),
        "70.1 ± 0.75",
        70.05,
        70.15,
        error=0.89,  # ± 0.75 is its 90 % interval
        fitted=True,
    ),
]
PAPER_004 = [
    *(
        PaperClaim(
            f"Two to three times the points of a dummy: {dummy}",
            ("utility-paper", dummy),
            "2 to 3",
            2,
            3,
            margin=0,
            unit="times",
            games=20_000,
            testable=False,
        )
        for dummy in ("random", "random-discard", "simple")
    ),
    *(
        PaperClaim(
            f"Wins the majority of games: {dummy}",
            ("utility-paper", dummy),
            "> 50",
            50,
            INFINITE,
            margin=0,
            games=20_000,
            testable=False,
        )
        for dummy in ("random", "random-discard", "simple")
    ),
]


def measure_claims(claims: Sequence[PaperClaim], run: Run) -> list[Row]:
    """Measure a row for each claim: our figure with its 95 % interval."""
    rows = []
    for claim in claims:
        if claim.unit == "turns":
            turns = turns_of_hands(claim.pair[0], run.size(100_000), run.seed)
            run.used(claim.pair[0])
            value, (low, high) = mean_turns(turns)
            games, deals = len(turns), None
        else:
            match = run.match(*claim.pair, claim.games)
            deals = deal_counts(match)
            value, (low, high), games = match.win_rate, match.interval, match.games
            if claim.unit == "times":
                value, (low, high) = points_ratio(match)
            if claim.minus is not None:
                other = run.match(*claim.minus, claim.games)
                games = match.games + other.games
                if claim.unit == "undercuts":
                    value, (low, high) = undercuts_difference(match, other)
                else:
                    difference = win_rate_difference(match, other)
                    deals = deal_counts(match, other)
                    value, (low, high) = difference.value, difference.interval
        scale = 1 if claim.unit in ("turns", "times") else 100
        rows.append(
            {
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
            | ({"quick": True} if run.quick else {})
        )
    return rows


def points_ratio(match: MatchResult) -> tuple[float, Interval]:
    """Return (points of bot a for each point of bot b, its 95 % interval over the deals).

    Raises ValueError if bot b has no points.
    """
    points = match.each_deal()["points"]
    if not match.points[1]:
        raise ValueError(f"{match.bots[1]} has scored no points in {match.games} games: play more")
    value = match.points[0] / match.points[1]
    return value, mean_interval(value, deviations(points[:, 0], points[:, 1]))


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


def turns_of_hands(bot: str, hands: int, seed: int) -> np.ndarray:
    """Return the turns of both players together in hands of a bot against itself, int64 (hands,)."""
    player = agents.make(bot)
    turns = np.empty(hands, np.int64)
    for first in range(0, hands, 2048):
        table = Games(min(2048, hands - first), episode="hand")
        numbers = np.arange(first, first + len(table), dtype=np.uint64)
        table.start(table.everyone, np.full(len(table), seed, np.uint64), numbers)
        running = table.everyone
        while len(running):
            play_bot(table, player, running)
            running = running[~table.done[running]]
        turns[first : first + len(table)] = table.results["turns"]
    return turns


def mean_turns(turns: np.ndarray) -> tuple[float, Interval]:
    """Return (mean number of turns of one player in a hand, its 95 % interval)."""
    per_player = turns / 2
    mean = float(per_player.mean())
    return mean, mean_interval(mean, per_player - mean)


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
        digits = 3 if claim.unit in ("turns", "times") else 2
        figures = interval(row, digits, sign, "value")
        lines.append((claim.text, claim.paper, figures, f"{row['games']:,}", verdict))
    table = markdown(["claim", "its figure", "measured (95 % interval)", "games", ""], lines)
    return "\n\n".join([table, "  \n".join(f"({n}) {note}" for n, note in enumerate(notes, 1))]).strip()


def claims_experiment(experiment: str, title: str, claims: Sequence[PaperClaim], **more: Any) -> Experiment:
    """Return the experiment that tests the claims of a paper."""
    return Experiment(
        experiment, title, partial(measure_claims, claims), partial(claims_table, claims), **more
    )


# --- Figures 2 and 4 of paper 001 ------------------------------------------------------------------------

THRESHOLDS = {
    "10": "simple",
    "8": "simple:knock_at=8",
    "6": "simple:knock_at=6",
    "4": "simple:knock_at=4",
    "variable": VARIABLE,
}
"""Knocking strategies of the Simple player in paper 001, in the order of Figure 4."""


def measure_turns(run: Run) -> list[Row]:
    """Measure how many hands of Simple against itself have each number of turns."""
    run.used("simple")
    counts = np.bincount(turns_of_hands("simple", run.size(100_000), run.seed))
    return [{"turns": turns, "hands": int(count)} for turns, count in enumerate(counts) if count]


def turns_table(rows: Sequence[Row]) -> str:
    """Return the table of hands by turns of a player, rounded up: the non-dealer can have one more turn."""
    hands: dict[int, int] = {}
    for row in rows:
        hands[(row["turns"] + 1) // 2] = hands.get((row["turns"] + 1) // 2, 0) + row["hands"]
    total = sum(hands.values())
    header = ["turns of a player", *map(str, hands)]
    return markdown(header, [["hands (%)", *(f"{100 * count / total:.1f}" for count in hands.values())]])


def measure_thresholds(run: Run) -> list[Row]:
    """Measure Simple with each threshold against the default and the variable one, and Tonic against each."""
    pairs = [(bot, "simple") for bot in THRESHOLDS.values() if bot != "simple"]
    pairs += [(bot, VARIABLE) for bot in THRESHOLDS.values() if bot != VARIABLE]
    pairs += [(TONIC, bot) for bot in THRESHOLDS.values()]
    return [match_row(run.match(*pair, 20_000)) for pair in pairs]


def thresholds_table(rows: Sequence[Row]) -> str:
    """Return a table with a column for each of the two panels of Figure 4 and one for Tonic."""
    found = by(rows, "bot", "opponent")
    lines = [
        (
            label,
            interval(found.get((bot, "simple"), {})),
            interval(found.get((bot, VARIABLE), {})),
            interval(found.get((TONIC, bot), {})),
        )
        for label, bot in THRESHOLDS.items()
    ]
    header = ["Simple knocks at", "against Simple (4a)", "against Simple (variable) (4b)", "Tonic against it"]
    return markdown(header, lines)


def draw_turns(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 2 of paper 001: the distribution of the number of turns of a player in a hand."""
    turns = np.repeat([row["turns"] for row in rows], [row["hands"] for row in rows])
    figure, [[axes]] = new_figure(6.4, 3.6)
    axes.bar(
        [row["turns"] / 2 for row in rows],
        [100 * row["hands"] / len(turns) for row in rows],
        width=0.4,
        color=BLUE,
    )
    axes.axvline(turns.mean() / 2, color="black", linestyle="--", label=f"mean {turns.mean() / 2:.2f}")
    axes.set(xlabel="turns of each player (half: the non-dealer had one more)", ylabel="hands (%)")
    axes.set_title(f"Simple against itself, {len(turns):,} hands (001, Figure 2)", fontsize=10)
    axes.legend()
    sign_figure(figure, origin)
    save_figure(figure, path, dpi=150)


def draw_thresholds(title: str, opponent: str | None, rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw bars with intervals: each threshold against `opponent`, or Tonic against each for None."""
    found = by(rows, "bot", "opponent")
    pairs = {
        label: (TONIC, bot) if opponent is None else (bot, opponent) for label, bot in THRESHOLDS.items()
    }
    chosen = {label: found[pair] for label, pair in pairs.items() if pair in found}
    figure, [[axes]] = new_figure(6.4, 3.6)
    values = np.array([row["won"] for row in chosen.values()])
    ends = np.array([(row["low"], row["high"]) for row in chosen.values()]).T
    axes.bar(list(chosen), values, yerr=np.abs(ends - values), color=BLUE, capsize=4, width=0.6)
    for place, value in enumerate(values):
        axes.text(place, 2, f"{value:.1f}", ha="center", color="white")
    axes.axhline(50, color="black", linewidth=1)
    axes.set(ylim=(0, 80), xlabel="Simple knocks at", ylabel="games won (%)")
    axes.set_title(title, fontsize=10)
    sign_figure(figure, origin)
    save_figure(figure, path, dpi=150)


EXPERIMENTS = [
    claims_experiment(
        "000/claims", "What paper 000 claims about V4 and V2", PAPER_000, games=200_000, time="ten minutes"
    ),
    claims_experiment(
        "001/claims",
        "What paper 001 claims about Tonic and knock thresholds",
        PAPER_001,
        games=200_000,
        time="half an hour",
    ),
    claims_experiment("002/late-knock", "Paper 002's late knocker", PAPER_002, games=200_000),
    claims_experiment("004/claims", "What paper 004 claims about its utility player", PAPER_004),
    Experiment(
        "001/figure-2",
        "Hands by their number of turns",
        measure_turns,
        turns_table,
        games=0,
        pictures={"paper_001_figure_2.png": draw_turns},
    ),
    Experiment(
        "001/figure-4",
        "Knock thresholds of the Simple player",
        measure_thresholds,
        thresholds_table,
        pictures={
            "paper_001_figure_4a.png": partial(
                draw_thresholds, "Simple with each threshold, against the default (001, Figure 4a)", "simple"
            ),
            "paper_001_figure_4b.png": partial(
                draw_thresholds, "Simple with each threshold, against the variable one (Figure 4b)", VARIABLE
            ),
            "paper_001_tonic_against_thresholds.png": partial(
                draw_thresholds, "Tonic against Simple with each threshold", None
            ),
        },
    ),
]
