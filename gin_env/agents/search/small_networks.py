"""Small networks of the search, with two hidden layers: `HandShapes` and `OpponentModels`.

An estimator gives each card a probability of its own, so its hands have fewer melds and pairs than true hands
have. `HandShapes` says how much likelier whole hands are than their single cards suggest: hands drawn from
the estimator are weighted by their shape. The network is trained to tell the true hand from hands of the
estimator, so its score is the logarithm of the ratio of their probabilities, up to a constant (noise
contrastive estimation with a softmax: Ma and Collins, EMNLP 2018).

`OpponentModels` says which bot the opponent plays like, from what the opponent has done. Its network reads
the numbers of the player's memory (`gin_env.observations.memory`) three times: of the earlier hands of the
game, of the current hand, and of all together. It is trained on games of `policy` against each model.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gin_env.game.cards import CARDS_UP_TO, NUM_CARDS, card_bit, count_cards, deck_cards
from gin_env.game.earlier_hands import forget_hands, remember_actions
from gin_env.game.hands import meld_completions, unmelded_cards
from gin_env.game.state import STATE
from gin_env.observations.candidate_features import write_hand
from gin_env.observations.candidates import CONTEXT, LAYOUT, NUM_CONTEXT, NUM_FEATURES, write_context
from gin_env.observations.memory import NUM_MEMORY, write_memory
from gin_env.support.compilation import kernel
from gin_env.support.specs import parse
from gin_env.support.tensor_files import NetworkFormat, TensorFileError

FORMAT = NetworkFormat("networks of the search", "1", "python -m research train opponents")
PACKAGED = Path(__file__).parent / "data" / "opponents.safetensors"


class SmallNetwork(NamedTuple):
    """The weights, float32; matrices have a row for each input."""

    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray
    last: np.ndarray
    last_bias: np.ndarray


@cache
def packaged_networks() -> dict[str, SmallNetwork]:
    """Return the packaged networks by name."""
    return load_networks(PACKAGED)


def load_networks(path: str | Path) -> dict[str, SmallNetwork]:
    """Return the networks in a file of `research.recipes.search_networks`, by name.

    Raises as `NetworkFormat.read_tensors` does.
    """
    tensors, _ = FORMAT.read_tensors(path)
    names = dict.fromkeys(name.partition(".")[0] for name in tensors)
    try:
        return {
            name: SmallNetwork(*(tensors[f"{name}.{part}"].numpy() for part in SmallNetwork._fields))
            for name in names
        }
    except KeyError as error:
        raise TensorFileError(f"{path} lacks the tensor {error}") from error


def check_sizes(network: SmallNetwork, inputs: int, outputs: int) -> SmallNetwork:
    """Return the network. Raises TensorFileError if it has other numbers of inputs or outputs."""
    sizes = network.first.shape[0], network.last.shape[1]
    if sizes != (inputs, outputs):
        raise TensorFileError(
            f"a network of the search has {sizes[0]} inputs and {sizes[1]} outputs, not {inputs} and "
            f"{outputs}: train it again with {FORMAT.command}"
        )
    return network


@kernel
def evaluate(network, row: np.ndarray, hidden: np.ndarray, outputs: np.ndarray) -> None:
    """Write the outputs for one row; `hidden`, float32 (2, width), is overwritten."""
    first, second = hidden[0], hidden[1]
    _add_layer(row, network.first, network.first_bias, first)
    for unit in range(len(first)):
        first[unit] = max(first[unit], np.float32(0))
    _add_layer(first, network.second, network.second_bias, second)
    for unit in range(len(second)):
        second[unit] = max(second[unit], np.float32(0))
    _add_layer(second, network.last, network.last_bias, outputs)


@kernel
def _add_layer(inputs: np.ndarray, matrix: np.ndarray, bias: np.ndarray, outputs: np.ndarray) -> None:
    outputs[:] = bias
    for index in range(len(inputs)):
        value = inputs[index]
        for unit in range(len(outputs)):
            outputs[unit] += value * matrix[index, unit]


# --- The shape of the opponent's hand -----------------------------------------------------------------

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


# --- Which bot the opponent plays like ----------------------------------------------------------------

MODELS = {
    "policy": "suit-equivariant:weights=policy",
    "policy-1": "suit-equivariant:weights=policy",
    "simple": "suit-equivariant",
    "tonic": "suit-equivariant",
}
"""Bots that the opponent may play like, and the estimator of the cards of each."""
UNKNOWN = "unknown"
"""As opponent of a search: one of `MODELS`."""
OTHER_ESTIMATOR = "suit-equivariant:weights=policy"
"""The estimator for an opponent that is none of `MODELS`."""
NUM_CONDUCT = 3 * NUM_MEMORY
"""Numbers that describe what the opponent has done."""
MIN_ACTIONS = 4
"""Least number of public actions for which the current hand counts."""


def estimators_for(opponent: str) -> list[str]:
    """Return the estimators for an opponent: those of all `MODELS` if it is `UNKNOWN`.

    A bot with other parameters has the estimator of the model with its name.
    """
    if opponent == UNKNOWN:
        return list(MODELS.values())
    return [MODELS.get(parse(opponent)[0], OTHER_ESTIMATOR)]


class OpponentModels:
    """The probability that the opponent is each of `MODELS`."""

    def __init__(self) -> None:
        self._network = check_sizes(packaged_networks()["opponents"], NUM_CONDUCT, len(MODELS))

    def __call__(self, view: np.void) -> np.ndarray:
        """Return the probabilities for a `VIEW` record, float64 (k,)."""
        row, logits = np.zeros(NUM_CONDUCT, np.float32), np.empty(len(MODELS), np.float32)
        write_conduct(view, np.zeros(1, STATE), row)
        evaluate(self._network, row, np.empty((2, len(self._network.first_bias)), np.float32), logits)
        chances = np.exp(logits.astype(np.float64) - logits.max())
        return chances / chances.sum()


@kernel
def write_conduct(view, games, row: np.ndarray) -> None:
    """Write what the opponent did in earlier hands, in this hand, and in all, float32 (NUM_CONDUCT,).

    `games` has room for one `STATE` record.
    """
    player = np.int64(view.player)
    opponent = 1 - player
    write_memory(view.public, player, row[:NUM_MEMORY])
    row[NUM_MEMORY:] = 0
    if view.public.history_length < MIN_ACTIONS:
        row[2 * NUM_MEMORY :] = row[:NUM_MEMORY]
        return
    public = games[0].public
    for earlier in range(2):
        games[0].public = view.public
        if not earlier or not row[0]:  # the earlier hands do not count, or are unknown
            forget_hands(public)
            public.hand_number = 0
        remember_actions(public, opponent, public.memory[opponent])
        public.hand_number += 1
        write_memory(public, player, row[(1 + earlier) * NUM_MEMORY : (2 + earlier) * NUM_MEMORY])
