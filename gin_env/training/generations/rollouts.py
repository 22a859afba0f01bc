"""Rollouts: positions from play, and the returns of several decisions in each.

The learner plays hands against a pool, and a share of its decisions become positions. Each position is copied
once for every candidate decision to try. The same players then play each copy, starting with its decision, to
the end of the hand. All copies share the deck and the players' random numbers, so that only the decision
differs (common random numbers). The hidden cards are those that the opponent held in this hand, which is a
fair sample of the cards that the learner cannot see; no model of beliefs is needed.

Each candidate has one rollout. A new position costs as much as a second rollout and carries more information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gin_env.agents.base import Agent
from gin_env.agents.generations.bot import GenerationBot, candidates_of
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.actions import KNOCK
from gin_env.game.cards import NUM_CARDS
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.observations.candidates import NO_ACTION
from gin_env.observations.views import PlayerView
from gin_env.training.generations.fit import UNTRIED, Experience

_KNOCKS = slice(KNOCK, KNOCK + NUM_CARDS)


@dataclass(frozen=True)
class Search:
    """Settings for finding positions and trying decisions."""

    stop_share: float = 0.15
    """Share of the learner's decisions that become positions."""
    exploration: float = 0.1
    """Share of the learner's decisions that are random while positions are collected."""
    best_tried: int = 4
    """Number of discards tried in a position that the learner values most."""
    others_tried: int = 2
    """Number of other discards tried in a position."""
    knocks_tried: int = 2
    """Number of knocks tried in a position (cheap, because they end the hand)."""


def gather(
    learner: Agent,
    pool: Sequence[Agent],
    weights: Sequence[float],
    hands: int,
    seed: int,
    part: int,
    search: Search,
) -> tuple[Experience, Experience]:
    """Return draw and discard positions, with their candidates' returns, from hands against the pool.

    Each hand's opponent is drawn from the pool with these weights. `seed` and `part` determine the hands;
    parts are independent and can be played on any machine in any order.
    """
    random = np.random.default_rng([seed, part])
    batch = Games(hands)
    first = np.uint64(part) * np.uint64(hands)
    batch.start(seed=seed, episodes=first + np.arange(hands, dtype=np.uint64))
    seats = (np.arange(hands) % 2).astype(np.int8)
    opponents = random.choice(len(pool), size=hands, p=np.asarray(weights) / np.sum(weights))
    players = Players(_Explorer(learner, random, search.exploration), pool, seats, opponents)
    states, games = [], []
    running = batch.everyone
    while len(running):
        own_turn = running[batch.to_move()[running] == seats[running]]
        stopped = own_turn[random.random(len(own_turn)) < search.stop_share]
        stopped = stopped[batch.state["public"]["phase"][stopped] != STOCK_ONLY]  # nothing to decide
        states.append(batch.state[stopped])
        games.append(stopped)
        running = players.act(batch, running)
    state, game = np.concatenate(states), np.concatenate(games)
    are_discards = state["public"]["phase"] == DISCARD
    players = Players(learner, pool, seats[game], opponents[game])
    draws, discards = (
        try_candidates(state[group], discarding, players.selected(group), random, search)
        for discarding, group in ((False, ~are_discards), (True, are_discards))
    )
    return draws, discards


def try_candidates(
    state: np.ndarray, discarding: bool, players: Players, random: np.random.Generator, search: Search
) -> Experience:
    """Try decisions in each of these positions, `STATE` records (n,), all discards or all draws."""
    batch = Games(max(len(state), 1))
    batch.state[: len(state)] = state
    view = batch.views(batch.everyone[: len(state)])
    if isinstance(players.learner, GenerationBot):
        values, actions = players.learner.values(view, discarding)
    else:
        _, actions = candidates_of(view, discarding)
        values = (actions == players.learner.act(view)[:, None, None]).astype(np.float32)
    tried = np.stack(
        [
            _choose(values[:, :, 0], actions[:, :, 0], search.best_tried, search.others_tried, random),
            _choose(values[:, :, 1], actions[:, :, 1], search.knocks_tried, 0, random),
        ],
        axis=2,
    )
    position, row, knock = np.nonzero(tried)
    copies = Games(max(len(position), 1))
    copies.state[: len(position)] = state[position]
    copies.done[: len(position)] = False
    running = copies.everyone[: len(position)]
    copies.play(running, actions[position, row, knock])
    running = running[~copies.done[running]]
    copied = players.selected(position)
    while len(running):
        running = copied.act(copies, running)
    returns = np.full(tried.shape, UNTRIED, np.float32)
    returns[position, row, knock] = copies.rewards[: len(position)] * (1 - 2 * copied.seats)
    return Experience(view.array, returns)


def _choose(
    values: np.ndarray, actions: np.ndarray, best: int, others: int, random: np.random.Generator
) -> np.ndarray:
    """Return bool (n, rows): the `best` possible candidates of highest value, and `others` more at random."""
    possible = actions != NO_ACTION
    ranks = np.where(possible, values + 1e-6 * random.random(values.shape), -np.inf)
    numbers = random.random(values.shape)
    # The best sort before the random numbers.
    np.put_along_axis(numbers, np.argsort(-ranks, axis=1)[:, :best], 2.0, axis=1)
    order = np.argsort(-np.where(possible, numbers, -1.0), axis=1)
    chosen = np.zeros(values.shape, np.bool_)
    np.put_along_axis(chosen, order[:, : best + others], True, axis=1)
    return chosen & possible


@dataclass(frozen=True)
class Players:
    """The learner and its opponents in a batch of games."""

    learner: Agent
    pool: Sequence[Agent]
    seats: np.ndarray
    """int8 (n,): the learner's seat."""
    opponents: np.ndarray
    """int64 (n,): the opponent's index in the pool."""

    def selected(self, games: np.ndarray) -> Players:
        """Return the players of some of the games, or of copies of them."""
        return replace(self, seats=self.seats[games], opponents=self.opponents[games])

    def act(self, batch: Games, running: np.ndarray) -> np.ndarray:
        """Play one action in each running game, and return the games that are still running."""
        learns = batch.to_move()[running] == self.seats[running]
        sitting = np.where(learns, 0, 1 + self.opponents[running])
        play_seated(batch, [self.learner, *self.pool], sitting, running, play_bot)
        return running[~batch.done[running]]


class _Explorer:
    """A bot that makes a share of its decisions at random."""

    def __init__(self, bot: Agent, random: np.random.Generator, share: float) -> None:
        self.name, self.bot, self.random, self.share = bot.name, bot, random, share

    def act(self, view: PlayerView) -> np.ndarray:
        actions = np.array(self.bot.act(view))
        astray = np.flatnonzero(self.random.random(len(view)) < self.share)
        masks = view[astray].masks()
        numbers = self.random.random(masks.shape) * (masks != 0)
        numbers[:, _KNOCKS] *= 1e-9  # never a knock if another action is legal
        actions[astray] = numbers.argmax(axis=1)
        return actions
