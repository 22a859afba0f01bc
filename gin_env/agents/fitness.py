"""``fitness-cfr`` and ``heuristics``: V4 and V2 of Gallucci et al. 2021, which differ only in the discard.

Source: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021), "Methods". The candidates
are the cards whose discard leaves the least deadwood. V4 gives a candidate one point for each of four
characteristics: "if the average deadwood points decreased after an additional draw, if the card is unmeldable
based on cards the player has seen, if the card cannot be used by the opponent for a meld, and if the opponent
has discarded a card that would be melded with it". The CFR table decides between the candidates with the most
points. V2 "removed a candidate card as soon as it returned true on any one of the ranking considerations" and
chooses at random among the remaining candidates. V4 "won on average 7.8% of the games played", which is read
as a margin over V2 (53.9 to 46.1).

Readings:

- Draw and knock (both bots): take an upcard that the best melds use, and knock immediately with gin (the
  "simple heuristics"). Otherwise the table of ``cfr`` decides.
- *Average deadwood decreased*: the least deadwood of the remaining ten cards plus one unseen card, averaged
  over all unseen cards, is below that of the current eleven cards. With ``relative=True`` it is at most the
  mean over the candidates.
- *Unmeldable*: no meld of the hand and the unseen cards contains the card. Unseen cards are those neither in
  the hand, nor in the pile, nor taken from the pile by the opponent.
- *Useless to the opponent*: no meld of the unseen cards and the cards that the opponent took contains it.
- *Would be melded with it*: of the same rank, or at most two ranks away in the same suit.
- Taken literally, V2 removes the candidates that are good to discard and keeps the worst; see `READINGS`.

Results: docs/results/gallucci2021.md, "Fitness" and "Early knock".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gin_env.agents.base import act_by
from gin_env.agents.cfr.bot import CfrBot, StrategyTable
from gin_env.agents.cfr.strategy import choose_discard, discard_or_knock_by_strategy, draw_by_strategy
from gin_env.game.actions import DRAW_UPCARD
from gin_env.game.cards import card_bit, count_cards, each_card, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import MELD_MATES, keep_best, would_be_melded
from gin_env.game.melds import completes_meld, least_deadwood_discards, min_deadwood
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.game.streams import mix
from gin_env.observations.knowledge import cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice, check_integer, check_switch
from gin_env.support.compilation import kernel

FACTORS = ("deadwood", "unmeldable", "useless", "discarded")
"""The four characteristics, in the paper's order; bit k of a fitness is the k-th characteristic."""
READINGS = ("unanimous", "literal", "some", "filter")
"""How ``heuristics`` narrows down the candidates.

``unanimous`` keeps the cards with all four characteristics, ``literal`` those with none, and ``some`` those
with at least one; each keeps all candidates if none would remain. ``filter`` applies the heuristics one after
another and skips those that would leave no card.
"""
UNANIMOUS, LITERAL, SOME, FILTER = 0, 1, 2, 3
ALL_FACTORS = 15


class FitnessCfrBot(CfrBot):
    """V4: ranks the candidates by fitness and breaks ties with the table.

    Parameters
    ----------
    factors : the characteristics that count, a subset of `FACTORS`.
    relative : whether the first characteristic compares the candidates with each other; see the module's
        docstring.
    early_knock : maximum deadwood to knock with immediately; with more, the table decides.
    table, purified : see `CfrBot`.
    """

    name = "fitness-cfr"

    def __init__(
        self,
        factors: Iterable[str] = FACTORS,
        relative: bool = False,
        early_knock: int = 0,
        table: str | Path | StrategyTable | None = None,
        purified: bool = True,
    ) -> None:
        super().__init__(table, purified=purified)
        self.early_knock = check_integer("early_knock", early_knock, 0, 100)
        self.relative = check_switch("relative", relative)
        if isinstance(factors, str) or not isinstance(factors, Iterable):
            raise TypeError(f"factors must be a collection of names, not {factors!r}")
        chosen = {check_choice("factor", factor, FACTORS) for factor in factors}
        self.factors = tuple(factor for factor in FACTORS if factor in chosen)
        self._mask = sum(1 << FACTORS.index(factor) for factor in chosen)

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act_fitness_cfr, view, (self.strategy, self._mask, self.relative, self.early_knock))


class HeuristicsBot(CfrBot):
    """V2: draws and knocks like `FitnessCfrBot`, discards by independent heuristics.

    Parameters
    ----------
    reading : how the heuristics narrow down the candidates, one of `READINGS`.
    relative : whether the first characteristic compares the candidates with each other; see the module's
        docstring.
    table, purified : see `CfrBot`.
    """

    name = "heuristics"

    def __init__(
        self,
        reading: str = "unanimous",
        relative: bool = False,
        table: str | Path | StrategyTable | None = None,
        purified: bool = True,
    ) -> None:
        super().__init__(table, purified=purified)
        self.relative = check_switch("relative", relative)
        self.reading = check_choice("reading", reading, READINGS)

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act_heuristics, view, (self.strategy, READINGS.index(self.reading), self.relative))


@kernel
def deadwood_after_draw(hand: int, unseen: int) -> int:
    """Return the least deadwood of hand + card, summed over the unseen cards."""
    total = np.int64(0)
    for card in each_card(unseen):
        total += min_deadwood(hand | card_bit(card))
    return total


