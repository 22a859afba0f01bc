"""``fitness-cfr`` and ``heuristics``: V4 and V2 of paper 000, which differ in the discard alone.

Source: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021), "Methods". Candidates are
the cards whose discard leaves the least deadwood. V4 gives each one point for each of four characteristics:
"if the average deadwood points decreased after an additional draw, if the card is unmeldable based on cards
the player has seen, if the card cannot be used by the opponent for a meld, and if the opponent has discarded
a card that would be melded with it"; the CFR table decides between those with most points. V2 "removed a
candidate card as soon as it returned true on any one of the ranking considerations"; what remains is chosen
at random. V4 "won on average 7.8% of the games played", read as a margin over V2 (53.9 to 46.1).

Readings:

- Draw and knock of both: an upcard that the best melds use is taken and gin is knocked with immediately (the
  "simple heuristics"); otherwise the table of ``cfr`` decides.
- *Average deadwood decreased*: the least deadwood of the ten cards left and one more, averaged over all
  unseen cards, is below that of the eleven cards now; with ``relative=True`` it is at most the mean of the
  candidates.
- *Unmeldable*: no meld of the hand and the unseen cards contains it; unseen are cards neither in hand nor in
  the pile nor taken from there by the opponent. *Useless to the opponent*: no meld of the unseen cards and
  those that the opponent took contains it. *Would be melded with it*: of its rank, or at most two ranks
  away in its suit.
- V2 taken literally throws away the cards with good marks and keeps the worst: see `READINGS`.

Measured: docs/results/paper-000.md, "Fitness" and "Early knock".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gin_env.agents.cfr.bot import CfrBot
from gin_env.agents.cfr.strategy import choose_discard, choose_draw, choose_knock
from gin_env.agents.cfr.table import StrategyTable
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK
from gin_env.game.cards import card_bit, count_cards, lowest_card, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import MELD_MATES, decline, keep_best, would_be_melded
from gin_env.game.melds import completes_meld, least_deadwood_discards, min_deadwood
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.game.streams import mix
from gin_env.observations.knowledge import cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_switch
from gin_env.support.compilation import kernel

FACTORS = ("deadwood", "unmeldable", "useless", "discarded")
"""The four characteristics, in the paper's order; bit k of a fitness stands for the k-th."""
READINGS = ("unanimous", "literal", "some", "filter")
"""How ``heuristics`` turns the characteristics into a choice.

``unanimous`` keeps the cards with all four, ``literal`` those with none, ``some`` those with at least one
(each keeps all candidates if it would keep none). ``filter`` applies one heuristic after the other while a
card remains.
"""
UNANIMOUS, LITERAL, SOME, FILTER = 0, 1, 2, 3
ALL_FACTORS = 15


class FitnessCfrBot(CfrBot):
    """V4: fitness ranks the candidates, the table breaks ties.

    Parameters
    ----------
    factors : the characteristics that count, some of `FACTORS`.
    relative : the first characteristic compares the candidates with each other, see the module's docstring.
    early_knock : knocks immediately with at most this deadwood; with more the table decides.
    table, purified, stages : see `CfrBot`.
    """

    name = "fitness-cfr"

    def __init__(
        self,
        factors: Iterable[str] = FACTORS,
        relative: bool = False,
        early_knock: int = 0,
        table: str | Path | StrategyTable | None = None,
        purified: bool = True,
        stages: str = "hard",
    ) -> None:
        super().__init__(table, purified=purified, stages=stages)
        self.early_knock = check_integer("early_knock", early_knock, 0, 100)
        self.relative = check_switch("relative", relative)
        self.factors = check_factors(factors)
        self._mask = sum(1 << FACTORS.index(factor) for factor in self.factors)

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        _act_fitness_cfr(
            view.records,
            self.table.strategy,
            self._kind,
            self.purified,
            self._mask,
            self.relative,
            self.early_knock,
            self.counts,
            actions,
        )
        return actions


def check_factors(factors: Iterable[str]) -> tuple[str, ...]:
    """The factors in the paper's order. Raises TypeError or ValueError for anything but some of `FACTORS`."""
    if isinstance(factors, str) or not isinstance(factors, Iterable):
        raise TypeError(f"factors must be a collection of names, not {factors!r}")
    chosen = list(factors)
    for factor in chosen:
        if factor not in FACTORS:
            raise ValueError(f"unknown factor {factor!r}; choose from {', '.join(FACTORS)}")
    return tuple(factor for factor in FACTORS if factor in chosen)


class HeuristicsBot(CfrBot):
    """V2: draws and knocks as `FitnessCfrBot`, independent heuristics for the discard.

    Parameters
    ----------
    reading : how the heuristics narrow down the candidates, one of `READINGS`.
    relative : the first characteristic compares the candidates with each other, see the module's docstring.
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
        if reading not in READINGS:
            raise ValueError(f"reading = {reading!r}: choose from {', '.join(READINGS)}")
        self.reading = reading

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        reading = READINGS.index(self.reading)
        _act_heuristics(
            view.records,
            self.table.strategy,
            self._kind,
            self.purified,
            reading,
            self.relative,
            self.counts,
            actions,
        )
        return actions


@kernel
def deadwood_after_draw(hand: int, unseen: int) -> int:
    """Least deadwood of hand + card, summed over the unseen cards."""
    total = np.int64(0)
    remaining = unseen
    while remaining:
        bit = remaining & -remaining
        total += min_deadwood(hand | bit)
        remaining ^= bit
    return total


@kernel
def deadwood_limit(public, private, player: int, candidates: int, relative: bool) -> float:
    """The `deadwood_after_draw` up to which a candidate has the first characteristic.

    It must be below the deadwood of the eleven cards now (as many times as there are unseen cards), or,
    `relative`, at most the mean of the candidates.
    """
    hand, unseen = np.int64(private.hand), cards_unseen(public, private, player)
    if not relative:
        return min_deadwood(hand) * count_cards(unseen) - 0.5
    total = np.int64(0)
    remaining = candidates
    while remaining:
        bit = remaining & -remaining
        total += deadwood_after_draw(hand ^ bit, unseen)
        remaining ^= bit
    return total / count_cards(candidates)


@kernel
def card_fitness(public, private, player: int, card: int, limit: float, factors: int) -> int:
    """Which of the four characteristics a candidate has, as bits in the order of `FACTORS`.

    `limit` is the `deadwood_limit`, `factors` are the characteristics to look at.
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
    """V4: the candidates with the most characteristics."""
    limit = deadwood_limit(public, private, player, candidates, relative) if factors & 1 else 0.0
    best, most = np.int64(0), -1
    remaining = candidates
    while remaining:
        card = lowest_card(remaining)
        points = count_cards(card_fitness(public, private, player, card, limit, factors))
        best, most = keep_best(best, most, card, points)
        remaining &= remaining - 1
    return best


