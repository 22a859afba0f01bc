"""Does a measured figure agree with a published one? One rule for all claims.

A claim is a range of values, and a margin: the difference that is too small to matter.

- A figure ("wins 53.9 %") claims what it may have been rounded from: 53.85 to 53.95. `figure`.
- A bound ("at least 68 %", "costs over 10 points") claims everything on one side. `at_least`, `at_most`.
- An order ("wins more", "no better", "costs") claims one side of equality, without a margin: who is behind by
  little does not win more. `more_than`, `less_than`.

The acceptable values are the claimed ones and those that lie no further from them than the margin. For
figures and bounds it is a quarter of the claimed effect, and 1.5 points of the win rate at most
(`margin_for`): "+4" is met by +3 to +5, not by +2.5. A claim of no effect has the whole 1.5. The measured
figure

- agrees if its whole interval lies among the acceptable values,
- differs if its whole interval lies outside them,
- is undecided otherwise: more games are needed.

So "agrees" is never said for want of games. It is the two one-sided tests of equivalence (Schuirmann, 1987),
at 2.5 % each with an interval of 95 %. An end of the interval that lies on the edge of the acceptable values
decides nothing. A published figure with an error of its own ("70.1 ± 0.75") widens the measured interval, by
square and add, since both are uncertain; published figures without one are taken as exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from gin_env.matches.intervals import Interval

Verdict = Literal["agrees", "differs", "undecided"]

MARGIN = 1.5
"""Points of the win rate, in per cent: two figures that lie no further apart are as good as equal."""
MARGIN_SHARE = 0.25
"""Of the claimed effect: no margin is wider."""


def margin_for(low: float, high: float, neutral: float) -> float:
    """Return the margin of a figure or bound: `neutral` is the value without an effect, 50 or 0.

    The effect is the distance from `neutral` to the nearest end of the claimed values.
    """
    if low <= neutral <= high:
        return MARGIN
    effect = min(abs(end - neutral) for end in (low, high) if math.isfinite(end))
    return min(MARGIN, MARGIN_SHARE * effect)


@dataclass(frozen=True)
class Claim:
    """Values from `low` to `high`, either of which may be infinite; all in one unit, such as per cent.

    Raises ValueError if `low` is above `high`, if `margin` or `error` is negative or infinite, and for NaN.
    """

    low: float
    high: float
    margin: float = MARGIN
    """How far outside a value is as good as inside."""
    error: float = 0.0
    """Half the width of the published figure's own interval, at the confidence of the measured one."""

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"a claim reaches from low to high, not from {self.low} to {self.high}")
        for name in ("margin", "error"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"a claim's {name} must be a number from 0 on, not {getattr(self, name)}")

    def verdict(self, value: float, interval: Interval) -> Verdict:
        """How a measured value with its interval lies to the claim, see above.

        Raises ValueError unless the value lies in its interval.
        """
        if not interval[0] <= value <= interval[1]:
            raise ValueError(f"the measured value {value} lies outside its interval {interval}")
        low = value - math.hypot(value - interval[0], self.error)
        high = value + math.hypot(interval[1] - value, self.error)
        least, most = self.low - self.margin, self.high + self.margin
        if least < low and high < most:
            return "agrees"
        if high < least or low > most:
            return "differs"
        return "undecided"


def figure(value: float, rounding: float = 0.0, margin: float = MARGIN, error: float = 0.0) -> Claim:
    """A published figure; `rounding` is half a unit of its last digit: ``figure(53.9, 0.05)``."""
    return Claim(value - rounding, value + rounding, margin, error)


def at_least(value: float, margin: float = MARGIN) -> Claim:
    """A published bound from below."""
    return Claim(value, math.inf, margin)


def at_most(value: float, margin: float = MARGIN) -> Claim:
    """A published bound from above."""
    return Claim(-math.inf, value, margin)


def more_than(value: float) -> Claim:
    """An order: more than `value`, 50 for a win rate or 0 for a difference. Without a margin."""
    return at_least(value, margin=0.0)


def less_than(value: float) -> Claim:
    """An order: less than `value` ("no better" too), 50 for a win rate or 0 for a difference. No margin."""
    return at_most(value, margin=0.0)
