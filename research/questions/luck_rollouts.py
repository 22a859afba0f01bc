"""How much more luck values by rollouts take out of a result, and what bounds it.

`gin_env.matches.luck` values the cards that a draw could have been by a network. Here a quick bot also plays
the hand to its end with each of them, in both seats, several times. The rest of the stock then has other
orders, the same for all cards of a draw. Two halves of the rollouts tell how much of their variance is noise,
and so what many rollouts would take. They would leave the luck of the deal, and what the players do
differently from the quick bot.
"""

from __future__ import annotations

import time

import numpy as np

from gin_env import agents
from gin_env.agents import Agent
from gin_env.agents.turns import play_bot, play_turns
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.cards import NUM_CARDS
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD
from gin_env.matches.luck import NUM_TERMS, chance_of, luck_of_deals, without_luck
from gin_env.matches.open_value import packaged_value
from research.reproduce.experiment import Run, percent
from research.reproduce.tables import Row

PAIRS = (("policy", "policy-1"), ("tonic", "simple"), ("search:samples=48", "policy"))
PLAYER = "policy-1"
"""The bot that plays the rollouts."""
DEALS, ROLLOUTS = 120, 16
LAST = NUM_CARDS - 1
TOGETHER = 40
"""Number of draws whose rollouts are played together."""


def measure_rollouts(run: Run) -> list[Row]:
    """Measure the share of the variance of the lead over deals that each kind of value takes."""
    rows = []
    for a, b in run.some(PAIRS, 1):
        run.used(a, b)
        run.say(f"{a} against {b}")
        rows.append({"bot": a, "opponent": b, "rollouts": ROLLOUTS} | _shares(run, a, b))
    return rows


