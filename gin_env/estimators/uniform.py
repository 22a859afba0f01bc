"""``uniform``: the null estimator of the papers (003, "Future Work": "equiprobable estimates").

Cards whose place is known count 0 or 1; all unseen cards share what is left of the opponent's hand equally: 10/42
each at the deal, 10/41 once the upcard is seen. The sum is the number of cards in the opponent's hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gin_env.cards import NUM_CARDS, count_cards, deck_cards
from gin_env.compilation import kernel
from gin_env.estimators.base import no_memory
from gin_env.state import DISCARD

if TYPE_CHECKING:
    from gin_env.views import PlayerView


class UniformEstimator:
    """The null estimator."""

    name = "uniform"

    def estimate(self, view: PlayerView) -> np.ndarray:
        """float32 (n, 52), see `Estimator.estimate`."""
        estimates = np.empty((len(view), NUM_CARDS), np.float32)
        _write_estimates(view.records, estimates)
        return estimates

    def new_memory(self, count: int) -> np.ndarray:
        """None is needed."""
        return no_memory(count)

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        """The same as `estimate`."""
        return self.estimate(view)


@kernel
def cards_unseen(public, private, player: int) -> int:
    """Mask of the cards in the stock or unknown in the opponent's hand."""
    deck = deck_cards(public.rules.ranks, public.rules.suits)
    return deck & ~(np.int64(private.hand) | np.int64(public.pile) | np.int64(public.shown[1 - player]))


@kernel
def cards_missing(public, player: int) -> int:
    """How many of the unseen cards the opponent of `player` holds."""
    opponent = 1 - player
    drawn = public.phase == DISCARD and public.to_move == opponent
    return np.int64(public.rules.hand_size) + drawn - count_cards(np.int64(public.shown[opponent]))


@kernel
def write_uniform(public, private, player: int, row: np.ndarray) -> None:
    """Write the uniform estimate of `player` about her opponent's hand into float32 (52,)."""
    known = np.int64(public.shown[1 - player])
    unseen = cards_unseen(public, private, player)
    share = np.float32(cards_missing(public, player) / max(count_cards(unseen), 1))
    for card in range(NUM_CARDS):
        row[card] = share * (unseen >> card & 1) + (known >> card & 1)


@kernel
def _write_estimates(views, estimates):
    for index in range(len(views)):
        view = views[index]
        write_uniform(view.public, view.private, view.player, estimates[index])
