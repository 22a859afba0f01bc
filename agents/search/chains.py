"""A player's belief: worlds drawn in proportion to how likely the opponent would have acted as she did."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from pathlib import Path

import numpy as np

from gin_env import estimators
from gin_env.agents.policies.candidate_network import CandidateScorer, find_candidate_policy
from gin_env.agents.search.dealing import PAST, propose_changes, propose_worlds, read_past, write_worlds
from gin_env.agents.search.likelihood import PolicyLikelihood
from gin_env.estimators.base import Estimator, NeedsHands
from gin_env.game.state import OVER, STATE
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number
from gin_env.support.compilation import kernel

LEAST_CHANCE, MOST_CHANCE = 1e-3, 0.95
"""An estimate beyond these counts as these: no card is certain before its place is known."""
MOST = 1 << 20
"""Chains and steps at most."""


class Belief:
    """What a player believes, for a model of her opponent: draws worlds as often as they are likely.

    Worlds come from Markov chains, many side by side (`Chains`). Each begins with a world from the
    estimator's chances: every unseen card is held with them, independently but for their number. A step
    proposes to exchange cards with the stock, by the same chances, or to move cards to other places of
    origin, and goes there with the chance of Metropolis and Hastings, so that after many steps each world
    comes as often as it is likely: as often as the model would have drawn, passed and discarded what was
    seen with those cards.
    Worlds of one chain are not independent, those of different chains are.

    Parameters
    ----------
    model : whom the opponent is taken for: the network of a policy that scores candidates, its file, or
        ``"policy"``, the shipped one.
    estimator : where chains begin, and which cards they try.
    trust : how far the likelihood of the opponent's acts counts against the estimator's chances, from 0 to 1;
        the logarithms of both are added in these shares. With 0 the estimator alone is believed, which takes
        no steps.
    mistakes : share of the opponent's decisions that are any of the possible ones, so that no world is ruled
        out by one act that the model would not have done.
    chains : how many run side by side.
    warm_up : steps before the first worlds.
    apart : steps between the worlds of a chain.
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
    ) -> None:
        self.estimator = estimators.resolve(estimator)
        if isinstance(self.estimator, NeedsHands):
            raise ValueError(f"a belief begins with what is seen: {self.estimator.name!r} sees all cards")
        self.trust = check_number("trust", trust, 0, 1)
        network = model if isinstance(model, CandidateScorer) else find_candidate_policy(model)[0]
        self.likelihood = PolicyLikelihood(network, check_number("mistakes", mistakes, 0, 1))
        self.chains = check_integer("chains", chains, 1, MOST)
        self.warm_up = check_integer("warm_up", warm_up, 0, MOST)
        self.apart = check_integer("apart", apart, 1, MOST)

    def sample(self, view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
        """uint64 (count,): masks of what the opponent may hold; else as `worlds`."""
        states = self.worlds(view, count, random)
        return states["private"]["hand"][:, 1 - int(view.records["player"][0])]

    def worlds(self, view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
        """`STATE` records (count,): games in which the player sees what she sees in `view`, one view.

        The same generator in the same state draws the same worlds. Raises ValueError for several views, or a
        hand that is over.
        """
        count = check_integer("count", count, 1, 1 << 24)
        chains = self.begin(view, random, min(self.chains, count))
        rounds = -(-count // min(self.chains, count))
        return np.concatenate([chains.next_worlds() for _ in range(rounds)])[:count]

    def begin(self, view: PlayerView, random: np.random.Generator, number: int | None = None) -> Chains:
        """So many chains (default: `chains`) for one view, not moved yet."""
        return Chains(self, view, self.chains if number is None else number, random)


class Chains:
    """Markov chains over the worlds of one view: see `Belief`.

    `next_worlds` moves them on and says where they are; `step` and `worlds` do either.
    """

    def __init__(self, belief: Belief, view: PlayerView, number: int, random: np.random.Generator) -> None:
        if len(view) != 1 or view.records["public"]["phase"][0] == OVER:
            raise ValueError("a belief is about one view of a hand in progress")
        self._belief, self._random = belief, random
        self._view = view.records[0]
        pasts = np.zeros(1, PAST)
        _read_past(view.records, pasts)
        self._past = pasts[0]
        self._hand_size = int(self._view["public"]["rules"]["hand_size"])
        chances = belief.estimator.estimate(view)[0].astype(np.float64).clip(LEAST_CHANCE, MOST_CHANCE)
        self._odds = chances / (1 - chances)
        places = self._hand_size + int(self._past["draws"])
        in_stock = int(self._past["unseen"]).bit_count() - int(self._past["missing"])
        self._held, self._rest = np.empty((number, places), np.int8), np.empty((number, in_stock), np.int8)
        self._begin()
        self._warm = False
        self._logarithm: np.ndarray | None = None
        """Of each world's chance, but for a constant; it is not known before the first step."""

    def next_worlds(self) -> np.ndarray:
        """`STATE` records (number of chains,): the first ones after the warm-up, others some steps apart."""
        self.step(self._belief.apart if self._warm else self._belief.warm_up)
        self._warm = True
        return self.worlds()

    def step(self, steps: int = 1) -> None:
        """Propose a change to each chain, so many times."""
        if self._belief.trust == 0:  # the worlds are drawn from the estimator's chances already
            self._begin()
            return
        correction = np.empty(len(self._held))
        for _ in range(steps):
            if self._logarithm is None:
                self._logarithm = self._chances(self._held, self._rest)
            held, rest = self._held.copy(), self._rest.copy()
            propose_changes(self._past, self._hand_size, self._odds, self._key(), held, rest, correction)
            then = self._chances(held, rest)
            goes = np.log(self._random.random(len(held))) < then - self._logarithm + correction
            self._held[goes], self._rest[goes], self._logarithm[goes] = held[goes], rest[goes], then[goes]

    def worlds(self) -> np.ndarray:
        """`STATE` records (number of chains,): the games where the chains are, their stocks shuffled anew."""
        states = np.zeros(len(self._held), STATE)
        write_worlds(self._view, self._past, self._held, self._rest, self._key(), states)
        return states

    def _begin(self) -> None:
        propose_worlds(self._past, self._hand_size, self._odds, self._key(), self._held, self._rest)

    def _chances(self, held: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """float64 (n,): logarithms of the chances of worlds, but for a constant."""
        trust = self._belief.trust
        acted = trust * self._belief.likelihood(self._view, self._past, held, rest)
        # What is not in the stock is held, so the odds of the stock say it too.
        return acted - (1 - trust) * np.log(self._odds)[rest].sum(axis=1)

    def _key(self) -> np.uint64:
        return self._random.integers(0, 1 << 64, dtype=np.uint64)


@kernel
def _read_past(views, pasts) -> None:
    read_past(views[0].public, views[0].private, views[0].player, pasts[0])