@kernel
def independently(public, private, player: int, candidates: int, reading: int, relative: bool) -> int:
    """V2: the candidates that the heuristics leave; all of them if none would be left."""
    limit = deadwood_limit(public, private, player, candidates, relative)
    kept = np.int64(0)
    remaining = candidates
    while remaining:
        card = lowest_card(remaining)
        fitness = card_fitness(public, private, player, card, limit, ALL_FACTORS)
        if (
            (reading == UNANIMOUS and fitness == ALL_FACTORS)
            or (reading == LITERAL and fitness == 0)
            or (reading == SOME and fitness != 0)
        ):
            kept |= card_bit(card)
        remaining &= remaining - 1
    return kept if kept else candidates


@kernel
def filtered(public, private, player: int, candidates: int, relative: bool) -> int:
    """V2, reading "filter": one heuristic after the other, each skipped if it would leave no card."""
    limit = deadwood_limit(public, private, player, candidates, relative)
    for factor in range(len(FACTORS)):
        kept = 0
        remaining = candidates
        while remaining:
            card = lowest_card(remaining)
            if card_fitness(public, private, player, card, limit, 1 << factor):
                kept |= card_bit(card)
            remaining &= remaining - 1
        if kept:
            candidates = kept
    return candidates


@kernel
def draw_or_decline(public, private, player, random, strategy, kind, purified, counts) -> int:
    """The draw of V4 and V2: what completes a meld is taken, otherwise the strategy decides."""
    if public.phase == STOCK_ONLY:
        return DRAW_STOCK
    if would_be_melded(np.int64(private.hand), public.upcard):
        return DRAW_UPCARD
    take = choose_draw(public, private, player, random, strategy, kind, purified, counts)
    return DRAW_UPCARD if take else decline(public)


@kernel
def discard_or_knock_early(
    public, private, player, card, random, strategy, kind, purified, early_knock, counts
) -> int:
    """The knock of V4 and V2 with this discard: gin (or `early_knock`) immediately, else by the strategy."""
    rest = np.int64(private.hand) & ~card_bit(card)
    deadwood = min_deadwood(rest)
    if deadwood > public.knock_limit:
        return card
    knock = deadwood <= early_knock or choose_knock(
        public, private, player, rest, random, strategy, kind, purified, counts
    )
    return card + (KNOCK if knock else 0)


@kernel
def fitness_cfr_action(
    public, private, player, random, strategy, kind, purified, factors, relative, early_knock, counts
) -> int:
    """V4's decision."""
    if public.phase != DISCARD:
        return draw_or_decline(public, private, player, random, strategy, kind, purified, counts)
    candidates, _ = least_deadwood_discards(np.int64(private.hand), discards_allowed(public, private))
    if count_cards(candidates) > 1:
        candidates = fittest(public, private, player, candidates, factors, relative)
    card = choose_discard(
        public, private, player, candidates, mix(random, 1), strategy, kind, purified, counts
    )
    return discard_or_knock_early(
        public, private, player, card, mix(random, 2), strategy, kind, purified, early_knock, counts
    )


@kernel
def heuristics_action(
    public, private, player, random, strategy, kind, purified, reading, relative, counts
) -> int:
    """V2's decision."""
    if public.phase != DISCARD:
        return draw_or_decline(public, private, player, random, strategy, kind, purified, counts)
    candidates, _ = least_deadwood_discards(np.int64(private.hand), discards_allowed(public, private))
    if count_cards(candidates) > 1:
        if reading == FILTER:
            candidates = filtered(public, private, player, candidates, relative)
        else:
            candidates = independently(public, private, player, candidates, reading, relative)
    card = pick_card(candidates, mix(random, 1))
    return discard_or_knock_early(
        public, private, player, card, mix(random, 2), strategy, kind, purified, 0, counts
    )


@kernel
def _act_fitness_cfr(views, strategy, kind, purified, factors, relative, early_knock, counts, actions):
    for index in range(len(views)):
        view = views[index]
        actions[index] = fitness_cfr_action(
            view.public,
            view.private,
            view.player,
            view.random,
            strategy,
            kind,
            purified,
            factors,
            relative,
            early_knock,
            counts,
        )


@kernel
def _act_heuristics(views, strategy, kind, purified, reading, relative, counts, actions):
    for index in range(len(views)):
        view = views[index]
        actions[index] = heuristics_action(
            view.public,
            view.private,
            view.player,
            view.random,
            strategy,
            kind,
            purified,
            reading,
            relative,
            counts,
        )
