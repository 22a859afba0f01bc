"""An approximate best response to a known bot: ``search`` with this bot as the model of its opponent.

The belief weighs each world by the probability that the bot would have acted in it as the opponent did, and
in the rollouts the bot plays the other side, of ``policy`` only its first network. What the response wins is
a lower bound of how exploitable the bot is. Timbers et al., "Approximate exploitability: Learning a best
response in large games" (arXiv 2004.09677), bound it in the same way, with a search that learns from its own
games.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gin_env import agents
from gin_env.agents.base import Agent
from gin_env.agents.search.belief import NUM_PROPOSED, Belief, Worlds
from gin_env.agents.search.bot import SearchBot
from gin_env.agents.search.dealing import deal_world, resampled
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.engine import play, write_mask
from gin_env.game.state import STATE
from gin_env.game.streams import mix
from gin_env.observations.view_kernels import VIEW, write_view
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number
from gin_env.support.compilation import kernel

MISTAKES = 0.05
"""Probability of a random action of the opponent, so that no single action excludes a world."""
FIRST_ROUND = 8
"""Worlds in the first round. Each later round has as many as all rounds before it."""
BATCH_SIZE = 32
"""Number of views that are searched together. An estimate depends on the size of its batch, by about 1e-7, so
batches are filled up to this size."""


class BestResponseBot(SearchBot):
    """An approximate best response to one bot, which decides for many games in one batch.

    Parameters
    ----------
    bot : the name of the bot, neither a program nor a search.
    samples : number of worlds in which actions are tried, at most.
    estimator : proposes the worlds.
    trust : how much the bot's past actions count, from 0 to 1: each proposed world has a weight of this power
        of their likelihood over the probability that the estimator proposes it. A bot that breaks ties at
        random is asked once, which estimates the likelihood without bias.
    turns : how far to look ahead, as for `SearchBot`.
    """

    def __init__(
        self,
        bot: str,
        samples: int = 256,
        estimator: str = "suit-equivariant",
        trust: float = 0.5,
        turns: int = 3,
    ) -> None:
        super().__init__(samples, turns=turns, opponent=bot, estimator=estimator)
        self.name = f"response to {bot}, {samples} worlds, turns={turns}, trust={trust:g}"
        self.bot = agents.make(bot)
        self.trust = check_number("trust", trust, 0, 1)

    def act(self, view: PlayerView) -> np.ndarray:
        if not len(view):
            return np.empty(0, np.int64)
        tried = self.likeliest(view)
        chosen = np.array([actions[0] for actions in tried], np.int64)
        searched = np.flatnonzero([len(actions) > 1 for actions in tried])
        _, group = np.unique(view.array["public"]["rules"][searched], return_inverse=True)
        for number in range(group.max(initial=-1) + 1):
            # Worlds that are searched together have the same rules.
            alike = searched[group == number]
            for first in range(0, len(alike), BATCH_SIZE):
                which = alike[first : first + BATCH_SIZE]
                chosen[which] = self._search(view[which], [tried[index] for index in which])
        return chosen

    def _search(self, view: PlayerView, tried: list[np.ndarray]) -> list[int]:
        """Return the best of the actions tried in each view."""
        full = view[np.arange(BATCH_SIZE) % len(view)]
        estimates = self.belief.estimator.estimate(full)[: len(view)]
        players = view.array["player"].astype(np.int64)
        worlds = np.empty((len(view), self.samples), STATE)
        for index, estimate in enumerate(estimates):
            random = np.random.default_rng(int(view.array["random"][index]))
            one = WeightedWorlds(
                self.bot, self.trust, self.belief, view[[index]], self.samples, random, estimate
            )
            worlds[index] = one.next_worlds()
        others = [actions[1:] for actions in tried]
        gains = [np.zeros((len(actions), 0)) for actions in others]
        begin, end = 0, min(FIRST_ROUND, self.samples)
        while begin < self.samples and any(map(len, others)):
            active = [index for index in range(len(view)) if len(others[index])]
            actions = [np.concatenate([tried[index][:1], others[index]]) for index in active]
            num_new, num_tried = end - begin, [len(some) for some in actions]
            states = np.empty((sum(num_tried), num_new), STATE)
            for index, row in zip(np.repeat(active, num_tried), states, strict=True):
                row[:] = worlds[index, begin:end]
            won = self.won_after(
                states.ravel(),
                np.repeat(np.concatenate(actions), num_new),
                np.repeat(players[active], np.multiply(num_tried, num_new)),
            )
            parts = np.split(won.reshape(-1, num_new), np.cumsum(num_tried)[:-1])
            for index, part in zip(active, parts, strict=True):
                gains[index] = np.concatenate([gains[index], part[1:] - part[0]], axis=1)
                others[index], gains[index] = self.hopeful(others[index], gains[index])
            begin, end = end, min(2 * end, self.samples)
        return [
            self.best(int(actions[0]), *remaining)
            for actions, *remaining in zip(tried, others, gains, strict=True)
        ]


class WeightedWorlds(Worlds):
    """Worlds of one view, weighted by the likelihood of a bot's actions: importance resampling, no steps.

    They are drawn in proportion to their weight from `NUM_PROPOSED` times as many.
    """

    def __init__(
        self,
        bot: Agent,
        trust: float,
        belief: Belief,
        view: PlayerView,
        num_worlds: int,
        random: np.random.Generator,
        estimate: np.ndarray | None = None,
    ) -> None:
        super().__init__(belief, view, num_worlds * NUM_PROPOSED, random, estimate)
        self.bot, self.trust = bot, trust

    def next_worlds(self) -> np.ndarray:
        """Return worlds that were not returned before: `STATE` records (num_worlds,)."""
        if self._used:
            self._begin(self._count)
        self._used = True
        # Cards that are not in the stock are held, so the odds of the stock are enough.
        weights = self.log_likelihoods() + np.log(self._odds)[self._stock].sum(axis=1)
        num_worlds = self._count // NUM_PROPOSED
        return self.worlds(resampled(self.trust * (weights - weights.max()), num_worlds, self._random))

    def log_likelihoods(self) -> np.ndarray:
        """float64 (n,): logarithm of the likelihood of the opponent's actions in each proposed world."""
        if self.trust == 0:  # then the likelihood counts for nothing
            return np.zeros(len(self._held))
        worlds = self.view, self._past, self._held, self._stock
        return log_likelihoods(worlds, self._random, lambda view, taken: self.bot.act(view) == taken)


