"""What papers 000, 001 and 002 claim about their bots, beside what these bots do here.

    python examples/reproduce_bots.py                                  # 20,000 games a match
    python examples/reproduce_bots.py --markdown bots.md --json bots.json --figures runs/reproduce_bots

Writes a table (docs/results.md, "Bots"), the figures as JSON, and paper 001's Figure 2 (hands by number of
turns), 4a and 4b (knock thresholds against the default and the variable one) as pictures. Needs
`pip install "gin-env[plots]"`.

000: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021). 001: Larkin et al.,
"Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent" (2021). 002: the data-driven hand-strength
paper (2021).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from gin_env import agents
from gin_env.batch import Games
from gin_env.play import claims
from gin_env.play.claims import MARGIN
from gin_env.play.differences import win_rate_difference
from gin_env.play.matches import MatchResult, check_confidence, play_match
from gin_env.play.turns import play_bot
from gin_env.support.atomic import check_targets, save_figure, write_json, write_text
from gin_env.support.exits import one_line_errors
from gin_env.support.plots import import_matplotlib

Pair = tuple[str, str]
VARIABLE = "simple:knock_at=variable"
TONIC = "tonic:increment=1.5,decrement=0.75,decline=0.4,knock_at=variable"
"""The reading of Tonic nearest to the paper; the bot's defaults are what ``gin-rummy tune tonic`` found."""
THRESHOLDS = {
    "10 (default)": "simple",
    "8": "simple:knock_at=8",
    "6": "simple:knock_at=6",
    "4": "simple:knock_at=4",
    "variable": VARIABLE,
}
"""001's knocking strategies for the Simple player, in the order of Figure 4."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and the match or matches that test it.

    `low` to `high`, `margin` and `error` are those of `gin_env.play.claims.Claim`: what the paper's figure
    may have been rounded from, or one side of a bound or, without a margin, of equality. With `minus` the
    figure is a difference of win rates: `pair`'s less `minus`'s.
    """

    source: str
    text: str
    pair: Pair
    paper: str
    """The paper's figure, as text."""
    low: float
    high: float
    minus: Pair | None = None
    unit: str = "%"
    """``"turns"`` for the mean number of turns of a player in a hand instead of a win rate."""
    note: str = ""
    """What to say unless the measured figure agrees."""
    margin: float = MARGIN
    error: float = 0.0

    @property
    def pairs(self) -> list[Pair]:
        return [self.pair] if self.minus is None else [self.pair, self.minus]


V4_NOTE = (
    "V4 is ahead, but by less: both bots share draws, knocks and the cards of least deadwood, "
    "so that only the choice among these differs."
)
PAIRS_NOTE = (
    "The drop does not appear: with the other conditions (narrow pairs of at most 18 points, no face card, "
    "few pairs) the number of turns decides little."
)

