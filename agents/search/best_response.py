"""An approximate best response to a known bot: ``search`` with this bot as the model of its opponent.

The belief weighs each world by the probability that the bot would have acted in it as the opponent did, and
in the rollouts the bot plays the other side. What the response wins is a lower bound of how exploitable the
bot is. Timbers et al., "Approximate exploitability: Learning a best response in large games" (arXiv
2004.09677), bound it in the same way, with a search that learns from its own games.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env import agents
from gin_env.agents.base import Agent
from gin_env.agents.search.bot import FIRST_ROUND, SearchBot
from gin_env.agents.search.chains import Belief, Chains
from gin_env.agents.search.dealing import write_deck, write_worlds
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.engine import deal, play, write_mask
from gin_env.game.state import STATE
from gin_env.game.streams import mix
from gin_env.observations.view_records import VIEW, write_view
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number
from gin_env.support.compilation import kernel

NUM_PROPOSED = 8
"""Worlds proposed for each world that is used."""
MISTAKES = 0.05
"""Probability of a random action in the model of the bot, so that no world is ruled out by one action."""


class BestResponseBot(SearchBot):
    """An approximate best response to one bot.

    Parameters
    ----------
    bot : the name of the bot, neither a program nor a search.
    samples : number of worlds in which actions are tried, at most.
    estimator : proposes the worlds.
    trust : how much the bot's past actions count, from 0 to 1: each proposed world has a weight of this power
        of their likelihood over the probability that the estimator proposes it. A bot that breaks ties at
        random is asked once, which estimates the likelihood without bias.
    """

    def __init__(
        self, bot: str, samples: int = 256, estimator: str = "suit-equivariant", trust: float = 0.5
    ) -> None:
        super().__init__(samples=samples, opponent=bot, estimator=estimator)
        self.name = f"response to {bot}, {samples} worlds"
        self.belief = _BotBelief(agents.make(bot), estimator, check_number("trust", trust, 0, 1))


class _BotBelief(Belief):
    """Worlds weighted by the likelihood of a bot's actions: importance resampling instead of chains."""

    def __init__(self, bot: Agent, estimator: str, trust: float) -> None:
        super().__init__(estimator=estimator, trust=trust, chains=FIRST_ROUND)
        self.bot = bot

    def begin(
        self, view: PlayerView, random: np.random.Generator, num_chains: int | None = None
    ) -> _WeightedWorlds:
        return _WeightedWorlds(self, view, self.chains if num_chains is None else num_chains, random)


class _WeightedWorlds(Chains):
    """Worlds of one view, drawn in proportion to their weight from `NUM_PROPOSED` times as many."""

    def __init__(
        self, belief: _BotBelief, view: PlayerView, num_worlds: int, random: np.random.Generator
    ) -> None:
        super().__init__(belief, view, num_worlds * NUM_PROPOSED, random)
        self._model, self._num_worlds = belief, num_worlds

    def next_worlds(self) -> np.ndarray:
        """`STATE` records (num_worlds,)."""
        self._begin()
        # Cards that are not in the stock are held, so the odds of the stock are enough.
        weights = self.log_likelihoods() + np.log(self._odds)[self._rest].sum(axis=1)
        chances = np.exp(self._model.trust * (weights - weights.max()))
        ends = np.cumsum(chances / chances.sum())
        marks = (np.arange(self._num_worlds) + self._random.random()) / self._num_worlds  # evenly spaced
        chosen = np.minimum(np.searchsorted(ends, marks), len(ends) - 1)
        states = np.zeros(self._num_worlds, STATE)
        write_worlds(self._view, self._past, self._held[chosen], self._rest[chosen], self._key(), states)
        return states

    def log_likelihoods(self) -> np.ndarray:
        """float64 (n,): logarithm of the likelihood of the opponent's actions in each proposed world."""
        num_acts = int(self._past["draw_decisions"]) + int(self._past["discard_decisions"])
        total = np.zeros(len(self._held))
        if not num_acts:
            return total
        views = np.zeros(len(self._held) * num_acts, VIEW)
        taken, possible = np.empty(len(views), np.int64), np.empty(len(views), np.int64)
        _write_past_views(
            self._view, self._past, self._held, self._rest, np.zeros(1, STATE), views, taken, possible
        )
        _draw_random_numbers(views, self._key())
        same = self._model.bot.act(PlayerView.of_records(views)) == taken
        chances = (1 - MISTAKES) * same + MISTAKES / possible
        return np.log(chances).reshape(len(self._held), num_acts).sum(axis=1)


@kernel
def _write_past_views(view, past, held, rest, games, views, taken, possible) -> None:
    """Write the opponent's views at all of their decisions in each world (n,), and the actions taken.

    `games` has room for one `STATE` record; `possible` receives the number of legal actions.
    """
    opponent = 1 - np.int64(view.player)
    game = games[0]
    mask = np.empty(NUM_ACTIONS, np.int8)
    place = 0
    for world in range(len(held)):
        game.public = view.public
        write_deck(view, past, held[world], rest[world], np.uint64(0), game.hidden.deck)
        deal(game)
        for index in range(view.public.history_length):
            action = np.int64(view.public.history[index])
            if game.public.to_move == opponent:
                write_view(game, opponent, views[place])
                write_mask(game.public, game.private[opponent], mask)
                taken[place] = action
                possible[place] = mask.sum()
                place += 1
            play(game, action)


@kernel
def _draw_random_numbers(views, key: int) -> None:
    """Write a new random number into each view."""
    for index in range(len(views)):
        views[index].random = mix(key, index)
