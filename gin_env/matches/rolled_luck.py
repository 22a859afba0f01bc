"""The luck of draws by rollouts, for players that think longer about a hand than rollouts of it take.

With each card that a draw could have been, a quick bot plays the hand to its end in both seats, several
times. The rest of the stock has other orders, the same for all cards. The luck of the draw is the mean result
with the drawn card minus the mean over all cards. `gin_env.matches.luck` uses it together with that of the
network.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from gin_env.agents.search.belief import points_of_hand
from gin_env.batch import Games
from gin_env.game.cards import NUM_CARDS
from gin_env.game.match_odds import chances_after
from gin_env.game.rules import MAX_TURNS, Rules

if TYPE_CHECKING:
    from gin_env.agents.search.rollouts import RolloutPlayers

PLAYER = "policy-1"
"""The bot that plays the rollouts."""
ROLLOUTS = 16
"""Number of rollouts for each card, about a second a hand together."""


def luck_by_rollouts(draws: np.ndarray, rules: Rules, chances: np.ndarray) -> np.ndarray:
    """Return the luck of the players who drew, in points and in games won: float64 (n, 2).

    `draws` are `STATE` records (n,) after draws from the stock, `chances` those of `luck.odds_of`. The result
    for a draw depends on nothing else.
    """
    states, owner = with_every_card(draws, rules.deck_size)
    rows, mover = np.arange(len(states)), states["public"]["to_move"].astype(np.int64)
    own, other = (states["public"]["scores"][rows, player].astype(np.int64) for player in (mover, 1 - mover))
    public = draws["public"]
    keys = np.column_stack([draws["hidden"]["deal_key"], public["hand_number"], public["history_length"]])
    # The deal and the actions before a draw determine its random numbers.
    orders = np.array([np.random.default_rng(key).random((ROLLOUTS, NUM_CARDS)) for key in keys])
    values = np.zeros((len(states), 2))
    for number in range(ROLLOUTS):
        shuffled = with_other_stock(states, orders[owner, number], rules.deck_size)
        points = np.where(mover == 0, 1, -1) * _play_on(shuffled, rules)
        values += np.column_stack([points, chances_after(chances, own, other, points)]) / ROLLOUTS
    first = np.searchsorted(owner, np.arange(len(draws)))
    return values[first] - np.add.reduceat(values, first) / np.bincount(owner)[:, None]


def with_every_card(draws: np.ndarray, deck_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the states with each card that could have been drawn, the drawn one first, and their owners."""
    left = draws["public"]["stock_left"].astype(np.int64)
    owner = np.repeat(np.arange(len(draws)), left + 1)
    states, rows = draws[owner], np.arange(len(owner))
    drawn_at = deck_size - 1 - left[owner]  # its place in the deck; the rest of the stock follows
    other_at = drawn_at + rows - np.searchsorted(owner, np.arange(len(draws)))[owner]
    deck, private = states["hidden"]["deck"], states["private"]
    old, new = deck[rows, drawn_at], deck[rows, other_at]
    deck[rows, other_at], deck[rows, drawn_at] = old, new
    mover, one = states["public"]["to_move"].astype(np.int64), np.uint64(1)
    kept = private["hand"][rows, mover] & ~(one << old.astype(np.uint64))
    private["hand"][rows, mover] = kept | one << new.astype(np.uint64)
    private["stock_draws"][rows, mover, private["num_stock_draws"][rows, mover] - 1] = new
    return states, owner


def with_other_stock(states: np.ndarray, numbers: np.ndarray, deck_size: int) -> np.ndarray:
    """Return the states with their stock in the order of `numbers`, (n, 52) in [0, 1) by card."""
    shuffled = states.copy()
    deck = shuffled["hidden"]["deck"][:, :deck_size]
    first = deck_size - states["public"]["stock_left"].astype(np.int64)[:, None]
    of_places = np.take_along_axis(numbers, deck.astype(np.int64), axis=1)
    order = np.argsort(np.where(np.arange(deck_size) < first, -1, of_places), axis=1, kind="stable")
    deck[:] = np.take_along_axis(deck, order, axis=1)
    return shuffled


@cache
def _players() -> RolloutPlayers:
    """Return the compiled players of the rollouts. Raises ImportError without torch."""
    from gin_env.agents.policies.candidate_network import find_policy_of_games
    from gin_env.agents.search.rollouts import RolloutPlayers

    return RolloutPlayers(find_policy_of_games(PLAYER), None)


def _play_on(states: np.ndarray, rules: Rules) -> np.ndarray:
    """Return the points of player 0 after `PLAYER` has played each hand to its end: int64 (n,)."""
    games = Games(len(states), rules, episode="hand")
    games.state[:] = states
    games.done[:] = False
    _players().roll_out(games, 0, MAX_TURNS)
    return points_of_hand(games)
