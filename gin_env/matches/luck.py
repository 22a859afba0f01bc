"""Take the luck of the cards out of the result of a match.

Every deal and every card drawn from the stock is chance with known probabilities. With the value of a
position, the luck of a draw is the value with the drawn card minus the mean value over all cards that it
could have been. This is 0 on average whatever the value function and whatever the players do, so a result
minus the sum of its luck has the same mean and, with a good value function, a smaller variance. The method is
that of Wolfe (2002) and of AIVAT (Burch et al., AAAI 2018, arXiv 1612.06915), for chance alone; backgammon
programs call the result luck-adjusted.

The value is that of `gin_env.matches.open_value`, which sees all cards: in points, and in whole games in the
probability of winning from the scores after the hand. What its sum leaves is fitted by least squares to the
luck in each part of the hand, to three simple measures of it and, for slow players, to the luck by rollouts
(`gin_env.matches.rolled_luck`), all of mean 0 as well. The coefficients for a deal come from the other deals,
which keeps the mean as it is.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gin_env.game.actions import DRAW_STOCK
from gin_env.game.cards import FULL_DECK, NUM_CARDS
from gin_env.game.hands import least_deadwood_discard
from gin_env.game.match_odds import chances_after, chances_to_win
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD
from gin_env.matches.intervals import Interval, deviations, mean_interval
from gin_env.support.compilation import kernel

if TYPE_CHECKING:
    from gin_env.matches.open_value import OpenValue

CHANCE = np.dtype(
    [
        ("deal", np.int64),  # index of the deal in the match
        ("is_a", np.bool_),  # whether bot a is the player to move
        ("card", np.int8),  # just drawn; -1 at the deal
        ("mover", np.int64),  # hands, the discard pile, and what both hold from it, as masks of cards
        ("other", np.int64),
        ("pile", np.int64),
        ("mover_shown", np.int64),
        ("other_shown", np.int64),
        ("turn", np.uint8),
        ("knock_limit", np.int8),
        ("scores", np.int16, 2),  # of the player to move, and the other
        ("rolled", np.float64, 2),  # luck of a draw by rollouts, in points and in games won; 0 without them
    ]
)
"""A card from the stock or a deal, as the player to move and the result of the match see it."""

TURNS = np.array([6, 12, 18])
"""First turns of the second and the following parts of a hand."""
_PARTS = len(TURNS) + 1
NUM_SUMMED = 1 + 2 * _PARTS
"""Luck by the value: of the deals, of a's draws in each part of the hand, and of b's."""
ROLLED = slice(NUM_SUMMED + 2 * 3, NUM_SUMMED + 2 * 3 + 2)
"""Luck of a's and of b's draws by rollouts, after that by deadwood, knock and gin alone."""
NUM_TERMS = ROLLED.stop
LUCK = np.dtype([("points", np.float64, NUM_TERMS), ("wins", np.float64, NUM_TERMS)])
"""The luck of bot a in both games of a deal, in points and in games won."""
_SWAPPED = [0, *range(1 + _PARTS, NUM_SUMMED), *range(1, 1 + _PARTS), *range(NUM_SUMMED + 3, ROLLED.start)]
_SWAPPED += [*range(NUM_SUMMED, NUM_SUMMED + 3), ROLLED.start + 1, ROLLED.start]
"""The terms in the order that exchanges the bots."""
FOLDS = 10
PRIOR_DEALS = 50
"""The least squares count as many deals more in which the terms say nothing about what is left."""
_TOGETHER = 2000
"""Number of draws whose alternatives are evaluated together."""


def chance_of(
    state: np.ndarray, numbers: np.ndarray, roll: Callable[[np.ndarray], np.ndarray] | None = None
) -> np.ndarray:
    """Return `CHANCE` records (k,) of the `STATE` records (n,) after a deal or a draw from the stock.

    `numbers`, int64 (n,), are the games' numbers in the match. `roll` returns `luck_by_rollouts` of draws.
    """
    public = state["public"]
    length = public["history_length"].astype(np.int64)
    last = public["history"][np.arange(len(state)), np.maximum(length - 1, 0)]
    drew = (length > 0) & (last == DRAW_STOCK) & (public["phase"] == DISCARD)
    new = drew | (length == 0)
    state, drew, numbers = state[new], drew[new], numbers[new]
    public, private = state["public"], state["private"]
    each = np.arange(len(state))
    mover = public["to_move"].astype(np.int64)
    found = np.zeros(len(state), CHANCE)
    found["deal"], seat_of_a = np.divmod(numbers, 2)
    found["is_a"] = mover == seat_of_a
    draws = private["num_stock_draws"][each, mover].astype(np.int64)
    found["card"] = np.where(drew, private["stock_draws"][each, mover, np.maximum(draws - 1, 0)], -1)
    for name, values in (("", private["hand"]), ("_shown", public["shown"])):
        found[f"mover{name}"], found[f"other{name}"] = values[each, mover], values[each, 1 - mover]
    for name in ("pile", "turn", "knock_limit"):
        found[name] = public[name]
    found["scores"][:, 0] = public["scores"][each, mover]
    found["scores"][:, 1] = public["scores"][each, 1 - mover]
    if roll is not None and drew.any():
        found["rolled"][drew] = roll(state[drew])
    return found


def odds_of(value: OpenValue, rules: Rules, whole_game: bool) -> np.ndarray:
    """Return `chances_to_win` what is won: the game, or with ``whole_game=False`` the hand."""
    if not whole_game:
        return np.array([[0.5, 0.0], [1.0, 0.5]])
    points = np.abs(np.rint(value.points.numpy()).astype(np.int64))
    return chances_to_win(np.bincount(points, value.at_deal.numpy()), rules.target_score)


def luck_of_deals(
    found: np.ndarray, num_deals: int, rules: Rules, whole_game: bool, value: OpenValue
) -> np.ndarray:
    """Return the luck of bot a in each deal: `LUCK` records (num_deals,) for `CHANCE` records (n,).

    What is won is the game, or with ``whole_game=False`` the hand.
    """
    luck = np.zeros(num_deals, LUCK)
    points = np.rint(value.points.numpy()).astype(np.int64)
    chances = odds_of(value, rules, whole_game)
    for part in np.array_split(found, max(len(found) // _TOGETHER, 1)):
        part["pile"] |= np.int64(FULL_DECK ^ rules.deck_mask)  # a card that the deck lacks is never drawn
        own, other = part["scores"].astype(np.int64).T[:, :, None]
        worth = chances_after(chances, own, other, points)  # the chance to win after a result of each class
        for drew, lucks in ((False, _luck_of_being_dealt), (True, _luck_of_drawing)):
            which = (part["card"] >= 0) == drew
            events = part[which]
            if len(events):
                for place, amounts in lucks(events, worth[which], value):
                    for name, of_events in zip(("points", "wins"), amounts, strict=True):
                        signed = np.where(events["is_a"], of_events, -of_events)
                        np.add.at(luck[name], (events["deal"], place), signed)
    return luck


Lucks = Iterator[tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]]
"""Terms (n,), and the luck of the player to move in points and in games won: float64 (n,) each."""


def _luck_of_being_dealt(deals: np.ndarray, worth: np.ndarray, value: OpenValue) -> Lucks:
    """Yield the luck of `CHANCE` records of deals; `worth` is that of each class."""
    more = value.probabilities(deals) - value.at_deal.numpy()
    yield np.zeros(len(deals), np.int64), (more @ value.points.numpy(), (more * worth).sum(axis=1))


def _luck_of_drawing(draws: np.ndarray, worth: np.ndarray, value: OpenValue) -> Lucks:
    """Yield the luck of `CHANCE` records of draws, by the value and by simple measures."""
    drawn, owner = _with_every_card(draws)
    probabilities = value.probabilities(drawn)
    measures = np.empty((len(drawn), 3))
    _measure(drawn["mover"], drawn["knock_limit"], measures)
    figures = np.column_stack(
        [probabilities @ value.points.numpy(), (probabilities * worth[owner]).sum(axis=1), measures]
    )
    first = np.searchsorted(owner, np.arange(len(draws)))  # the card that was drawn
    mean = np.add.reduceat(figures, first) / np.bincount(owner)[:, None]
    luck = figures[first] - mean
    other_player = np.where(draws["is_a"], 0, 1)
    part_of_hand = np.searchsorted(TURNS, draws["turn"], side="right")
    yield 1 + _PARTS * other_player + part_of_hand, (luck[:, 0], luck[:, 1])
    stake = worth[:, -1] - worth[:, 0]  # what the largest hand is worth
    for index, measure in enumerate(luck[:, 2:].T):
        yield NUM_SUMMED + 3 * other_player + index, (measure, measure * stake)
    yield ROLLED.start + other_player, (draws["rolled"][:, 0], draws["rolled"][:, 1])


def _with_every_card(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the draws with each card that could have been drawn, the drawn one first, and their owners."""
    before = draws["mover"] & ~(np.int64(1) << draws["card"].astype(np.int64))
    unseen = FULL_DECK & ~(before | draws["other"] | draws["pile"])
    possible = (unseen[:, None] >> np.arange(NUM_CARDS) & 1).astype(bool)
    possible[np.arange(len(draws)), draws["card"]] = False
    owner, card = np.nonzero(np.column_stack([np.ones(len(draws), bool), possible]))
    drawn = draws[owner]
    others = card > 0
    drawn["mover"][others] = before[owner[others]] | np.int64(1) << (card[others] - 1)
    return drawn, owner


