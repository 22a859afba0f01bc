"""``ensemble``: several estimators, chosen by turn, or by how well each one fits the current opponent.

Source: Francis et al. 2021, "Experimental Results" and "Future Work". Three ways to choose (`switching`):

- ``"paper"``: the paper's recommendation. Up to turn 3 "a simple neural network or the Bayesian hand
  estimator" (reading: the network, which it recommends alone for the turns after), from 4 to 9 ``nn``, from
  10 to 28 ``shankar-cnn``, from 29 "either stick to Shankar CNN or change to the Bayesian" (reading:
  ``bayes``).
- ``"fitted"``: in each turn the member with the least log loss in held-out hands. (Those of the packaged
  table are also in one of the hundreds of rounds of hands that ``nn`` and ``shankar-cnn`` were trained on.)
- ``"adaptive"``: "a player that dynamically learns which of the hand estimators performs better against a
  given play style" (the paper's future work, without details). A mixture of the members; their weights in
  the first hand are fitted, for each turn, to the same held-out hands. Whenever the player draws a card from
  the stock, each member's weight is multiplied by the probability that it gave to this card being drawn,
  (1 - p) / (sum of 1 - p over the unseen cards): the stock's next card is any of those that the opponent does
  not hold, so this is Bayes' rule. (Discards are not such a test: the opponent chooses them, and good
  estimators expect cards that the opponent keeps.) The memory keeps the products from hand to hand of
  a game, so `advance` adapts. `estimate`, which has no memory, returns the mixture with the weights of the
  first hand.

With ``"adaptive"``, ``members`` can be any other estimators; their first weights are then equal.

Results: docs/results/estimators.md, "All metrics".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gin_env import estimators
from gin_env.estimators.declared_estimators import ESTIMATORS
from gin_env.estimators.public_history import first_hands, known_cards, with_known_cards
from gin_env.game.cards import NUM_CARDS
from gin_env.game.rules import MAX_TURNS
from gin_env.observations.views import PlayerView
from gin_env.support.array_files import ArrayFileError, ArrayFormat
from gin_env.support.checks import check_choice, check_number
from gin_env.support.specs import NamedObject, files_of

MEMBERS = ("bayes", "nn", "shankar-cnn")
"""The three estimators of the paper."""
SWITCHING = ("paper", "fitted", "adaptive")
PAPER_CHOICE = np.array([1] * 10 + [2] * 19 + [0] * (MAX_TURNS - 28))
"""int64 (MAX_TURNS + 1,): index of the member that the paper recommends after each number of turns."""
FORMAT = ArrayFormat(
    kind="ensemble table",
    version=1,
    arrays={"choice": (np.int64, (MAX_TURNS + 1,)), "weights": (np.float64, (MAX_TURNS + 1, len(MEMBERS)))},
    described={"members": list},
    command="python -m research train estimator ensemble",
)


class EnsembleEstimator(NamedObject):
    """Several estimators, of which one or a mixture is used.

    Parameters
    ----------
    switching : ``"paper"``, ``"fitted"`` or ``"adaptive"``, see above.
    members : names of estimators, with or without parameters; only ``"adaptive"`` accepts other members than
        `MEMBERS`.
    table : a file of ``python -m research train estimator ensemble``; None for the packaged one.
    rate : speed of adaptation: the exponent of each factor, 1 for Bayes' rule.
    """

    name = "ensemble"

    def __init__(
        self,
        switching: str = "fitted",
        members: tuple[str, ...] | list[str] = MEMBERS,
        table: str | Path | None = None,
        rate: float = 1.0,
    ) -> None:
        check_choice("switching", switching, SWITCHING)
        if not members:
            raise ValueError("members must name at least one estimator")
        if switching != "adaptive" and tuple(members) != MEMBERS:
            raise ValueError(f"switching={switching!r} needs the members {', '.join(MEMBERS)}")
        self.switching = switching
        self.rate = check_number("rate", rate, 0, 100)
        self.members = [estimators.make(member) for member in members]
        file = ESTIMATORS.file("ensemble", "table", table)
        self.files = file, *(path for member in self.members for path in files_of(member))
        self.weights = _first_weights(switching, tuple(members), file)
        self._memory = np.dtype(
            [
                ("first_hand", np.uint64),
                ("draws", np.int64),  # stock draws of the player in this hand that have been scored
                ("scores", np.float64, (len(self.members),)),  # logarithms of the members' products
                ("estimates", np.float32, (len(self.members), NUM_CARDS)),  # at the last call
                ("unseen", np.bool_, (NUM_CARDS,)),  # at the last call
                *((f"member_{k}", member.new_memory(0).dtype) for k, member in enumerate(self.members)),
            ]
        )

    def estimate(self, view: PlayerView) -> np.ndarray:
        """Return the probabilities, float32 (n, 52), without knowledge of earlier hands."""
        return self._mix(view, [member.estimate(view) for member in self.members], 0.0)

    def new_memory(self, count: int) -> np.ndarray:
        """Return records (count,): the members' own memories and their scores against the opponent."""
        memory = np.zeros(count, self._memory)
        for k, member in enumerate(self.members):
            memory[f"member_{k}"] = member.new_memory(count)
        return memory

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        if self.switching == "adaptive":
            self._learn(view, memory)
        estimates = []
        for k, member in enumerate(self.members):
            own = memory[f"member_{k}"].copy()
            estimates.append(member.advance(view, own))
            memory[f"member_{k}"] = own
            memory["estimates"][:, k] = estimates[-1]
        return self._mix(view, estimates, memory["scores"])

    def _mix(self, view: PlayerView, estimates: list[np.ndarray], scores: np.ndarray | float) -> np.ndarray:
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights[view.array["public"]["turn"]]) + scores
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        mixed = np.einsum("nk,knc->nc", weights.astype(np.float32), np.stack(estimates))
        held, unseen, _ = known_cards(view)
        return with_known_cards(mixed, held, unseen)

    def _learn(self, view: PlayerView, memory: np.ndarray) -> None:
        """Score the members' last estimates by the card that the player has since drawn from the stock."""
        hands, private = first_hands(view), view.array["private"]
        draws = private["num_stock_draws"].astype(np.int64)
        new = np.flatnonzero((memory["first_hand"] == hands) & (draws == memory["draws"] + 1))
        if len(new):
            card = private["stock_draws"][new, draws[new] - 1]
            elsewhere = np.maximum(1.0 - memory["estimates"][new], 1e-3)
            total = (elsewhere * memory["unseen"][new][:, None]).sum(axis=2)
            drawn = np.take_along_axis(elsewhere, card[:, None, None].astype(np.int64), axis=2)[:, :, 0]
            memory["scores"][new] += self.rate * np.log(drawn / total)
        memory["first_hand"], memory["draws"], memory["unseen"] = hands, draws, known_cards(view)[1]


# --- The table ------------------------------------------------------------------------------------------


def load_table(path: str | Path) -> dict[str, Any]:
    """Return a table read from a file.

    Raises FileNotFoundError, or ArrayFileError for a file that is damaged or of another version.
    """
    table, metadata = FORMAT.read(path)
    if metadata["members"] != list(MEMBERS):
        raise ArrayFileError(f"{path} was made for other members; make it again with `{FORMAT.command}`")
    choice, weights = table["choice"], table["weights"]
    possible = (choice >= 0).all() and (choice < len(MEMBERS)).all()
    if not possible or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any(axis=1).all():
        raise ArrayFileError(f"{path} is damaged: it names unknown estimators or has invalid weights")
    return table | {"metadata": metadata}


def _first_weights(switching: str, members: tuple[str, ...], path: Path) -> np.ndarray:
    """Return the initial weights of the members by turn, float64 (MAX_TURNS + 1, members)."""
    if switching == "paper":
        return np.eye(len(MEMBERS))[PAPER_CHOICE]
    if members != MEMBERS:
        return np.full((MAX_TURNS + 1, len(members)), 1 / len(members))
    table = load_table(path)
    return np.eye(len(MEMBERS))[table["choice"]] if switching == "fitted" else table["weights"]
