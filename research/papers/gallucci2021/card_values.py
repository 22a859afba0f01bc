"""Gallucci et al. 2021's proposal: the value of each card in an information set, by Shapley values.

"Future works could include evaluating each card given an information set for their importance to the success
of a given hand using Shapley Value" ("Conclusions and Future Work"; Song, Nelson and Staum, 2016).

Readings: the information set is the hand of ten that a player was dealt, with the upcard. The worth of a
subset of its cards is the mean result of the hand, in points for the player, if the player holds the subset
and random unknown cards instead of the others; V4 plays against Simple. The Shapley value of a card is its
mean contribution over random orders in which the cards replace random ones. The values of a hand sum to what
it is worth more than a random one.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gin_env import agents
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.cards import CARD_VALUES, NUM_CARDS, card_id, card_text
from gin_env.game.hands import unmelded_cards
from research.reproduce.experiment import V4, Run, ratio_row
from research.reproduce.tables import Row

HANDS, ORDERS = 150, 60
"""Numbers of hands, and of random orders for each."""
HAND_SIZE = 10


def card_kinds(hand: np.ndarray) -> list[str]:
    """Return for each card of a hand, ids (10,), whether it is melded, in a pair or alone."""
    free = unmelded_cards(np.bitwise_or.reduce(1 << hand)) >> hand & 1 == 1
    suits, ranks = np.divmod(hand, 13)
    apart = np.abs(ranks[:, None] - ranks)
    near = (apart == 0) | ((suits[:, None] == suits) & (apart <= 2))
    paired = (near & free & ~np.eye(len(hand), dtype=bool)).any(axis=1)
    return np.where(free, np.where(paired, "in a pair", "alone"), "melded").tolist()


def play_subsets(hand: np.ndarray, rng: np.random.Generator, orders: int, seed: int) -> np.ndarray:
    """Return the Shapley values of a hand's cards by order, float64 (orders, 10), in points.

    In an order the cards replace random ones, one by one, and these go to the places of the cards in the
    stock. Nothing else changes, so the luck of the other cards cancels in the differences.
    """
    permutations = np.stack([rng.permutation(HAND_SIZE) for _ in range(orders)])
    size, steps = orders * (HAND_SIZE + 1), HAND_SIZE + 1
    games = Games(size, episode="hand")
    games.start(seed=seed)
    unknown = np.setdiff1d(np.arange(NUM_CARDS), hand)
    for order, permutation in enumerate(permutations):
        shuffled = rng.permutation(unknown)
        fillers, opponent, upcard, rest = np.split(shuffled, [HAND_SIZE, 2 * HAND_SIZE, 2 * HAND_SIZE + 1])
        deck = np.empty(NUM_CARDS, np.int64)
        deck[0 : 2 * HAND_SIZE : 2], deck[1 : 2 * HAND_SIZE : 2] = fillers, opponent
        deck[2 * HAND_SIZE] = upcard[0]
        deck[2 * HAND_SIZE + 1 :] = rng.permutation(np.concatenate([rest, hand]))
        games.set_deck(order * steps, deck, dealer=order % 2)
        for number, card in enumerate(permutation, 1):
            slots = [2 * card, int(np.flatnonzero(deck == hand[card])[0])]
            deck[slots] = deck[slots[::-1]]
            games.set_deck(order * steps + number, deck, dealer=order % 2)
    play_to_the_end(games)
    won = np.where(games.results["winner"] == 0, 1, np.where(games.results["winner"] == 1, -1, 0))
    gains = np.diff((won * games.results["points"]).reshape(orders, steps), axis=1)
    values = np.empty((orders, HAND_SIZE))
    np.put_along_axis(values, permutations, gains.astype(float), axis=1)
    return values


def play_to_the_end(games: Games) -> None:
    """Let V4 play for player 0 and Simple for player 1 until all hands are over."""
    players = [agents.make(V4), agents.make("simple")]
    for playing in games.until_over():
        play_seated(games, players, games.to_move()[playing], playing, play_bot)


def measure_values(run: Run) -> list[Row]:
    """Measure the values of cards by what they are in their hand, and those of one hand."""
    run.used(V4, "simple")
    rng = np.random.default_rng(run.seed)
    found = defaultdict(list)
    hands = run.size(HANDS, 3)
    for number in range(hands):
        hand = np.sort(rng.choice(NUM_CARDS, HAND_SIZE, replace=False))
        values = play_subsets(hand, rng, run.size(ORDERS, 5), run.seed + number).mean(axis=0)
        here = defaultdict(list)
        for card, kind, value in zip(hand, card_kinds(hand), values, strict=True):
            group = POINT_GROUPS[int(np.searchsorted([3, 6, 9], CARD_VALUES[card]))]
            here[kind, group].append(value)
        for key, several in here.items():
            found[key].append([float(np.sum(several)), len(several)])
    rows: list[Row] = []
    for (kind, points), sums in sorted(found.items()):
        if len(sums) > 1:  # not in some quick runs
            totals, counts = np.array(sums).T
            row: Row = {"of": "kinds", "kind": kind, "points": points, "cards": int(counts.sum())}
            rows.append(row | ratio_row(totals, counts, 3))
    hand = np.array([card_id(text) for text in EXAMPLE])
    values = play_subsets(hand, rng, run.size(EXAMPLE_ORDERS, 5), run.seed)
    for card, kind, each in zip(hand, card_kinds(hand), values.T, strict=True):
        row = {"of": "example", "card": card_text(int(card)), "kind": kind}
        rows.append(row | ratio_row(each, digits=3))
    return rows


POINT_GROUPS = ("A to 3", "4 to 6", "7 to 9", "T to K")
EXAMPLE = ("4C", "5C", "6C", "8H", "8S", "2D", "AH", "JD", "KS", "9D")
"""A run, a pair, two low cards and three high ones."""
EXAMPLE_ORDERS = 1000
