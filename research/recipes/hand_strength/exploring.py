"""Data sets of paper 002 whose explorer is any bot, such as the network of the previous generation.

"The training cycle could be repeated" (002): a network that has learned from Random-N replaces the
random-discard player and plays the N samples of each deal, of which the best is kept. Deals, samples and
recorded observations are the same as in `simulation` and `data_sets`; only the discards are the bot's. With
the bot ``random-discard`` the data set equals that of `data_sets.generate`.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gin_env import estimators
from gin_env.agents import Agent
from gin_env.game.cards import NUM_CARDS, card_bit
from gin_env.game.engine import play, start_episode
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD, OVER, STATE
from gin_env.game.streams import check_seed
from gin_env.observations.view_kernels import VIEW, write_view
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer
from gin_env.support.compilation import kernel
from research.recipes.hand_strength.data_sets import DataSet, data_set_of, discounted_scores, quantised
from research.recipes.hand_strength.simulation import reference_action, start_sample

_TABLES_PER_BATCH = 16_384
"""Number of samples played in one batch; the result does not depend on it."""


def explore(
    bot: Agent,
    samples: int,
    observations: int,
    *,
    estimator: str = "bayes-isru",
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> DataSet:
    """Return a data set of a bot's last discards, each from the best of `samples` samples of a deal.

    The bot chooses only the discards; it draws like the Simple player, as every explorer does. `progress` is
    called with the number of new observations. Raises ValueError or TypeError for numbers out of range.
    """
    samples = check_integer("samples", samples, 2, _TABLES_PER_BATCH)
    observations = check_integer("observations", observations, 1, 1 << 40)
    seed = check_seed(seed)
    estimate = estimators.make(estimator).estimate
    deals_per_batch = _TABLES_PER_BATCH // samples
    parts: list[tuple[np.ndarray, ...]] = []
    found = deals = simulated = 0
    while found < observations:
        views, hands, deadwood, points, actions = explore_samples(bot, seed, deals, deals_per_batch, samples)
        parts.append((hands, quantised(estimate(PlayerView(views))), deadwood, points))
        deals += deals_per_batch
        simulated += actions
        new = min(len(hands), observations - found)
        found += new
        if progress is not None:
            progress(new)
    columns = [np.concatenate(column)[:observations] for column in zip(*parts, strict=True)]
    return data_set_of(
        columns[0],
        columns[1],
        columns[2],
        discounted_scores(columns[3], np.zeros(observations), 1.0),
        name=f"random-{samples} explored by {bot.name}",
        explorer=bot.name,
        samples=samples,
        stages="last",
        discount=1.0,
        estimator=estimator,
        seed=seed,
        deals=deals,
        simulated_actions=simulated,
    )


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
    states = np.zeros(deals * samples, STATE)
    states["public"]["rules"] = Rules().record()
    _start_samples(states, seed, first_deal, samples)
    views, last_views = np.zeros(len(states), VIEW), np.zeros(len(states), VIEW)
    waiting = np.empty(len(states), np.int64)
    hands = np.zeros(len(states), np.uint64)
    while count := _play_to_discards(states, views, waiting):
        actions = bot.act(PlayerView(views[:count]))
        _play_discards(states, waiting[:count], actions, views, last_views, hands)
    public = states["public"]
    points = np.where(public["winner"] == 0, public["points"], -public["points"])
    ranked = np.where(public["winner"] >= 0, points, np.iinfo(np.int16).min).reshape(deals, samples)
    best = ranked.argmax(axis=1) + samples * np.arange(deals)
    best = best[(public["winner"][best] >= 0) & (hands[best] > 0)]
    deadwood = public["deadwood"][best, 0].astype(np.uint8)
    return last_views[best], hands[best], deadwood, points[best], int(states["hidden"]["decisions"].sum())


@kernel
def _start_samples(states, seed, first_deal, samples):
    for index in range(len(states)):
        deal_number = first_deal + index // samples
        start_episode(states[index], seed, deal_number, False)
        start_sample(states[index], seed, deal_number, index % samples)


@kernel
def _play_to_discards(states, views, waiting):
    """Play until player 0 has to discard or the hand is over, and write the views before the discards.

    Returns the number of views; `waiting` receives the indices of their states.
    """
    count = 0
    for index in range(len(states)):
        game = states[index]
        while game.public.phase != OVER:
            player = game.public.to_move
            if player == 0 and game.public.phase == DISCARD:
                write_view(game, 0, views[count])
                waiting[count] = index
                count += 1
                break
            play(game, reference_action(game, player))
    return count


@kernel
def _play_discards(states, waiting, actions, views, last_views, hands):
    """Play the discards, and write each view and hand as the last ones of their table."""
    for row in range(len(waiting)):
        index = waiting[row]
        game = states[index]
        last_views[index] = views[row]
        hands[index] = game.private[0].hand & ~np.uint64(card_bit(actions[row] % NUM_CARDS))
        play(game, actions[row])
