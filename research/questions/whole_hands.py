"""Hands weighted by the opponent's actions: Markov chains of worlds, for the experiment ``search/beliefs``.

A policy is the model of the opponent. After many steps of a chain each world is sampled in proportion to the
probability that the model would have drawn, passed and discarded as the opponent did. The package samples
hands of an estimator instead, weighted by their shape (`gin_env.agents.search.belief`), which is many times
faster and about as good (docs/results/search.md, "Beliefs").
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from gin_env.agents.policies.candidate_network import (
    CandidateScorer,
    QuickLogits,
    check_no_memory,
    find_policy_of_games,
)
from gin_env.agents.search.belief import Belief, Worlds, without_padding
from gin_env.agents.search.best_response import MISTAKES
from gin_env.agents.search.dealing import deal_world
from gin_env.agents.search.small_networks import HandShapes
from gin_env.estimators.base import Estimator
from gin_env.game.cards import NUM_CARDS, card_bit
from gin_env.game.engine import play
from gin_env.game.state import DISCARD, STATE
from gin_env.game.streams import below, mix, unit
from gin_env.observations.candidates import (
    DISCARD_ROWS,
    DRAW_ROWS,
    NO_ACTION,
    new_arrays,
    write_context,
    write_discards,
    write_draws,
)
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
BATCH_SIZE = 64
"""Worlds in one forward pass, whose arrays fit into the processor's cache."""


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
    shapes : weighs the estimator's worlds by the shape of the opponent's hand; only with ``trust=0``.
    """

    def __init__(
        self,
        model: str | Path | CandidateScorer = "policy",
        estimator: str | Estimator = "suit-equivariant",
        trust: float = 1.0,
        chains: int = 64,
        shapes: HandShapes | None = None,
    ) -> None:
        super().__init__(estimator, shapes)
        self.trust = check_number("trust", trust, 0, 1)
        network = model if isinstance(model, CandidateScorer) else find_policy_of_games(model)
        self.likelihood = PolicyLikelihood(network)
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


class Chains(Worlds):
    """Markov chains over the worlds of one view: see `WholeHands`.

    `next_worlds` makes steps and returns the worlds that they lead to; `step` and `worlds` do one of these.
    """

    def __init__(
        self, belief: WholeHands, view: PlayerView, num_chains: int, random: np.random.Generator
    ) -> None:
        super().__init__(belief, view, num_chains, random)
        self._model = belief
        self._logarithm: np.ndarray | None = None
        """Of each world's probability, up to a constant; None before the first step."""

    def next_worlds(self) -> np.ndarray:
        """Return the worlds after `WARM_UP` steps or `APART` more: `STATE` records (chains,)."""
        self.step(APART if self._used else WARM_UP)
        self._used = True
        return self.worlds()

    def step(self, steps: int = 1) -> None:
        """Propose a change to each chain, `steps` times."""
        correction = np.empty(len(self._held))
        for _ in range(steps):
            if self._logarithm is None:
                self._logarithm = self._chances(self._held, self._stock)
            held, stock = self._held.copy(), self._stock.copy()
            propose_changes(self._past, self._hand_size, self._odds, self._key(), held, stock, correction)
            then = self._chances(held, stock)
            goes = np.log(self._random.random(len(held))) < then - self._logarithm + correction
            self._held[goes], self._stock[goes], self._logarithm[goes] = held[goes], stock[goes], then[goes]

    def _chances(self, held: np.ndarray, stock: np.ndarray) -> np.ndarray:
        """Return logarithms of the probabilities of worlds, up to a constant: float64 (n,)."""
        trust = self._model.trust
        acted = trust * self._model.likelihood(self.view, self._past, held, stock)
        # Cards that are not in the stock are held, so the odds of the stock are enough.
        return acted - (1 - trust) * np.log(self._odds)[stock].sum(axis=1)


class Decisions(NamedTuple):
    """Decisions as candidates (`gin_env.observations.candidates`), and the actions taken."""

    rows: np.ndarray
    """float32 (n, k, NUM_FEATURES)"""
    actions: np.ndarray
    """int64 (n, k, 2)"""
    context: np.ndarray
    """float32 (n, NUM_CONTEXT)"""
    taken: np.ndarray
    """int64 (n,)"""

    def first(self, count: int) -> Decisions:
        """Return the first `count` decisions."""
        return Decisions(*(array[:count] for array in self))