@kernel
def _measure(hands: np.ndarray, limits: np.ndarray, measures: np.ndarray) -> None:
    """Write deadwood, whether it allows a knock, and gin, for hands with a drawn card: float64 (n, 3)."""
    for index in range(len(hands)):
        deadwood = least_deadwood_discard(hands[index], hands[index])[1]
        measures[index, 0] = deadwood
        measures[index, 1] = deadwood <= limits[index]
        measures[index, 2] = deadwood == 0


@dataclass(frozen=True)
class Adjusted:
    """A figure of bot a with the luck of the cards taken out."""

    value: float
    interval: Interval
    saved: float
    """The share of the variance that was luck: the interval is as wide with that share of the games less."""


def adjusted_ratio(
    results: np.ndarray, counts: np.ndarray, luck: np.ndarray, confidence: float = 0.95
) -> Adjusted:
    """Return the sum of results / the sum of counts without luck, with its t interval over the deals.

    `results` and `counts` are (m,), `luck` is float64 (m, NUM_TERMS). Raises ValueError for one deal.
    """
    ratio = results.sum() / counts.sum()
    cleared = without_luck(results - ratio * counts, luck)
    value = float(ratio + cleared.sum() / counts.sum())
    before, after = (deviations(each, counts) for each in (results, cleared + ratio * counts))
    saved = 1 - float(after.var() / before.var()) if before.any() else 0.0
    return Adjusted(value, mean_interval(value, after, confidence), saved)


def without_luck(results: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return the results of deals with their luck taken out: float64 (m,), whose expectation is the same.

    `results` are float64 (m,); `luck` is float64 (m, NUM_TERMS) of the same deals and in the same unit.
    """
    left = results - luck[:, :NUM_SUMMED].sum(axis=1)
    adjusted = left.copy()
    fold = np.arange(len(left)) % FOLDS
    for number in range(FOLDS):
        others = fold != number
        if others.sum() > 1:
            y, x = left[others], luck[others]
            squares = x.T @ x
            prior = PRIOR_DEALS / len(x) * np.diag(squares) + 1e-9  # draws the coefficients towards 0
            coefficients = np.linalg.solve(squares + np.diag(prior), x.T @ (y - y.mean()))
            adjusted[~others] -= luck[~others] @ coefficients
    return adjusted


def swapped_luck(luck: np.ndarray) -> np.ndarray:
    """Return the luck of bot b: `LUCK` records (m,), for those of bot a."""
    swapped = np.zeros_like(luck)
    for name in LUCK.names or ():
        swapped[name] = -luck[name][:, _SWAPPED]
    return swapped
