"""Fixed deals: ``reset(options={"deck": ..., "dealer": ...})``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gin_env.game.cards import NUM_CARDS
from gin_env.game.rules import Rules
from gin_env.support.checks import is_integer


def check_deck(deck: Sequence[int] | np.ndarray, rules: Rules) -> np.ndarray:
    """Return a deck in dealing order, int8 (deck_size,).

    The order is the two hands, dealt alternately from player_0 on, then the upcard, then the stock. Raises
    TypeError or ValueError unless the deck holds each card of the rules' deck exactly once.
    """
    cards = np.asarray(deck)
    if cards.dtype.kind not in "iu":
        raise TypeError(f"a deck must be a sequence of card ids (integers), not of {cards.dtype}")
    if cards.shape != (rules.deck_size,):
        raise ValueError(f"a deck must have {rules.deck_size} cards, not shape {cards.shape}")
    wanted = [card for card in range(NUM_CARDS) if rules.deck_mask >> card & 1]
    if sorted(cards.tolist()) != wanted:
        named = cards.tolist()
        twice = sorted({card for card in named if named.count(card) > 1})
        foreign = sorted(set(named) - set(wanted))
        raise ValueError(
            "a deck must contain each card once"
            + (f"; duplicates: {twice}" if twice else "")
            + (f"; not in this deck: {foreign}" if foreign else "")
        )
    return cards.astype(np.int8)


def check_dealer(dealer: Any) -> int:
    """Return the dealer as an int, 0 or 1. Raises ValueError for anything else."""
    if not is_integer(dealer) or dealer not in (0, 1):
        raise ValueError(f"the dealer must be 0 or 1, not {dealer!r}")
    return int(dealer)


def check_deal_options(
    options: Mapping[str, Any] | None, rules: Rules, whole_game: bool
) -> tuple[list[np.ndarray], int | None]:
    """Return the decks and the dealer given in the options of `reset`.

    There are no decks, one, or, for a whole game, one for each hand; the dealer is None if it is not given.
    Other options are ignored. Raises TypeError or ValueError if a deck or the dealer is invalid.
    """
    if options is None:
        return [], None
    if not isinstance(options, Mapping):
        raise TypeError(f"options must be a dict such as {{'dealer': 0}}, not {options!r}")
    deck, dealer = options.get("deck"), options.get("dealer")
    if dealer is not None:
        dealer = check_dealer(dealer)
    if deck is None:
        return [], dealer
    if not isinstance(deck, Sequence | np.ndarray) or isinstance(deck, str):
        raise TypeError(f"options['deck'] must be a sequence of card ids (or a list of decks), not {deck!r}")
    if len(deck) == 0:
        raise ValueError("options['deck'] is empty: pass the card ids, or omit the option")
    if not isinstance(deck[0], Sequence | np.ndarray) or isinstance(deck[0], str):
        return [check_deck(deck, rules)], dealer
    if not whole_game:
        raise ValueError(
            "options['deck'] holds several decks, but episode='hand' plays one hand: "
            "give one deck, or make the environment with episode='game'"
        )
    return [check_deck(one, rules) for one in deck], dealer
