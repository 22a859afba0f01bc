"""The rule that decides whether a measured figure agrees with a published one (docs/results/methods.md).

A claim is a range of values and a margin, the largest difference that is too small to matter. The acceptable
values are the claimed ones and those within the margin of them. The measured figure

- agrees if its whole interval is inside the acceptable values,
- differs if its whole interval is outside them,
- is undecided otherwise, also if an end of the interval is exactly on the edge.

The rule is the pair of one-sided tests of equivalence (Schuirmann, 1987), at 2.5 % each with an interval of
95 %. If the published figure has an error of its own, the error and each half of the measured interval are
combined as the root of the sum of their squares, since both are uncertain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from gin_env.matches.intervals import Interval

Verdict = Literal["agrees", "differs", "undecided"]
MARKS = {"agrees": "✓", "fitted": "✓", "differs": "✗", "undecided": "?", "not": "–"}
"""The marks before verdicts in tables, by the first word of the verdict."""
OURS = "claim, tested with networks of ours"
"""Heading of the claims about a paper that are counted apart."""
MARGIN = 1.5
"""Largest difference between two win rates that counts as none, in percentage points."""
MARGIN_SHARE = 0.25
"""Largest margin as a share of the claimed effect."""


def margin_for(low: float, high: float, neutral: float) -> float:
    """Return the margin of a figure or bound; `neutral` is the value without an effect, 50 or 0.

    The effect is the distance from `neutral` to the nearest end of the claimed range.
    """
    if low <= neutral <= high:
        return MARGIN
    effect = min(abs(end - neutral) for end in (low, high) if math.isfinite(end))
    return min(MARGIN, MARGIN_SHARE * effect)


@dataclass(frozen=True)
class Claim:
    """A claimed range from `low` to `high`, in one unit such as per cent; either end can be infinite.

    Raises ValueError if `low` is above `high`, if `margin` or `error` is negative or infinite, and for NaN.
    """

    low: float
    high: float
    margin: float = MARGIN
    """Largest distance from the range at which a value is still acceptable."""
    error: float = 0.0
    """Half the width of the published figure's own interval, at the confidence level of the measured one."""

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"low must not exceed high in a claim, not {self.low} to {self.high}")
        for name in ("margin", "error"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"a claim's {name} must be a number from 0 on, not {getattr(self, name)}")

    def verdict(self, value: float, interval: Interval) -> Verdict:
        """Return whether a measured value with its interval agrees with the claim, by the module's rule.

        Raises ValueError if the value is outside its interval.
        """
        if not interval[0] <= value <= interval[1]:
            raise ValueError(f"the measured value {value} is outside its interval {interval}")
        low = value - math.hypot(value - interval[0], self.error)
        high = value + math.hypot(interval[1] - value, self.error)
        least, most = self.low - self.margin, self.high + self.margin
        if least < low and high < most:
            return "agrees"
        if high < least or low > most:
            return "differs"
        return "undecided"


def marked(verdict: str) -> str:
    """Return a verdict and what follows it with its mark; another text as it is.

    >>> marked("differs (1)"), marked("not testable")
    ('✗ differs (1)', '– not testable')
    """
    mark = MARKS.get(verdict.partition(" ")[0])
    return f"{mark} {verdict}" if mark else verdict
