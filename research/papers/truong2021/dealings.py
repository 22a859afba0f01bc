"""Other ways of dealing the samples of Truong and Neller 2021's Random-256, which the authors' rows reject.

For each deal the random explorer plays a number of samples; the best one is kept, as in
`research.recipes.hand_strength.simulation`, whose own way deals everything again but the explorer's cards.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.engine import deal, points_for, start_episode
from gin_env.game.rules import Rules, cards_in_deck
from gin_env.game.state import STATE
from gin_env.game.streams import OPPONENT, mix, shuffle_cards, stream
from gin_env.observations.views import VIEW
from gin_env.support.compilation import kernel
from research.recipes.hand_strength.simulation import MAX_OBSERVATIONS, RANDOM, play_hand, set_decision_keys

WAYS = {"both hands kept": 20, "all cards dealt again": 0, "no card dealt again": 52}
"""Way of dealing -> number of cards at the top of the deck that every sample keeps; the hands are the first
20. If no card is dealt again, only the random discards differ."""


@kernel
def start_sample_keeping(game, kept: int, seed: int, deal_number: int, sample: int) -> None:
    """Prepare a dealt game for one sample: shuffle the cards of its deck after the first `kept`."""
    key = stream(mix(seed, sample), deal_number, OPPONENT)
    set_decision_keys(game, key)
    size = cards_in_deck(game.public.rules)
    others = game.hidden.deck[kept:size].copy()
    shuffle_cards(others, len(others), key)
    game.hidden.deck[kept:size] = others
    deal(game)


@kernel
def best_of_samples(states, kept: int, seed: int, deal_number: int, samples: int, views, hands):
    """Return (the explorer's cards after the last discard of the best sample, its score).

    The cards are 0 if no sample has a winner and a discard.
    """
    game = states[0]
    start_episode(game, seed, deal_number, False)
    states[1] = states[0]
    best, score = np.uint64(0), -(1 << 30)
    for sample in range(samples):
        states[0] = states[1]
        start_sample_keeping(game, kept, seed, deal_number, sample)
        row, _ = play_hand(states, RANDOM, samples, True, views, hands, 0)
        if row and game.public.winner >= 0 and points_for(game.public, 0) > score:
            best, score = hands[row - 1], points_for(game.public, 0)
    return best, score


def explore_keeping(kept: int, deals: int, samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (cards, scores) of the best sample of each deal, uint64 and float64 (n,), for n <= `deals`."""
    states = np.zeros(2, STATE)
    states["public"]["rules"] = Rules().record()
    views, hands = np.zeros(MAX_OBSERVATIONS, VIEW), np.zeros(MAX_OBSERVATIONS, np.uint64)
    found = [best_of_samples(states, kept, seed, number, samples, views, hands) for number in range(deals)]
    cards, scores = (np.array(column) for column in zip(*found, strict=True))
    return cards[cards > 0].astype(np.uint64), scores[cards > 0].astype(float)
