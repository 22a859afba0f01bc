"""Inputs of Truong and Neller 2021's networks: cards and macro-features.

Source: "Scoring Metrics". Macro-features are "deadwood points, number of sets, number of runs, and hit
count", the last "the number of cards that, if drawn, will either complete or extend any meld".

Readings:

- Sets and runs are counted separately, as in the authors' release: a card can be in a set and in a run, and a
  run of six is one run.
- The hit count depends on the hand alone (m is "generated from x"), so cards already seen in the pile count
  too. With ``hits="arrangement"`` it follows the authors' code (FeatureEngineer0.java, sangttruong/ginrummy):
  the number of cards with which the arrangement of least deadwood leaves no more cards unmelded than without
  them.
- The rows of the matrix are clubs, hearts, spades, diamonds, as in the paper's Figures 6 and 7 (Figure 1 has
  another order).
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.cards import FULL_DECK, KINGS, card_bit, card_columns, count_cards, each_card
from gin_env.game.hands import meld_completions, unmelded_cards
from gin_env.game.melds import min_deadwood, ranks_held_thrice, run_cards
from gin_env.support.checks import check_choice
from gin_env.support.compilation import kernel

MACRO_FEATURES = ("deadwood", "sets", "runs", "hits")
HITS = ("any-meld", "arrangement")
"""Ways to count hits: by the melds that a card would be part of, or by the best arrangement with it."""


@kernel
def arrangement_hit_count(hand: int) -> int:
    """Return the number of cards outside the hand that would not add to its unmelded cards.

    Both counts are for the arrangement of least deadwood, with and without the card.
    """
    unmelded = count_cards(unmelded_cards(hand))
    hits = np.int64(0)
    for card in each_card(FULL_DECK & ~hand):
        hits += count_cards(unmelded_cards(hand | card_bit(card))) <= unmelded
    return hits


def hand_features(hands: np.ndarray, hits: str = HITS[0]) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs x and m of the hands with these masks, uint64 (n,).

    x, float32 (n, 52), is 1 for each card held. m, float32 (n, 4), holds the `MACRO_FEATURES`; `hits` is the
    way to count hits, one of `HITS`. Raises ValueError for an unknown way.
    """
    check_choice("hits", hits, HITS)
    macro = np.empty((len(hands), len(MACRO_FEATURES)), np.float32)
    _write_macro_features(hands, hits == "arrangement", macro)
    return card_columns(hands).astype(np.float32), macro


@kernel
def _write_macro_features(hands, by_arrangement, macro):
    for index in range(len(hands)):
        hand, row = np.int64(hands[index]), macro[index]
        runs = run_cards(hand)
        row[0] = min_deadwood(hand)
        row[1] = count_cards(ranks_held_thrice(hand))
        row[2] = count_cards(runs & ~((runs & ~np.int64(KINGS)) << 1))  # each run has one lowest card
        row[3] = arrangement_hit_count(hand) if by_arrangement else count_cards(meld_completions(hand))