CLAIMS = [
    Claim(
        "000", "V4 wins 7.8 % more games than V2, head to head", ("fitness-cfr", "heuristics"),
        "53.9", 53.85, 53.95,
        note=V4_NOTE,
    ),
    Claim(
        "000", "V4 wins 4 points more than V2 against Simple", ("fitness-cfr", "simple"), "+4", 3.5, 4.5,
        minus=("heuristics", "simple"), note=V4_NOTE,
    ),
    Claim(
        "000", "V4 wins 3 points more than V2 against Medium", ("fitness-cfr", "medium"), "+3", 2.5, 3.5,
        minus=("heuristics", "medium"), note=V4_NOTE,
    ),
    Claim(
        "000", "A knock at once at 10 or less makes V4 no better",
        ("fitness-cfr:early_knock=10", "fitness-cfr"), "≤ 50", -math.inf, 50, margin=0,
    ),
    Claim(
        "000", "A knock at once at 4 or less makes V4 no better",
        ("fitness-cfr:early_knock=4", "fitness-cfr"), "≤ 50", -math.inf, 50, margin=0,
    ),
    Claim(
        "001", "A hand of Simple against itself lasts six turns", ("simple", "simple"), "6", 5.5, 6.5,
        unit="turns", margin=0,
    ),
    Claim("001", "Tonic against Simple", (TONIC, "simple"), "≥ 68", 68, math.inf),
    Claim(
        "001", "Tonic with the numbers that our search found, against Simple", ("tonic", "simple"),
        "≥ 68", 68, math.inf,
    ),
    Claim("001", "Tonic against Simple (4)", (TONIC, "simple:knock_at=4"), "68", 67.5, 68.5),
    Claim("001", "Tonic against Simple (variable)", (TONIC, VARIABLE), "60", 59.5, 60.5),
    Claim(
        "001", "A lower threshold wins more: Simple (8)", ("simple:knock_at=8", "simple"),
        "> 50", 50, math.inf, margin=0,
        note="So in the reference engine too (49.7 ± 1.8 there); the bars of the paper's Figure 4a are lost, "
        "its text says 'in general'.",
    ),
    Claim(
        "001", "A lower threshold wins more: Simple (6)", ("simple:knock_at=6", "simple"),
        "> 50", 50, math.inf, margin=0,
    ),
    Claim(
        "001", "A lower threshold wins more: Simple (4)", ("simple:knock_at=4", "simple"),
        "> 50", 50, math.inf, margin=0,
    ),
    Claim("001", "Simple (variable) against Simple", (VARIABLE, "simple"), "> 50", 50, math.inf, margin=0),
    Claim(
        "001", "Simple (variable) wins about as much as Simple (4)", (VARIABLE, "simple"), "≈ 0", 0, 0,
        minus=("simple:knock_at=4", "simple"),
        note="The paper does not give its thresholds; those that bring Tonic nearest to its other figures "
        "win more than a fixed 4.",
    ),
    Claim(
        "001", "Drawing for pairs in four turns, not two, costs over 10 points",
        (TONIC + ",pair_turns=4", "simple"), "< -10", -math.inf, -10, minus=(TONIC, "simple"),
        note=PAIRS_NOTE,
    ),
    Claim(
        "001", "The same in self-play: four turns against two", (TONIC + ",pair_turns=4", TONIC),
        "< 45", -math.inf, 45,
        note=PAIRS_NOTE,
    ),
    Claim(
        "001", "Drawing for pairs in three turns, not two, changes little",
        (TONIC + ",pair_turns=3", "simple"), "≈ 0", 0, 0, minus=(TONIC, "simple"),
    ),
    Claim(
        "001", "Increments above decrements: swapping them costs",
        (TONIC.replace("increment=1.5,decrement=0.75", "increment=0.75,decrement=1.5"), "simple"),
        "< 0", -math.inf, 0, margin=0, minus=(TONIC, "simple"),
        note="The estimator decides few discards here: all the increments and decrements of a grid lie "
        "within a point.",
    ),
    Claim(
        "001", "Proposed: filters in the fallback too", (TONIC + ",filtered_fallback=true", "simple"),
        "> 0", 0, math.inf, margin=0, minus=(TONIC, "simple"),
    ),
    Claim(
        "001", "Proposed: breaking pairs before a knock", (TONIC + ",break_pairs=true", "simple"),
        "> 0", 0, math.inf, margin=0, minus=(TONIC, "simple"),
    ),
    Claim(
        "001", "Proposed: depth-dependent increments", (TONIC + ",depth_growth=0.05", "simple"),
        "> 0", 0, math.inf, margin=0, minus=(TONIC, "simple"),
    ),
    Claim(
        "002", "The late knocker against Simple", ("late-knock", "simple"), "70.1 ± 0.75", 70.05, 70.15,
        error=0.89,  # ± 0.75 is its 90 % interval
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A claim with our figure: per cent, or percentage points for a difference."""

    claim: Claim
    games: int
    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """By the rule of `gin_env.play.claims`."""
        claim = self.claim
        rule = claims.Claim(claim.low, claim.high, claim.margin, claim.error)
        return rule.verdict(self.value, (self.low, self.high))

    def figures(self) -> str:
        """Value and interval as text."""
        if self.claim.unit == "turns":
            return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"
        sign = "+" if self.claim.minus else ""
        return f"{self.value:{sign}.2f} ({self.low:{sign}.2f} to {self.high:{sign}.2f})"

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        claim = self.claim
        return {
            "source": claim.source,
            "claim": claim.text,
            "pair": claim.pair,
            "minus": claim.minus,
            "paper": claim.paper,
            "measured": self.value,
            "interval": (self.low, self.high),
            "games": self.games,
            "verdict": self.verdict,
            "note": "" if self.verdict == "agrees" else claim.note,
        }


def measure(claim: Claim, results: dict[Pair, MatchResult], confidence: float) -> Row:
    """Our figure for a claim; the two matches of a difference have the same decks and are paired by them."""
    match = results[claim.pair]
    if claim.minus is None:
        low, high = match.confidence_interval(confidence)
        return Row(claim, match.games, 100 * match.win_rate, 100 * low, 100 * high)
    difference = win_rate_difference(match, results[claim.minus], confidence)
    low, high = difference.interval
    return Row(claim, 2 * match.games, 100 * difference.value, 100 * low, 100 * high)


def markdown_table(rows: list[Row], confidence: float) -> str:
    """The table, in Markdown, with a sentence for each claim that does not agree below it."""
    lines = [
        f"| paper | claim | its figure | measured ({100 * confidence:g} % interval) | games | |",
        "|---|---|---|---|---|---|",
    ]
    notes = []
    for row in rows:
        claim = row.claim
        mark = ""
        if row.verdict != "agrees" and claim.note:
            notes += [claim.note] if claim.note not in notes else []
            mark = f" ({notes.index(claim.note) + 1})"
        cells = (claim.source, claim.text, claim.paper, row.figures(), f"{row.games:,}", row.verdict + mark)
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"({number}) {note}  " for number, note in enumerate(notes, 1))]
    if any(row.verdict == "undecided" for row in rows):
        lines += ["", "Undecided: the interval lies neither within what the claim allows for nor outside it."]
    return "\n".join(lines).strip() + "\n"


# --- Hands by number of turns (Figure 2) --------------------------------------------------------------


def turns_of_hands(bot: str, hands: int, seed: int, progress: Callable[[int], object]) -> np.ndarray:
    """int64 (hands,): turns of both players together in hands of a bot against itself."""
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
        progress(len(table))
    return turns


def measure_turns(claim: Claim, turns: np.ndarray, confidence: float) -> Row:
    """Mean number of turns of one player in a hand."""
    per_player = turns / 2
    error = NormalDist().inv_cdf((1 + confidence) / 2) * per_player.std() / math.sqrt(len(turns))
    mean = float(per_player.mean())
    return Row(claim, len(turns), mean, mean - error, mean + error)


# --- Pictures -----------------------------------------------------------------------------------------


def draw_turns(turns: np.ndarray, path: Path) -> None:
    """Figure 2 of 001: distribution of hands by number of turns of a player."""
    figure = import_matplotlib()[0](figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    lengths, counts = np.unique(turns, return_counts=True)
    axes.bar(lengths / 2, 100 * counts / len(turns), width=0.4, color="tab:blue")
    mean = turns.mean() / 2
    axes.axvline(mean, color="black", linestyle="--", label=f"mean {mean:.2f}")
    axes.set(xlabel="turns of each player (half: the non-dealer had one more)", ylabel="hands (%)")
    axes.set_xticks(range(0, int(lengths.max() / 2) + 2, 2))
    axes.set_title(f"Simple against itself, {len(turns):,} hands (001, Figure 2)", fontsize=10)
    axes.legend()
    save_figure(figure, path, dpi=150)


def draw_win_rates(title: str, matches: dict[str, MatchResult], confidence: float, path: Path) -> None:
    """Bars with intervals, one for each match: the win rate of its bot a."""
    figure = import_matplotlib()[0](figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    values = np.array([100 * match.win_rate for match in matches.values()])
    ends = 100 * np.array([match.confidence_interval(confidence) for match in matches.values()]).T
    axes.bar(list(matches), values, yerr=np.abs(ends - values), color="tab:blue", capsize=4, width=0.6)
    for place, value in enumerate(values):
        axes.text(place, 2, f"{value:.1f}", ha="center", color="white")
    axes.axhline(50, color="black", linewidth=1)
    axes.set(ylim=(0, 80), xlabel="Simple knocks at", ylabel="games won (%)")
    axes.set_title(title, fontsize=10)
    save_figure(figure, path, dpi=150)


FIGURES: dict[str, tuple[str, Callable[[str], Pair], str]] = {
    "figure_4a.png": (
        "Simple with each threshold, against the default (001, Figure 4a)",
        lambda bot: (bot, "simple"), "simple",
    ),
    "figure_4b.png": (
        "Simple with each threshold, against the variable one (001, Figure 4b)",
        lambda bot: (bot, VARIABLE), VARIABLE,
    ),
    "tonic_against_thresholds.png": (
        "Tonic against Simple with each threshold", lambda bot: (TONIC, bot), TONIC,
    ),
}  # fmt: skip
"""File: (title, the match for each of `THRESHOLDS`, the bot that is not drawn: it would play itself)."""


def figure_pairs(name: str) -> dict[str, Pair]:
    """The matches of a picture by the label of their bar."""
    _, pair_of, left_out = FIGURES[name]
    return {label: pair_of(bot) for label, bot in THRESHOLDS.items() if bot != left_out}


# --- The command --------------------------------------------------------------------------------------


def reproduce(
    games: Annotated[int, typer.Option(help="Games in each match, even.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    json: Annotated[Path | None, typer.Option(help="Write all figures to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
    figures: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("runs/reproduce_bots"),
) -> None:
    """Play every match that a claim of papers 000, 001 and 002 needs; print the table, draw the figures."""
    check_confidence(confidence)
    import_matplotlib()
    figures.mkdir(parents=True, exist_ok=True)
    check_targets(json, markdown, figures / "figure_2.png")
    pairs = {pair for claim in CLAIMS if claim.unit == "%" for pair in claim.pairs}
    pairs |= {pair for name in FIGURES for pair in figure_pairs(name).values()}
    hands = 5 * games
    results = {}
    with tqdm(total=len(pairs) * games + hands, unit="game", smoothing=0.05) as progress:
        for pair in sorted(pairs):
            results[pair] = play_match(*pair, games, seed, progress=progress.update)
        turns = turns_of_hands("simple", hands, seed, progress.update)
    rows = [
        measure_turns(claim, turns, confidence)
        if claim.unit == "turns"
        else measure(claim, results, confidence)
        for claim in CLAIMS
    ]
    table = markdown_table(rows, confidence)
    typer.echo(table)
    draw_turns(turns, figures / "figure_2.png")
    for name, (title, _, _) in FIGURES.items():
        matches = {label: results[pair] for label, pair in figure_pairs(name).items()}
        draw_win_rates(f"{title}\n{games:,} games each", matches, confidence, figures / name)
    typer.echo(f"figures drawn in {figures}")
    if markdown is not None:
        write_text(markdown, table)
        typer.echo(f"table written to {markdown}")
    if json is not None:
        report = {
            "games": games,
            "seed": seed,
            "confidence": confidence,
            "claims": [row.as_dict() for row in rows],
            "matches": [result.as_dict(confidence) for result in results.values()],
            "turns": np.bincount(turns).tolist(),
        }
        write_json(json, report)
        typer.echo(f"figures written to {json}")


if __name__ == "__main__":
    with one_line_errors("reproduce_bots.py"):
        typer.run(reproduce)
