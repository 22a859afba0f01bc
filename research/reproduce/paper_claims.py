"""The claims of papers 000 to 004 about their bots, and the matches that test them.

000: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021). 001: Larkin et al.,
"Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent" (2021). 002: the data-driven hand-strength
paper (2021). 003: "Opponent Hand Estimation in Gin Rummy" (2021). 004: Keats, "Artificial Opponents - Gin
Rummy - Code Report" (2017). The bots are the frozen readings (`gin_env.agents.paper`).
`research.reproduce.verdicts` has the rule for "agrees".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from research.reproduce.experiment import MEDIUM, TONIC, V2, V4, VARIABLE, Row
from research.reproduce.verdicts import Claim as Rule
from research.reproduce.verdicts import margin_for

Pair = tuple[str, str]
MEDIUM_GAMES = 3_000_000
"""Number of games in each match against Medium: the difference is close to the edge of the margin."""
CNN_GAMES = 100_000
"""Number of games in a match of safe discards by the CNN, which is slow."""


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
    low: float
    high: float
    minus: Pair | None = None
    margin: float | None = None
    """None for the margin of `research.reproduce.verdicts.margin_for`."""
    error: float = 0.0
    note: str = ""
    """Explanation that the table shows if the measured figure differs."""
    unit: str = "%"
    """``"%"``: win rate; ``"turns"``: turns of a player in a hand; ``"times"``: points of bot a for each
    point of bot b; ``"undercuts"``: hands in which bot b is undercut, in per cent of its knocks; ``"lead"``:
    bot a's lead in games won, minus what a's lead over the bot of `minus` exceeds b's; those of
    `research.questions.claims.TABLES`, which need no match."""
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
        verdict = Rule(self.low, self.high, margin, self.error).verdict(
            row["value"], (row["low"], row["high"])
        )
        return "fitted" if self.fitted and verdict == "agrees" else verdict


INFINITE = math.inf
V4_NOTE = (
    "V4 is ahead, but by less: both bots share draws, knocks and the discards of least deadwood, "
    "so they differ only in the choice among those."
)
VALUES_NOTE = (
    "15,756 of them are for discards; the paper does not describe those for draws and knocks, or its count."
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
ENSEMBLE_NOTE = (
    "Our ensemble asks all its members in each turn, so that their memories stay complete; asking only the "
    "chosen one costs no more than the slowest."
)
INCREMENTS_NOTE = "The estimator decides few discards."

LEADS_NOTE = (
    "The paper's own figures do not show it either: a gain of 4 points in games won is one of 8 points in "
    "lead, and its lead over V2 is 7.8."
)

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
        "V4 wins 3 points more than V2 against Medium", (V4, MEDIUM), "+3", 2.5, 3.5,
        (V2, MEDIUM), note=V4_NOTE, games=MEDIUM_GAMES,
    ),
    PaperClaim(
        "V4 always outperforms V2: against Medium, where it leads by least", (V4, MEDIUM), "> 0",
        0, INFINITE, (V2, MEDIUM), margin=0, games=MEDIUM_GAMES,
    ),
    *(
        PaperClaim(
            f"The change matters more against V2 than against {name}: lead over V2 minus the gain in lead",
            (V4, V2), "> 0", 0, INFINITE, (V2, bot), margin=0, note=LEADS_NOTE, unit="lead", games=400_000,
            other_games=200_000,
        )
        for name, bot in (("Simple", "simple"), ("Medium", MEDIUM))
    ),
    PaperClaim(
        "The table has over 24,000 values", (V4, V2), "> 24,000", 24_000, INFINITE, margin=0, unit="values",
        note=VALUES_NOTE,
    ),
    PaperClaim(
        "Some game states did not arise in training: information sets visited", (V4, V2), "< 100", -INFINITE,
        100, margin=0, unit="visited",
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
            f"0.86 is the best threshold for cards the opponent holds: {held} wins no more",
            (f"{TONIC}:held={held}", "simple"), "≤ 0", -INFINITE, 0, (TONIC, "simple"), margin=0,
            games=400_000,
        )
        for held in ("0.8", "0.95")
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
PAPER_001_ESTIMATES = [
    PaperClaim(
        "Likelihoods of uncertain cards are typically 0.3 to 0.9: share of them", (TONIC, TONIC), "> 50", 50,
        INFINITE, margin=0, unit="likelihoods",
    )
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
SAFE = "safe-discard:estimator=shankar-cnn"
PAPER_003 = [
    PaperClaim(
        f"Safe discards have \"a statistical win-rate advantage of 5%\", {reading}", (SAFE, "simple"),
        figure, low, high, games=CNN_GAMES,
    )
    for reading, figure, low, high in (
        ("as a lead in games won", "52.5", 52.25, 52.75),
        ("as 55 % of games won", "55", 54.5, 55.5),
    )
] + [
    PaperClaim(
        "Altering between estimators \"will not significantly increase the computation time\": the "
        "ensemble's, divided by that of its slowest member", (SAFE, "simple"), "≈ 1", 0, 1.05, margin=0,
        unit="slowdown", note=ENSEMBLE_NOTE,
    ),
    PaperClaim(
        "Theorem 3: the shortest ambi-superpermutation of four suits", (SAFE, "simple"), "17", 16.5, 17.5,
        margin=0, unit="rows",
    ),
    PaperClaim(
        "About half of the shortest superpermutation", (SAFE, "simple"), "33", 32.5, 33.5, margin=0,
        unit="symbols",
    ),
]  # fmt: skip
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