@kernel
def deadwood_limit(public, private, player: int, candidates: int, relative: bool) -> float:
    """Return the largest `deadwood_after_draw` with which a candidate has the first characteristic.

    The limit is just below the current deadwood of the eleven cards times the number of unseen cards. If
    `relative`, it is the mean over the candidates.
    """
    hand, unseen = np.int64(private.hand), cards_unseen(public, private, player)
    if not relative:
        return min_deadwood(hand) * count_cards(unseen) - 0.5
    total = np.int64(0)
    for card in each_card(candidates):
        total += deadwood_after_draw(hand & ~card_bit(card), unseen)
    return total / count_cards(candidates)


@kernel
def card_fitness(public, private, player: int, card: int, limit: float, factors: int) -> int:
    """Return the characteristics of a candidate, as bits in the order of `FACTORS`.

    `limit` is the `deadwood_limit`, and `factors` is the mask of the characteristics to check.
    """
    fitness = 0
    rest = np.int64(private.hand) & ~card_bit(card)
    opponent_shown = np.int64(public.shown[1 - player])
    unseen = cards_unseen(public, private, player)
    if factors & 1 and deadwood_after_draw(rest, unseen) <= limit:
        fitness |= 1
    if factors & 2 and not completes_meld(rest | unseen, card):
        fitness |= 2
    if factors & 4 and not completes_meld(opponent_shown | unseen, card):
        fitness |= 4
    if factors & 8 and MELD_MATES[card] & np.int64(public.discarded[1 - player]):
        fitness |= 8
    return fitness


@kernel
def fittest(public, private, player: int, candidates: int, factors: int, relative: bool) -> int:
    """Return V4's choice: the mask of the candidates with the most characteristics."""
    limit = deadwood_limit(public, private, player, candidates, relative) if factors & 1 else 0.0
    best, most = np.int64(0), -1
    for card in each_card(candidates):
        points = count_cards(card_fitness(public, private, player, card, limit, factors))
        best, most = keep_best(best, most, card, points)
    return best


@kernel
def narrow_by_reading(public, private, player: int, candidates: int, reading: int, relative: bool) -> int:
    """Return V2's choice by a reading: the mask of the candidates that the heuristics leave."""
    limit = deadwood_limit(public, private, player, candidates, relative)
    if reading != FILTER:
        return narrow_by_factors(public, private, player, candidates, limit, ALL_FACTORS, reading)
    for factor in range(len(FACTORS)):  # one after another, each skipped if it would leave no card
        candidates = narrow_by_factors(public, private, player, candidates, limit, 1 << factor, SOME)
    return candidates


@kernel
def narrow_by_factors(
    public, private, player: int, candidates: int, limit: float, factors: int, reading: int
) -> int:
    """Return the candidates that these factors leave by a reading, or all if they leave none."""
    kept = np.int64(0)
    for card in each_card(candidates):
        fitness = card_fitness(public, private, player, card, limit, factors)
        if (
            (reading == UNANIMOUS and fitness == factors)
            or (reading == LITERAL and fitness == 0)
            or (reading == SOME and fitness != 0)
        ):
            kept |= card_bit(card)
    return kept if kept else candidates


@kernel
def draw_if_melded(public, private, player, random, strategy) -> int:
    """Return the draw of V4 and V2: an upcard that would be melded, otherwise as the strategy decides."""
    if public.phase != STOCK_ONLY and would_be_melded(np.int64(private.hand), public.upcard):
        return DRAW_UPCARD
    return draw_by_strategy(public, private, player, random, strategy)


@kernel
def fitness_cfr_action(public, private, player, random, strategy, factors, relative, early_knock) -> int:
    """Return V4's action."""
    if public.phase != DISCARD:
        return draw_if_melded(public, private, player, random, strategy)
    candidates, _ = least_deadwood_discards(np.int64(private.hand), discards_allowed(public, private))
    if count_cards(candidates) > 1:
        candidates = fittest(public, private, player, candidates, factors, relative)
    card = choose_discard(public, private, player, candidates, mix(random, 1), strategy)
    return discard_or_knock_by_strategy(public, private, player, card, mix(random, 2), strategy, early_knock)


@kernel
def heuristics_action(public, private, player, random, strategy, reading, relative) -> int:
    """Return V2's action."""
    if public.phase != DISCARD:
        return draw_if_melded(public, private, player, random, strategy)
    candidates, _ = least_deadwood_discards(np.int64(private.hand), discards_allowed(public, private))
    if count_cards(candidates) > 1:
        candidates = narrow_by_reading(public, private, player, candidates, reading, relative)
    card = pick_card(candidates, mix(random, 1))
    return discard_or_knock_by_strategy(public, private, player, card, mix(random, 2), strategy, 0)


@kernel
def _act_fitness_cfr(views, parameters, actions):
    for index, view in enumerate(views):
        actions[index] = fitness_cfr_action(view.public, view.private, view.player, view.random, *parameters)


@kernel
def _act_heuristics(views, parameters, actions):
    for index, view in enumerate(views):
        actions[index] = heuristics_action(view.public, view.private, view.player, view.random, *parameters)
