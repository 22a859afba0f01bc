"""``offensive``, ``defensive`` and ``balanced``: bots that discard by hand strength, discard risk, or both.

Source: Truong and Neller 2021, "Offensive Score" and "Defensive Score". "The trained network was used solely
to decide which card to discard. Specifically, among 11 cards, we discard the one that leaves a hand with the
highest offensive score." The defensive score of a card is its discard risk, equation 5
(`gin_env.estimators.risk`). "Thirdly, a player that can jointly optimize both offensive and defensive scores
should be developed": this is ``balanced``, which rates a discard by the value of the hand that it leaves,
minus `risk_weight` points per unit of risk.

Readings:

- Draws and knocks are those of the Simple player, which knocks as soon as the chosen discard allows it.
- ``offensive`` and ``balanced`` choose from all cards that may be discarded. ``defensive`` chooses from the
  unmelded cards ("the defensive score of each unmelded card"), since it would otherwise break melds for
  safety; if every card is melded, it chooses from all.
- The player in the authors' repository (DualInception.java) considers unmelded cards only, unlike the paper's
  text, and forbids repeated pairs. Neither makes a measurable difference for the authors' networks; the first
  helps networks that would break melds (docs/results/truong2021.md, "Their schedule with their features").
- Ties (values equal to 1/1000) are broken at random. The Simple player's rule against repeating a {drawn,
  discarded} pair does not apply.

Results: docs/results/truong2021.md, "Table 1" and "Defensive and balanced players".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env import estimators
from gin_env.agents.declared_bots import BOTS
from gin_env.agents.hand_strength.features import HITS, hand_features
from gin_env.agents.simple import simple_draw
from gin_env.estimators.risk import discard_risks
from gin_env.game.cards import card_bit, each_card, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import discard_or_knock, keep_best, unmelded_cards
from gin_env.game.state import DISCARD
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_number
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject, files_of
from gin_env.support.tensor_files import NetworkFormat, TensorFileError

if TYPE_CHECKING:
    from gin_env.agents.hand_strength.networks import HandStrength

FORMAT = NetworkFormat("hand-strength network", "2", "python -m research train hand-strength")
"""The metadata name the network's ``architecture``."""

Rate = Callable[[PlayerView, np.ndarray, np.ndarray, np.ndarray, bool], np.ndarray]

DEFAULT_NETWORK = "dual-inception-random-256"
"""The strongest of the paper's networks in our matches."""
BATCH_SIZE = 512
"""Number of views in a forward pass; more do not fit the processor's cache."""
_STEPS = 1000
"""Values are rounded to 1/1000 of a point; equal ones are ties."""
_LOWEST = np.iinfo(np.int64).min
CLOSE = 0.01
"""Values that differ from the best by less than this, in points, are computed again in float64. The error of
float32 is about 1e-5 and depends on the batch size, so a value could be rounded to either of two steps."""


class OffensiveBot(NamedObject):
    """Discard the card that leaves the hand of highest value.

    Parameters
    ----------
    network : the name of a packaged network or the path of a ``.safetensors`` file.
    estimator : the estimator of the opponent's hand; by default the one used to train the network.
    """

    name = "offensive"

    def __init__(self, network: str = DEFAULT_NETWORK, estimator: str | None = None) -> None:
        self.network, self.training = find_network(network)
        self._hits = self.training.get("hits", HITS[0])
        self._exact = copy.deepcopy(self.network).double()
        self.estimator = estimators.resolve(estimator or trained_with(network, self.training))
        self.files = BOTS.file("offensive", "network", network), *files_of(self.estimator)

    def act(self, view: PlayerView) -> np.ndarray:
        actions = np.empty(len(view), np.int64)
        for first in range(0, len(view), BATCH_SIZE):
            batch = view[first : first + BATCH_SIZE]
            actions[first : first + len(batch)] = choose_actions(batch, self.values, unmelded_only=False)
        return actions

    def values(
        self, view: PlayerView, owners: np.ndarray, cards: np.ndarray, hands: np.ndarray, exact: bool = False
    ) -> np.ndarray:
        """Return the value of the hand left by each discard: float32 (k,), or float64 if `exact`.

        Parameters are those of `values_of` in `choose_actions`.
        """
        return self.hand_values(self.estimator.estimate(view), owners, hands, exact)

    def hand_values(
        self, estimates: np.ndarray, owners: np.ndarray, hands: np.ndarray, exact: bool = False
    ) -> np.ndarray:
        import torch

        x, macro = hand_features(hands, self._hits)
        network, dtype = (self._exact, torch.float64) if exact else (self.network, torch.float32)
        inputs = [torch.from_numpy(array).to(dtype) for array in (x, macro, estimates)]
        with torch.inference_mode():
            return network(*inputs, torch.from_numpy(owners)).numpy()


class DefensiveBot(NamedObject):
    """Discard the unmelded card of least risk.

    Parameters
    ----------
    estimator : the estimator of the opponent's hand.
    """

    name = "defensive"

    def __init__(self, estimator: str = "bayes-isru") -> None:
        self.estimator = estimators.resolve(estimator)
        self.files = files_of(self.estimator)

    def act(self, view: PlayerView) -> np.ndarray:
        return choose_actions(view, self.values, unmelded_only=True)

    def values(
        self, view: PlayerView, owners: np.ndarray, cards: np.ndarray, hands: np.ndarray, exact: bool = False
    ) -> np.ndarray:
        """Return the negative risk of each discard, float32 (k,), with or without `exact`."""
        return -discard_risks(self.estimator.estimate(view))[owners, cards]


