"""Hands weighted by the opponent's actions: Markov chains of worlds, for the experiment ``search/beliefs``.

A policy is the model of the opponent. After many steps of a chain each world is sampled in proportion to the
probability that the model would have drawn, passed and discarded as the opponent did. The package samples
hands of an estimator instead, weighted by their shape (`gin_env.agents.search.belief`), which is many times
faster and about as good (docs/results/search.md, "Beliefs").
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from pathlib import Path

import numpy as np

from gin_env.agents.policies.candidate_network import CandidateScorer, check_no_memory, find_policy_of_games
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.search.belief import Belief, Worlds, without_padding
from gin_env.agents.search.best_response import log_likelihoods
from gin_env.agents.search.small_networks import HandShapes, packaged_networks
from gin_env.estimators.base import Estimator
from gin_env.game.cards import NUM_CARDS, card_bit
from gin_env.game.streams import below, mix, unit
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number
from gin_env.support.compilation import kernel

WARM_UP = 40
"""Number of steps of a chain before its first world."""
APART = 4
"""Number of steps between two worlds of a chain."""
MAX_CHAINS = 1 << 20
CHANGE_PLACES = 0.25
"""Share of the proposed changes that move two of the opponent's cards to other places of origin."""
CHANGE_TWO = 0.3
"""Share of the others that exchange two cards with the stock, not one."""
NEVER = -1e30
"""Logarithm of the probability of an impossible change."""


