"""A player's belief: Markov chains over the worlds that are consistent with a view."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gin_env import estimators
from gin_env.agents.policies.candidate_network import CandidateScorer, find_policy_of_games
from gin_env.agents.search.dealing import (
    PAST,
    propose_changes,
    propose_worlds,
    read_past,
    resampled,
    write_worlds,
)
from gin_env.agents.search.likelihood import PolicyLikelihood
from gin_env.agents.search.shapes import HandShapes
from gin_env.estimators.base import Estimator, NeedsHands
from gin_env.game.cards import cards_of
from gin_env.game.state import OVER, STATE
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number
from gin_env.support.compilation import kernel

MIN_ESTIMATE, MAX_ESTIMATE = 1e-3, 0.95
"""Estimates are clipped to this range: no card is certain before its place is known."""
MAX_CHAINS = MAX_STEPS = 1 << 20
NUM_PROPOSED = 4
"""Number of worlds drawn from the estimator for each that is used, where worlds have weights."""


def _padding_of(dtype: np.dtype[Any]) -> np.ndarray:
    """Return the offsets of the bytes of a record that belong to no field, int64 (k,)."""
    used = np.zeros(dtype.itemsize, bool)
    for part, offset, *_ in (dtype.fields or {}).values():
        element = part.base
        inside = np.ones(element.itemsize, bool)
        if element.fields:
            inside[_padding_of(element)] = False
        used[offset : offset + part.itemsize] = np.tile(inside, part.itemsize // element.itemsize)
    return np.flatnonzero(~used)


PADDING = _padding_of(STATE)


def _without_padding(states: np.ndarray) -> np.ndarray:
    """Return `STATE` records (n,) after clearing the bytes between fields, where copying leaves anything."""
    states.view(np.uint8).reshape(len(states), -1)[:, PADDING] = 0
    return states


class Belief:
    """Samples worlds in proportion to their probability, given a model of the opponent.

    Worlds come from parallel Markov chains (`Chains`). Each chain begins with a world sampled from the
    estimator: every unseen card is held with its estimated probability, independently but for the number of
    cards. A step proposes to exchange cards with the stock, with the same probabilities, or to move cards to
    other places of origin, and is accepted by the rule of Metropolis and Hastings. After many steps each
    world is sampled in proportion to the probability that the model would have drawn, passed and discarded as
    the opponent did. Worlds of one chain are not independent.

    Parameters
    ----------
    model : the model of the opponent: the network of a policy that scores candidates, its file, or
        the name of a bundled one.
    estimator : gives the chains their first worlds and their proposals.
    trust : weight of the likelihood of the opponent's actions against the estimator's probabilities, from 0
        to 1; the logarithms of both are added with these weights. With 0 only the estimator counts, and no
        steps are made.
    mistakes : the probability that the opponent acts at random, so that no world is ruled out by one action
        that the model would not have chosen.
    chains : number of parallel chains.
    warm_up : number of steps before the first worlds.
    apart : number of steps between two worlds of a chain.
    shapes : weighs the estimator's worlds by the shape of the opponent's hand; only with ``trust=0``.
    """

    def __init__(
        self,
        model: str | Path | CandidateScorer = "policy",
        estimator: str | Estimator = "suit-equivariant",
        trust: float = 1.0,
        mistakes: float = 0.05,
        chains: int = 64,
        warm_up: int = 40,
        apart: int = 4,
        shapes: HandShapes | None = None,
    ) -> None:
        self.estimator = estimators.resolve(estimator)
        if isinstance(self.estimator, NeedsHands):
            raise ValueError(f"estimator must not see hidden cards, as {self.estimator.name!r} does")
        self.trust = check_number("trust", trust, 0, 1)
        network = model if isinstance(model, CandidateScorer) else find_policy_of_games(model)
        self.likelihood = PolicyLikelihood(network, check_number("mistakes", mistakes, 0, 1))
        self.chains = check_integer("chains", chains, 1, MAX_CHAINS)
        self.warm_up = check_integer("warm_up", warm_up, 0, MAX_STEPS)
        self.apart = check_integer("apart", apart, 1, MAX_STEPS)
        self.shapes = shapes
        if shapes is not None and trust:
            raise ValueError(f"trust must be 0 for hands weighted by their shape, not {trust!r}")

    def sample(self, view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
        """Return masks of the opponent's possible hands, uint64 (count,); otherwise like `worlds`."""
        states = self.worlds(view, count, random)
        return states["private"]["hand"][:, 1 - int(view.records["player"][0])]

    def worlds(self, view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
        """Return worlds in which the player sees the same as in `view` (one view): `STATE` records (count,).

        The same generator in the same state samples the same worlds. Raises ValueError for several views, or
        a hand that is over.
        """
        count = check_integer("count", count, 1, 1 << 24)
        chains = self.begin(view, random, min(self.chains, count))
        rounds = -(-count // min(self.chains, count))
        return _without_padding(chains.next_rounds(rounds)[:count])

    def begin(self, view: PlayerView, random: np.random.Generator, num_chains: int | None = None) -> Chains:
        """Start chains from one view, by default `chains`, without a step yet."""
        return Chains(self, view, self.chains if num_chains is None else num_chains, random)


class Chains:
    """Markov chains over the worlds of one view: see `Belief`.

    `next_worlds` makes steps and returns the worlds that they lead to; `step` and `worlds` do one of these.
    `estimate`, float (52,), is the estimate for the view; by default the belief's estimator computes it.
    """

    def __init__(
        self,
        belief: Belief,
        view: PlayerView,
        num_chains: int,
        random: np.random.Generator,
        estimate: np.ndarray | None = None,
    ) -> None:
        if len(view) != 1 or view.records["public"]["phase"][0] == OVER:
            raise ValueError("view must be one view of a hand in progress")
        self._belief, self._random = belief, random
        self._view = view.records[0].copy()
        pasts = np.zeros(1, PAST)
        _read_past(view.records, pasts)
        self._past = pasts[0]
        self._hand_size = int(self._view["public"]["rules"]["hand_size"])
        estimate = belief.estimator.estimate(view)[0] if estimate is None else estimate
        chances = estimate.astype(np.float64).clip(MIN_ESTIMATE, MAX_ESTIMATE)
        self._odds = chances / (1 - chances)
        places = self._hand_size + int(self._past["draws"])
        in_stock = int(self._past["unseen"]).bit_count() - int(self._past["missing"])
        self._num_places = places, in_stock
        self._num_chains = num_chains
        self._begin(num_chains)
        self._used = False
        self._warm = False
        self._logarithm: np.ndarray | None = None
        """Of each world's probability, up to a constant; None before the first step."""

    @property
    def view(self) -> np.void:
        """The `VIEW` record that the worlds are consistent with."""
        return self._view

    def with_hand(self, hand: int) -> np.ndarray:
        """Return the unseen cards in the stock, for this hand and then in each world: int8 (1 + n, k)."""
        stock = cards_of(int(self._past["unseen"]) & ~hand)
        return np.concatenate([np.array([stock], np.int8), self._stock])

    def next_worlds(self) -> np.ndarray:
        """Return the worlds after the warm-up or `apart` more steps: `STATE` records (chains,)."""
        self.step(self._belief.apart if self._warm else self._belief.warm_up)
        self._warm = True
        return self.worlds()

    def next_rounds(self, rounds: int) -> np.ndarray:
        """Return the worlds of several rounds: `STATE` records (rounds * chains,)."""
        if self._belief.trust == 0:  # they are independent of each other, so they can be drawn together
            count = rounds * self._num_chains
            if self._used or count != len(self._held):
                self._begin(count)
            self._used = True
            return self.worlds()
        parts = [self.next_worlds() for _ in range(rounds)]
        states = np.zeros(sum(map(len, parts)), STATE)  # faster than concatenating records
        for part, place in zip(parts, np.split(states, rounds), strict=True):
            place[:] = part
        return states

    def step(self, steps: int = 1) -> None:
        """Propose a change to each chain, `steps` times."""
        if self._belief.trust == 0:  # new worlds from the estimator are independent already
            self._begin(self._num_chains)
            return
        correction = np.empty(len(self._held))
        for _ in range(steps):
            if self._logarithm is None:
                self._logarithm = self._chances(self._held, self._stock)
            held, stock = self._held.copy(), self._stock.copy()
            propose_changes(self._past, self._hand_size, self._odds, self._key(), held, stock, correction)
            then = self._chances(held, stock)
            goes = np.log(self._random.random(len(held))) < then - self._logarithm + correction
            self._held[goes], self._stock[goes], self._logarithm[goes] = held[goes], stock[goes], then[goes]

    def worlds(self) -> np.ndarray:
        """Return the current worlds of the chains with reshuffled stocks: `STATE` records (chains,)."""
        states = np.zeros(len(self._held), STATE)
        write_worlds(self._view, self._past, self._held, self._stock, self._key(), states)
        return states

    def _begin(self, count: int) -> None:
        """Draw this number of worlds from the estimator, weighted by the shape of the opponent's hand."""
        shapes = self._belief.shapes
        proposed = count if shapes is None else count * NUM_PROPOSED
        held, stock = (np.empty((proposed, places), np.int8) for places in self._num_places)
        propose_worlds(self._past, self._hand_size, self._odds, self._key(), held, stock)
        if shapes is not None:
            chosen = resampled(shapes(self._view, stock), count, self._random)
            held, stock = held[chosen], stock[chosen]
        self._held, self._stock = held, stock

    def _chances(self, held: np.ndarray, stock: np.ndarray) -> np.ndarray:
        """Return logarithms of the probabilities of worlds, up to a constant: float64 (n,)."""
        trust = self._belief.trust
        acted = trust * self._belief.likelihood(self._view, self._past, held, stock)
        # Cards that are not in the stock are held, so the odds of the stock are enough.
        return acted - (1 - trust) * np.log(self._odds)[stock].sum(axis=1)

    def _key(self) -> np.uint64:
        return self._random.integers(0, 1 << 64, dtype=np.uint64)


@kernel
def _read_past(views, pasts) -> None:
    read_past(views[0].public, views[0].private, views[0].player, pasts[0])