class BalancedBot(OffensiveBot):
    """Discard by the value of the remaining hand minus the weighted risk of the discard.

    Parameters
    ----------
    network, estimator : as for `OffensiveBot`.
    risk_weight : cost in points of a discard risk of 1.
    """

    name = "balanced"

    def __init__(
        self, network: str = DEFAULT_NETWORK, estimator: str | None = None, risk_weight: float = 2.0
    ) -> None:
        super().__init__(network, estimator)
        self.risk_weight = check_number("risk_weight", risk_weight, 0.0, 1000.0)

    def values(
        self, view: PlayerView, owners: np.ndarray, cards: np.ndarray, hands: np.ndarray, exact: bool = False
    ) -> np.ndarray:
        """Return value minus weighted risk of each discard: float32 (k,), or float64 if `exact`."""
        estimates = self.estimator.estimate(view)
        risks = discard_risks(estimates)[owners, cards]
        return self.hand_values(estimates, owners, hands, exact) - np.float32(self.risk_weight) * risks


def choose_actions(view: PlayerView, values_of: Rate, unmelded_only: bool) -> np.ndarray:
    """Return an action for each view, int64 (n,).

    Draws are those of the Simple player. Discards have the highest value, and knock if possible.
    ``values_of(view, owners, cards, hands, exact)`` rates all discards of all views that must discard:
    discarding `cards[k]` leaves the player of view `owners[k]` with the mask `hands[k]`. If several discards
    of a view are close to its best one, the view is rated again with `exact`, so that its action does not
    depend on the batch.
    """
    actions = np.empty(len(view), np.int64)
    most = _write_draws(view.array, actions)
    deciding = np.flatnonzero(actions < 0)
    if not len(deciding):
        return actions
    view = view[deciding]
    owners, cards = np.empty(most, np.int64), np.empty(most, np.int64)
    hands = np.empty(most, np.uint64)
    count = _write_candidates(view.array, unmelded_only, owners, cards, hands)
    owners, cards, hands = owners[:count], cards[:count], hands[:count]
    values = values_of(view, owners, cards, hands, False).astype(np.float64)
    best = np.full(len(view), -np.inf)
    np.maximum.at(best, owners, values)
    num_close = np.bincount(owners[values > best[owners] - CLOSE], minlength=len(view))
    close = np.flatnonzero(num_close > 1)
    if len(close):
        again = np.isin(owners, close)
        renumbered = np.searchsorted(close, owners[again])
        values[again] = values_of(view[close], renumbered, cards[again], hands[again], True)
    values = np.rint(values * _STEPS).astype(np.int64)
    chosen = np.empty(len(view), np.int64)
    _write_best(view.array, owners, cards, values, chosen)
    actions[deciding] = chosen
    return actions


@kernel
def _write_draws(views, actions):
    """Write the draws, and -1 for views that must discard; return the maximum number of their discards."""
    most = np.int64(0)
    for index, view in enumerate(views):
        if view.public.phase == DISCARD:
            actions[index] = -1
            most += np.int64(view.public.rules.hand_size) + 1
        else:
            actions[index] = simple_draw(view.public, view.private)
    return most


@kernel
def _write_candidates(views, unmelded_only, owners, cards, hands):
    """Write owner, card and remaining hand of each candidate discard; return their number."""
    row = 0
    for index, view in enumerate(views):
        hand = np.int64(view.private.hand)
        allowed = discards_allowed(view.public, view.private)
        unmelded = unmelded_cards(hand) & allowed
        for card in each_card(unmelded if unmelded_only and unmelded else allowed):
            owners[row] = index
            cards[row] = card
            hands[row] = hand & ~card_bit(card)
            row += 1
    return row


@kernel
def _write_best(views, owners, cards, values, chosen):
    """Write the action of highest value for each view; ties are broken at random."""
    row = 0
    for index, view in enumerate(views):
        best, highest = np.int64(0), _LOWEST
        while row < len(owners) and owners[row] == index:
            best, highest = keep_best(best, highest, cards[row], values[row])
            row += 1
        card = pick_card(best, view.random)
        chosen[index] = discard_or_knock(np.int64(view.private.hand), card, view.public.knock_limit)


# --- Files of networks ----------------------------------------------------------------------------------


def load_network(path: str | Path) -> tuple[HandStrength, dict[str, Any]]:
    """Return (network, metadata) from a file. Raises as `NetworkFormat.read_tensors` does."""

    def build_described(metadata: dict[str, Any], _: object) -> HandStrength:
        from gin_env.agents.hand_strength.networks import build

        return build(metadata["architecture"])

    return FORMAT.read(path, build_described)


def find_network(network: str | Path) -> tuple[HandStrength, dict[str, Any]]:
    """Return (network, metadata) of a packaged network or a ``.safetensors`` file.

    Raises TypeError, FileNotFoundError, TensorFileError, or ValueError for an unknown name.
    """
    return load_network(BOTS.file("offensive", "network", network))


def trained_with(network: str | Path, metadata: dict[str, Any]) -> str:
    """Return the name of the estimator used to train a network.

    Raises TensorFileError if the metadata do not contain it.
    """
    data = metadata.get("data")
    estimator = data.get("estimator") if isinstance(data, dict) else None
    if not isinstance(estimator, str):
        raise TensorFileError(
            f"the network {network} does not say which estimator it was trained with; pass one as estimator="
        )
    return estimator
