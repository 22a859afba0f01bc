"""What each discard of the player would do: the deadwood that it leaves, and a knock or gin if possible."""

from __future__ import annotations

from typing import NamedTuple

from gin_env.game.actions import KNOCK
from gin_env.game.cards import cards_of
from gin_env.game.melds import deadwood
from gin_env.game.state import DISCARD
from gin_env.observations.views import PlayerView


class DiscardOption(NamedTuple):
    """One card of a player who is to discard."""

    deadwood: int
    """Deadwood of the other cards."""
    discard: int | None
    """Action that discards the card; None for a card just taken from the pile."""
    knock: int | None
    """Action that knocks or goes gin with the card; None if that is not allowed."""
    gin: str
    """``"gin"`` or ``"big gin"`` if the knock is that, otherwise empty."""


def discard_options(view: PlayerView) -> dict[int, DiscardOption]:
    """Return the options of a single view by card; none unless its player is to discard."""
    mask = view.masks()[0]
    if not mask.any() or int(view.array["public"]["phase"][0]) != DISCARD:
        return {}
    hand = int(view.hands[0])
    gin = "big gin" if view.rules.big_gin_bonus and deadwood(hand) == 0 else "gin"
    options = {}
    for card in cards_of(hand):
        left, knock = deadwood(hand & ~(1 << card)), KNOCK + card if mask[KNOCK + card] else None
        named = gin if knock is not None and left == 0 else ""
        options[card] = DiscardOption(left, card if mask[card] else None, knock, named)
    return options


def best_knock(options: dict[int, DiscardOption]) -> int | None:
    """Return the card to knock with that leaves the least deadwood; None without a knock."""
    possible = [card for card, option in options.items() if option.knock is not None]
    return min(possible, key=lambda card: options[card].deadwood, default=None)