def new_decisions(count: int, num_rows: int) -> Decisions:
    """Return uninitialised arrays for `count` decisions between `num_rows` candidates each."""
    return Decisions(*new_arrays(count, num_rows), np.empty(count, np.int64))


class PolicyLikelihood:
    """Models the opponent as a policy that scores candidates and errs at random.

    Parameters
    ----------
    network : the policy.
    """

    def __init__(self, network: CandidateScorer) -> None:
        check_no_memory(network)
        self._draws, self._discards = QuickLogits(network.draws), QuickLogits(network.discards)

    def __call__(self, view: np.void, past: np.void, held: np.ndarray, stock: np.ndarray) -> np.ndarray:
        """Return the log likelihood of the opponent's actions in each of these worlds: float64 (n,)."""
        likelihoods = np.zeros(len(held))
        game = np.zeros(1, STATE)
        num_draws, num_discards = int(past["draw_decisions"]), int(past["discard_decisions"])
        max_worlds = min(len(held), BATCH_SIZE)
        all_draws = new_decisions(max_worlds * num_draws, DRAW_ROWS)
        all_discards = new_decisions(max_worlds * num_discards, DISCARD_ROWS)
        for first in range(0, len(held), BATCH_SIZE):
            batch = slice(first, first + BATCH_SIZE)
            num_worlds = len(held[batch])
            draws = all_draws.first(num_worlds * num_draws)
            discards = all_discards.first(num_worlds * num_discards)
            write_past_decisions(view, past, held[batch], stock[batch], game[0], draws, discards)
            for decisions, scores in ((draws, self._draws), (discards, self._discards)):
                if len(decisions.taken):
                    logits = scores(decisions.rows, decisions.context)
                    _add_chances(logits, decisions.actions, decisions.taken, likelihoods[batch])
        return likelihoods


@kernel
def _add_chances(logits: np.ndarray, actions: np.ndarray, taken: np.ndarray, likelihoods: np.ndarray) -> None:
    """Add to `likelihoods` (n,) the logarithms of the probabilities of the actions taken, m in each world."""
    each = len(taken) // len(likelihoods)
    for world in range(len(likelihoods)):
        for index in range(world * each, (world + 1) * each):
            highest = -np.inf
            for row in range(actions.shape[1]):
                for knock in range(2):
                    if actions[index, row, knock] != NO_ACTION:
                        highest = max(highest, logits[index, row, knock])
            total, share, possible = 0.0, 0.0, 0
            for row in range(actions.shape[1]):
                for knock in range(2):
                    if actions[index, row, knock] != NO_ACTION:
                        weight = np.exp(logits[index, row, knock] - highest)
                        total += weight
                        possible += 1
                        if actions[index, row, knock] == taken[index]:
                            share = weight
            likelihoods[world] += np.log((1 - MISTAKES) * share / total + MISTAKES / possible)


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


@kernel
def write_past_decisions(view, past, held: np.ndarray, stock: np.ndarray, game, draws, discards) -> None:
    """Write all decisions of the opponent in each of the worlds (n,), in order, and the actions taken.

    `draws` and `discards` are `Decisions` to write into; `game` is a `STATE` record to play in.
    """
    opponent = 1 - np.int64(view.player)
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    num_draws, num_discards = 0, 0
    for world in range(len(held)):
        deal_world(game, view, past, held[world], stock[world], np.uint64(0))
        for index in range(view.public.history_length):
            action = np.int64(view.public.history[index])
            if game.public.to_move == opponent:
                private = game.private[opponent]
                if game.public.phase == DISCARD:
                    row, decisions = num_discards, discards
                    write_discards(
                        game.public, private, opponent, decisions.rows[row], decisions.actions[row], after
                    )
                    num_discards += 1
                else:
                    row, decisions = num_draws, draws
                    write_draws(
                        game.public, private, opponent, decisions.rows[row], decisions.actions[row], after
                    )
                    num_draws += 1
                write_context(game.public, private, opponent, decisions.context[row])
                decisions.taken[row] = action
            play(game, action)
