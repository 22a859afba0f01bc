"""Data sets of Truong and Neller 2021 whose explorer is any bot, such as the network of the previous
generation.

"The training cycle could be repeated" (Truong and Neller 2021): a network that has learned from Random-N
replaces the random-discard player and plays the N samples of each deal, of which the best is kept. Deals,
samples and recorded observations are the same as in `simulation` and `data_sets`; only the discards are the
bot's. With the bot ``random-discard`` the data set equals that of `data_sets.generate`.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from gin_env import agents, estimators
from gin_env.agents import Agent
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.state import DISCARD
from gin_env.game.streams import check_seed
from gin_env.observations.views import VIEW, PlayerView
from gin_env.support.checks import check_integer
from gin_env.support.compilation import kernel
from research.recipes.hand_strength.data_sets import DataSet, collect, data_set_of, quantised
from research.recipes.hand_strength.simulation import start_sample

_TABLES_PER_BATCH = 16_384
"""Number of samples played in one batch; the result does not depend on it."""


def explore(
    bot: Agent, samples: int, observations: int, *, estimator: str = "bayes-isru", seed: int = 0
) -> DataSet:
    """Return a data set of a bot's last discards, each from the best of `samples` samples of a deal.

    The bot chooses only the discards; it draws like the Simple player, as every explorer does. Raises
    ValueError or TypeError for numbers out of range.
    """
    samples = check_integer("samples", samples, 2, _TABLES_PER_BATCH)
    observations = check_integer("observations", observations, 1, 1 << 40)
    seed = check_seed(seed)
    estimate = estimators.make(estimator).estimate
    deals = _TABLES_PER_BATCH // samples

    def explore_batch(first: int) -> tuple[Any, ...]:
        views, hands, deadwood, points, actions = explore_samples(bot, seed, first, deals, samples)
        return hands, quantised(estimate(PlayerView(views))), deadwood, points.astype(np.float32), actions

    columns, simulated, num_batches = collect(map(explore_batch, count(0, deals)), observations)
    metadata = {"name": f"random-{samples} explored by {bot.name}", "explorer": bot.name, "samples": samples}
    metadata |= {"stages": "last", "discount": 1.0, "estimator": estimator, "seed": seed}
    metadata |= {"deals": num_batches * deals, "simulated_actions": simulated}
    return data_set_of(columns, metadata)


def explore_samples(
    bot: Agent, seed: int, first_deal: int, deals: int, samples: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Return (views, hands, deadwood, points, actions simulated) of the best sample of each deal, by deal.

    Of equal scores the first sample is the best. A deal has no row if all its samples are void, or if the
    player never discarded in the best one.

    Returns
    -------
    views : `VIEW` records (n,) at the last discard.
    hands : uint64 (n,), the player's cards after the discard.
    deadwood : uint8 (n,), their deadwood after laying off.
    points : int16 (n,), points of the player.
    actions : int, number of actions simulated.
    """
    games, players = Games(deals * samples), [agents.make("simple"), bot]
    numbers = first_deal + games.everyone // samples
    games.start(seed=seed, episodes=numbers.astype(np.uint64))
    _start_samples(games.state, seed, numbers, samples)
    public = games.state["public"]
    views, hands = np.zeros(len(games), VIEW), np.zeros(len(games), np.uint64)
    for running in games.until_over():
        exploring = (public["to_move"][running] == 0) & (public["phase"][running] == DISCARD)
        discarding = running[exploring]
        views[discarding] = games.views(discarding, 0).array
        play_seated(games, players, exploring, running, play_bot)
        hands[discarding] = games.state["private"]["hand"][discarding, 0]
    points = np.where(public["winner"] == 0, public["points"], -public["points"])
    ranked = np.where(public["winner"] >= 0, points, np.iinfo(np.int16).min).reshape(deals, samples)
    best = ranked.argmax(axis=1) + samples * np.arange(deals)
    best = best[(public["winner"][best] >= 0) & (hands[best] > 0)]
    deadwood = public["deadwood"][best, 0].astype(np.uint8)
    return views[best], hands[best], deadwood, points[best], int(games.state["hidden"]["decisions"].sum())


@kernel
def _start_samples(states, seed, numbers, samples):
    for index in range(len(states)):
        start_sample(states[index], seed, numbers[index], index % samples)