class WholeHands(Belief):
    """Samples worlds in proportion to their probability, given a model of the opponent.

    Worlds come from parallel Markov chains (`Chains`). Each chain begins with a world sampled from the
    estimator. A step proposes to exchange cards with the stock, with the same probabilities, or to move cards
    to other places of origin, and is accepted by the rule of Metropolis and Hastings. Worlds of one chain are
    not independent.

    Parameters
    ----------
    model : the model of the opponent: the network of a policy that scores candidates, its file, or
        the name of a bundled one.
    estimator : gives the chains their first worlds and their proposals.
    trust : weight of the likelihood of the opponent's actions against the estimator's probabilities, from 0
        to 1; the logarithms of both are added with these weights. With 0 only the estimator counts, and no
        steps are made.
    chains : number of parallel chains.
    shapes : the bot whose shapes of hands weigh the estimator's worlds; only with ``trust=0``.
    """

    def __init__(
        self,
        model: str | Path | CandidateScorer = "policy",
        estimator: str | Estimator = "suit-equivariant",
        trust: float = 1.0,
        chains: int = 64,
        shapes: str | None = None,
    ) -> None:
        super().__init__(estimator, HandShapes(packaged_networks()[shapes]) if shapes else None)
        self.trust = check_number("trust", trust, 0, 1)
        network = model if isinstance(model, CandidateScorer) else find_policy_of_games(model)
        self._policy = CandidatePolicyBot(check_no_memory(network))
        self.chains = check_integer("chains", chains, 1, MAX_CHAINS)
        if shapes is not None and trust:
            raise ValueError(f"trust must be 0 for hands weighted by their shape, not {trust!r}")

    def worlds(self, view: PlayerView, count: int, random: np.random.Generator) -> np.ndarray:
        num_chains = min(self.chains, count)
        rounds = -(-count // num_chains)
        if not self.trust:  # they are independent of each other, so they can be drawn together
            return without_padding(Worlds(self, view, num_chains, random).draw(rounds)[:count])
        chains = Chains(self, view, num_chains, random)
        return without_padding(np.concatenate([chains.next_worlds() for _ in range(rounds)])[:count])

    def chances_of(self, view: PlayerView, actions: np.ndarray) -> np.ndarray:
        """Return the model's probability of each action, int64 (n,), in the view before it: float64 (n,)."""
        return self._policy.action_chances(view)[np.arange(len(view)), actions]


class Chains(Worlds):
    """Markov chains over the worlds of one view: see `WholeHands`.

    `next_worlds` makes steps and returns the worlds that they lead to; `step` and `worlds` do one of these.
    """

    def __init__(
        self, belief: WholeHands, view: PlayerView, num_chains: int, random: np.random.Generator
    ) -> None:
        super().__init__(belief, view, num_chains, random)
        self._model = belief
        self._logarithm = self._chances(self._held, self._stock)
        """Of each world's probability, up to a constant."""

    def next_worlds(self) -> np.ndarray:
        """Return the worlds after `WARM_UP` steps or `APART` more: `STATE` records (chains,)."""
        self.step(APART if self._used else WARM_UP)
        self._used = True
        return self.worlds()

    def step(self, steps: int = 1) -> None:
        """Propose a change to each chain, `steps` times."""
        correction = np.empty(len(self._held))
        for _ in range(steps):
            held, stock = self._held.copy(), self._stock.copy()
            propose_changes(self._past, self._hand_size, self._odds, self._key(), held, stock, correction)
            then = self._chances(held, stock)
            goes = np.log(self._random.random(len(held))) < then - self._logarithm + correction
            self._held[goes], self._stock[goes], self._logarithm[goes] = held[goes], stock[goes], then[goes]

    def _chances(self, held: np.ndarray, stock: np.ndarray) -> np.ndarray:
        """Return logarithms of the probabilities of worlds, up to a constant: float64 (n,)."""
        trust = self._model.trust
        worlds = self.view, self._past, held, stock
        acted = trust * log_likelihoods(worlds, np.random.default_rng(0), self._model.chances_of)
        # Cards that are not in the stock are held, so the odds of the stock are enough.
        return acted - (1 - trust) * np.log(self._odds)[stock].sum(axis=1)


@kernel
def propose_changes(
    past,
    hand_size: int,
    odds: np.ndarray,
    key: int,
    held: np.ndarray,
    stock: np.ndarray,
    correction: np.ndarray,
) -> None:
    """Propose a small change to each of the worlds (n,), in place, for a step of Metropolis and Hastings.

    `correction`, float64 (n,), becomes the logarithm of the probability of the reverse proposal over that of
    the proposal; `NEVER` for an impossible world.
    """
    latest = np.full(NUM_CARDS, NUM_CARDS)  # of each discarded card: draws before it, which limit its place
    discarded = np.int64(0)
    for index in range(past.discards):
        latest[past.discard[index]] = past.draws_before[index]
        discarded |= card_bit(past.discard[index])
    draws, places = np.int64(past.draws), hand_size + np.int64(past.draws)
    counter = np.int64(0)
    for world in range(len(held)):
        cards, others = held[world], stock[world]
        correction[world] = 0
        counter += 4
        if draws > 0 and (unit(mix(key, counter)) < CHANGE_PLACES or len(others) == 0 or past.missing == 0):
            one = hand_size + below(mix(key, counter + 1), draws)
            two = np.int64(below(mix(key, counter + 2), places))
            if one - hand_size >= latest[cards[two]] or two - hand_size >= latest[cards[one]]:
                correction[world] = NEVER
            else:
                cards[one], cards[two] = cards[two], cards[one]
            continue
        if len(others) == 0 or past.missing == 0:
            continue
        num_exchanges = 2 if unit(mix(key, counter + 1)) < CHANGE_TWO else 1
        total = 0.0
        for index in range(len(others)):
            total += odds[others[index]]
        for _ in range(num_exchanges):
            counter += 4
            skip = below(mix(key, counter), past.missing)
            place = 0
            while discarded >> cards[place] & 1 or skip > 0:
                skip -= not discarded >> cards[place] & 1
                place += 1
            mark = unit(mix(key, counter + 1)) * total
            index = 0
            while index < len(others) - 1 and mark >= odds[others[index]]:
                mark -= odds[others[index]]
                index += 1
            leaves, comes = cards[place], others[index]
            cards[place], others[index] = comes, leaves
            after = total - odds[comes] + odds[leaves]
            correction[world] += np.log(odds[leaves] / after) - np.log(odds[comes] / total)
            total = after
