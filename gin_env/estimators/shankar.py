"""The Shankar array, which Shankar's Plug Rule fills, and its image for a convolutional network.

Source: Pramod Shankar's "Figuring the Opponent's Hand" (1994) as Francis et al. 2021 uses it, section
"Shankar CNN". Each card has one value:

- `OWN` (-2): in the player's own hand;
- `OUT` (-1): not in the opponent's hand, or a safe discard;
- `HELD` (1): in the opponent's hand, or in a meld that the opponent must have;
- `UNKNOWN` (0).

A card is a *safe discard* if the opponent has discarded a card of its rank or certainly lacks two others of
its rank, and if in each run of three with it the opponent certainly lacks another card. A card that the
opponent took from the pile is assumed to be part of a meld. Cards that all its possible melds share are held.

Readings where the text is silent (its worked example, which is a test, determines the first two):

- The upcard is not in the opponent's hand (-1), but while they can still take it, it makes no other card
  safe: K♣ and K♦ are 0 before K♥ is declined and -1 after, "however, now the Plug Rule comes to play".
- "{A, B, C} is a run and at least one of B or C is known not to be in the opponent's hand" must hold for
  *all* runs of three that contain A, as in its example 6♣.
- If several melds are possible, only the cards that all of them contain count as held: the rule is about
  cards "certain to be in the opponent's hand". If no meld is possible (a bluff), none is.
- A card that the opponent took and discarded again is out, and stays a discard of its rank if taken again.

The image has 17 rows, the suits in the order of `AMBI_SUPERPERMUTATION`, so that a set looks like a column of
adjacent cards whatever its suits.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import is_discard
from gin_env.game.cards import ACES, NUM_CARDS, NUM_RANKS, card_bit, count_cards, deck_cards, each_card
from gin_env.game.history import events
from gin_env.observations.knowledge import cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel

OWN, OUT, UNKNOWN, HELD = -2, -1, 0, 1

AMBI_SUPERPERMUTATION = tuple(int(symbol) - 1 for symbol in "12341231423124312")
"""Suits in the order of the image's rows; the text is the paper's.

It contains every order of four suits forwards or backwards. 17 is the minimum length (Francis et al. 2021,
Theorem 3; a test searches all shorter ones).
"""


def shankar_arrays(view: PlayerView) -> np.ndarray:
    """Return the Shankar array of each view by card id: int8 (n, 52)."""
    arrays = np.empty((len(view), NUM_CARDS), np.int8)
    _write_shankar_arrays(view.array, arrays)
    return arrays


def shankar_images(view: PlayerView) -> np.ndarray:
    """Return the Shankar arrays with rows in the order of the superpermutation: float32 (n, 1, 17, 13)."""
    suits = shankar_arrays(view).reshape(-1, 4, NUM_RANKS)
    return suits[:, None, AMBI_SUPERPERMUTATION].astype(np.float32)


@kernel
def cards_ever_discarded(public, player: int) -> int:
    """Return the mask of all cards that this player has discarded in this hand, wherever they are now."""
    cards = np.int64(0)
    for mover, action, upcard in events(public):
        if is_discard(action) and mover == player:
            cards |= card_bit(upcard)
    return cards


@kernel
def is_safe_discard(card: int, gone: int, discarded: int) -> bool:
    """Apply the Plug Rule for discards; the opponent lacks the cards `gone` and has discarded `discarded`."""
    rank = card % NUM_RANKS
    others = (np.int64(ACES) << rank) & ~card_bit(card)
    if not others & discarded and count_cards(others & gone) < 2:
        return False
    for lowest in range(max(rank - 2, 0), min(rank, NUM_RANKS - 3) + 1):
        run = np.int64(7) << (card - rank + lowest)
        if not run & ~card_bit(card) & gone:
            return False
    return True


@kernel
def certain_mates(card: int, available: int) -> int:
    """Apply the Plug Rule for a taken card: return the cards in all its melds of `available` cards."""
    rank = card % NUM_RANKS
    common = np.int64(-1)
    others = (np.int64(ACES) << rank) & ~card_bit(card) & available
    if count_cards(others) == 2:
        common &= others
    elif count_cards(others) == 3:
        common = np.int64(0)
    for lowest in range(max(rank - 2, 0), min(rank, NUM_RANKS - 3) + 1):
        mates = (np.int64(7) << (card - rank + lowest)) & ~card_bit(card)
        if not mates & ~available:
            common &= mates
    return common if common != -1 else np.int64(0)


@kernel
def write_shankar_array(public, private, player: int, row) -> None:
    """Write the Shankar array of `player` into int8 (52,)."""
    opponent = 1 - player
    hand, pile = np.int64(private.hand), np.int64(public.pile)
    held = np.int64(public.shown[opponent])
    deck = deck_cards(public.rules.ranks, public.rules.suits)
    gone = hand | pile | ~deck
    if public.upcard >= 0:  # the opponent can still take it, unless they declined or discarded it
        refused = np.int64(public.declined[opponent]) | np.int64(public.discarded[opponent])
        gone &= ~(card_bit(public.upcard) & ~refused)
    discarded = cards_ever_discarded(public, opponent)
    unknown = cards_unseen(public, private, player)
    mates = np.int64(0)
    for card in each_card(held):
        mates |= certain_mates(card, unknown | held)
    for card in range(NUM_CARDS):
        bit = card_bit(card)
        if bit & hand:
            row[card] = OWN
        elif bit & (held | mates):
            row[card] = HELD
        elif not bit & unknown or is_safe_discard(card, gone, discarded):
            row[card] = OUT
        else:
            row[card] = UNKNOWN


@kernel
def _write_shankar_arrays(views, arrays):
    for index, view in enumerate(views):
        write_shankar_array(view.public, view.private, view.player, arrays[index])