def log_likelihoods(
    worlds: tuple[np.void, np.void, np.ndarray, np.ndarray],
    random: np.random.Generator,
    chances_of: Callable[[PlayerView, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return the logarithm of the likelihood of the opponent's actions in each world, float64 (n,).

    `worlds` are the player's view, what the opponent did, and the hand and the stock in each world.
    `chances_of` returns the probabilities of actions, int64 (k,), in the opponent's views before them.
    """
    view, past, held, stock = worlds
    num_acts = int(past["draw_decisions"]) + int(past["discard_decisions"])
    if not num_acts:
        return np.zeros(len(held))
    views = np.zeros(len(held) * num_acts, VIEW)
    taken, possible = np.empty(len(views), np.int64), np.empty(len(views), np.int64)
    key = random.integers(0, 1 << 64, dtype=np.uint64)
    _write_past_views(view, past, held, stock, key, np.zeros(1, STATE), views, taken, possible)
    chances = (1 - MISTAKES) * chances_of(PlayerView.of_array(views), taken) + MISTAKES / possible
    return np.log(chances).reshape(len(held), num_acts).sum(axis=1)


@kernel
def _write_past_views(view, past, held, stock, key: int, games, views, taken, possible) -> None:
    """Write the opponent's views at all of their decisions in each world (n,), and the actions taken.

    The views have new random numbers, from the stream `key`. `games` has room for one `STATE` record;
    `possible` receives the number of legal actions.
    """
    opponent = 1 - np.int64(view.player)
    game = games[0]
    mask = np.empty(NUM_ACTIONS, np.int8)
    place = 0
    for world in range(len(held)):
        deal_world(game, view, past, held[world], stock[world], np.uint64(0))
        for index in range(view.public.history_length):
            action = np.int64(view.public.history[index])
            if game.public.to_move == opponent:
                write_view(game, opponent, views[place])
                views[place].random = mix(key, place)
                write_mask(game.public, game.private[opponent], mask)
                taken[place] = action
                possible[place] = mask.sum()
                place += 1
            play(game, action)