def _shares(run: Run, a: str, b: str) -> Row:
    """Return the shares of the variance, and the seconds of the rollouts of a hand."""
    num_deals = run.size(DEALS, 8)
    lead, network, draws, signs = play_deals((agents.make(a), agents.make(b)), num_deals, run.seed)
    began = time.process_time()
    random = np.random.default_rng(run.seed)
    values = [_luck_of_draws(part, random) for part in np.array_split(draws, max(len(draws) // TOGETHER, 1))]
    seconds = time.process_time() - began
    rolled = np.zeros((num_deals, 2, 2))  # of deals, draws of either bot, by either half of the rollouts
    deals, is_a = signs[:, 0], signs[:, 1]
    for half, luck in enumerate(np.concatenate(values).T):
        np.add.at(rolled[:, :, half], (deals, 1 - is_a), np.where(is_a, luck, -luck))
    halves, nothing = rolled.sum(axis=1), np.zeros((num_deals, NUM_TERMS))
    covariance, signal = (np.cov(lead, halves.mean(axis=1))[0, 1], np.cov(*halves.T)[0, 1])
    lead = lead - lead.mean()

    def taken(terms: np.ndarray) -> float:
        return percent(1 - without_luck(lead, terms).var() / lead.var())

    by_rollouts = rolled.mean(axis=2)
    return {
        "deals": num_deals,
        "seconds_a_hand": round(seconds / (2 * num_deals), 2),
        "network": taken(network),
        "alone": taken(np.column_stack([nothing, by_rollouts])),
        "both": taken(np.column_stack([network, by_rollouts])),
        "limit": percent((2 * covariance - signal) / lead.var()),
    }


def play_deals(
    bots: tuple[Agent, Agent], num_deals: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Play single hands, each deal from both seats.

    Returns the lead of the first bot in each deal, its luck by the network (num_deals, NUM_TERMS), the
    `STATE` records after all draws from the stock, and for each of these the deal and whether the bot drew.
    """
    games = Games(2 * num_deals, episode="hand")
    numbers = games.everyone
    games.start(numbers, seed=seed, episodes=(numbers // 2).astype(np.uint64))
    found, draws, signs = [chance_of(games.state, numbers)], [], []
    while not games.done.all():
        running = numbers[~games.done]
        moves_a = games.to_move()[running] == running % 2
        for bot, which in zip(bots, (running[moves_a], running[~moves_a]), strict=True):
            if len(which):
                play_bot(games, bot, which)
        running = running[~games.done[running]]
        drew = running[_have_drawn(games.state[running])]
        found.append(chance_of(games.state[drew], drew))
        draws.append(games.state[drew])
        signs.append(np.column_stack([drew // 2, games.to_move()[drew] == drew % 2]))
    points = np.where(numbers % 2 == 0, 1, -1) * points_of_player_0(games)
    luck = luck_of_deals(np.concatenate(found), num_deals, Rules(), whole_game=False, value=packaged_value())
    lead = points.reshape(num_deals, 2).sum(axis=1).astype(float)
    return lead, luck["points"], np.concatenate(draws), np.concatenate(signs)


def _have_drawn(state: np.ndarray) -> np.ndarray:
    """Return in which `STATE` records (n,) a card was just drawn from the stock: bool (n,)."""
    public = state["public"]
    length = public["history_length"].astype(np.int64)
    last = public["history"][np.arange(len(state)), np.maximum(length - 1, 0)]
    return (length > 0) & (last == DRAW_STOCK) & (public["phase"] == DISCARD)


def points_of_player_0(games: Games) -> np.ndarray:
    """Return what player 0 won in each hand that has ended, negative if the other player won: int64 (n,)."""
    public = games.state["public"]
    return np.choose(public["winner"] + 1, [0, 1, -1]) * public["points"].astype(np.int64)


def _luck_of_draws(draws: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the luck in points of the players who drew, by each half of the rollouts: float64 (n, 2)."""
    states, owner = with_every_card(draws)
    mover = draws["public"]["to_move"][owner]
    results = np.empty((len(states), ROLLOUTS))
    for number in range(ROLLOUTS):
        shuffled = with_other_stock(states, random.random((len(draws), NUM_CARDS))[owner])
        results[:, number] = np.where(mover == 0, 1, -1) * _play_on(shuffled)
    values = np.column_stack([results[:, half::2].mean(axis=1) for half in (0, 1)])
    first = np.searchsorted(owner, np.arange(len(draws)))
    return values[first] - np.add.reduceat(values, first) / np.bincount(owner)[:, None]


def with_every_card(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the states with each card that could have been drawn, the drawn one first, and their owners."""
    left = draws["public"]["stock_left"].astype(np.int64)
    owner = np.repeat(np.arange(len(draws)), left + 1)
    states, rows = draws[owner].copy(), np.arange(len(owner))
    drawn_at = LAST - left[owner]  # its place in the deck; the other cards of the stock follow
    other_at = drawn_at + rows - np.searchsorted(owner, np.arange(len(draws)))[owner]
    deck, public, private = states["hidden"]["deck"], states["public"], states["private"]
    old, new = deck[rows, drawn_at].copy(), deck[rows, other_at].copy()
    deck[rows, other_at], deck[rows, drawn_at] = old, new
    mover = public["to_move"].astype(np.int64)
    one = np.uint64(1)
    hand = private["hand"][rows, mover] & ~(one << old.astype(np.uint64))
    private["hand"][rows, mover] = hand | one << new.astype(np.uint64)
    private["stock_draws"][rows, mover, private["num_stock_draws"][rows, mover] - 1] = new
    return states, owner


def with_other_stock(states: np.ndarray, priorities: np.ndarray) -> np.ndarray:
    """Return the states with the rest of their stock in the order of priorities (n, NUM_CARDS) by card."""
    shuffled = states.copy()
    deck, places = shuffled["hidden"]["deck"], np.arange(NUM_CARDS)
    in_stock = places > LAST - states["public"]["stock_left"].astype(np.int64)[:, None]
    order = np.where(
        in_stock, np.take_along_axis(priorities, deck.astype(np.int64), axis=1), places - NUM_CARDS
    )
    shuffled["hidden"]["deck"] = np.take_along_axis(deck, np.argsort(order, axis=1), axis=1)
    return shuffled


def _play_on(states: np.ndarray) -> np.ndarray:
    """Return the points of player 0 after `PLAYER` has played each hand to its end in both seats."""
    games, bot = Games(len(states), episode="hand"), agents.make(PLAYER)
    games.start(seed=0)
    games.state[:] = states
    running = games.everyone
    while len(running):
        play_turns(games, bot, running, both_seats=True)
        running = running[~games.done[running]]
    return points_of_player_0(games)
