"""Larkin et al. 2021's open question on Tonic's discards: the impact of each filter, and their order.

"We might reorder the hierarchy of filters based on individual filter impact" ("Improvements to Current
Heuristics"). In Tonic the filters work "in concert": a card kept by any of them is kept, so their order does
not matter. It matters if they are applied one after the other and a filter that would leave no card is
skipped.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from gin_env.agents.base import act_by
from gin_env.agents.paper import PAPER_BOTS
from gin_env.agents.tonic import (
    TonicBot,
    cards_near_runs,
    desired_cards,
    kept_pairs,
    knock_limit,
    last_choice,
    tonic_draw,
)
from gin_env.estimators.logistic import cards_held
from gin_env.game.cards import pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import available_cards, discard_or_knock, own_turn
from gin_env.game.melds import best_set_cards, least_deadwood_discards, run_cards
from gin_env.game.state import DISCARD
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel
from research.reproduce.experiment import TONIC
from research.reproduce.tables import Row, interval

PAIRS, RUNS, DESIRED = 0, 1, 2
FILTERS = {"pairs": PAIRS, "runs": RUNS, "desired": DESIRED}
"""The cards each filter keeps: pairs; cards two ranks beyond a run; cards the opponent may want."""
TUNED: dict[str, Any] = {
    "increment": 0.1,
    "decrement": 0.2,
    "decline": 0.5,
    "knock_at": (10, 10, 10, 10, 5, 0),
}
"""The parameters found by ``python -m research tune tonic``, written out."""
BASES: dict[str, dict[str, Any]] = {TONIC: PAPER_BOTS[TONIC].parameters, "the tuned Tonic": TUNED}


class FilteredTonicBot(TonicBot):
    """Tonic with a selection of its filters.

    Parameters
    ----------
    filters : names from `FILTERS`, in the order in which they are applied.
    one_by_one : if True, a filter that would remove all remaining cards is skipped. If False, as in Tonic,
        every filter is applied, and all unmelded cards are candidates if none is left.
    parameters : parameters of `TonicBot`, except `break_pairs` and `filtered_fallback`.
    """

    def __init__(self, filters: Sequence[str], one_by_one: bool, **parameters: Any) -> None:
        super().__init__(**parameters)
        if self._parameters["break_pairs"] or self._parameters["filtered_fallback"]:
            raise ValueError("break_pairs and filtered_fallback are not for a Tonic with chosen filters")
        self._filters = np.array([FILTERS[name] for name in filters], np.int64)
        self._one_by_one = one_by_one

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        return act_by(_act, view, self._parameters, self._filters, self._one_by_one)


@kernel
def cards_kept(which: int, public, private, player: int, parameters, runs: int, unmelded: int) -> int:
    """Return the mask of the cards kept by filter `which`, see `gin_env.agents.tonic.tonic_discards`."""
    available = available_cards(public, private)
    turn = own_turn(public)
    if which == PAIRS:
        return kept_pairs(unmelded, available, parameters.keep_pairs_below[turn])
    if which == RUNS:
        return cards_near_runs(runs, unmelded, available) if turn <= 2 else np.int64(0)
    held = cards_held(public, private, player, parameters, parameters.held_value)
    return desired_cards(unmelded, held)


@kernel
def filtered_discards(public, private, player: int, parameters, filters, one_by_one: bool) -> int:
    """Return the mask of the best discards: `gin_env.agents.tonic.tonic_discards` with these filters."""
    hand = np.int64(private.hand)
    allowed = discards_allowed(public, private)
    rest = hand & ~best_set_cards(hand)
    runs = run_cards(rest)
    unmelded = rest & ~runs
    if not unmelded & allowed:
        best, _ = least_deadwood_discards(hand, allowed)
        return best
    candidates = unmelded & allowed
    for which in filters:
        left = candidates & ~cards_kept(which, public, private, player, parameters, runs, unmelded)
        if left or not one_by_one:
            candidates = left
    if not candidates:
        candidates = unmelded & allowed
    return last_choice(candidates, unmelded, available_cards(public, private))


@kernel
def filtered_action(view, parameters, filters, one_by_one: bool) -> int:
    """Return Tonic's draw, or its discard or knock with these filters."""
    public, private = view.public, view.private
    if public.phase != DISCARD:
        return tonic_draw(public, private, parameters)
    best = filtered_discards(public, private, view.player, parameters, filters, one_by_one)
    card = pick_card(best, view.random)
    return discard_or_knock(np.int64(private.hand), card, knock_limit(public, parameters))


@kernel
def _act(views, parameters, filters, one_by_one, actions):
    for index in range(len(views)):
        actions[index] = filtered_action(views[index], parameters, filters, one_by_one)


ALL = tuple(FILTERS)
TOGETHER = "all together, as in the paper"
VARIANTS: dict[str, tuple[tuple[str, ...], bool]] = {
    TOGETHER: (ALL, False),
    **{f"without {name}": (tuple(one for one in ALL if one != name), False) for name in ALL},
    **{f"{name} alone": ((name,), False) for name in ALL},
    "none": ((), False),
    **{f"one by one: {', '.join(order)}": (order, True) for order in permutations(ALL)},
}
"""Label -> (filters, one by one)."""


def filtered_bots() -> dict[str, FilteredTonicBot]:
    """Return each variant of both Tonics by its name."""
    return {
        f"{base}, filters: {label}": FilteredTonicBot(filters, one_by_one, **parameters)
        for base, parameters in BASES.items()
        for label, (filters, one_by_one) in VARIANTS.items()
    }


def gain_over_all(row: Row) -> str:
    """Return the gain over all filters together; empty for these."""
    return "" if row["filters"] == TOGETHER else interval(row, "+.2f", "more")
