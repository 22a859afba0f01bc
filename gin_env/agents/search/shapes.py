"""The shape of the opponent's hand: how much likelier whole hands are than their single cards suggest.

An estimator gives each card a probability of its own, so its hands have fewer melds and pairs than true hands
have. A small network scores the shape of a hand; hands drawn from the estimator are weighted by it. It is
trained to tell the true hand from hands of the estimator, so its score is the logarithm of the ratio of their
probabilities, up to a constant (noise contrastive estimation with a softmax: Ma and Collins, EMNLP 2018).
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.search.small_networks import SmallNetwork, check_sizes, evaluate
from gin_env.game.cards import CARDS_UP_TO, NUM_CARDS, card_bit, count_cards, deck_cards
from gin_env.game.hands import meld_completions, unmelded_cards
from gin_env.observations.candidate_features import write_hand
from gin_env.observations.candidates import CONTEXT, LAYOUT, NUM_CONTEXT, NUM_FEATURES, write_context
from gin_env.support.compilation import kernel

NUM_HAND = LAYOUT["rank"].start
"""Numbers of `gin_env.observations.candidate_features.write_hand`, from the opponent's seat."""
LAST_DISCARD = list(CONTEXT).index("last_discard")
"""Where the context has the opponent's last three discards."""
NUM_SHAPE = NUM_HAND + 11
"""Numbers that describe the shape of a hand."""


class HandShapes:
    """Scores of the opponent's possible hands.

    Parameters
    ----------
    network : maps the numbers of `write_shapes` to one score; TensorFileError for one of another size.
    """

    def __init__(self, network: SmallNetwork) -> None:
        self._network = check_sizes(network, NUM_SHAPE, 1)

    def __call__(self, view: np.void, stocks: np.ndarray) -> np.ndarray:
        """Return the logarithms of the weights of worlds, given the unseen cards in the stock: float64 (n,).

        `view` is a `VIEW` record of a player to move, `stocks` int8 (n, k).
        """
        rows, scores = np.empty((len(stocks), NUM_SHAPE), np.float32), np.empty(len(stocks))
        write_shapes(view, stocks, rows)
        _write_scores(self._network, rows, scores)
        return scores


@kernel
def write_shapes(view, stocks: np.ndarray, rows: np.ndarray) -> None:
    """Describe the opponent's hand in each world into float32 (n, NUM_SHAPE).

    The numbers are those of the hand from the opponent's seat; the stock, the turn and the cards they hold
    from the pile; their last three discards; and of the cards that would complete a meld those they declined
    and discarded, of the cards from the pile those in melds and others, and the unmelded cards that count
    more than the last discard.
    """
    public, player = view.public, np.int64(view.player)
    opponent = 1 - player
    context = np.empty(NUM_CONTEXT, np.float32)
    write_context(public, view.private, player, context)
    full = np.empty(NUM_FEATURES, np.float32)
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    deck = deck_cards(public.rules.ranks, public.rules.suits)
    pile, shown = np.int64(public.pile), np.int64(public.shown[opponent])
    elsewhere = pile | np.int64(view.private.hand)
    last = np.int64(context[LAST_DISCARD] * 10 + np.float32(0.5))
    for world in range(len(stocks)):
        stock = np.int64(0)
        for card in stocks[world]:
            stock |= card_bit(np.int64(card))
        hand = deck & ~(elsewhere | stock)
        unseen = deck & ~(hand | pile | np.int64(public.shown[player]))
        write_hand(full, hand, 0, unseen, np.int64(public.knock_limit), after)
        row = rows[world]
        row[:NUM_HAND] = full[:NUM_HAND]
        row[NUM_HAND : NUM_HAND + 3] = context[:3]
        row[NUM_HAND + 3 : NUM_HAND + 6] = context[LAST_DISCARD : LAST_DISCARD + 3]
        loose, completions = unmelded_cards(hand), meld_completions(hand)
        high = loose & ~CARDS_UP_TO[last] if last else np.int64(0)
        row[NUM_HAND + 6] = count_cards(completions & np.int64(public.declined[opponent])) / np.float32(4)
        row[NUM_HAND + 7] = count_cards(completions & np.int64(public.discarded[opponent])) / np.float32(4)
        row[NUM_HAND + 8] = count_cards(shown & ~loose) / np.float32(4)
        row[NUM_HAND + 9] = count_cards(shown & loose) / np.float32(4)
        row[NUM_HAND + 10] = count_cards(high) / np.float32(4)


@kernel
def _write_scores(network, rows: np.ndarray, scores: np.ndarray) -> None:
    hidden = np.empty((2, len(network.first_bias)), np.float32)
    output = np.empty(1, np.float32)
    for index in range(len(rows)):
        evaluate(network, rows[index], hidden, output)
        scores[index] = output[0]
