"""Sampled worlds: full deals consistent with everything that a player has seen.

>>> from gin_env import belief
>>> hands = belief.sample(view, 256, np.random.default_rng(1))  # masks of the opponent's possible hands
>>> games = belief.worlds(view, 256, np.random.default_rng(1))  # `gin_env.game.state.STATE` records
>>> belief.Belief("bayes").sample(view, 256, np.random.default_rng(1))

An estimator (`gin_env.estimators`) gives the probability of each card. A belief samples whole hands, with
the cards of a meld together: those of the estimator are weighted by their shape
(`gin_env.agents.search.small_networks`). `sample` and `worlds` assume an opponent that plays like ``policy``.

Results: docs/results/search.md, "Beliefs".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from gin_env import estimators
from gin_env.agents.search.dealing import PAST, propose_worlds, read_past, resampled, write_worlds
from gin_env.agents.search.small_networks import MODELS, HandShapes, packaged_networks
from gin_env.batch import Games
from gin_env.estimators.base import Estimator, NeedsHands
from gin_env.game.cards import cards_of
from gin_env.game.match_odds import chances_to_win
from gin_env.game.rules import Rules
from gin_env.game.state import OVER, STATE
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer

MIN_ESTIMATE, MAX_ESTIMATE = 1e-3, 0.95
"""Estimates are clipped to this range: no card is certain before its place is known."""
NUM_PROPOSED = 4
"""Number of worlds drawn from the estimator for each that is used, where worlds have weights."""
NUM_PAID_HANDS = 2048
"""Number of hands played to learn how many points a hand pays."""
_BYTES = np.ones(STATE.itemsize, np.uint8)
_BYTES.view(STATE)[:] = 0
_PADDING = _BYTES.nonzero()[0]
"""Offsets of the bytes between the fields of a `STATE` record: assigning 0 to it leaves them as they were."""


def without_padding(states: np.ndarray) -> np.ndarray:
    """Return `STATE` records (n,) after clearing the bytes between fields, where copying leaves anything."""
    states.view(np.uint8).reshape(len(states), -1)[:, _PADDING] = 0
    return states


class Belief:
    """Samples worlds, independently of each other.

    Every unseen card is held with its estimated probability, independently but for the number of cards. With
    `shapes`, the worlds are drawn from `NUM_PROPOSED` times as many, in proportion to the weights of the
    opponent's hands.

    Parameters
    ----------
    estimator : gives the probability of each card.
    shapes : weighs the opponent's hands by their shape; default: all alike.

    Raises ValueError for an estimator that sees hidden cards.
    """

    def __init__(
        self, estimator: str | Estimator = "suit-equivariant", shapes: HandShapes | None = None
    ) -> None:
        self.estimator = estimators.resolve(estimator)
        if isinstance(self.estimator, NeedsHands):
            raise ValueError(f"estimator must not see hidden cards, as {self.estimator.name!r} does")
        self.shapes = shapes

    def sample(self, view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
        """Return masks of the opponent's possible hands, uint64 (count,); otherwise like `worlds`."""
        states = self.worlds(view, count, random)
        return states["private"]["hand"][:, 1 - int(view.array["player"][0])]

    def worlds(self, view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
        """Return worlds in which the player sees the same as in `view` (one view): `STATE` records (count,).

        The same generator in the same state samples the same worlds. Raises ValueError for several views, or
        a hand that is over.
        """
        count = check_integer("count", count, 1, 1 << 24)
        return without_padding(Worlds(self, view, count, random).draw())


class Worlds:
    """Worlds of one view: see `Belief`.

    Parameters
    ----------
    count : number of worlds in a round.
    estimate : the estimate for the view, float (52,); by default the belief's estimator computes it.

    Attributes
    ----------
    view : the `VIEW` record that the worlds are consistent with.
    """

    def __init__(
        self,
        belief: Belief,
        view: PlayerView,
        count: int,
        random: np.random.Generator,
        estimate: np.ndarray | None = None,
    ) -> None:
        if len(view) != 1 or view.array["public"]["phase"][0] == OVER:
            raise ValueError("view must be one view of a hand in progress")
        self._belief, self._random = belief, random
        self.view = view.array[0].copy()
        self._past = np.zeros(1, PAST)[0]
        read_past(self.view["public"], self.view["private"], self.view["player"], self._past)
        self._hand_size = int(self.view["public"]["rules"]["hand_size"])
        estimate = belief.estimator.estimate(view)[0] if estimate is None else estimate
        chances = estimate.astype(np.float64).clip(MIN_ESTIMATE, MAX_ESTIMATE)
        self._odds = chances / (1 - chances)
        places = self._hand_size + int(self._past["draws"])
        in_stock = int(self._past["unseen"]).bit_count() - int(self._past["missing"])
        self._num_places = places, in_stock
        self._count = count
        self._begin(count)
        self._used = False

    def with_hand(self, hand: int) -> np.ndarray:
        """Return the unseen cards in the stock, for this hand and then in each world: int8 (1 + n, k)."""
        stock = cards_of(int(self._past["unseen"]) & ~hand)
        return np.concatenate([np.array([stock], np.int8), self._stock])

    def draw(self, rounds: int = 1) -> np.ndarray:
        """Return new worlds of several rounds: `STATE` records (rounds * count,)."""
        if self._used or rounds > 1:
            self._begin(rounds * self._count)
        self._used = True
        return self.worlds()

    def worlds(self, which: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return these of the current worlds (default: all) with reshuffled stocks: `STATE` records (n,)."""
        held, stock = self._held[which], self._stock[which]
        states = np.zeros(len(held), STATE)
        write_worlds(self.view, self._past, held, stock, self._key(), states)
        return states

    def _begin(self, count: int) -> None:
        """Draw this number of worlds from the estimator, weighted by the shape of the opponent's hand."""
        shapes = self._belief.shapes
        proposed = count if shapes is None else count * NUM_PROPOSED
        held, stock = (np.empty((proposed, places), np.int8) for places in self._num_places)
        propose_worlds(self._past, self._hand_size, self._odds, self._key(), held, stock)
        if shapes is not None:
            chosen = resampled(shapes(self.view, stock), count, self._random)
            held, stock = held[chosen], stock[chosen]
        self._held, self._stock = held, stock

    def _key(self) -> np.uint64:
        return self._random.integers(0, 1 << 64, dtype=np.uint64)


def sample(view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
    """Return possible hands of the opponent: uint64 (count,). See `Belief.sample`."""
    return _default().sample(view, count, random)


def worlds(view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
    """Return worlds consistent with the view: `STATE` records (count,). See `Belief.worlds`."""
    return _default().worlds(view, count, random)


def after(states: np.ndarray, actions: np.ndarray) -> Games:
    """Return the games of `STATE` records (n,) with equal rules after one action in each, int64 (n,)."""
    games = Games(len(states), Rules.from_record(states["public"]["rules"][0]))
    games.state[:] = states
    games.done[:] = False
    games.play(games.everyone, actions)
    return games


def points_of_hand(games: Games) -> np.ndarray:
    """Return player 0's points in each hand that is over: int64 (n,)."""
    public = games.state["public"]
    return np.where(public["winner"] < 0, 0, public["points"] * (1 - 2 * public["winner"].astype(np.int64)))


def chances_of_play(rules: Rules, finish: Callable[[Games], object]) -> np.ndarray:
    """Return `gin_env.game.match_odds.chances_to_win` from hands that `finish` plays to their end."""
    games = Games(NUM_PAID_HANDS, rules)
    games.start(games.everyone, np.zeros(NUM_PAID_HANDS, np.uint64), games.everyone.astype(np.uint64))
    finish(games)
    paid = np.bincount(np.abs(points_of_hand(games)), minlength=2)
    paid[1] += not paid[1:].any()  # no hand paid points
    return chances_to_win(paid, rules.target_score)


def mean_and_error(gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means (..., k) of gains (..., k, n), and their standard errors."""
    return gains.mean(axis=-1), gains.std(axis=-1, ddof=1) / gains.shape[-1] ** 0.5


@cache
def _default() -> Belief:
    return Belief(MODELS["policy"], HandShapes(packaged_networks()["policy"]))
